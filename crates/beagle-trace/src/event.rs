//! Events as words of 32 bits, the way they lie in memory.
//!
//! The low three bits of a word tell its kind, the rest is mostly a *site*: the number of the
//! statement that made the event (see [`Site`]). No event starts with a word of 0.
//!
//! | low bits | rest | words that follow |
//! | --- | --- | --- |
//! | 0, 1 | site | none: a branch went to its second (0) or first (1) successor |
//! | 2, 3 | site | node of the condition (1 bit; its value is the low bit) |
//! | 4 | site | `case << 1 \| symbolic`, then if symbolic the node of the value. Case 0 is the default, case n the n-th case of the switch |
//! | 5 | `function << 1 \| leave` | none |
//! | 6 | site | none: the statement was executed |
//! | 7 | `words << 5 \| kind` | that many words, the first is the site: see the `EXT_` numbers |

/// The number of a statement, of the numbering that the instrumentation was given, plus 1; from
/// [`MODEL_SITES`] on it is a statement of a model of a libc function.
pub type Site = u32;

/// Sites from here on belong to models of libc functions.
pub const MODEL_SITES: Site = 1 << 28;

/// Kind: a branch that does not depend on the input. Plus 1 if its condition holds.
pub const BRANCH: u32 = 0;
/// Kind: a branch that depends on the input. Plus 1 if its condition holds.
pub const SYMBOLIC_BRANCH: u32 = 2;
/// Kind: a switch.
pub const SWITCH: u32 = 4;
/// Kind: a function was entered or left.
pub const FRAME: u32 = 5;
/// Kind: a statement was executed.
pub const STATEMENT: u32 = 6;
/// Kind: one of the following.
pub const EXTENDED: u32 = 7;

/// Site, reason (one of `ASSUME_`), node (1 bit, holds in this run): what follows is true only for
/// inputs for which the node holds.
pub const EXT_ASSUME: u32 = 0;
/// Site, `bytes << 8 | object << 1 | store`, node of the address (64 bits), base (low, high), size of
/// the object (low, high): an access at an address that depends on the input. What follows is true
/// only while the access stays inside the object. `object` is one of `OBJECT_`.
pub const EXT_BOUNDS: u32 = 1;
/// Site, check (one of `CHECK_`), node: see there.
pub const EXT_CHECK: u32 = 2;
/// Site, channel, offset in the outputs (low, high), length, then pieces of four words: position,
/// length, node, blob of the conversion or 0. Channel 1 and 2 are standard output and standard error,
/// others are `CHANNEL_FILES` plus the number of the blob with the path. A piece says that the bytes
/// at that position are the node's bytes (lowest first), or what `printf` makes of it.
pub const EXT_OUTPUT: u32 = 3;
/// Site, end (one of `END_`), value, node or 0.
pub const EXT_END: u32 = 4;
/// Site, source, offset (low, high), length, wanted length: the program read from an input source;
/// fewer than wanted means that it met the end.
pub const EXT_READ: u32 = 5;
/// Site, function: control came back to this activation of the function by `longjmp` or an exception.
pub const EXT_UNWOUND: u32 = 6;

/// Site, place, value (low, high), node or 0: a value of at most 64 bits was put into a variable that
/// the instrumentation was told to watch, which has that number.
pub const EXT_VALUE: u32 = 7;
/// Added to the numbers of variables of which only the first [`MOST_DECIDING`] values of a run are recorded.
pub const DECIDING: u32 = 1 << 31;
/// Added to the numbers of variables that hold addresses. What is recorded of these is where they lead: 0 if nowhere, else
/// 1 and the kind of the object, or [`UNKNOWN_OBJECT`].
pub const ADDRESS: u32 = 1 << 30;
/// Where an address leads of which no object is known.
pub const UNKNOWN_OBJECT: u64 = u64::MAX;
/// So many values of these variables are recorded: they may be those of any loop, and must not fill the events.
pub const MOST_DECIDING: u32 = 8192;

/// Site, node of the first byte of a text, node of its last byte, `length << 1 | both`, length of
/// another text, then the bytes of that one, four to a word, the first one lowest: the program compared the two, of
/// which perhaps `both` depend on the input, and they differ.
pub const EXT_COMPARED: u32 = 8;
/// Longer texts are not recorded as compared...
pub const MOST_TEXT: usize = 48;
/// ...nor more comparisons of a run than this: they must not fill the events.
pub const MOST_COMPARED: u32 = 2048;

/// An address was taken to be what it was.
pub const ASSUME_ADDRESS: u32 = 0;
/// A string, number or other unit was taken to have the length it had.
pub const ASSUME_LENGTH: u32 = 1;
/// A size (of memory, of a copy, of a read) was taken to be what it was.
pub const ASSUME_SIZE: u32 = 2;
/// A compare-and-exchange went the way it went.
pub const ASSUME_EXCHANGE: u32 = 3;
/// Any other value that a model took to be what it was.
pub const ASSUME_VALUE: u32 = 4;

/// Nothing is known of the object.
pub const OBJECT_UNKNOWN: u32 = 0;
/// A global variable.
pub const OBJECT_GLOBAL: u32 = 1;
/// Heap memory.
pub const OBJECT_HEAP: u32 = 2;
/// A local variable.
pub const OBJECT_STACK: u32 = 3;
/// An argument, the environment, or a table of libc.
pub const OBJECT_FOREIGN: u32 = 4;

/// The node is a divisor; it fails if that is 0.
pub const CHECK_DIVISOR: u32 = 0;
/// The node is signed arithmetic; it fails if that overflows.
pub const CHECK_OVERFLOW: u32 = 1;
/// The node is a signed quotient or remainder; it fails for the least number and -1.
pub const CHECK_QUOTIENT: u32 = 2;
/// The node is a shift; it fails if the distance is not less than the width.
pub const CHECK_SHIFT: u32 = 3;

/// The program ended by returning from `main` or by `exit`; the value is the status.
pub const END_EXIT: u32 = 0;
/// `abort` was called.
pub const END_ABORT: u32 = 1;
/// An assertion failed.
pub const END_ASSERT: u32 = 2;
/// The program was replaced by another.
pub const END_EXEC: u32 = 3;

/// Channels from here on are files; see [`EXT_OUTPUT`].
pub const CHANNEL_FILES: u32 = 16;

/// The first word of a plain event.
pub const fn word(kind: u32, rest: u32) -> u32 {
    rest << 3 | kind
}

/// The first word of an extended event with this many words after it.
pub const fn extended(kind: u32, words: u32) -> u32 {
    (words << 5 | kind) << 3 | EXTENDED
}

/// The most words that can follow the first word of an extended event.
pub const MAX_EXTENDED: u32 = (1 << 24) - 1;
