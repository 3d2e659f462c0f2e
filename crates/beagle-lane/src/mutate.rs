//! New inputs from old ones: words of the command line, lines and bytes of streams and files.

use beagle_trace::{Input, Source, SourceKind};

use crate::chance::Chance;
use crate::parts::Parts;
use crate::space::Space;
use crate::text;
use crate::tokens::{self, Tokens};

/// Makes new inputs.
pub struct Mutator<'a> {
    /// What has to stay.
    pub space: &'a Space,
    /// What may go in.
    pub tokens: &'a Tokens,
    /// What inputs are made of.
    pub parts: &'a Parts,
}

impl Mutator<'_> {
    /// A variant of the input; `other` is one to take parts from.
    pub fn vary(&self, input: &Input, other: &Input, chance: &mut Chance) -> Option<Input> {
        let mut made = input.clone();
        // Few steps mostly, lest nothing of the input be left.
        let steps = 1 << chance.below(5).min(chance.below(5));
        for _ in 0..steps {
            self.step(&mut made, other, chance);
        }
        self.space.repair(&mut made).then_some(made)
    }

    fn step(&self, input: &mut Input, other: &Input, chance: &mut Chance) {
        let arguments = input.arg_count() as usize;
        let words = self.space.is_open() && !is_fixed(&input.sources[..arguments]);
        if words && chance.one_in(4) {
            self.change_words(input, other, chance);
            return;
        }
        let free: Vec<usize> = (0..input.sources.len())
            .filter(|&at| input.sources[at].symbolic)
            .collect();
        let Some(&at) = chance.pick(&free) else {
            return;
        };
        let source = &mut input.sources[at];
        let donor = donor(other, source, at, chance);
        let lines = !source.kind.is_string();
        if chance.one_in(4) && self.parts.change(&mut source.bytes, chance) {
            return;
        }
        if lines && chance.one_in(4) {
            change_lines(&mut source.bytes, donor, chance);
        } else if !(chance.one_in(4) && text::change(&mut source.bytes, donor, self.tokens, chance))
        {
            self.change_bytes(&mut source.bytes, donor, chance);
        }
    }

    /// Inserts, drops, doubles, swaps, splits, joins and replaces words.
    fn change_words(&self, input: &mut Input, other: &Input, chance: &mut Chance) {
        let count = input.arg_count() as usize;
        let first = count.min(1);
        let any = |chance: &mut Chance| first + chance.below(count - first);
        let is_free = |input: &Input, at: usize| input.sources[at].symbolic;
        if count <= first || chance.one_in(4) {
            let word = self.word(other, chance);
            let at = first + chance.below(count - first + 1);
            input.sources.insert(at, Source::argument(word));
            return;
        }
        let at = any(chance);
        if !is_free(input, at) {
            return;
        }
        match chance.below(6) {
            0 => drop(input.sources.remove(at)),
            1 => {
                let double = input.sources[at].clone();
                let to = first + chance.below(count - first + 1);
                input.sources.insert(to, double);
            }
            2 => {
                let to = any(chance);
                if is_free(input, to) {
                    input.sources.swap(at, to);
                }
            }
            3 => {
                let bytes = &mut input.sources[at].bytes;
                let rest = bytes.split_off(chance.below(bytes.len() + 1));
                input.sources.insert(at + 1, Source::argument(rest));
            }
            4 if at + 1 < count && is_free(input, at + 1) => {
                let next = input.sources.remove(at + 1);
                input.sources[at].bytes.extend(next.bytes);
            }
            _ => input.sources[at].bytes = self.word(other, chance),
        }
    }

    /// A word: one that the programs know, a number, or one of another input.
    fn word(&self, other: &Input, chance: &mut Chance) -> Vec<u8> {
        let words = &other.sources[..other.arg_count() as usize];
        match chance.below(6) {
            0 if words.len() > 1 => words[1 + chance.below(words.len() - 1)].bytes.clone(),
            1 => tokens::number(chance).to_vec(),
            2 => vec![b'-', letter(chance)],
            _ => self.tokens.pick(chance).to_vec(),
        }
    }

    fn change_bytes(&self, bytes: &mut Vec<u8>, donor: &[u8], chance: &mut Chance) {
        let size = bytes.len();
        let at = chance.below(size);
        match chance.below(16) {
            0 if size > 0 => bytes[at] ^= 1 << chance.below(8),
            1 if size > 0 => bytes[at] = chance.number() as u8,
            2 if size > 0 => bytes[at] = letter(chance),
            3 if size > 0 => bytes[at] = bytes[at].wrapping_add(1),
            4 if size > 0 => bytes[at] = bytes[at].wrapping_sub(1),
            // Take out.
            5 | 6 if size > 0 => {
                let end = at + 1 + short(size - at - 1, chance);
                bytes.drain(at..end);
            }
            // Double.
            7 if size > 0 => {
                let end = at + 1 + short(size - at - 1, chance);
                let part = bytes[at..end].to_vec();
                insert(bytes, at, &part);
            }
            // Words that the programs know, in addition or instead.
            8 | 9 => insert(bytes, chance.below(size + 1), self.tokens.pick(chance)),
            10 => {
                let word = self.tokens.pick(chance);
                let end = (at + word.len()).min(size);
                bytes.splice(at..end, word.iter().copied());
            }
            11 => change_number(bytes, chance),
            12 => change_integer(bytes, chance),
            // Parts of other inputs.
            13 if !donor.is_empty() => {
                let from = chance.below(donor.len());
                let end = from + 1 + short(donor.len() - from - 1, chance);
                match chance.one_in(2) {
                    true => insert(bytes, chance.below(size + 1), &donor[from..end]),
                    false => {
                        let over = (at + end - from).min(size);
                        bytes.splice(at..over, donor[from..end].iter().copied());
                    }
                }
            }
            14 => {
                // The same again and again: what counts and fills buffers.
                let byte = bytes.get(at).copied().unwrap_or_else(|| letter(chance));
                let times = 1 << chance.below(8);
                insert(bytes, at, &vec![byte; times]);
            }
            _ => {
                let byte = letter(chance);
                bytes.insert(chance.below(size + 1), byte);
            }
        }
    }
}

fn is_fixed(arguments: &[Source]) -> bool {
    arguments.len() > 1 && arguments[1..].iter().all(|source| !source.symbolic)
}

/// What another input has where this one has the source; now and then what it has elsewhere, as files that a
/// program reads one after the other are often of one kind.
fn donor<'a>(other: &'a Input, source: &Source, at: usize, chance: &mut Chance) -> &'a [u8] {
    let same = |it: &&Source| it.kind == source.kind && it.name == source.name;
    if chance.one_in(4) {
        let like = |it: &&Source| it.kind.is_string() == source.kind.is_string();
        let sources: Vec<&Source> = other.sources.iter().skip(1).filter(like).collect();
        return chance.pick(&sources).map_or(&[], |it| &it.bytes);
    }
    let found = match source.kind {
        SourceKind::Argument => other.sources.get(at).filter(same),
        _ => other.sources.iter().find(same),
    };
    found.map_or(&[], |it| &it.bytes)
}

/// Mostly small, at most `most`.
fn short(most: usize, chance: &mut Chance) -> usize {
    let bound = 1 << chance.below(8);
    chance.below(most.min(bound) + 1).min(most)
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    bytes.splice(at..at, part.iter().copied());
}

/// A character that texts are made of; now and then any byte.
fn letter(chance: &mut Chance) -> u8 {
    const SIGNS: &[u8] = b" \n\t,.:;-+=*/%()[]{}<>\"'\\#&|!?_@$~^";
    match chance.below(16) {
        0..4 => b'0' + chance.below(10) as u8,
        4..8 => b'a' + chance.below(26) as u8,
        8..10 => b'A' + chance.below(26) as u8,
        10..15 => chance.pick(SIGNS).copied().unwrap_or(b' '),
        _ => chance.number() as u8,
    }
}

/// Another number where there are digits.
fn change_number(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let start = chance.below(bytes.len());
    let Some(from) = (start..bytes.len()).find(|&at| bytes[at].is_ascii_digit()) else {
        return;
    };
    let from = (0..from)
        .rev()
        .find(|&at| !bytes[at].is_ascii_digit())
        .map_or(0, |at| at + 1);
    let rest = bytes[from..].iter();
    let end = from + rest.take_while(|byte| byte.is_ascii_digit()).count();
    let text = String::from_utf8_lossy(&bytes[from..end]).into_owned();
    let value = text.parse::<i128>().unwrap_or(0);
    let new = match chance.below(8) {
        0 | 1 => value.saturating_add(1),
        2 | 3 => value.saturating_sub(1),
        4 => value.saturating_mul(2),
        5 => value.saturating_add(chance.below(64) as i128 - 32),
        6 => i128::from(chance.number() as u32),
        _ => {
            bytes.splice(from..end, tokens::number(chance).iter().copied());
            return;
        }
    };
    bytes.splice(from..end, new.to_string().into_bytes());
}

/// Adds a little to two or four bytes as a number, in either order.
fn change_integer(bytes: &mut [u8], chance: &mut Chance) {
    let width = 2 << chance.below(2);
    if bytes.len() < width {
        return;
    }
    let at = chance.below(bytes.len() - width + 1);
    let part = &mut bytes[at..at + width];
    let big = chance.one_in(2);
    if big {
        part.reverse();
    }
    let mut value = part
        .iter()
        .rev()
        .fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    value = match chance.below(4) {
        0 => chance.number() >> (chance.below(8) * 8),
        _ => value.wrapping_add(chance.below(70) as u64).wrapping_sub(35),
    };
    for byte in part.iter_mut() {
        *byte = value as u8;
        value >>= 8;
    }
    if big {
        part.reverse();
    }
}

/// Drops, doubles, swaps lines, or takes one of another input.
fn change_lines(bytes: &mut Vec<u8>, donor: &[u8], chance: &mut Chance) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let others: Vec<&[u8]> = donor.split_inclusive(|&byte| byte == b'\n').collect();
    let at = chance.below(lines.len());
    match chance.below(5) {
        0 if !lines.is_empty() => drop(lines.remove(at)),
        1 if !lines.is_empty() => lines.insert(at, lines[at]),
        2 if !lines.is_empty() => {
            let to = chance.below(lines.len());
            lines.swap(at, to);
        }
        _ => {
            if let Some(line) = chance.pick(&others) {
                lines.insert(chance.below(lines.len() + 1), line);
            }
        }
    }
    *bytes = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varied(space: &Space, input: &Input, count: usize) -> Vec<Input> {
        let mut tokens = Tokens::default();
        tokens.add(b"--width", true);
        let mutator = Mutator {
            space,
            tokens: &tokens,
            parts: &Parts::default(),
        };
        let mut chance = Chance::new(1);
        let vary = |_| mutator.vary(input, input, &mut chance);
        (0..count).filter_map(vary).collect()
    }

    #[test]
    fn words_come_go_and_change() {
        let input = Input::from_args("p", ["-a", "12"]).with_stdin("one\ntwo\n");
        let all = varied(&Space::default(), &input, 5000);
        let has = |want: &dyn Fn(&Input) -> bool| all.iter().any(want);
        assert!(has(&|it| it.arg_count() == 1));
        assert!(has(&|it| it.arg_count() == 4));
        assert!(has(&|it| it
            .sources
            .iter()
            .any(|it| it.bytes == b"--width")));
        assert!(has(&|it| it.sources.iter().any(|it| it.bytes == b"13")));
        assert!(has(&|it| it.sources.iter().any(|it| it.bytes == b"two\n")));
        assert!(
            all.iter()
                .all(|it| it.sources[0].bytes == b"p" && it.encode().is_ok())
        );
    }

    #[test]
    fn numbers_of_any_length_are_taken() {
        let digits = "9".repeat(60);
        let largest = i128::MAX.to_string();
        let input = Input::from_args("p", [digits, largest.clone(), format!("-{largest}")]);
        assert!(!varied(&Space::default(), &input, 5000).is_empty());
    }

    #[test]
    fn what_is_not_symbolic_stays() {
        let mut input = Input::from_args("p", ["-a", "x"]).with_stdin("y");
        input.sources[1].symbolic = false;
        let space = Space {
            arguments: Some(3),
            bounds: Vec::new(),
        };
        let all = varied(&space, &input, 2000);
        assert!(all.len() > 1000);
        assert!(
            all.iter()
                .all(|it| it.sources[1].bytes == b"-a" && it.arg_count() == 3)
        );
        assert!(all.iter().any(|it| it.sources[2].bytes != b"x"));
    }
}
