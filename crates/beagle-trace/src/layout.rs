//! The shared memory of one traced program: a header, then the regions it names.

/// Written first into the memory: "beagle" and the version of the format.
pub const MAGIC: u64 = u64::from_le_bytes(*b"beagle\0\x01");

/// The file descriptor at which a traced program finds the shared memory. Without it the program
/// runs as if it had not been instrumented.
pub const MEMORY_FD: i32 = 998;
/// The file descriptor at which the fork server takes requests and answers.
pub const CONTROL_FD: i32 = 999;
/// The file descriptors that become standard output and standard error of each run.
pub const STDOUT_FD: i32 = 996;
/// See [`STDOUT_FD`].
pub const STDERR_FD: i32 = 997;

/// A part of the shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Region {
    /// From the start of the shared memory; a multiple of the page size.
    pub offset: u64,
    /// In bytes.
    pub size: u64,
}

/// The start of the shared memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// The input, as [`crate::wire`] says. Written by the reader before a run.
    pub input: Region,
    /// Nodes by number; number 0 is not used.
    pub nodes: Region,
    /// Words of events, ended by a 0.
    pub events: Region,
    /// Tables and texts, as [`crate::wire`] says.
    pub blobs: Region,
    /// What was written to standard output, standard error and files, as far as it fits.
    pub outputs: Region,

    /// For the run: no more nodes than this.
    pub max_nodes: u32,
    /// For the run: no more words of events than this.
    pub max_events: u32,
    /// For the run: the largest object, in bytes, that a look-up may take as its table.
    pub max_table: u32,
    /// For the run: how much memory the program may map beyond what it has at `main`, in MiB; 0 for
    /// no limit.
    pub max_memory: u32,
    /// For the run: how many processes it may start.
    pub max_processes: u32,
    /// For the run: the largest file it may write, in MiB; 0 for no limit.
    pub max_file: u32,
    /// For the run: a set of the `WITH_` flags.
    pub flags: u32,

    /// One more than the number of the last node.
    pub node_count: u32,
    /// How many blobs there are.
    pub blob_count: u32,
    /// Used bytes of the blobs.
    pub blob_bytes: u32,
    /// Used bytes of the outputs.
    pub output_bytes: u64,
    /// Bytes of output that did not fit.
    pub output_lost: u64,
    /// How far the run came: one of the `PHASE_` numbers.
    pub phase: u32,
    /// Why recording stopped before the program ended: one of the `STOP_` numbers.
    pub stop: u32,
    /// What the run could not follow, by cause.
    pub losses: [LossSlot; MAX_LOSSES],
}

/// The memory before the first region.
pub const HEADER_SIZE: u64 = 64 * 1024;

/// [`Header::flags`]: the sizes of standard input and files, and the number of arguments, are
/// variables too.
pub const WITH_SIZES: u32 = 1;

/// [`Header::phase`]: nothing happened yet.
pub const PHASE_NONE: u32 = 0;
/// [`Header::phase`]: `main` was entered.
pub const PHASE_MAIN: u32 = 1;
/// [`Header::phase`]: `main` returned, or the program called `exit` or the like.
pub const PHASE_EXIT: u32 = 2;

/// [`Header::stop`]: recorded to the end.
pub const STOP_NONE: u32 = 0;
/// [`Header::stop`]: too many events.
pub const STOP_EVENTS: u32 = 1;
/// [`Header::stop`]: too many nodes.
pub const STOP_NODES: u32 = 2;
/// [`Header::stop`]: too many tables and texts.
pub const STOP_BLOBS: u32 = 3;
/// [`Header::stop`]: the program was replaced by another (`exec`).
pub const STOP_EXEC: u32 = 4;
/// [`Header::stop`]: an error inside the recorder.
pub const STOP_BROKEN: u32 = 5;

/// How many causes of losses are kept apart; the last slot takes the rest.
pub const MAX_LOSSES: usize = 256;

/// One cause of losses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LossSlot {
    /// The number of a [`Loss`]; 0 if the slot is free.
    pub cause: u32,
    /// How often.
    pub count: u32,
    /// The function concerned, if the cause has one; ended by a 0 unless full.
    pub name: [u8; 56],
}

/// Declares the causes with their numbers and their words.
macro_rules! losses {
    ($($(#[$meta:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// Why an expression was dropped: from there on the value counts as independent of the
        /// input.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Loss { $($(#[$meta])* $name = $number,)* }

        impl Loss {
            /// All causes.
            pub const ALL: &[Loss] = &[$(Loss::$name,)*];

            /// The cause with this number.
            pub const fn from_number(number: u32) -> Option<Loss> {
                match number { $($number => Some(Loss::$name),)* _ => None }
            }

            /// In words, for reports. With a named function: "… NAME".
            pub const fn text(self) -> &'static str {
                match self { $(Loss::$name => $text,)* }
            }
        }
    };
}

losses! {
    /// The bytes in memory are not those of the expression: code without instrumentation wrote them.
    Overwritten = 1, "memory written by code that is not instrumented";
    /// A function that is neither instrumented nor known got a value or memory that depends on the input.
    UnknownCall = 2, "call of a function that is not followed:";
    /// Arithmetic on `long double`.
    LongDouble = 3, "arithmetic on long double";
    /// Inline assembly got a value that depends on the input.
    Assembly = 4, "inline assembly";
    /// A shift by the width or more.
    ShiftTooFar = 5, "shift by the width of the value or more";
    /// A float to integer conversion of a value that does not fit.
    ConversionRange = 6, "conversion of a float that does not fit the integer";
    /// A thread other than the first used a value that depends on the input.
    Thread = 7, "value used by a second thread";
    /// A signal handler interrupted the recorder.
    Signal = 8, "signal handler interrupted the recorder";
    /// An instruction that the instrumentation does not know.
    Instruction = 9, "instruction that is not followed:";
    /// More arguments than there are slots for.
    Arguments = 10, "more arguments than are followed";
    /// A model of a libc function met a case that it does not cover.
    Model = 11, "case not covered by the model of";
    /// A value did not have the value that its expression has.
    Mismatch = 12, "value that its expression does not explain";
    /// A child process ran on its own.
    Process = 13, "child process";
    /// A file, pipe or stream whose content is not part of the input.
    Stream = 14, "output to a stream that is not followed";
    /// A look-up in an object too large, or of which nothing is known; the address was assumed.
    Address = 15, "address assumed because its object is too large or unknown";
    /// All causes that found no slot.
    Others = 16, "other causes";
    /// A file that the program wants to read, under a name of its own, is not part of the input.
    Absent = 17, "file that is not there:";
    /// The same, under a name that depends on the input: files are there under the names that the input gives them.
    AbsentByName = 18, "file that the input names and that is not there:";
}
