//! Inputs with other kinds of characters. What a change lets through where it should not often does the same
//! as what it was made for, but for the kind of a character: who sees both can tell.

use std::collections::{BTreeMap, BTreeSet};

use beagle_trace::{Input, Source, SourceKind};

/// How many characters of one source are replaced, each for itself.
const MOST_PLACES: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Digit,
    Letter,
    Blank,
    Mark,
    /// What is not readable: where it stands nothing is tried, as that is no text.
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

/// Where characters stand: the kind and name of a source, and its number among those of the same kind.
type Where = (SourceKind, Vec<u8>, usize);

/// What is put in the place of some characters of a source.
struct Change {
    source: usize,
    of: Characters,
    by: u8,
}

enum Characters {
    All(Kind),
    One(usize),
}

/// The kinds of characters that were shown, and where.
#[derive(Debug, Default)]
pub struct Variety {
    shown: BTreeSet<(Where, Kind)>,
    together: BTreeSet<Vec<(Where, Vec<Kind>)>>,
}

impl Variety {
    /// Takes note of what an input shows.
    pub fn add(&mut self, input: &Input) {
        for (place, source) in places(input).zip(&input.sources) {
            let kinds = kinds(source.content()).into_keys();
            self.shown.extend(kinds.map(|kind| (place.clone(), kind)));
        }
        self.together.insert(together(input));
    }

    /// Whether an input was shown that has the same kinds in each source: of one that has fewer or others there is
    /// something to see already.
    pub fn has_like(&self, input: &Input) -> bool {
        self.together.contains(&together(input))
    }

    /// Inputs of the same size with characters of kinds that were not shown where they stand: first all of
    /// one kind at once, then each for itself.
    pub fn others<'a>(&self, input: &'a Input) -> impl Iterator<Item = Input> + use<'a> {
        let mut changes = Vec::new();
        for (number, place) in places(input).enumerate() {
            let source = &input.sources[number];
            if source.symbolic {
                self.add_changes(&mut changes, number, &place, source.content());
            }
        }
        changes.into_iter().map(|change| {
            let mut other = input.clone();
            let source = &mut other.sources[change.source];
            let size = source.content().len();
            for (at, byte) in source.bytes[..size].iter_mut().enumerate() {
                let is_chosen = match change.of {
                    Characters::All(kind) => Kind::of(*byte) == kind,
                    Characters::One(place) => at == place,
                };
                if is_chosen {
                    *byte = change.by;
                }
            }
            other
        })
    }

    fn add_changes(&self, to: &mut Vec<Change>, source: usize, place: &Where, content: &[u8]) {
        let kinds = kinds(content);
        if kinds.contains_key(&Kind::Other) {
            return;
        }
        for (kind, examples) in EXAMPLES {
            if kinds.contains_key(&kind) || self.shown.contains(&(place.clone(), kind)) {
                continue;
            }
            for &by in examples {
                let mut add = |of| to.push(Change { source, of, by });
                kinds.keys().for_each(|&kind| add(Characters::All(kind)));
                for (at, &byte) in content.iter().enumerate().take(MOST_PLACES) {
                    // The only one of its kind is all of them.
                    if kinds[&Kind::of(byte)] > 1 {
                        add(Characters::One(at));
                    }
                }
            }
        }
    }
}

/// How many characters there are of each kind.
fn kinds(content: &[u8]) -> BTreeMap<Kind, usize> {
    let mut kinds = BTreeMap::new();
    for &byte in content {
        *kinds.entry(Kind::of(byte)).or_insert(0) += 1;
    }
    kinds
}

/// The kinds of characters in each source that may vary.
fn together(input: &Input) -> Vec<(Where, Vec<Kind>)> {
    let sources = places(input).zip(&input.sources);
    let varying = sources.filter(|(_, source)| source.symbolic);
    let kinds = |source: &Source| kinds(source.content()).into_keys().collect();
    varying
        .map(|(place, source)| (place, kinds(source)))
        .collect()
}

fn places(input: &Input) -> impl Iterator<Item = Where> {
    let mut counts: BTreeMap<SourceKind, usize> = BTreeMap::new();
    input.sources.iter().map(move |source| {
        let count = counts.entry(source.kind).or_insert(0);
        *count += 1;
        (source.kind, source.name.clone(), *count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(inputs: impl Iterator<Item = Input>) -> Vec<String> {
        let word = |input: Input| String::from_utf8_lossy(input.sources[1].content()).into_owned();
        inputs.map(word).collect()
    }

    fn input(word: &str) -> Input {
        Input::from_args("program", [word])
    }

    #[test]
    fn only_kinds_that_were_not_shown_are_offered() {
        let mut variety = Variety::default();
        variety.add(&input("x'"));
        let others = words(variety.others(&input("x'")));
        assert_eq!(others[..2], ["1'", "x1"]);
        assert!(others.contains(&" '".to_owned()));
        assert!(!others.iter().any(|word| word.contains(['a', '+'])));
        variety.add(&input("1 "));
        assert_eq!(variety.others(&input("x'")).count(), 0);
    }

    #[test]
    fn one_character_of_many_is_replaced() {
        let mut variety = Variety::default();
        variety.add(&input("20240229"));
        let others = words(variety.others(&input("20240229")));
        assert!(others.contains(&"2024+229".to_owned()));
        assert!(others.iter().all(|word| word.len() == 8));
    }

    #[test]
    fn what_has_fewer_kinds_is_not_like_what_has_more() {
        let mut variety = Variety::default();
        variety.add(&input("2024 061"));
        assert!(!variety.has_like(&input("20240060")));
        assert!(variety.has_like(&input("1 1")));
        variety.add(&input("7"));
        assert!(variety.has_like(&input("20240060")));
    }

    #[test]
    fn what_other_sources_show_does_not_count() {
        let mut variety = Variety::default();
        variety.add(&Input::from_args("program", [""; 0]).with_stdin("1"));
        let others = words(variety.others(&input("x")));
        assert_eq!(others[..2], ["1", "0"]);
    }

    #[test]
    fn what_is_no_text_stays() {
        assert_eq!(Variety::default().others(&input("a\u{1}")).count(), 0);
    }

    #[test]
    fn what_is_fixed_stays() {
        let mut fixed = input("x");
        for source in &mut fixed.sources {
            source.symbolic = false;
        }
        assert_eq!(Variety::default().others(&fixed).count(), 0);
    }
}
