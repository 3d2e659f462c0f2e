//! Words and numbers that programs know: what is worth putting into an input.

use rustc_hash::FxHashSet;

use crate::chance::Chance;

/// Words from the programs, those of a change apart from the others.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    close: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
    /// What the programs were seen to compare with.
    seen: Vec<Vec<u8>>,
    known: FxHashSet<Vec<u8>>,
}

const MOST_SIZE: usize = 64;
const MOST_SEEN: usize = 1024;

/// Numbers at which programs go wrong.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "-2",
    "7",
    "8",
    "9",
    "10",
    "16",
    "31",
    "32",
    "63",
    "64",
    "99",
    "100",
    "127",
    "128",
    "255",
    "256",
    "999",
    "1000",
    "1024",
    "4095",
    "4096",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
    "007",
    "0x10",
    "1.5",
];

impl Tokens {
    /// Adds a word; `close` for one in or near a change.
    pub fn add(&mut self, word: &[u8], close: bool) {
        if self.learn(word) {
            let list = if close {
                &mut self.close
            } else {
                &mut self.others
            };
            list.push(word.to_vec());
        }
    }

    /// Adds a word that a program was seen to compare with.
    pub fn see(&mut self, word: &[u8]) {
        if self.seen.len() < MOST_SEEN && self.learn(word) {
            self.seen.push(word.to_vec());
        }
    }

    fn learn(&mut self, word: &[u8]) -> bool {
        !word.is_empty() && word.len() <= MOST_SIZE && self.known.insert(word.to_vec())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// One of them, those of a change more often; a number if there are none.
    pub fn pick(&self, chance: &mut Chance) -> &[u8] {
        let lists = [&self.close, &self.seen, &self.others];
        let list = match chance.below(8) {
            0..3 => lists[0],
            3..5 => lists[1],
            5..7 => lists[2],
            _ => return number(chance),
        };
        match chance.pick(list) {
            Some(word) => word,
            None => number(chance),
        }
    }
}

/// A number as text.
pub fn number(chance: &mut Chance) -> &'static [u8] {
    chance.pick(NUMBERS).map_or(b"0", |text| text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_change_come_more_often() {
        let mut tokens = Tokens::default();
        tokens.add(b"near", true);
        tokens.add(b"near", false);
        for word in ["a", "b", "c", "d"] {
            tokens.add(word.as_bytes(), false);
        }
        assert_eq!(tokens.len(), 5);
        let mut chance = Chance::new(3);
        let picked = (0..1000).filter(|_| tokens.pick(&mut chance) == b"near");
        assert!(picked.count() > 250);
    }
}
