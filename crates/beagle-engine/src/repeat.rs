//! Inputs with a line once more: what a program makes of one more record would else take as many answers as
//! the line has characters.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use beagle_solver::SourceKey;
use beagle_trace::Input;

use crate::product::Product;
use crate::shape::Shape;

/// Inputs with more lines in a source are not varied like this.
const MOST_LINES: usize = 24;

/// The input once for each line, with that line doubled.
fn with_lines_doubled(input: &Input, shape: &Shape) -> Vec<Input> {
    let keys = SourceKey::of_input(input);
    let mut all = Vec::new();
    for (at, source) in input.sources.iter().enumerate() {
        let lines: Vec<&[u8]> = (source.bytes)
            .split_inclusive(|&byte| byte == b'\n')
            .collect();
        if source.kind.is_string() || !source.symbolic || lines.len() > MOST_LINES {
            continue;
        }
        for (number, line) in lines.iter().enumerate() {
            // Without its end it would be a longer line, not another one.
            if line.last() != Some(&b'\n') || !shape.has_room(&keys[at], input, at, line.len()) {
                continue;
            }
            let doubled = lines[..=number].iter().chain(&lines[number..]);
            let mut input = input.clone();
            input.sources[at].bytes = doubled.copied().collect::<Vec<_>>().concat();
            all.push(input);
        }
    }
    all
}

/// Such inputs: of runs of who goes alone, for that, and of all, for the others.
#[derive(Default)]
pub struct AllRepeats {
    alone: Repeats,
    others: Repeats,
}

impl AllRepeats {
    /// Adds those of a run that did something new; what there was to start from is worth more than that.
    pub fn add(&mut self, is_seed: bool, product: &Product, input: &Input, shape: &Shape) {
        self.others.add_of(is_seed, product.news, input, shape);
        self.add_alone(is_seed, product, input, shape);
    }

    /// The same only for who goes alone.
    pub fn add_alone(&mut self, is_seed: bool, product: &Product, input: &Input, shape: &Shape) {
        if let Some(alone) = product.alone {
            self.alone.add_of(is_seed, alone.news, input, shape);
        }
    }

    /// The next one, if it is its turn after so many runs, and whether it is for who goes alone, with so many of them.
    pub fn turn(&mut self, runs: u64, alone: u64) -> Option<(bool, Input)> {
        let others = || Some((false, self.others.turn(runs - alone)?));
        let alone = self.alone.turn(alone).map(|input| (true, input));
        alone.or_else(others)
    }
}

/// Such inputs that were not run yet, those of the best runs first.
#[derive(Default)]
struct Repeats {
    waiting: BTreeMap<(Reverse<usize>, u64), Input>,
    added: u64,
    taken: u64,
}

/// One run in so many is on such an input.
const SHARE: u64 = 10;
/// More than these never get their turn.
const MOST_WAITING: usize = 1000;

impl Repeats {
    fn add_of(&mut self, is_seed: bool, news: usize, input: &Input, shape: &Shape) {
        if is_seed || news > 0 {
            let worth = if is_seed { usize::MAX } else { news };
            self.add(worth, with_lines_doubled(input, shape));
        }
    }

    /// Adds inputs that are made of one that is worth so much.
    fn add(&mut self, worth: usize, inputs: Vec<Input>) {
        for input in inputs {
            self.added += 1;
            self.waiting.insert((Reverse(worth), self.added), input);
            if self.waiting.len() > MOST_WAITING {
                self.waiting.pop_last();
            }
        }
    }

    /// The next one, if it is its turn after so many runs.
    fn turn(&mut self, runs: u64) -> Option<Input> {
        if (self.taken + 1) * SHARE > runs {
            return None;
        }
        let (_, input) = self.waiting.pop_first()?;
        self.taken += 1;
        Some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Bounds;

    fn texts(inputs: &[Input]) -> Vec<String> {
        let text = |input: &Input| String::from_utf8_lossy(&input.sources[1].bytes).into_owned();
        inputs.iter().map(text).collect()
    }

    #[test]
    fn each_line_is_doubled_once() {
        let input = Input::from_args("p", [""; 0]).with_stdin("a\nbc\nd");
        let made = with_lines_doubled(&input, &Shape::default());
        assert_eq!(texts(&made), ["a\na\nbc\nd", "a\nbc\nbc\nd"]);
        let many = Input::from_args("p", [""; 0]).with_stdin("x\n".repeat(MOST_LINES + 1));
        assert!(with_lines_doubled(&many, &Shape::default()).is_empty());
    }

    #[test]
    fn what_is_fixed_stays() {
        let mut input = Input::from_args("p", ["a\nb\n"]).with_stdin("a\nbcd\n");
        let bounds = |most, fixed| Shape {
            bounds: vec![Bounds {
                source: SourceKey::Stdin,
                fixed,
                most,
            }],
            ..Shape::default()
        };
        // The second line does not fit.
        assert_eq!(
            with_lines_doubled(&input, &bounds(Some(8), vec![])).len(),
            1
        );
        assert!(with_lines_doubled(&input, &bounds(None, vec![(0, b'a')])).is_empty());
        input.sources[2].symbolic = false;
        assert!(with_lines_doubled(&input, &Shape::default()).is_empty());
    }

    #[test]
    fn the_best_have_their_turn_first() {
        let of = |text: &str| Input::from_args("p", [""; 0]).with_stdin(text);
        let mut repeats = Repeats::default();
        repeats.add(1, vec![of("a"), of("b")]);
        repeats.add(7, vec![of("c")]);
        let turns = (0..3 * SHARE + 2).filter_map(|runs| Some((runs, repeats.turn(runs)?)));
        let (runs, inputs): (Vec<u64>, Vec<Input>) = turns.unzip();
        assert_eq!(runs, [SHARE, 2 * SHARE, 3 * SHARE]);
        assert_eq!(texts(&inputs), ["c", "a", "b"]);
    }
}
