//! The state of affairs: what the variables hold that decide about changes.
//!
//! A branch that depends on such a variable may not depend on the input, as if lines are counted. Then a way on
//! that was tried in vain in one state of affairs may lead on in another.

use rustc_hash::FxHashMap;

/// What one variable holds: its number, and about which value.
pub type Affair = (u32, u8);

/// What the variables hold in the course of a run.
#[derive(Clone, Debug, Default)]
pub struct Affairs {
    /// By variable: from which step on it holds about which value, in ascending order; `None` if that depends on
    /// the input.
    of: FxHashMap<u32, Vec<(u32, Option<u8>)>>,
}

impl Affairs {
    /// A variable holds a value from a step on; `None` if that depends on the input.
    pub fn put(&mut self, step: usize, place: u32, value: Option<u64>) {
        let all = self.of.entry(place).or_default();
        let about = value.map(about);
        if all.last().is_none_or(|&(_, last)| last != about) {
            all.push((step as u32, about));
        }
    }

    /// What a variable holds at a step.
    pub fn at(&self, step: usize, place: u32) -> Option<Affair> {
        let all = self.of.get(&place)?;
        let before = all.partition_point(|&(from, _)| from as usize <= step);
        let (_, about) = all[before.checked_sub(1)?];
        Some((place, about?))
    }

    /// All that variables held, some of it more than once.
    pub fn seen(&self) -> impl Iterator<Item = Affair> {
        let all = self.of.iter();
        all.flat_map(|(&place, all)| {
            all.iter()
                .filter_map(move |&(_, about)| Some((place, about?)))
        })
    }
}

/// Small numbers are told apart, others by their size.
fn about(value: u64) -> u8 {
    // Numbers of 32 bits come without their sign.
    let value = match u32::try_from(value) {
        Ok(short) => i64::from(short as i32),
        Err(_) => value as i64,
    };
    match value {
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
        assert_eq!(affairs.at(2, 1), None);
        assert_eq!(affairs.at(3, 1), Some((1, 0)));
        assert_eq!(affairs.at(4, 2), None);
        assert_eq!(affairs.at(8, 1), Some((1, 1)));
        // About the same.
        assert_eq!(affairs.at(8, 2), affairs.at(5, 2));
        assert_eq!(affairs.at(100, 1), None);
        let mut seen: Vec<Affair> = affairs.seen().collect();
        seen.sort_unstable();
        assert_eq!(seen, [(1, 0), (1, 1), (2, about(1000))]);
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
            u64::from(-1_i32 as u32),
            u64::from(-5_i32 as u32),
            (-1000_i64) as u64,
            1 << 63,
        ];
        let mut told = all.map(about).to_vec();
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), all.len());
        assert_eq!(about(u64::MAX), about(u64::from(u32::MAX)));
    }
}
