//! The inputs that are worth varying, and which of them comes next.

use beagle_trace::Input;

use crate::chance::Chance;

/// An input that did something no other had done.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The input.
    pub input: Input,
    /// How far it stays from the change.
    pub near: u16,
    /// Whether both versions executed different blocks close to the change, or it executes a change.
    pub touches: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Corpus {
    all: Vec<Kept>,
    touching: Vec<usize>,
    nearest: Vec<usize>,
    best: u16,
}

/// More than this is not varied often enough to matter.
const MOST: usize = 8192;
/// The latest few are varied more often.
const LATEST: usize = 12;

impl Corpus {
    /// Adds an input; false if there are too many.
    pub fn add(&mut self, kept: Kept) -> bool {
        if self.all.len() >= MOST {
            return false;
        }
        let number = self.all.len();
        if kept.touches {
            self.touching.push(number);
        }
        if self.all.is_empty() || kept.near < self.best {
            self.best = kept.near;
            self.nearest.clear();
        }
        if kept.near == self.best {
            self.nearest.push(number);
        }
        self.all.push(kept);
        true
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The smallest distance to a change of any.
    pub fn best(&self) -> u16 {
        match self.all.is_empty() {
            true => u16::MAX,
            false => self.best,
        }
    }

    /// One to vary: often one of the latest or one that touches a change, or else comes nearest.
    pub fn pick(&self, chance: &mut Chance) -> Option<&Kept> {
        let number = match chance.below(8) {
            0..2 => {
                let from = self.all.len().saturating_sub(LATEST);
                from + chance.below(self.all.len() - from)
            }
            2..6 => {
                let list = match self.touching.is_empty() {
                    true => &self.nearest,
                    false => &self.touching,
                };
                // Again the latest more often: they are the ones with something new behind them.
                let from = match chance.one_in(2) {
                    true => list.len().saturating_sub(LATEST),
                    false => 0,
                };
                *list.get(from + chance.below(list.len() - from))?
            }
            _ => chance.below(self.all.len()),
        };
        self.all.get(number)
    }

    /// Any.
    pub fn any(&self, chance: &mut Chance) -> Option<&Kept> {
        chance.pick(&self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_touch_a_change_are_varied_more_often() {
        let mut corpus = Corpus::default();
        for number in 0..100 {
            let input = Input::from_args("p", [number.to_string()]);
            corpus.add(Kept {
                input,
                near: 5,
                touches: number == 3,
            });
        }
        let mut chance = Chance::new(1);
        let touching = (0..1000).filter(|_| corpus.pick(&mut chance).is_some_and(|it| it.touches));
        assert!(touching.count() > 400);
        assert_eq!(corpus.best(), 5);
    }

    #[test]
    fn an_empty_one_has_nothing() {
        let mut chance = Chance::new(1);
        for _ in 0..20 {
            assert!(Corpus::default().pick(&mut chance).is_none());
        }
    }
}
