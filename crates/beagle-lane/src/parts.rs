//! The parts that inputs are made of, as programs were seen to take them one after the other: packets, statements,
//! lines. Whole parts come and go where the bytes of one cannot change by themselves, as they have a checksum.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::chance::Chance;

/// One part of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What the program does with it: the same number for the same.
    pub does: u64,
    /// What it is.
    pub bytes: Vec<u8>,
}

/// Larger ones are left out.
const MOST_SIZE: usize = 2048;
/// So many are kept...
const MOST: usize = 512;
/// ...and so many of those with which the program does the same.
const MOST_ALIKE: u32 = 3;
/// By so many bytes a part is found again; shorter ones would be found everywhere.
const START: usize = 2;

/// All that are known.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    all: Vec<Vec<u8>>,
    known: FxHashSet<Vec<u8>>,
    alike: FxHashMap<u64, u32>,
    by_start: FxHashMap<[u8; START], Vec<usize>>,
}

impl Parts {
    /// Adds a part, unless there are enough like it.
    pub fn add(&mut self, part: Part) {
        let Part { does, bytes } = part;
        let fits = bytes.len() <= MOST_SIZE && self.all.len() < MOST;
        let Some(&start) = bytes.first_chunk::<START>().filter(|_| fits) else {
            return;
        };
        let alike = self.alike.entry(does).or_default();
        if *alike < MOST_ALIKE && self.known.insert(bytes.clone()) {
            *alike += 1;
            self.by_start.entry(start).or_default().push(self.all.len());
            self.all.push(bytes);
        }
    }

    /// Where known parts stand in a text, the longest first, none across another.
    fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(start) = text[at..].first_chunk::<START>() {
            let candidates = self.by_start.get(start).into_iter().flatten();
            let sizes = candidates
                .map(|&number| &self.all[number])
                .filter(|part| text[at..].starts_with(part))
                .map(Vec::len);
            match sizes.max() {
                Some(size) => {
                    found.push(at..at + size);
                    at += size;
                }
                None => at += 1,
            }
        }
        found
    }

    /// Puts a part in, takes one out, or puts another in its place. False if none is found in the text.
    pub fn change(&self, text: &mut Vec<u8>, chance: &mut Chance) -> bool {
        if self.all.is_empty() {
            return false;
        }
        let found = self.find(text);
        let (Some(here), Some(other)) = (chance.pick(&found), chance.pick(&self.all)) else {
            return false;
        };
        match chance.below(8) {
            0 => drop(text.drain(here.clone())),
            1 | 2 => drop(text.splice(here.clone(), other.iter().copied())),
            3 => {
                let own = chance.pick(&found).cloned().unwrap_or_default();
                let own = text[own].to_vec();
                text.splice(here.start..here.start, own);
            }
            way => {
                let at = if way < 6 { here.start } else { here.end };
                text.splice(at..at, other.iter().copied());
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(all: &[(u64, &str)]) -> Parts {
        let mut parts = Parts::default();
        for &(does, bytes) in all {
            let bytes = bytes.as_bytes().to_vec();
            parts.add(Part { does, bytes });
        }
        parts
    }

    #[test]
    fn the_longest_part_is_found_and_none_across_another() {
        let parts = parts(&[(1, "ab;"), (2, "ab;c;"), (3, "d;"), (4, "x")]);
        assert_eq!(parts.find(b"-ab;c;d;ab;x"), [1..6, 6..8, 8..11]);
        assert!(parts.find(b"").is_empty() && parts.find(b"x").is_empty());
    }

    #[test]
    fn of_parts_that_do_the_same_there_are_few() {
        let names = ["a1;", "a2;", "a3;", "a4;", "a5;", "a6;"];
        let alike: Vec<_> = names.iter().map(|&name| (7, name)).collect();
        assert_eq!(parts(&alike).all.len(), MOST_ALIKE as usize);
    }

    #[test]
    fn whole_parts_come_go_and_change_places() {
        let parts = parts(&[(1, "ab;"), (2, "cd;"), (3, "ef;")]);
        let mut chance = Chance::new(1);
        let made: FxHashSet<String> = (0..500)
            .map(|_| {
                let mut text = b"ab;cd;".to_vec();
                assert!(parts.change(&mut text, &mut chance));
                String::from_utf8(text).unwrap()
            })
            .collect();
        for want in [
            "cd;",
            "ab;ef;",
            "ef;ab;cd;",
            "ab;ef;cd;",
            "ab;cd;ef;",
            "cd;ab;cd;",
        ] {
            assert!(made.contains(want), "{want}: {made:?}");
        }
        let whole = |text: &String| {
            text.len().is_multiple_of(3) && text.split(';').all(|part| part.len() != 1)
        };
        assert!(made.iter().all(whole), "{made:?}");
        assert!(!parts.change(&mut b"nothing".to_vec(), &mut chance));
    }
}
