//! Makes an input small as long as it shows the same: near to a seed, short, simple.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use beagle_trace::{Input, Source, SourceKind};

/// How much may be spent.
#[derive(Debug, Clone)]
pub struct Budget {
    /// How many inputs are tried at most.
    pub tries: u32,
    /// How long it may take.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            tries: 2000,
            time: Duration::from_secs(10),
        }
    }
}

/// Makes an input small.
///
/// `keep` says whether an input still shows what the first one does. Only symbolic sources are changed.
/// The first thing is to be as a seed: what is put back to it needs no explanation. Then what can be
/// left out is, and what remains is made readable.
pub fn minimise<E>(
    input: &Input,
    seeds: &[Input],
    budget: &Budget,
    keep: impl FnMut(&Input) -> Result<bool, E>,
) -> Result<Input, E> {
    let start = input.normalised();
    let now = Instant::now();
    let mut search = Search {
        tried: HashSet::from([start.clone()]),
        best: start,
        keep,
        left: budget.tries,
        deadline: now.checked_add(budget.time).unwrap_or(now),
    };
    loop {
        let before = search.best.clone();
        if let Some(seed) = nearest(&search.best, seeds) {
            search.put_back(&seed.normalised())?;
        }
        search.drop_sources()?;
        search.cut()?;
        search.simplify()?;
        if search.best == before || search.spent() {
            return Ok(search.best);
        }
    }
}

/// How large an input is: the bytes and the number of its symbolic sources.
pub fn size(input: &Input) -> usize {
    let symbolic = input.sources.iter().filter(|source| source.symbolic);
    symbolic.map(|source| source.content().len() + 1).sum()
}

/// The seed of the same shape from which the fewest bytes differ.
fn nearest<'a>(input: &Input, seeds: &'a [Input]) -> Option<&'a Input> {
    let alike = seeds.iter().filter(|seed| same_shape(input, seed));
    alike.min_by_key(|seed| distance(input, seed))
}

fn same_shape(a: &Input, b: &Input) -> bool {
    a.sources.len() == b.sources.len()
        && a.sources
            .iter()
            .zip(&b.sources)
            .all(|(a, b)| a.kind == b.kind && a.name == b.name)
}

fn distance(a: &Input, b: &Input) -> usize {
    let pairs = a.sources.iter().zip(&b.sources);
    pairs
        .map(|(a, b)| {
            let (a, b) = (a.content(), b.content());
            let differ = a.iter().zip(b).filter(|(a, b)| a != b).count();
            differ + a.len().abs_diff(b.len())
        })
        .sum()
}

/// The state of the search.
struct Search<K> {
    best: Input,
    keep: K,
    tried: HashSet<Input>,
    left: u32,
    deadline: Instant,
}

impl<E, K: FnMut(&Input) -> Result<bool, E>> Search<K> {
    fn spent(&self) -> bool {
        self.left == 0 || Instant::now() >= self.deadline
    }

    /// Takes the candidate if it shows the same. Returns whether it does.
    fn attempt(&mut self, candidate: Input) -> Result<bool, E> {
        if self.spent() || !self.tried.insert(candidate.clone()) {
            return Ok(false);
        }
        self.left -= 1;
        let kept = (self.keep)(&candidate)?;
        if kept {
            self.best = candidate;
        }
        Ok(kept)
    }

    /// Takes the input with other bytes in one source if that shows the same.
    fn attempt_bytes(&mut self, source: usize, bytes: Vec<u8>) -> Result<bool, E> {
        let mut candidate = self.best.clone();
        candidate.sources[source].bytes = bytes;
        self.attempt(candidate)
    }

    /// The numbers of the sources that may be changed.
    fn changeable(&self) -> Vec<usize> {
        let sources = self.best.sources.iter().enumerate();
        sources
            .filter_map(|(index, source)| source.symbolic.then_some(index))
            .collect()
    }

    /// Puts sources back to a seed of the same shape: whole, unless that makes them larger, then by ever smaller
    /// parts.
    fn put_back(&mut self, seed: &Input) -> Result<(), E> {
        for index in self.changeable() {
            let wanted = &seed.sources[index].bytes;
            let now = &self.best.sources[index].bytes;
            let length = wanted.len().min(now.len());
            if now == wanted
                || (length == wanted.len() && self.attempt_bytes(index, wanted.clone())?)
            {
                continue;
            }
            let mut part = length.div_ceil(2).max(1);
            loop {
                for start in (0..length).step_by(part) {
                    let end = (start + part).min(length);
                    let mut bytes = self.best.sources[index].bytes.clone();
                    if bytes[start..end] != wanted[start..end] {
                        bytes[start..end].copy_from_slice(&wanted[start..end]);
                        self.attempt_bytes(index, bytes)?;
                    }
                }
                if part == 1 {
                    break;
                }
                part = part.div_ceil(2);
            }
        }
        Ok(())
    }

    /// Leaves out whole sources, the last first.
    fn drop_sources(&mut self) -> Result<(), E> {
        for index in self.changeable().into_iter().rev() {
            // The name of the program stays, and an empty standard input is as good as none.
            let source = &self.best.sources[index];
            if index == 0 && source.kind == SourceKind::Argument {
                continue;
            }
            if source.kind == SourceKind::Stdin {
                self.attempt_bytes(index, Vec::new())?;
                continue;
            }
            let mut candidate = self.best.clone();
            candidate.sources.remove(index);
            self.attempt(candidate)?;
        }
        Ok(())
    }

    /// Leaves out parts of sources: halves, quarters, down to single bytes.
    fn cut(&mut self) -> Result<(), E> {
        for index in self.changeable() {
            let mut part = self.best.sources[index].bytes.len().div_ceil(2);
            while part > 0 {
                // From the end, so that what is still to be looked at stays where it is.
                let mut end = self.best.sources[index].bytes.len();
                while end > 0 {
                    let start = end.saturating_sub(part);
                    let mut bytes = self.best.sources[index].bytes.clone();
                    bytes.drain(start..end);
                    self.attempt_bytes(index, bytes)?;
                    end = start;
                    if self.spent() {
                        return Ok(());
                    }
                }
                part /= 2;
            }
        }
        Ok(())
    }

    /// Makes bytes printable that are not.
    fn simplify(&mut self) -> Result<(), E> {
        for index in self.changeable() {
            for at in 0..self.best.sources[index].bytes.len() {
                let source: &Source = &self.best.sources[index];
                let Some(&byte) = source.bytes.get(at) else {
                    break;
                };
                if is_readable(byte) {
                    continue;
                }
                for simple in *b"0a " {
                    let mut bytes = self.best.sources[index].bytes.clone();
                    bytes[at] = simple;
                    if self.attempt_bytes(index, bytes)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_readable(byte: u8) -> bool {
    byte.is_ascii_graphic() || matches!(byte, b' ' | b'\n' | b'\t')
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn minimised(input: &Input, seeds: &[Input], keep: impl Fn(&Input) -> bool) -> (Input, u32) {
        let mut tries = 0;
        let result: Result<_, Infallible> = minimise(input, seeds, &Budget::default(), |input| {
            tries += 1;
            Ok(keep(input))
        });
        match result {
            Ok(input) => (input, tries),
            Err(never) => match never {},
        }
    }

    fn stdin(input: &Input) -> &[u8] {
        let source = input.sources.iter().find(|s| s.kind == SourceKind::Stdin);
        source.map_or(&[], |source| &source.bytes)
    }

    fn has(text: &[u8], part: &[u8]) -> bool {
        text.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn what_is_not_needed_goes() {
        let input = Input::from_args("prog", ["-v", "-x", "name"])
            .with_stdin([b"aaaaaaaa".repeat(20), b"KEY".to_vec(), b"bbbb".repeat(9)].concat())
            .with_file("f", "content")
            .with_env("E", "value");
        let (small, tries) = minimised(&input, &[], |input| {
            has(stdin(input), b"KEY") && input.sources.iter().any(|s| s.bytes == b"-x")
        });
        assert_eq!(small, Input::from_args("prog", ["-x"]).with_stdin("KEY"));
        assert!(tries < 200, "{tries}");
    }

    #[test]
    fn what_is_as_small_as_it_gets_stays_so_whatever_the_seed() {
        let small = Input::from_args("prog", [""; 0]).with_stdin("y");
        let seeds = [Input::from_args("prog", [""; 0]).with_stdin("xxy")];
        let (result, _) = minimised(&small, &seeds, |input| has(stdin(input), b"y"));
        assert_eq!(stdin(&result), b"y");
    }

    #[test]
    fn bytes_go_back_to_the_seed() {
        let seeds = [
            Input::from_args("prog", ["other"]),
            Input::from_args("prog", ["-a12345"]),
        ];
        let keep = |input: &Input| {
            let bytes = input.sources.get(1).map(|source| &source.bytes);
            bytes.is_some_and(|bytes| bytes.len() == 7 && bytes[4] == b'Z')
        };
        let input = Input::from_args("prog", ["-bXYZ9\x01"]);
        let (small, _) = minimised(&input, &seeds, keep);
        assert_eq!(small.sources[1].bytes, b"-a12Z45");
        let (same, _) = minimised(&input, &seeds, |candidate| *candidate == input);
        assert_eq!(same, input);
    }

    #[test]
    fn unreadable_bytes_become_readable_where_they_do_not_matter() {
        let input = Input::from_args("prog", [""; 0]).with_stdin(*b"\x80\x81\xff");
        let (small, _) = minimised(&input, &[], |input| {
            let bytes = stdin(input);
            bytes.len() == 3 && bytes[2] == 0xff && bytes[1] != b'0'
        });
        assert_eq!(stdin(&small), b"0a\xff");
    }

    #[test]
    fn what_is_fixed_is_not_touched() {
        let mut input = Input::from_args("prog", ["fixed", "free"]);
        input.sources[1].symbolic = false;
        let (small, _) = minimised(&input, &[], |_| true);
        let mut expected = Input::from_args("prog", ["fixed"]);
        expected.sources[1].symbolic = false;
        assert_eq!(small, expected);
    }

    #[test]
    fn the_budget_holds() {
        let input = Input::from_args("prog", [vec![b'x'; 5000]]);
        let mut tries = 0;
        let budget = Budget {
            tries: 7,
            ..Budget::default()
        };
        let result: Result<_, Infallible> = minimise(&input, &[], &budget, |_| {
            tries += 1;
            Ok(false)
        });
        assert_eq!((result, tries), (Ok(input), 7));
    }
}
