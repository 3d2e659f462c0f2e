//! Takes formats of `printf` apart.

use crate::expr::Val;
use crate::variadic::VaList;

/// So many conversions of one format are followed.
pub const MAX_DIRECTIVES: usize = 64;
/// So many arguments.
pub const MAX_ARGUMENTS: usize = 96;

/// Width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Not given.
    None,
    /// In the format.
    Fixed(i32),
    /// The argument with this number.
    Argument(u16),
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Not mentioned so far.
    Unknown,
    /// Four bytes.
    Int,
    /// Eight bytes.
    Long,
    /// A `double`.
    Double,
    /// A `long double`, in memory.
    LongDouble,
}

/// Flags of a conversion, as bits in the order of this text.
pub const FLAGS: &[u8; 7] = b"-+ #0'I";
/// The bit of `-`.
pub const LEFT: u8 = 1;
/// The bits of `'` and `I`, which depend on the locale.
pub const LOCAL: u8 = 0x60;

/// Length modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// None.
    Plain,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `l`, `ll`, `j`, `z`, `t` and their old names: eight bytes.
    Long,
    /// `L`
    LongDouble,
}

/// One conversion.
#[derive(Clone, Copy, Debug)]
pub struct Directive {
    /// Where it starts in the format.
    pub from: usize,
    /// Where the format goes on.
    pub to: usize,
    /// See [`FLAGS`].
    pub flags: u8,
    /// Width.
    pub width: Count,
    /// Precision.
    pub precision: Count,
    /// Length modifier.
    pub length: Length,
    /// The letter.
    pub letter: u8,
    /// The number of its argument; [`MAX_ARGUMENTS`] if it has none.
    pub argument: usize,
}

impl Directive {
    const NONE: Self = Self {
        from: 0,
        to: 0,
        flags: 0,
        width: Count::None,
        precision: Count::None,
        length: Length::Plain,
        letter: b'%',
        argument: MAX_ARGUMENTS,
    };

    /// Whether it prints an integer, and whether a signed one.
    pub fn integer(&self) -> Option<bool> {
        match self.letter {
            b'd' | b'i' => Some(true),
            b'u' | b'o' | b'x' | b'X' | b'b' | b'B' => Some(false),
            _ => None,
        }
    }

    /// Whether it prints a floating-point number.
    pub fn float(&self) -> bool {
        matches!(
            self.letter,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A'
        )
    }

    /// Bytes of an integer that is printed.
    pub fn bytes(&self) -> usize {
        match self.length {
            Length::Char => 1,
            Length::Short => 2,
            Length::Plain => 4,
            Length::Long | Length::LongDouble => 8,
        }
    }

    fn passed(&self) -> Option<Passed> {
        Some(match self.letter {
            _ if self.integer().is_some() && self.bytes() == 8 => Passed::Long,
            _ if self.integer().is_some() => Passed::Int,
            _ if self.float() && self.length == Length::LongDouble => Passed::LongDouble,
            _ if self.float() => Passed::Double,
            b'c' | b'C' => Passed::Int,
            b's' | b'S' | b'p' | b'n' => Passed::Long,
            _ => return None,
        })
    }
}

/// A format that was taken apart, and what its arguments are.
pub struct Work {
    directives: [Directive; MAX_DIRECTIVES],
    count: usize,
    passed: [Passed; MAX_ARGUMENTS],
    arguments: usize,
    values: [Val; MAX_ARGUMENTS],
    places: [VaList; MAX_ARGUMENTS],
}

impl Work {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            directives: [Directive::NONE; MAX_DIRECTIVES],
            count: 0,
            passed: [Passed::Unknown; MAX_ARGUMENTS],
            arguments: 0,
            values: [Val::concrete(0, 64); MAX_ARGUMENTS],
            places: [VaList::EMPTY; MAX_ARGUMENTS],
        }
    }

    /// The conversions.
    pub fn directives(&self) -> &[Directive] {
        self.directives.get(..self.count).unwrap_or(&[])
    }

    fn claim(&mut self, argument: usize, passed: Passed) -> bool {
        let Some(slot) = self.passed.get_mut(argument) else {
            return false;
        };
        // The same argument printed in two ways: the larger one counts.
        if *slot == Passed::Unknown || (*slot == Passed::Int && passed == Passed::Long) {
            *slot = passed;
        }
        self.arguments = self.arguments.max(argument + 1);
        true
    }

    /// Takes a format apart; false if it is not one that is followed.
    pub fn parse(&mut self, format: &[u8]) -> bool {
        self.count = 0;
        self.arguments = 0;
        self.passed = [Passed::Unknown; MAX_ARGUMENTS];
        let mut next = 0;
        let mut at = 0;
        while let Some(found) = format
            .get(at..)
            .and_then(|f| f.iter().position(|b| *b == b'%'))
        {
            let mut scan = Scan {
                format,
                at: at + found + 1,
            };
            let Some(mut directive) = self.one(&mut scan, &mut next) else {
                return false;
            };
            directive.from = at + found;
            directive.to = scan.at;
            at = scan.at;
            let Some(slot) = self.directives.get_mut(self.count) else {
                return false;
            };
            *slot = directive;
            self.count += 1;
        }
        true
    }

    fn one(&mut self, scan: &mut Scan, next: &mut usize) -> Option<Directive> {
        let mut d = Directive::NONE;
        let place = scan.place();
        while let Some(bit) = FLAGS.iter().position(|f| Some(*f) == scan.peek()) {
            d.flags |= 1 << bit;
            scan.at += 1;
        }
        d.width = self.count(scan, next)?;
        if scan.take(b'.') {
            d.precision = match self.count(scan, next)? {
                Count::None => Count::Fixed(0),
                given => given,
            };
        }
        d.length = scan.length();
        d.letter = scan.peek()?;
        scan.at += 1;
        if d.letter == b'%' || d.letter == b'm' {
            return Some(d);
        }
        let passed = d.passed()?;
        d.argument = place.unwrap_or(*next);
        if place.is_none() {
            *next += 1;
        }
        self.claim(d.argument, passed).then_some(d)
    }

    fn count(&mut self, scan: &mut Scan, next: &mut usize) -> Option<Count> {
        if !scan.take(b'*') {
            return Some(match scan.number()? {
                Some(n) => Count::Fixed(n),
                None => Count::None,
            });
        }
        let argument = scan.place().unwrap_or_else(|| {
            *next += 1;
            *next - 1
        });
        self.claim(argument, Passed::Int)
            .then_some(Count::Argument(argument as u16))
    }

    /// Finds the arguments.
    pub unsafe fn fetch(&mut self, list: &VaList) {
        let mut list = *list;
        let passed = self.passed.iter().take(self.arguments);
        for ((passed, value), place) in passed.zip(&mut self.values).zip(&mut self.places) {
            *place = list;
            *value = match passed {
                Passed::Unknown | Passed::Int => list.integer(4),
                Passed::Long => list.integer(8),
                Passed::Double => list.double(),
                Passed::LongDouble => {
                    list.next_memory(2);
                    Val::concrete(0, 64)
                }
            };
        }
    }

    /// An argument by its number.
    pub fn value(&self, argument: usize) -> Val {
        self.values
            .get(argument)
            .copied()
            .unwrap_or(Val::concrete(0, 64))
    }

    /// The arguments from this one on.
    pub fn place(&self, argument: usize) -> VaList {
        self.places.get(argument).copied().unwrap_or(VaList::EMPTY)
    }

    /// Width or precision as a value (32 bits).
    pub fn count_value(&self, count: Count) -> Option<Val> {
        match count {
            Count::None => None,
            Count::Fixed(n) => Some(Val::concrete(n as u32 as u128, 32)),
            Count::Argument(n) => Some(self.value(n.into())),
        }
    }

    /// Width, precision and flags as numbers: a negative width means `-`, a negative precision none.
    pub fn numbers(&self, d: &Directive) -> (u8, Option<u32>, Option<u32>) {
        let number = |c| self.count_value(c).map(|v| v.signed() as i32);
        let (width, precision) = (number(d.width), number(d.precision));
        let flags = if width.is_some_and(|w| w < 0) {
            d.flags | LEFT
        } else {
            d.flags
        };
        (
            flags,
            width.map(i32::unsigned_abs),
            precision.filter(|p| *p >= 0).map(|p| p as u32),
        )
    }

    /// The text of the conversion with all numbers in it, ended by 0, and its length without that;
    /// with the given length modifier.
    pub fn text(&self, d: &Directive, modifier: &[u8]) -> ([u8; 48], usize) {
        let mut to = [0; 48];
        let mut len = 0;
        let mut put = |b: u8| {
            if len < 47
                && let Some(slot) = to.get_mut(len)
            {
                *slot = b;
                len += 1;
            }
        };
        let (flags, width, precision) = self.numbers(d);
        put(b'%');
        for (bit, flag) in FLAGS.iter().enumerate() {
            if flags >> bit & 1 == 1 {
                put(*flag);
            }
        }
        // A width of 0 would read as the flag.
        if let Some(width) = width.filter(|w| *w != 0) {
            digits(width, &mut put);
        }
        if let Some(precision) = precision {
            put(b'.');
            digits(precision, &mut put);
        }
        for b in modifier {
            put(*b);
        }
        put(d.letter);
        (to, len)
    }

    /// The length modifier as text.
    pub fn modifier(d: &Directive) -> &'static [u8] {
        match d.length {
            Length::Plain => b"",
            Length::Char => b"hh",
            Length::Short => b"h",
            Length::Long => b"l",
            Length::LongDouble => b"L",
        }
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

fn digits(n: u32, put: &mut impl FnMut(u8)) {
    let mut power = 1_000_000_000;
    while power > 0 {
        if n >= power || power == 1 {
            put(b'0' + (n / power % 10) as u8);
        }
        power /= 10;
    }
}

struct Scan<'a> {
    format: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// A number if there is one; the outer `None` if it is too large.
    fn number(&mut self) -> Option<Option<i32>> {
        let start = self.at;
        let mut n = 0i32;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            n = n.checked_mul(10)?.checked_add(i32::from(digit - b'0'))?;
            self.at += 1;
        }
        Some((self.at > start).then_some(n))
    }

    /// `3$`: the number of an argument, from 0.
    fn place(&mut self) -> Option<usize> {
        let start = self.at;
        if let Some(Some(n)) = self.number()
            && n > 0
            && self.take(b'$')
        {
            return Some(n as usize - 1);
        }
        self.at = start;
        None
    }

    fn length(&mut self) -> Length {
        let Some(first) = self.peek() else {
            return Length::Plain;
        };
        let length = match first {
            b'h' => Length::Short,
            b'l' | b'q' | b'j' | b'z' | b'Z' | b't' => Length::Long,
            b'L' => Length::LongDouble,
            _ => return Length::Plain,
        };
        self.at += 1;
        if first == b'h' && self.take(b'h') {
            return Length::Char;
        }
        if first == b'l' {
            self.take(b'l');
        }
        length
    }
}
