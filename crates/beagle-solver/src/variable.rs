//! What expressions are about: bytes and sizes of the input.
//!
//! A run numbers the sources of its input; another run with more arguments numbers them otherwise.
//! Here a source has one number for all runs.

use beagle_trace::{Input, SourceKind};

/// A source of input, whatever its number in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKey {
    /// The argument at this index; 0 is the name of the program.
    Argument(u32),
    /// The environment variable of this name.
    Environment(Vec<u8>),
    /// Standard input.
    Stdin,
    /// The file at this path.
    File(Vec<u8>),
}

impl SourceKey {
    /// The keys of the sources of an input, in their order.
    pub fn of_input(input: &Input) -> Vec<SourceKey> {
        let sources = input.sources.iter().enumerate();
        sources
            .map(|(index, source)| match source.kind {
                // Arguments come first, so their index is their number.
                SourceKind::Argument => SourceKey::Argument(index as u32),
                SourceKind::Environment => SourceKey::Environment(source.name.clone()),
                SourceKind::Stdin => SourceKey::Stdin,
                SourceKind::File => SourceKey::File(source.name.clone()),
            })
            .collect()
    }

    /// Whether its bytes are a C string, which ends at the first 0.
    pub fn is_string(&self) -> bool {
        matches!(self, SourceKey::Argument(_) | SourceKey::Environment(_))
    }
}

/// The number of a [`SourceKey`] in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source(pub(crate) u32);

/// The number of a variable in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variable(pub(crate) u32);

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VariableKind {
    /// A byte of a source; 0 past its end. 8 bits.
    Byte(Source, u32),
    /// The number of bytes of a source. 64 bits.
    Size(Source),
    /// The number of arguments, the name of the program included. 32 bits.
    ArgCount,
}
