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
    /// Whether it executes a change.
    pub touches: bool,
    /// Whether the versions executed different blocks.
    pub parts: bool,
    /// How long it takes.
    pub work: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Corpus {
    all: Vec<Kept>,
    parting: Vec<usize>,
    touching: Vec<usize>,
    nearest: Vec<usize>,
    best: u16,
    /// The logarithms of how long they take.
    work: f64,
}

/// More than this is not varied often enough to matter.
const MOST: usize = 8192;
/// The latest few are varied more often.
const LATEST: usize = 12;
/// Twice as long as usual is not long.
const LITTLE: f64 = 1.0;
/// How often another one is looked for instead of one that takes long.
const TRIES: usize = 4;

fn logarithm(work: u64) -> f64 {
    (work.max(1) as f64).log2()
}

impl Corpus {
    /// Adds an input; false if there are too many.
    pub fn add(&mut self, kept: Kept) -> bool {
        if self.all.len() >= MOST {
            return false;
        }
        let number = self.all.len();
        if kept.parts {
            self.parting.push(number);
        }
        if kept.touches || kept.parts {
            self.touching.push(number);
        }
        if self.all.is_empty() || kept.near < self.best {
            self.best = kept.near;
            self.nearest.clear();
        }
        if kept.near == self.best {
            self.nearest.push(number);
        }
        self.work += logarithm(kept.work);
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

    /// One to vary: often one of the latest, or one that the effect of a change is seen on, or else that touches
    /// one, or else comes nearest.
    pub fn pick(&self, chance: &mut Chance) -> Option<&Kept> {
        let mut picked = self.pick_any_work(chance)?;
        for _ in 0..TRIES {
            if self.is_worth(picked, chance) {
                break;
            }
            picked = self.pick_any_work(chance)?;
        }
        Some(picked)
    }

    /// What takes long is varied as much less often: in its time others could be varied many times.
    fn is_worth(&self, kept: &Kept, chance: &mut Chance) -> bool {
        let usual = self.work / self.all.len() as f64;
        let longer = logarithm(kept.work) - usual;
        longer <= LITTLE
            || chance.below(1 << 20) < ((1 << 20) as f64 * (LITTLE - longer).exp2()) as usize
    }

    fn pick_any_work(&self, chance: &mut Chance) -> Option<&Kept> {
        let number = match chance.below(8) {
            0..2 => {
                let from = self.all.len().saturating_sub(LATEST);
                from + chance.below(self.all.len() - from)
            }
            way @ 2..6 => {
                let lists = [&self.parting, &self.touching, &self.nearest];
                // Half the time also those that touch a change and show no effect of it.
                let mut lists = lists.into_iter().skip(usize::from(way >= 4));
                let list = lists.find(|list| !list.is_empty())?;
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
    fn inputs_that_a_change_has_an_effect_on_are_varied_more_often() {
        let mut corpus = Corpus::default();
        for number in 0..100 {
            let input = Input::from_args("p", [number.to_string()]);
            corpus.add(Kept {
                input,
                near: 5,
                touches: number < 30,
                parts: number == 3,
                work: 1000,
            });
        }
        let mut chance = Chance::new(1);
        let picked: Vec<Kept> = (0..1000)
            .filter_map(|_| corpus.pick(&mut chance).cloned())
            .collect();
        assert!(picked.iter().filter(|it| it.touches).count() > 500);
        assert!(picked.iter().filter(|it| it.parts).count() > 200);
        assert_eq!(corpus.best(), 5);
    }

    #[test]
    fn inputs_that_take_long_are_varied_less_often() {
        let mut corpus = Corpus::default();
        for number in 0..100 {
            corpus.add(Kept {
                input: Input::from_args("p", [number.to_string()]),
                near: 5,
                touches: true,
                parts: true,
                work: if number % 2 == 0 { 1000 } else { 1_000_000 },
            });
        }
        let mut chance = Chance::new(1);
        let picked =
            (0..1000).filter(|_| corpus.pick(&mut chance).is_some_and(|it| it.work == 1000));
        assert!(picked.count() > 900);
    }

    #[test]
    fn an_empty_one_has_nothing() {
        let mut chance = Chance::new(1);
        for _ in 0..20 {
            assert!(Corpus::default().pick(&mut chance).is_none());
        }
    }
}
