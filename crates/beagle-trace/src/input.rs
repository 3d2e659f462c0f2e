//! The input of one run: arguments, environment variables, standard input, files.
//!
//! Expressions name a byte of the input by the number of its source and its index in there. A byte
//! past the end of its source is 0, as it is for the expressions.

use crate::wire::{
    SOURCE_ARGUMENT, SOURCE_ENVIRONMENT, SOURCE_FILE, SOURCE_STDIN, SOURCE_SYMBOLIC, SourceEntry,
};

/// How many bytes past the end of a symbolic argument or environment variable are variables too.
///
/// With enough of them a keyword that is longer than the argument is found by one query.
pub const DEFAULT_PAD: u32 = 16;

/// Inputs are small; more than this is a mistake somewhere.
const MAX_SIZE: u64 = 1 << 31;

const ENTRY_SIZE: usize = size_of::<SourceEntry>();
const START_SIZE: usize = 8;

/// Where bytes of the input come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// An argument of the program; the first is its name.
    Argument,
    /// The value of an environment variable.
    Environment,
    /// Standard input.
    Stdin,
    /// The content of a file.
    File,
}

impl SourceKind {
    const fn number(self) -> u32 {
        match self {
            SourceKind::Argument => SOURCE_ARGUMENT,
            SourceKind::Environment => SOURCE_ENVIRONMENT,
            SourceKind::Stdin => SOURCE_STDIN,
            SourceKind::File => SOURCE_FILE,
        }
    }

    /// Whether its bytes are a C string.
    pub const fn is_string(self) -> bool {
        matches!(self, SourceKind::Argument | SourceKind::Environment)
    }
}

/// One source of input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// The name of the environment variable or the path of the file; else empty.
    pub name: Vec<u8>,
    /// Its bytes. Of an argument or environment variable only those before the first NUL count.
    pub bytes: Vec<u8>,
    /// Whether its bytes are variables.
    pub symbolic: bool,
    /// How many bytes past its end are variables too. Only for arguments and environment variables.
    pub pad: u32,
}

impl Source {
    /// A symbolic argument.
    pub fn argument(bytes: impl Into<Vec<u8>>) -> Self {
        symbolic(SourceKind::Argument, Vec::new(), bytes.into())
    }

    /// The bytes that the program gets to see: an argument or environment variable ends at the first
    /// NUL.
    pub fn content(&self) -> &[u8] {
        if self.kind.is_string()
            && let Some(end) = self.bytes.iter().position(|&byte| byte == 0)
        {
            &self.bytes[..end]
        } else {
            &self.bytes
        }
    }
}

/// The input of one run. Arguments come first, the name of the program included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Input {
    /// Expressions name a source by its index here.
    pub sources: Vec<Source>,
}

/// Why an input cannot be given to a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// It does not fit into the shared memory.
    #[error("the input takes {needed} bytes, but there is room for {room}")]
    TooLarge {
        /// With names and entries.
        needed: u64,
        /// The size of the region.
        room: u64,
    },
    /// A byte or size was set of a source that is not there.
    #[error("the input has no source number {0}")]
    NoSource(u32),
    /// An argument follows a source of another kind.
    #[error("source {0} of the input is an argument, but arguments have to come first")]
    ArgumentsNotFirst(usize),
    /// There is more than one standard input.
    #[error("the input has standard input more than once")]
    StdinTwice,
    /// The name of an environment variable or file cannot be used.
    #[error("source {index} of the input has the impossible name \"{}\"", name.escape_ascii())]
    BadName {
        /// The number of the source.
        index: usize,
        /// Its name.
        name: Vec<u8>,
    },
}

impl Input {
    /// An input of arguments only. The name of the program is not symbolic, the others are.
    pub fn from_args(
        program_name: impl Into<Vec<u8>>,
        args: impl IntoIterator<Item: Into<Vec<u8>>>,
    ) -> Self {
        let mut sources = vec![Source {
            symbolic: false,
            pad: 0,
            ..Source::argument(program_name)
        }];
        sources.extend(args.into_iter().map(Source::argument));
        Self { sources }
    }

    /// Adds a symbolic standard input.
    pub fn with_stdin(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(symbolic(SourceKind::Stdin, Vec::new(), bytes.into()))
    }

    /// Adds a symbolic file, with the path by which the program opens it.
    pub fn with_file(self, path: impl Into<Vec<u8>>, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(symbolic(SourceKind::File, path.into(), bytes.into()))
    }

    /// Adds a symbolic environment variable.
    pub fn with_env(self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.with(symbolic(SourceKind::Environment, name.into(), value.into()))
    }

    fn with(mut self, source: Source) -> Self {
        self.sources.push(source);
        self
    }

    fn source(&self, source: u32) -> Option<&Source> {
        self.sources.get(usize::try_from(source).ok()?)
    }

    /// A byte as the program sees it; 0 past the end of the source, and if there is no such source.
    pub fn byte(&self, source: u32, index: u32) -> u8 {
        self.source(source)
            .and_then(|source| source.content().get(index as usize))
            .copied()
            .unwrap_or(0)
    }

    /// How many bytes a source has for the program; 0 if there is no such source.
    pub fn size(&self, source: u32) -> u64 {
        self.source(source)
            .map_or(0, |source| source.content().len() as u64)
    }

    /// The number of arguments, the name of the program included.
    pub fn arg_count(&self) -> u32 {
        let arguments = self
            .sources
            .iter()
            .filter(|source| source.kind == SourceKind::Argument);
        u32::try_from(arguments.count()).unwrap_or(u32::MAX)
    }

    /// Changes a byte; past the end the source grows, with zeros before the byte.
    ///
    /// A 0 past the end changes nothing: that is what the byte is already.
    pub fn set_byte(&mut self, source: u32, index: u32, value: u8) -> Result<(), InputError> {
        let bytes = self.bytes_mut(source)?;
        let index = index as usize;
        if index >= bytes.len() {
            if value == 0 {
                return Ok(());
            }
            check_size(index as u64 + 1)?;
            bytes.resize(index + 1, 0);
        }
        bytes[index] = value;
        Ok(())
    }

    /// Cuts a source, or lets it grow by zeros.
    pub fn set_size(&mut self, source: u32, size: u64) -> Result<(), InputError> {
        let bytes = self.bytes_mut(source)?;
        check_size(size)?;
        bytes.resize(size as usize, 0);
        Ok(())
    }

    fn bytes_mut(&mut self, source: u32) -> Result<&mut Vec<u8>, InputError> {
        self.sources
            .get_mut(source as usize)
            .map(|source| &mut source.bytes)
            .ok_or(InputError::NoSource(source))
    }

    /// The input as the program sees it: arguments and environment variables end at their first NUL.
    pub fn normalised(&self) -> Self {
        let sources = self.sources.iter().map(|source| Source {
            bytes: source.content().to_vec(),
            name: source.name.clone(),
            ..*source
        });
        Self {
            sources: sources.collect(),
        }
    }

    /// How the normalised input lies in shared memory; see [`crate::wire`].
    pub fn encode(&self) -> Result<Vec<u8>, InputError> {
        self.validate()?;
        check_size(self.encoded_size())?;
        let mut out = Vec::with_capacity(self.encoded_size() as usize);
        out.extend((self.sources.len() as u32).to_le_bytes());
        out.extend(0u32.to_le_bytes());
        let mut offset = START_SIZE + self.sources.len() * ENTRY_SIZE;
        for source in &self.sources {
            let (name, bytes) = (source.name.len(), source.content().len());
            let words = [
                source.kind.number(),
                if source.symbolic { SOURCE_SYMBOLIC } else { 0 },
                offset as u32,
                name as u32,
                (offset + name) as u32,
                bytes as u32,
                source.pad,
                0,
            ];
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            offset += name + bytes;
        }
        for source in &self.sources {
            out.extend_from_slice(&source.name);
            out.extend_from_slice(source.content());
        }
        Ok(out)
    }

    /// The size of what [`Input::encode`] returns.
    pub fn encoded_size(&self) -> u64 {
        let entries = START_SIZE + self.sources.len() * ENTRY_SIZE;
        let texts: usize = self
            .sources
            .iter()
            .map(|source| source.name.len() + source.content().len())
            .sum();
        (entries + texts) as u64
    }

    fn validate(&self) -> Result<(), InputError> {
        let arguments = self.arg_count() as usize;
        let mut stdin = false;
        for (index, source) in self.sources.iter().enumerate() {
            let name = &source.name;
            let bad_name = match source.kind {
                SourceKind::Argument if index >= arguments => {
                    return Err(InputError::ArgumentsNotFirst(index));
                }
                SourceKind::Stdin if std::mem::replace(&mut stdin, true) => {
                    return Err(InputError::StdinTwice);
                }
                SourceKind::Argument | SourceKind::Stdin => false,
                SourceKind::Environment => {
                    name.is_empty() || name.contains(&b'=') || name.contains(&0)
                }
                SourceKind::File => name.is_empty() || name.contains(&0),
            };
            if bad_name {
                let name = name.clone();
                return Err(InputError::BadName { index, name });
            }
        }
        Ok(())
    }
}

fn symbolic(kind: SourceKind, name: Vec<u8>, bytes: Vec<u8>) -> Source {
    Source {
        kind,
        name,
        bytes,
        symbolic: true,
        pad: if kind.is_string() { DEFAULT_PAD } else { 0 },
    }
}

fn check_size(size: u64) -> Result<(), InputError> {
    if size > MAX_SIZE {
        return Err(InputError::TooLarge {
            needed: size,
            room: MAX_SIZE,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(bytes: &[u8]) -> Vec<u32> {
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|&word| u32::from_le_bytes(word)).collect()
    }

    #[test]
    fn an_input_lies_in_memory_as_the_format_says() {
        let input = Input::from_args("prog", ["-x"]).with_file("a.txt", "hello");
        let bytes = input.encode().expect("fits");
        assert_eq!(bytes.len() as u64, input.encoded_size());
        let start = 8 + 3 * 32;
        assert_eq!(words(&bytes)[..2], [3, 0]);
        assert_eq!(words(&bytes)[2..10], [0, 0, start, 0, start, 4, 0, 0]);
        let second = start + 4;
        assert_eq!(words(&bytes)[10..18], [0, 1, second, 0, second, 2, 16, 0]);
        let third = second + 2;
        assert_eq!(words(&bytes)[18..26], [3, 1, third, 5, third + 5, 5, 0, 0]);
        assert_eq!(&bytes[start as usize..], b"prog-xa.txthello");
    }

    #[test]
    fn an_argument_ends_at_its_first_nul_but_a_file_does_not() {
        let input = Input::from_args("p", [b"ab\0cd".to_vec()]).with_stdin(*b"ab\0cd");
        assert_eq!(input.size(1), 2);
        assert_eq!(input.byte(1, 3), 0);
        assert_eq!(input.size(2), 5);
        assert_eq!(input.byte(2, 3), b'c');
        let normalised = input.normalised();
        assert_eq!(normalised.sources[1].bytes, b"ab");
        assert_eq!(normalised.sources[2].bytes, b"ab\0cd");
        assert_eq!(normalised.encode(), input.encode());
    }

    #[test]
    fn a_byte_past_the_end_makes_the_source_grow() {
        let mut input = Input::from_args("p", ["a"]).with_stdin("x");
        input.set_byte(1, 2, b'c').expect("there");
        assert_eq!(input.sources[1].bytes, b"a\0c");
        assert_eq!(input.size(1), 1);
        input.set_byte(1, 1, b'b').expect("there");
        assert_eq!(input.normalised().sources[1].bytes, b"abc");
        input.set_byte(2, 9, 0).expect("there");
        assert_eq!(input.size(2), 1);
        input.set_byte(2, 3, b'y').expect("there");
        assert_eq!(input.sources[2].bytes, b"x\0\0y");
    }

    #[test]
    fn a_size_cuts_or_fills() {
        let mut input = Input::from_args("p", ["a"]).with_stdin("xyz");
        input.set_size(2, 1).expect("there");
        assert_eq!(input.sources[2].bytes, b"x");
        input.set_size(2, 3).expect("there");
        assert_eq!(input.sources[2].bytes, b"x\0\0");
        assert_eq!(input.set_size(7, 1), Err(InputError::NoSource(7)));
        assert!(matches!(
            input.set_size(2, u64::MAX),
            Err(InputError::TooLarge { .. })
        ));
    }

    #[test]
    fn what_is_not_there_reads_as_zero() {
        let input = Input::from_args("p", ["a"]);
        assert_eq!(input.byte(9, 0), 0);
        assert_eq!(input.byte(1, u32::MAX), 0);
        assert_eq!(input.size(9), 0);
        assert_eq!(input.arg_count(), 2);
    }

    #[test]
    fn impossible_inputs_are_refused() {
        let mut input = Input::from_args("p", [""; 0]).with_stdin("");
        input
            .sources
            .push(symbolic(SourceKind::Argument, vec![], vec![]));
        assert_eq!(input.encode(), Err(InputError::ArgumentsNotFirst(2)));
        let twice = Input::default().with_stdin("").with_stdin("");
        assert_eq!(twice.encode(), Err(InputError::StdinTwice));
        let name = Input::default().with_env("A=B", "");
        assert_eq!(
            name.encode().expect_err("bad").to_string(),
            "source 0 of the input has the impossible name \"A=B\""
        );
    }
}
