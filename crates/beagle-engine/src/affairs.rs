//! The state of affairs: what the variables hold that decide about changes.
//!
//! A branch that depends on such a variable may not depend on the input, as if lines are counted. Then a way on
//! that was tried in vain in one state of affairs may lead on in another.

use std::rc::Rc;

/// What one variable holds: its number, and about which value.
pub type Affair = (u32, u8);

/// What the variables hold in the course of a run.
#[derive(Clone, Debug, Default)]
pub struct Affairs {
    now: Vec<Affair>,
    /// From which step on, in ascending order.
    all: Vec<(usize, Rc<[Affair]>)>,
}

/// So many changes of a run are kept.
const MOST: usize = 20_000;

impl Affairs {
    /// A variable holds a value from a step on; `None` if that depends on the input.
    pub fn put(&mut self, step: usize, place: u32, value: Option<u64>) {
        let at = self.now.binary_search_by_key(&place, |&(place, _)| place);
        match (at, value.map(about)) {
            (Ok(at), Some(about)) if self.now[at].1 == about => return,
            (Ok(at), Some(about)) => self.now[at].1 = about,
            (Ok(at), None) => {
                self.now.remove(at);
            }
            (Err(at), Some(about)) => self.now.insert(at, (place, about)),
            (Err(_), None) => return,
        }
        if self.all.last().is_some_and(|&(last, _)| last == step) {
            self.all.pop();
        }
        if self.all.len() < MOST {
            self.all.push((step, self.now.as_slice().into()));
        }
    }

    /// What the variables hold before a step.
    pub fn at(&self, step: usize) -> &[Affair] {
        let before = self.all.partition_point(|&(from, _)| from <= step);
        let last = before.checked_sub(1);
        last.map_or(&[], |last| &self.all[last].1)
    }

    /// All that variables held.
    pub fn seen(&self) -> impl Iterator<Item = Affair> {
        self.all.iter().flat_map(|(_, now)| now.iter().copied())
    }
}

/// Small numbers are told apart, others by their size.
fn about(value: u64) -> u8 {
    match value as i64 {
        small @ 0..4 => small as u8,
        negative @ i64::MIN..0 => 128 | (64 - negative.unsigned_abs().leading_zeros()) as u8,
        large => 4 + (64 - large.leading_zeros()) as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn affairs_are_those_of_the_last_change() {
        let mut affairs = Affairs::default();
        affairs.put(3, 1, Some(0));
        affairs.put(5, 2, Some(1000));
        affairs.put(5, 1, Some(1));
        affairs.put(7, 2, Some(1001));
        affairs.put(9, 1, None);
        assert_eq!(affairs.at(2), []);
        assert_eq!(affairs.at(3), [(1, 0)]);
        assert_eq!(affairs.at(5), [(1, 1), (2, about(1000))]);
        // About the same.
        assert_eq!(affairs.at(8), affairs.at(5));
        assert_eq!(affairs.at(100), [(2, about(1000))]);
    }

    #[test]
    fn numbers_of_either_sign_are_told_apart() {
        let all = [
            0,
            1,
            2,
            3,
            4,
            8,
            1 << 40,
            u64::MAX,
            (-5_i64) as u64,
            1 << 63,
        ];
        let mut about: Vec<u8> = all.map(about).to_vec();
        about.sort_unstable();
        about.dedup();
        assert_eq!(about.len(), all.len());
    }
}
