//! Comparing strings and memory: one expression for the result, with the very number that libc gives.
//!
//! Most of libc's variants give the difference of the first bytes that differ, some of `memcmp` only
//! its sign for some sizes. Which one works here is found by trying it, once for each size. Where
//! memory ends at the end of a page some give the other number; a traced run then gets the usual one.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::hint::black_box;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use beagle_trace::event::{ASSUME_LENGTH, MOST_TEXT};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use super::ctype;
use super::view::{MAX, Text, assume, finish, give_up, is_zero, lower, pin_pointer, pin_size};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;

mod real {
    use core::ffi::{c_char, c_int, c_void};
    unsafe extern "C" {
        pub fn strcmp(a: *const c_char, b: *const c_char) -> c_int;
        pub fn strncmp(a: *const c_char, b: *const c_char, n: usize) -> c_int;
        pub fn strcasecmp(a: *const c_char, b: *const c_char) -> c_int;
        pub fn strncasecmp(a: *const c_char, b: *const c_char, n: usize) -> c_int;
        pub fn strcoll(a: *const c_char, b: *const c_char) -> c_int;
        pub fn strverscmp(a: *const c_char, b: *const c_char) -> c_int;
        pub fn memcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int;
        pub fn bcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int;
        pub fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
        pub fn strlen(s: *const c_char) -> usize;
    }
}

/// The number that tells that two bytes differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Their difference.
    Difference,
    /// 1 or -1.
    Sign,
    /// Something else.
    Other,
}

impl Form {
    fn from_number(n: u8) -> Option<Self> {
        match n {
            1 => Some(Form::Difference),
            2 => Some(Form::Sign),
            3 => Some(Form::Other),
            _ => None,
        }
    }

    fn number(self) -> u8 {
        match self {
            Form::Difference => 1,
            Form::Sign => 2,
            Form::Other => 3,
        }
    }
}

/// Sizes up to this are tried one by one; larger ones are taken to be all alike.
const SIZES: usize = 64;

/// What is known of the forms of one function: by size, those above [`SIZES`] at 0.
struct Forms([AtomicU8; SIZES + 1]);

impl Forms {
    const fn new() -> Self {
        Self([const { AtomicU8::new(0) }; SIZES + 1])
    }

    /// The form of the function's results for this size; `run` calls it on bytes without 0 that are
    /// followed by one.
    fn of(&self, n: usize, run: impl Fn(*const u8, *const u8, usize) -> c_int) -> Form {
        let Some(slot) = self.0.get(if n > SIZES { 0 } else { n }) else {
            return Form::Other;
        };
        if let Some(form) = Form::from_number(slot.load(Relaxed)) {
            return form;
        }
        let form = if n > SIZES {
            let first = trial(65, &run);
            let same = [96, 127, 128, 129, 200, 255, 256, 257, 300, 511]
                .iter()
                .all(|n| trial(*n, &run) == first);
            if same { first } else { Form::Other }
        } else {
            trial(n, &run)
        };
        slot.store(form.number(), Relaxed);
        form
    }
}

/// Tries the function on bytes that differ at one place, for all places.
fn trial(n: usize, run: &impl Fn(*const u8, *const u8, usize) -> c_int) -> Form {
    /// Never at the end of a page.
    #[repr(align(1024))]
    struct Room([u8; 520]);
    let (mut a, mut b) = (Room([b'5'; 520]), Room([b'5'; 520]));
    let (a, b) = (&mut a.0, &mut b.0);
    if let (Some(x), Some(y)) = (a.get_mut(n), b.get_mut(n)) {
        (*x, *y) = (0, 0);
    }
    let mut form = None;
    for i in 0..n.min(512) {
        for (x, y) in [(b'4', b'9'), (b'9', b'4'), (0xf0, 0x11), (0x11, 0xf0)] {
            let (Some(at), Some(bt)) = (a.get_mut(i), b.get_mut(i)) else {
                return Form::Other;
            };
            (*at, *bt) = (x, y);
            // The compiler must not work it out itself: it knows only signs.
            let real = run(black_box(a.as_ptr()), black_box(b.as_ptr()), black_box(n));
            let difference = c_int::from(x) - c_int::from(y);
            let now = if real == difference {
                Form::Difference
            } else if real == difference.signum() {
                Form::Sign
            } else {
                return Form::Other;
            };
            if *form.get_or_insert(now) != now {
                return Form::Other;
            }
        }
        if let (Some(x), Some(y)) = (a.get_mut(i), b.get_mut(i)) {
            (*x, *y) = (b'5', b'5');
        }
    }
    form.unwrap_or(Form::Difference)
}

/// What is compared.
struct Comparison {
    a: *const u8,
    b: *const u8,
    /// At most so many bytes count.
    bound: usize,
    /// Whether a 0 ends both.
    strings: bool,
    /// Whether upper case counts as lower case.
    folded: bool,
    form: Form,
}

impl Comparison {
    /// Byte `i` of this run, as it counts.
    unsafe fn now(&self, p: *const u8, i: usize) -> u8 {
        let b = *p.add(i);
        if self.folded {
            b.to_ascii_lowercase()
        } else {
            b
        }
    }

    /// Where it is decided in this run: at the first difference, the end of the strings, or the bound.
    unsafe fn decided(&self) -> usize {
        let mut i = 0;
        while i < self.bound {
            let (x, y) = (self.now(self.a, i), self.now(self.b, i));
            if x != y || (self.strings && x == 0) {
                return i;
            }
            i += 1;
        }
        i
    }

    fn counts(&self, b: Val) -> Val {
        if self.folded { lower(b) } else { b }
    }

    /// What to give if `x` and `y` are the first bytes that differ, or equal and the last.
    fn outcome(&self, x: Val, y: Val) -> Val {
        if self.form == Form::Sign {
            let (one, zero) = (Val::concrete(1, 32), Val::concrete(0, 32));
            let less = expr::bin(Op::Ult, x, y);
            let sign = expr::ite(less, Val::concrete(u128::from(u32::MAX), 32), one);
            return expr::ite(expr::eq(x, y), zero, sign);
        }
        expr::sub(expr::zext(x, 32), expr::zext(y, 32))
    }

    /// The expression of the result, which was decided at byte `at`.
    unsafe fn expression(&self, site: u32, at: usize) -> Option<Val> {
        if at > MAX {
            return None;
        }
        let known = (at + 1).min(self.bound);
        let (mut a, mut b) = (Text::new(self.a, known), Text::new(self.b, known));
        // The first byte at which it is decided under any input.
        let mut last = 0;
        let end = loop {
            if last == self.bound {
                break last;
            }
            let (Some(x), Some(y)) = (a.at(last), b.at(last)) else {
                break usize::MAX;
            };
            if last > MAX {
                break usize::MAX;
            }
            let fixed = x.id == 0 && y.id == 0 && self.counts(x).value != self.counts(y).value;
            let ended = self.strings && (is_end(x) || is_end(y));
            if fixed || ended {
                break last;
            }
            last += 1;
        };
        let zero = Val::concrete(0, 32);
        let mut result = zero;
        let mut i = end;
        if end == usize::MAX {
            // What follows cannot be read: it is taken to be decided where it is now.
            let (x, y) = (self.counts(a.at(at)?), self.counts(b.at(at)?));
            let same = expr::eq(x, y);
            let decision = if same.value == 1 {
                expr::and(same, is_zero(x))
            } else {
                expr::not(same)
            };
            assume(site, ASSUME_LENGTH, decision);
            i = at;
        }
        if i < self.bound {
            let (x, y) = (self.counts(a.at(i)?), self.counts(b.at(i)?));
            result = self.outcome(x, y);
        }
        while i > 0 {
            i -= 1;
            let (x, y) = (a.at(i)?, b.at(i)?);
            if x.id | y.id == 0 {
                continue;
            }
            if self.strings && x.id != 0 && y.id != 0 {
                // Both may be the end.
                result = expr::ite(is_zero(x), zero, result);
            }
            let (x, y) = (self.counts(x), self.counts(y));
            let differ = expr::not(expr::eq(x, y));
            if differ.id != 0 || differ.value == 1 {
                result = expr::ite(differ, self.outcome(x, y), result);
            }
        }
        Some(result)
    }

    /// Records for each of the two that depends on the input what it was compared with.
    unsafe fn note(&self, site: u32, seen: usize) {
        let (Some(a), Some(b)) = (self.word(self.a, seen), self.word(self.b, seen)) else {
            return;
        };
        for (one, other) in [(&a, &b), (&b, &a)] {
            let text = other.bytes.get(..other.len);
            if let (Some((first, last)), Some(text)) = (one.ends, text) {
                let both = other.ends.is_some();
                log::compared(site, (first, last), one.len, text, both);
            }
        }
    }

    /// The string at `p`, of which so many bytes can be read for sure, if it is not too long.
    unsafe fn word(&self, p: *const u8, seen: usize) -> Option<Word> {
        let mut text = Text::new(p, seen);
        let mut word = Word {
            bytes: [0; MOST_TEXT],
            len: 0,
            ends: None,
        };
        let (mut first, mut last) = (0, 0);
        while word.len < self.bound {
            let byte = text.at(word.len)?;
            if byte.value == 0 {
                break;
            }
            *word.bytes.get_mut(word.len)? = byte.value as u8;
            last = byte.id;
            if word.len == 0 {
                first = byte.id;
            }
            word.len += 1;
        }
        word.ends = (first != 0 && last != 0).then_some((first, last));
        Some(word)
    }
}

/// A string that is compared.
struct Word {
    bytes: [u8; MOST_TEXT],
    len: usize,
    /// The nodes of its first and its last byte, if both depend on the input.
    ends: Option<(u32, u32)>,
}

fn is_end(b: Val) -> bool {
    b.id == 0 && b.value == 0
}

/// Gives the expression of a comparison that really had the result `result`. Works out the form only
/// if it is needed.
unsafe fn follow(
    call: &Call,
    mut what: Comparison,
    result: c_int,
    form: impl FnOnce() -> Form,
    name: &CStr,
) {
    pin_pointer(call, 0, what.a);
    pin_pointer(call, 1, what.b);
    if !call.recorded() || what.bound == 0 {
        call.result_id(0);
        return;
    }
    let at = what.decided();
    let seen = at.saturating_add(1).min(what.bound);
    if !shadow::any(what.a, seen) && !shadow::any(what.b, seen) {
        call.result_id(0);
        return;
    }
    if what.strings && result != 0 && log::has_room_for_compared() {
        what.note(call.site, seen);
    }
    what.form = form();
    if what.form == Form::Other || (what.folded && !ctype::is_plain()) {
        give_up(call, name);
        return;
    }
    match what.expression(call.site, at) {
        Some(v) => finish(call, v, u128::from(result as u32), name),
        None => give_up(call, name),
    }
}

const fn strings(a: *const c_char, b: *const c_char, bound: usize, folded: bool) -> Comparison {
    Comparison {
        a: a.cast(),
        b: b.cast(),
        bound,
        strings: true,
        folded,
        form: Form::Difference,
    }
}

/// `strcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcmp(a: *const c_char, b: *const c_char) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_strcmp as *const c_void);
    let result = real::strcmp(a, b);
    let form = || FORMS.of(40, |x, y, _| real::strcmp(x.cast(), y.cast()));
    follow(
        &call,
        strings(a, b, usize::MAX, false),
        result,
        form,
        c"strcmp",
    );
    result
}

/// `strncmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strncmp(a: *const c_char, b: *const c_char, n: usize) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_strncmp as *const c_void);
    pin_size(&call, 2, n);
    let result = real::strncmp(a, b, n);
    let form = || {
        FORMS.of(n.min(SIZES + 1), |x, y, n| {
            real::strncmp(x.cast(), y.cast(), n)
        })
    };
    follow(&call, strings(a, b, n, false), result, form, c"strncmp");
    result
}

/// `strcasecmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcasecmp(a: *const c_char, b: *const c_char) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_strcasecmp as *const c_void);
    let result = real::strcasecmp(a, b);
    let form = || FORMS.of(40, |x, y, _| real::strcasecmp(x.cast(), y.cast()));
    follow(
        &call,
        strings(a, b, usize::MAX, true),
        result,
        form,
        c"strcasecmp",
    );
    result
}

/// `strncasecmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strncasecmp(a: *const c_char, b: *const c_char, n: usize) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_strncasecmp as *const c_void);
    pin_size(&call, 2, n);
    let result = real::strncasecmp(a, b, n);
    let form = || {
        FORMS.of(n.min(SIZES + 1), |x, y, n| {
            real::strncasecmp(x.cast(), y.cast(), n)
        })
    };
    follow(&call, strings(a, b, n, true), result, form, c"strncasecmp");
    result
}

/// `strcoll`: as `strcmp`, in locales that order by code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcoll(a: *const c_char, b: *const c_char) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_strcoll as *const c_void);
    let result = real::strcoll(a, b);
    let form = || {
        // LC_COLLATE
        let locale = real::setlocale(3, core::ptr::null());
        let known = [c"C", c"POSIX", c"C.UTF-8", c"C.utf8"];
        if locale.is_null() || !known.contains(&CStr::from_ptr(locale)) {
            return Form::Other;
        }
        FORMS.of(40, |x, y, _| real::strcoll(x.cast(), y.cast()))
    };
    follow(
        &call,
        strings(a, b, usize::MAX, false),
        result,
        form,
        c"strcoll",
    );
    result
}

/// `strverscmp`: not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strverscmp(a: *const c_char, b: *const c_char) -> c_int {
    let call = Call::take(bg_x_strverscmp as *const c_void);
    pin_pointer(&call, 0, a);
    pin_pointer(&call, 1, b);
    if call.recorded()
        && (shadow::any(a.cast(), real::strlen(a) + 1)
            || shadow::any(b.cast(), real::strlen(b) + 1))
    {
        log::lose_in(Loss::Model, c"strverscmp");
    }
    call.result_id(0);
    real::strverscmp(a, b)
}

/// The result for memory that differs, in the form that it has where no page ends.
unsafe fn usual(result: c_int, a: *const u8, b: *const u8, n: usize, form: Form) -> c_int {
    let mut bytes = (0..n).map(|i| (c_int::from(*a.add(i)), c_int::from(*b.add(i))));
    let difference = bytes.find(|(x, y)| x != y).map(|(x, y)| x - y);
    match (difference, form) {
        (Some(difference), Form::Difference) => difference,
        (Some(difference), Form::Sign) => difference.signum(),
        _ => result,
    }
}

/// `memcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_memcmp as *const c_void);
    pin_size(&call, 2, n);
    let form = || FORMS.of(n, |x, y, n| real::memcmp(x.cast(), y.cast(), n));
    let result = match real::memcmp(a, b, n) {
        result if result != 0 && call.recorded() => usual(result, a.cast(), b.cast(), n, form()),
        result => result,
    };
    let what = Comparison {
        a: a.cast(),
        b: b.cast(),
        bound: n,
        strings: false,
        folded: false,
        form: Form::Difference,
    };
    follow(&call, what, result, form, c"memcmp");
    result
}

/// `bcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_bcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    static FORMS: Forms = Forms::new();
    let call = Call::take(bg_x_bcmp as *const c_void);
    pin_size(&call, 2, n);
    let form = || FORMS.of(n, |x, y, n| real::bcmp(x.cast(), y.cast(), n));
    let result = match real::bcmp(a, b, n) {
        result if result != 0 && call.recorded() => usual(result, a.cast(), b.cast(), n, form()),
        result => result,
    };
    let what = Comparison {
        a: a.cast(),
        b: b.cast(),
        bound: n,
        strings: false,
        folded: false,
        form: Form::Difference,
    };
    follow(&call, what, result, form, c"bcmp");
    result
}
