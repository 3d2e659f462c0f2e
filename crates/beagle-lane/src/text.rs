//! Words of a text: names and numbers stand for something, and the same word in another place for the same. One
//! byte at a time they would not stay the same.

use std::ops::Range;

use crate::chance::Chance;
use crate::tokens::Tokens;

/// Longer texts are varied by bytes and lines only: all words are looked for each time.
const MOST_BYTES: usize = 4096;

/// What stands between clauses: statements, lines, members of a list.
const SEPARATORS: &[u8] = b";\n,|&";

/// Replaces, drops, doubles or swaps words, gives one another name, or says something else in a clause; false if
/// there are none.
pub fn change(bytes: &mut Vec<u8>, donor: &[u8], tokens: &Tokens, chance: &mut Chance) -> bool {
    if bytes.len() > MOST_BYTES {
        return false;
    }
    let words = words(bytes);
    let Some(at) = chance.pick(&words).cloned() else {
        return false;
    };
    match chance.below(10) {
        // Another name, here or wherever it stands.
        0 => {
            let name = renamed(&bytes[at.clone()], chance);
            bytes.splice(at, name);
        }
        1 => {
            let word = bytes[at.clone()].to_vec();
            let name = renamed(&word, chance);
            for at in words.into_iter().rev() {
                if bytes[at.clone()] == word {
                    bytes.splice(at, name.iter().copied());
                }
            }
        }
        // With what is before it.
        2 => {
            let from = before(&words, &at);
            bytes.drain(from..at.end);
        }
        3 => {
            let part = bytes[before(&words, &at)..at.end].to_vec();
            bytes.splice(at.end..at.end, part);
        }
        4 => {
            let Some(other) = chance.pick(&words).cloned() else {
                return false;
            };
            let (first, last) = match at.start < other.start {
                true => (at, other),
                false => (other, at),
            };
            if first.end <= last.start {
                let moved = bytes[first.clone()].to_vec();
                let other = bytes.splice(last.clone(), moved).collect::<Vec<u8>>();
                bytes.splice(first, other);
            }
        }
        way @ 8.. => {
            let made = phrase(bytes, &words, tokens, chance);
            let (clause, separator) = clause(bytes, at.start, chance);
            match way {
                8 => drop(bytes.splice(clause, made)),
                _ => {
                    let made = made.into_iter().chain([separator]);
                    bytes.splice(clause.start..clause.start, made);
                }
            }
        }
        // One of the same text, or of another.
        way => {
            let donor = match way {
                5 | 6 => bytes.clone(),
                _ => donor.to_vec(),
            };
            let others = self::words(&donor[..donor.len().min(MOST_BYTES)]);
            if let Some(other) = chance.pick(&others) {
                bytes.splice(at, donor[other.clone()].iter().copied());
            }
        }
    }
    true
}

/// The clause around a place, and what stands between it and others: one of the separators that the text has.
fn clause(bytes: &[u8], at: usize, chance: &mut Chance) -> (Range<usize>, u8) {
    let around = bytes.iter().copied().filter(|it| SEPARATORS.contains(it));
    let around: Vec<u8> = around.collect();
    let Some(&separator) = chance.pick(&around) else {
        return (0..bytes.len(), SEPARATORS[0]);
    };
    let start = bytes[..at].iter().rposition(|&it| it == separator);
    let end = bytes[at..].iter().position(|&it| it == separator);
    let start = start.map_or(0, |start| start + 1);
    (start..end.map_or(bytes.len(), |end| at + end), separator)
}

/// A word that the programs know, mostly with words of the text behind it: a command and what it is about.
fn phrase(bytes: &[u8], words: &[Range<usize>], tokens: &Tokens, chance: &mut Chance) -> Vec<u8> {
    let mut made = tokens.pick(chance).to_vec();
    while !chance.one_in(3) && made.len() < MOST_BYTES {
        made.push(b' ');
        match chance.pick(words) {
            Some(word) => made.extend_from_slice(&bytes[word.clone()]),
            None => made.extend_from_slice(tokens.pick(chance)),
        }
    }
    made
}

/// Where the words are.
fn words(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, &byte) in bytes.iter().chain(b" ").enumerate() {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        match (is_word, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Where what stands between a word and the one before it begins.
fn before(words: &[Range<usize>], word: &Range<usize>) -> usize {
    let earlier = words.iter().rev().find(|other| other.end <= word.start);
    earlier.map_or(word.start, |other| other.end)
}

/// A word like it: one character is another of the same sort.
fn renamed(word: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut name = word.to_vec();
    let at = chance.below(name.len());
    if let Some(byte) = name.get_mut(at) {
        *byte = match *byte {
            b'0'..=b'9' => b'0' + chance.below(10) as u8,
            b'a'..=b'z' => b'a' + chance.below(26) as u8,
            b'A'..=b'Z' => b'A' + chance.below(26) as u8,
            other => other,
        };
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_as_a_whole() {
        let text = b"let ab = 12;\nuse ab, cd;\n";
        let mut chance = Chance::new(1);
        let mut tokens = Tokens::default();
        tokens.add(b"del", true);
        let mut made = Vec::new();
        for _ in 0..5000 {
            let mut bytes = text.to_vec();
            assert!(change(&mut bytes, b"other 77", &tokens, &mut chance));
            made.push(String::from_utf8(bytes).expect("still a text"));
        }
        let has = |wanted: &str| made.iter().any(|it| it == wanted);
        assert!(has("let cd = 12;\nuse ab, cd;\n"), "replaced");
        assert!(has("let ab = 77;\nuse ab, cd;\n"), "of the other");
        assert!(has("let ab = 12;\nuse ax, cd;\n"), "another name");
        assert!(has("let ax = 12;\nuse ax, cd;\n"), "everywhere");
        assert!(has("let ab = 12;\nuse ab;\n"), "dropped");
        assert!(has("let ab = 12;\nuse ab, cd, cd;\n"), "doubled");
        assert!(has("let cd = 12;\nuse ab, ab;\n"), "swapped");
        assert!(has("let ab = 12;del ab;\n"), "another clause");
        assert!(has("del;let ab = 12;\nuse ab, cd;\n"), "one more clause");
    }

    #[test]
    fn what_has_no_words_stays() {
        let mut chance = Chance::new(1);
        for text in [&b""[..], b" \n,;", &[0xff, 0, 1], &[b'a'; MOST_BYTES + 1]] {
            let mut bytes = text.to_vec();
            assert!(!change(&mut bytes, b"x", &Tokens::default(), &mut chance));
            assert_eq!(bytes, text);
        }
    }
}
