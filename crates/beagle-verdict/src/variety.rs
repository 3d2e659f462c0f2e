//! Inputs with other kinds of characters. What a change lets through where it should not often does the same
//! as what it was made for, but for the kind of a character: who sees both can tell.

use std::collections::{BTreeSet, HashSet};

use beagle_trace::Input;

/// How many characters of one source are replaced, each for itself.
const MOST_PLACES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Digit,
    Letter,
    Blank,
    Mark,
    /// What is not readable, and not tried.
    Other,
}

/// What stands for a kind, the likeliest to be taken first.
const EXAMPLES: [(Kind, &[u8]); 4] = [
    (Kind::Digit, b"10"),
    (Kind::Letter, b"a"),
    (Kind::Mark, b"+-_."),
    (Kind::Blank, b" "),
];

impl Kind {
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Self::Digit,
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
            b' ' | b'\t' | b'\n' => Self::Blank,
            b'!'..=b'~' => Self::Mark,
            _ => Self::Other,
        }
    }
}

/// The kinds of characters that were shown, by the number of their source.
#[derive(Debug, Default)]
pub struct Variety {
    shown: BTreeSet<(usize, Kind)>,
}

impl Variety {
    /// Takes note of what an input shows.
    pub fn add(&mut self, input: &Input) {
        for (number, source) in input.sources.iter().enumerate() {
            let kinds = source
                .content()
                .iter()
                .map(|&byte| (number, Kind::of(byte)));
            self.shown.extend(kinds);
        }
    }

    /// Inputs of the same size with characters of kinds that were not shown where they stand: first all of
    /// one kind at once, then each for itself.
    pub fn others(&self, input: &Input) -> Vec<Input> {
        let mut others = Vec::new();
        for (number, source) in input.sources.iter().enumerate() {
            if !source.symbolic {
                continue;
            }
            let content = source.content();
            let kinds: BTreeSet<Kind> = content.iter().map(|&byte| Kind::of(byte)).collect();
            for (kind, examples) in EXAMPLES {
                if self.shown.contains(&(number, kind)) || kinds.contains(&kind) {
                    continue;
                }
                for &example in examples {
                    let with = |chosen: &dyn Fn(usize, u8) -> bool| {
                        let mut other = input.clone();
                        let bytes = &mut other.sources[number].bytes;
                        for (place, byte) in bytes.iter_mut().take(content.len()).enumerate() {
                            if chosen(place, *byte) {
                                *byte = example;
                            }
                        }
                        other
                    };
                    for &before in &kinds {
                        others.push(with(&|_, byte| Kind::of(byte) == before));
                    }
                    for chosen in 0..content.len().min(MOST_PLACES) {
                        others.push(with(&|place, _| place == chosen));
                    }
                }
            }
        }
        let mut seen = HashSet::new();
        others.retain(|other| seen.insert(other.clone()));
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(inputs: &[Input]) -> Vec<String> {
        let word = |input: &Input| String::from_utf8_lossy(input.sources[1].content()).into_owned();
        inputs.iter().map(word).collect()
    }

    fn input(word: &str) -> Input {
        Input::from_args("program", [word])
    }

    #[test]
    fn only_kinds_that_were_not_shown_are_offered() {
        let mut variety = Variety::default();
        variety.add(&input("x'"));
        let others = words(&variety.others(&input("x'")));
        assert_eq!(others[..2], ["1'", "x1"]);
        assert!(others.contains(&" '".to_owned()));
        assert!(!others.iter().any(|word| word.contains(['a', '+'])));
        variety.add(&input("1 "));
        assert!(variety.others(&input("x'")).is_empty());
    }

    #[test]
    fn one_character_of_many_is_replaced() {
        let mut variety = Variety::default();
        variety.add(&input("20240229"));
        let others = words(&variety.others(&input("20240229")));
        assert!(others.contains(&"2024+229".to_owned()));
        assert!(others.iter().all(|word| word.len() == 8));
    }

    #[test]
    fn what_is_fixed_stays() {
        let mut fixed = input("x");
        for source in &mut fixed.sources {
            source.symbolic = false;
        }
        assert!(Variety::default().others(&fixed).is_empty());
    }
}
