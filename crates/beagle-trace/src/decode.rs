//! Events as they are read: typed, one after the other, without copying.

use crate::event::{self, CHANNEL_FILES, Site};
use crate::node::NodeId;

/// Declares an enumeration for a family of numbers of the format, and the way from the number.
macro_rules! numbers {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $number:path,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_meta])* $variant,)* }

        impl $name {
            /// What this number of the format means.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number { $($number => Some($name::$variant),)* _ => None }
            }

            /// Its number in the format.
            pub const fn number(self) -> u32 {
                match self { $($name::$variant => $number,)* }
            }
        }
    };
}

numbers! {
    /// What an assumption is about.
    AssumeReason {
        /// An address was taken to be what it was.
        Address = event::ASSUME_ADDRESS,
        /// A string, number or other unit was taken to have the length it had.
        Length = event::ASSUME_LENGTH,
        /// A size was taken to be what it was.
        Size = event::ASSUME_SIZE,
        /// A compare-and-exchange went the way it went.
        Exchange = event::ASSUME_EXCHANGE,
        /// Any other value that a model took to be what it was.
        Value = event::ASSUME_VALUE,
    }
}

numbers! {
    /// What kind of memory an access was to.
    ObjectKind {
        /// Nothing is known of the object.
        Unknown = event::OBJECT_UNKNOWN,
        /// A global variable.
        Global = event::OBJECT_GLOBAL,
        /// Heap memory.
        Heap = event::OBJECT_HEAP,
        /// A local variable.
        Stack = event::OBJECT_STACK,
        /// An argument, the environment, or a table of libc.
        Foreign = event::OBJECT_FOREIGN,
    }
}

numbers! {
    /// What could go wrong with a value.
    CheckKind {
        /// The node is a divisor; it fails if that is 0.
        Divisor = event::CHECK_DIVISOR,
        /// The node is signed arithmetic; it fails if that overflows.
        Overflow = event::CHECK_OVERFLOW,
        /// The node is a signed quotient or remainder; it fails for the least number and -1.
        Quotient = event::CHECK_QUOTIENT,
        /// The node is a shift; it fails if the distance is not less than the width.
        Shift = event::CHECK_SHIFT,
    }
}

numbers! {
    /// How a program ended.
    EndKind {
        /// By returning from `main` or by `exit`; the value is the status.
        Exit = event::END_EXIT,
        /// `abort` was called.
        Abort = event::END_ABORT,
        /// An assertion failed.
        Assert = event::END_ASSERT,
        /// The program was replaced by another.
        Exec = event::END_EXEC,
    }
}

/// Where output went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A file; the number is that of the blob with its path.
    File(u32),
}

impl Channel {
    /// What this number of the format means.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Channel::Stdout),
            2 => Some(Channel::Stderr),
            _ if number > CHANNEL_FILES => Some(Channel::File(number - CHANNEL_FILES)),
            _ => None,
        }
    }

    /// Its number in the format.
    pub const fn number(self) -> u32 {
        match self {
            Channel::Stdout => 1,
            Channel::Stderr => 2,
            Channel::File(blob) => CHANNEL_FILES.saturating_add(blob),
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A conditional branch.
    Branch {
        /// The statement.
        site: Site,
        /// Whether the condition held, that is, the branch went to its first successor.
        taken: bool,
        /// The condition, if it depends on the input.
        node: Option<NodeId>,
    },
    /// A switch.
    Switch {
        /// The statement.
        site: Site,
        /// 0 for the default, else the number of the case from 1.
        case: u32,
        /// The value, if it depends on the input.
        node: Option<NodeId>,
    },
    /// A function was entered.
    Enter {
        /// Its number, plus 1.
        function: u32,
    },
    /// A function was left.
    Leave {
        /// Its number, plus 1.
        function: u32,
    },
    /// A statement was executed.
    Statement {
        /// The statement.
        site: Site,
    },
    /// What follows is true only for inputs for which the node holds.
    Assume {
        /// The statement.
        site: Site,
        /// What it is about.
        reason: AssumeReason,
        /// One bit that was 1.
        node: NodeId,
    },
    /// An access at an address that depends on the input; what follows is true only while it stays
    /// inside the object.
    Bounds {
        /// The statement.
        site: Site,
        /// How many bytes were accessed.
        bytes: u32,
        /// What the object is.
        object: ObjectKind,
        /// Whether it was a store.
        store: bool,
        /// The address.
        address: NodeId,
        /// Where the object starts.
        base: u64,
        /// How many bytes it has.
        size: u64,
    },
    /// A value that could have been one that goes wrong.
    Check {
        /// The statement.
        site: Site,
        /// What could go wrong.
        check: CheckKind,
        /// The value.
        node: NodeId,
    },
    /// The program wrote something.
    Output {
        /// The statement.
        site: Site,
        /// Where to.
        channel: Channel,
        /// How many bytes.
        length: u32,
        /// The bytes; fewer than `length` only where output was lost.
        bytes: &'a [u8],
        /// The parts that depend on the input.
        pieces: Pieces<'a>,
    },
    /// The program ended.
    End {
        /// The statement.
        site: Site,
        /// How.
        end: EndKind,
        /// The exit status.
        value: u32,
        /// The exit status, if it depends on the input.
        node: Option<NodeId>,
    },
    /// The program read from the input.
    Read {
        /// The statement.
        site: Site,
        /// The number of the source.
        source: u32,
        /// The first byte that was read.
        offset: u64,
        /// How many bytes it got.
        length: u32,
        /// How many it wanted.
        wanted: u32,
    },
    /// Control came back to an activation of the function by `longjmp` or an exception.
    Unwound {
        /// The statement.
        site: Site,
        /// The number of the function, plus 1.
        function: u32,
    },
    /// A value was put into a variable that is watched.
    Value {
        /// The statement.
        site: Site,
        /// The number of the variable.
        place: u32,
        /// The value.
        value: u64,
        /// Its expression, of 64 bits, if it depends on the input.
        node: Option<NodeId>,
    },
    /// A text that depends on the input was compared with another one, and they differ.
    Compared {
        /// The statement.
        site: Site,
        /// Its first byte.
        first: NodeId,
        /// Its last byte.
        last: NodeId,
        /// How many bytes it has.
        length: u32,
        /// Whether the other one depends on the input, too.
        both: bool,
        /// The other one.
        other: Text<'a>,
    },
}

/// A text in words.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    words: &'a [u32],
    length: usize,
}

impl<'a> Text<'a> {
    /// The first so many bytes of the words, if they have so many.
    fn new(words: &'a [u32], length: u32) -> Option<Self> {
        let length = length as usize;
        (length.div_ceil(4) == words.len()).then_some(Self { words, length })
    }

    /// Its bytes.
    pub fn bytes(self) -> impl Iterator<Item = u8> + 'a {
        let bytes = self.words.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(self.length)
    }
}

/// A part of an output that depends on the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts in the bytes of the output.
    pub position: u32,
    /// How many bytes it has.
    pub length: u32,
    /// The value: its bytes, the lowest first, or what the conversion makes of it.
    pub node: NodeId,
    /// The blob with the conversion of `printf`, if there is one.
    pub conversion: Option<u32>,
}

/// The pieces of an output.
#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    words: std::slice::Iter<'a, [u32; 4]>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(words: &'a [u32]) -> Self {
        Self {
            words: words.as_chunks().0.iter(),
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let &[position, length, node, conversion] = self.words.next()?;
        Some(Piece {
            position,
            length,
            node,
            conversion: (conversion != 0).then_some(conversion),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.words.size_hint()
    }
}

impl ExactSizeIterator for Pieces<'_> {}

/// The events of a trace in order.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    words: &'a [u32],
    outputs: &'a [u8],
    position: usize,
}

impl<'a> Events<'a> {
    /// Reads from these words up to the first that starts no event, or ends too early.
    pub(crate) fn new(words: &'a [u32], outputs: &'a [u8]) -> Self {
        Self {
            words,
            outputs,
            position: 0,
        }
    }

    /// The word at which the next event starts.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Takes the word after the first of an event.
    fn word(&self, index: usize) -> Option<u32> {
        self.words.get(self.position + index).copied()
    }

    #[cold]
    fn extended(&self, rest: u32) -> Option<(Event<'a>, usize)> {
        let count = (rest >> 5) as usize;
        let start = self.position + 1;
        let words = self.words.get(start..start.checked_add(count)?)?;
        let event = decode_extended(rest & 31, words, self.outputs)?;
        Some((event, count + 1))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Event<'a>;

    #[inline]
    fn next(&mut self) -> Option<Event<'a>> {
        let first = *self.words.get(self.position)?;
        if first == 0 {
            return None;
        }
        let rest = first >> 3;
        let (event, length) = match first & 7 {
            event::EXTENDED => self.extended(rest)?,
            event::STATEMENT => (Event::Statement { site: rest }, 1),
            event::FRAME => {
                let function = rest >> 1;
                let event = if rest & 1 == 0 {
                    Event::Enter { function }
                } else {
                    Event::Leave { function }
                };
                (event, 1)
            }
            event::SWITCH => {
                let second = self.word(1)?;
                let (node, length) = if second & 1 == 0 {
                    (None, 2)
                } else {
                    (Some(self.word(2)?), 3)
                };
                let case = second >> 1;
                let site = rest;
                (Event::Switch { site, case, node }, length)
            }
            kind => {
                let taken = kind & 1 == 1;
                let (node, length) = if kind < event::SYMBOLIC_BRANCH {
                    (None, 1)
                } else {
                    (Some(self.word(1)?), 2)
                };
                let site = rest;
                (Event::Branch { site, taken, node }, length)
            }
        };
        self.position += length;
        Some(event)
    }
}

fn decode_extended<'a>(kind: u32, words: &'a [u32], outputs: &'a [u8]) -> Option<Event<'a>> {
    let event = match (kind, words) {
        (event::EXT_ASSUME, &[site, reason, node]) => Event::Assume {
            site,
            reason: AssumeReason::from_number(reason)?,
            node,
        },
        (event::EXT_BOUNDS, &[site, access, address, base, base_high, size, size_high]) => {
            Event::Bounds {
                site,
                bytes: access >> 8,
                object: ObjectKind::from_number(access >> 1 & 0x7f)?,
                store: access & 1 == 1,
                address,
                base: long(base, base_high),
                size: long(size, size_high),
            }
        }
        (event::EXT_CHECK, &[site, check, node]) => Event::Check {
            site,
            check: CheckKind::from_number(check)?,
            node,
        },
        (event::EXT_OUTPUT, &[site, channel, offset, offset_high, length, ref pieces @ ..])
            if pieces.len() % 4 == 0 =>
        {
            let start = usize::try_from(long(offset, offset_high)).ok()?;
            let start = start.min(outputs.len());
            let end = start.saturating_add(length as usize).min(outputs.len());
            Event::Output {
                site,
                channel: Channel::from_number(channel)?,
                length,
                bytes: &outputs[start..end],
                pieces: Pieces::new(pieces),
            }
        }
        (event::EXT_END, &[site, end, value, node]) => Event::End {
            site,
            end: EndKind::from_number(end)?,
            value,
            node: (node != 0).then_some(node),
        },
        (event::EXT_READ, &[site, source, offset, offset_high, length, wanted]) => Event::Read {
            site,
            source,
            offset: long(offset, offset_high),
            length,
            wanted,
        },
        (event::EXT_UNWOUND, &[site, function]) => Event::Unwound { site, function },
        (event::EXT_VALUE, &[site, place, low, high, node]) => Event::Value {
            site,
            place,
            value: long(low, high),
            node: (node != 0).then_some(node),
        },
        (event::EXT_COMPARED, &[site, first, last, length, other, ref words @ ..]) => {
            Event::Compared {
                site,
                first,
                last,
                length: length >> 1,
                both: length & 1 == 1,
                other: Text::new(words, other)?,
            }
        }
        _ => return None,
    };
    Some(event)
}

fn long(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}
