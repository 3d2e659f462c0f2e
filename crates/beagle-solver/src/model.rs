//! Inputs as values of variables, and back.

use beagle_trace::{DEFAULT_PAD, Input, InputError, SourceKind};
use rustc_hash::FxHashMap;

use crate::pool::Pool;
use crate::variable::{Source, SourceKey, Variable, VariableKind};

/// An input that answers are to be near to.
#[derive(Clone, Debug)]
pub struct Hint {
    input: Input,
    /// Where in the input a source of the pool is.
    at: FxHashMap<Source, u32>,
}

impl Hint {
    /// The values of an input.
    pub fn new(pool: &mut Pool, input: Input) -> Self {
        let keys = SourceKey::of_input(&input);
        let at = keys.iter().enumerate();
        let at = at.map(|(index, key)| (pool.source(key), index as u32));
        Self {
            at: at.collect(),
            input,
        }
    }

    /// The input.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The value of a variable; what the input does not have is 0.
    pub fn value(&self, kind: VariableKind) -> u128 {
        let at = |source| self.at.get(&source).copied();
        match kind {
            VariableKind::Byte(source, index) => {
                at(source).map_or(0, |at| self.input.byte(at, index).into())
            }
            VariableKind::Size(source) => at(source).map_or(0, |at| self.input.size(at).into()),
            VariableKind::ArgCount => self.input.arg_count().into(),
        }
    }

    /// Whether the input has a source.
    pub(crate) fn has(&self, source: Source) -> bool {
        self.at.contains_key(&source)
    }

    /// How many bytes a source has.
    pub(crate) fn size(&self, source: Source) -> u64 {
        self.value(VariableKind::Size(source)) as u64
    }
}

/// What to change of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// The variables that change, with their new values.
    pub changes: Vec<(Variable, u128)>,
}

impl Model {
    /// The changed input.
    pub fn apply(&self, pool: &Pool, hint: &Hint) -> Result<Input, InputError> {
        let mut input = hint.input.clone();
        let kinds = self.changes.iter();
        let kinds = kinds.map(|&(variable, value)| (pool.variable_kind(variable), value));
        let have = input.arg_count();
        let mut counts = kinds.clone();
        let count = counts.find(|&(kind, _)| kind == VariableKind::ArgCount);
        let count = count.map_or(have, |(_, value)| value as u32);
        set_arg_count(&mut input, count as usize);
        // Where a source is now.
        let place = |source: Source| match *pool.source_key(source) {
            SourceKey::Argument(number) => (number < count).then_some(number),
            _ => hint.at.get(&source).map(|&at| at - have + count),
        };
        // Sizes first: a byte within the new size must not be cut off again.
        for (kind, value) in kinds.clone() {
            if let VariableKind::Size(source) = kind
                && let Some(at) = place(source)
            {
                input.set_size(at, u64::try_from(value).unwrap_or(u64::MAX))?;
            }
        }
        for (kind, value) in kinds {
            if let VariableKind::Byte(source, index) = kind
                && let Some(at) = place(source)
            {
                input.set_byte(at, index, value as u8)?;
            }
        }
        Ok(input.normalised())
    }
}

/// Drops the last arguments or adds empty ones.
fn set_arg_count(input: &mut Input, count: usize) {
    let have = input.arg_count() as usize;
    if count < have {
        input.sources.drain(count..have);
    } else {
        let empty = beagle_trace::Source {
            kind: SourceKind::Argument,
            name: Vec::new(),
            bytes: Vec::new(),
            symbolic: true,
            pad: DEFAULT_PAD,
        };
        let new = std::iter::repeat_n(empty, count - have);
        input.sources.splice(have..have, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(input: &Input, changes: &[(VariableKind, u128)]) -> Input {
        let mut pool = Pool::new();
        let hint = Hint::new(&mut pool, input.clone());
        let changes = changes.iter().map(|&(kind, value)| {
            let expr = pool.variable(kind);
            (Variable(pool.term(expr).c), value)
        });
        let model = Model {
            changes: changes.collect(),
        };
        model.apply(&pool, &hint).expect("fits")
    }

    #[test]
    fn bytes_and_sizes_change() {
        let input = Input::from_args("p", ["ab"]).with_stdin("xyz");
        let (argument, stdin) = (Source(1), Source(2));
        let made = changed(
            &input,
            &[
                (VariableKind::Byte(argument, 2), b'c'.into()),
                (VariableKind::Byte(stdin, 4), b'!'.into()),
                (VariableKind::Size(stdin), 6),
            ],
        );
        assert_eq!(made.sources[1].bytes, b"abc");
        assert_eq!(made.sources[2].bytes, b"xyz\0!\0");
        let cut = changed(&input, &[(VariableKind::Byte(argument, 0), 0)]);
        assert_eq!(cut.sources[1].bytes, b"");
    }

    #[test]
    fn arguments_come_and_go_before_the_other_sources() {
        let input = Input::from_args("p", ["a", "b"]).with_stdin("x");
        let fewer = changed(&input, &[(VariableKind::ArgCount, 2)]);
        assert_eq!(fewer, Input::from_args("p", ["a"]).with_stdin("x"));
        let mut pool = Pool::new();
        let hint = Hint::new(&mut pool, input.clone());
        let third = pool.source(&SourceKey::Argument(3));
        let stdin = pool.source(&SourceKey::Stdin);
        let changes = [
            (VariableKind::Byte(third, 0), b'c'.into()),
            (VariableKind::Byte(stdin, 0), b'y'.into()),
            (VariableKind::ArgCount, 4),
        ];
        let changes = changes.map(|(kind, value)| {
            let expr = pool.variable(kind);
            (Variable(pool.term(expr).c), value)
        });
        let model = Model {
            changes: changes.to_vec(),
        };
        let more = model.apply(&pool, &hint).expect("fits");
        assert_eq!(more, Input::from_args("p", ["a", "b", "c"]).with_stdin("y"));
    }

    #[test]
    fn a_source_keeps_its_number_when_arguments_are_added() {
        let mut pool = Pool::new();
        let first = Input::from_args("p", ["a"]).with_stdin("x");
        let hint = Hint::new(&mut pool, first);
        let stdin = pool.source(&SourceKey::Stdin);
        assert_eq!(hint.value(VariableKind::Byte(stdin, 0)), b'x'.into());
        let second = Input::from_args("p", ["a", "b"]).with_stdin("y");
        let hint = Hint::new(&mut pool, second);
        assert_eq!(pool.source(&SourceKey::Stdin), stdin);
        assert_eq!(hint.value(VariableKind::Byte(stdin, 0)), b'y'.into());
    }
}
