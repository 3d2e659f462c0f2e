//! What of an input must stay as it is, besides the sources that are not symbolic at all.
//!
//! Positions are counted from the start of a source, so a part that may vary and has text behind
//! it has to keep its length. This makes every rule one that a solver understands: a byte has a
//! value, a size has bounds.

use beagle_solver::SourceKey;
use beagle_trace::Input;

/// What must hold for every input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The number of arguments, the name of the program included; `None` if it may vary.
    pub arguments: Option<u32>,
    /// One for each source with bounds.
    pub sources: Vec<Rule>,
}

/// What must hold for one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The source.
    pub source: SourceKey,
    /// Bytes that stay, by index. A string that has them is at least so long.
    pub fixed: Vec<(u32, u8)>,
    /// How many bytes there are at most.
    pub most: Option<u32>,
}

impl Rules {
    /// Whether an input keeps to them.
    pub fn allow(&self, input: &Input) -> bool {
        let keys = SourceKey::of_input(input);
        let allowed = |rule: &Rule| {
            let Some(at) = keys.iter().position(|key| *key == rule.source) else {
                return false;
            };
            let (at, size) = (at as u32, input.size(at as u32));
            rule.most.is_none_or(|most| size <= most.into())
                && rule
                    .fixed
                    .iter()
                    .all(|&(k, byte)| input.byte(at, k) == byte)
        };
        let counted = self
            .arguments
            .is_none_or(|count| count == input.arg_count());
        counted && self.sources.iter().all(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_held_against_bytes_sizes_and_counts() {
        let rules = Rules {
            arguments: Some(2),
            sources: vec![Rule {
                source: SourceKey::Argument(1),
                fixed: vec![(0, b'-'), (1, b'f')],
                most: Some(4),
            }],
        };
        let allowed = |args: &[&str]| rules.allow(&Input::from_args("p", args.iter().copied()));
        assert!(allowed(&["-f"]));
        assert!(allowed(&["-fab"]));
        assert!(!allowed(&["-fabc"]));
        assert!(!allowed(&["-g"]));
        assert!(!allowed(&["-"]));
        assert!(!allowed(&["-f", "x"]));
        assert!(!allowed(&[]));
    }
}
