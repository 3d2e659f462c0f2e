//! Which inputs are wanted: what the user fixed stays as it is.

use beagle_trace::{Input, SourceKind};

/// Names a source across inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// An argument, by its index; 0 is the name of the program.
    Argument(u32),
    /// Standard input.
    Stdin,
    /// An environment variable, by its name.
    Environment(Vec<u8>),
    /// A file, by its path.
    File(Vec<u8>),
}

/// What holds for one source.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The source.
    pub source: Key,
    /// Bytes that stay, by index.
    pub fixed: Vec<(u32, u8)>,
    /// How many bytes there are at most.
    pub most: Option<u32>,
}

/// What holds for every input that is tried. Sources that are not symbolic never change.
#[derive(Clone, Debug, Default)]
pub struct Space {
    /// The number of arguments, the name of the program included, if it has to stay.
    pub arguments: Option<u32>,
    /// One for each source with bounds.
    pub bounds: Vec<Bounds>,
}

/// Arguments, where their number may vary, and bytes of a source without bounds.
const MOST_ARGUMENTS: u32 = 12;
const MOST_BYTES: usize = 4096;

impl Space {
    /// Whether words can be added and taken away.
    pub fn is_open(&self) -> bool {
        self.arguments.is_none()
    }

    /// Puts back what has to stay; false if that cannot be done.
    pub fn repair(&self, input: &mut Input) -> bool {
        let count = input.arg_count();
        if self.arguments.is_some_and(|fixed| fixed != count)
            || count > MOST_ARGUMENTS.max(self.least())
        {
            return false;
        }
        for source in &mut input.sources {
            if source.symbolic {
                source.bytes.truncate(MOST_BYTES);
            }
            // A NUL would end it here.
            if source.kind.is_string() {
                source.bytes.retain(|&byte| byte != 0);
            }
        }
        for bounds in &self.bounds {
            let Some(at) = bounds.source.find(input) else {
                return false;
            };
            let bytes = &mut input.sources[at].bytes;
            if let Some(most) = bounds.most {
                bytes.truncate(most as usize);
            }
            for &(index, byte) in &bounds.fixed {
                let index = index as usize;
                if bytes.len() < index {
                    return false;
                }
                match bytes.get_mut(index) {
                    Some(place) => *place = byte,
                    None => bytes.push(byte),
                }
            }
        }
        true
    }

    fn least(&self) -> u32 {
        self.arguments.unwrap_or(0)
    }
}

impl Key {
    fn find(&self, input: &Input) -> Option<usize> {
        match self {
            Key::Argument(index) => {
                let index = *index as usize;
                let source = input.sources.get(index)?;
                (source.kind == SourceKind::Argument).then_some(index)
            }
            Key::Stdin => Self::position(input, SourceKind::Stdin, b""),
            Key::Environment(name) => Self::position(input, SourceKind::Environment, name),
            Key::File(name) => Self::position(input, SourceKind::File, name),
        }
    }

    fn position(input: &Input, kind: SourceKind, name: &[u8]) -> Option<usize> {
        let mut sources = input.sources.iter();
        sources.position(|source| source.kind == kind && source.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fixed_is_put_back_or_refused() {
        let space = Space {
            arguments: Some(2),
            bounds: vec![Bounds {
                source: Key::Argument(1),
                fixed: vec![(0, b'-'), (1, b'w')],
                most: Some(4),
            }],
        };
        let mut input = Input::from_args("p", ["xyzzy"]);
        assert!(space.repair(&mut input));
        assert_eq!(input.sources[1].bytes, b"-wzz");
        let mut short = Input::from_args("p", [""]);
        assert!(space.repair(&mut short));
        assert_eq!(short.sources[1].bytes, b"-w");
        assert!(!space.repair(&mut Input::from_args("p", ["a", "b"])));
    }

    #[test]
    fn strings_have_no_end_inside() {
        let mut input = Input::from_args("p", [b"a\0b".to_vec()]).with_stdin(*b"a\0b");
        assert!(Space::default().repair(&mut input));
        assert_eq!(input.sources[1].bytes, b"ab");
        assert_eq!(input.sources[2].bytes, b"a\0b");
    }
}
