//! Puts mutants in an order of which every beginning is a fair sample.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Mutant, Operator};

/// Orders the mutants so that the first N of them, for any N, are spread over operators and,
/// within each operator, over functions. The same seed gives the same order.
pub fn spread(mutants: Vec<Mutant>, seed: u64) -> Vec<Mutant> {
    let mut random = SplitMix(seed);
    let mut heaps: BTreeMap<Operator, BTreeMap<Function, Vec<Mutant>>> = BTreeMap::new();
    for mutant in mutants {
        let function = (mutant.file.clone(), mutant.function.clone());
        heaps
            .entry(mutant.operator)
            .or_default()
            .entry(function)
            .or_default()
            .push(mutant);
    }
    for heap in heaps.values_mut().flat_map(BTreeMap::values_mut) {
        random.shuffle(heap);
    }
    let mut of_operator: BTreeMap<Operator, usize> = BTreeMap::new();
    let mut of_function: BTreeMap<Function, usize> = BTreeMap::new();
    let mut order = Vec::new();
    // The fewest picks so far come first; ties are broken by chance.
    while let Some(operator) = least(heaps.keys(), &of_operator, &mut random) {
        let Some(functions) = heaps.get_mut(&operator) else {
            break;
        };
        let Some(function) = least(functions.keys(), &of_function, &mut random) else {
            break;
        };
        let Some(heap) = functions.get_mut(&function) else {
            break;
        };
        order.extend(heap.pop());
        if heap.is_empty() {
            functions.remove(&function);
        }
        if functions.is_empty() {
            heaps.remove(&operator);
        }
        *of_operator.entry(operator).or_default() += 1;
        *of_function.entry(function).or_default() += 1;
    }
    order
}

/// A function and the file it is in.
type Function = (PathBuf, String);

/// One of the keys that were picked least often.
fn least<'k, K: Ord + Clone + 'k>(
    keys: impl Iterator<Item = &'k K>,
    picks: &BTreeMap<K, usize>,
    random: &mut SplitMix,
) -> Option<K> {
    keys.min_by_key(|key| (picks.get(key).copied().unwrap_or(0), random.next()))
        .cloned()
}

/// Vigna's SplitMix64. A generator of our own, so that a seed means the same in years to come.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            let other = self.next() % (at as u64 + 1);
            items.swap(at, other as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::mutate::candidates;

    const SOURCE: &str = "
int f(int a, int b) { if (a < b && b < 9) a += b; return a + 1; }
int g(int a, int b) { while (a != b || b > 3) { a = a - 2; b = b * 3; } return a; }
";

    fn order(seed: u64) -> Vec<Mutant> {
        spread(candidates(Path::new("x.c"), SOURCE).unwrap(), seed)
    }

    #[test]
    fn no_mutant_is_lost_or_doubled() {
        let mut all = order(1);
        all.sort_by_key(|mutant| (mutant.range.start, mutant.range.end));
        assert_eq!(
            all.len(),
            candidates(Path::new("x.c"), SOURCE).unwrap().len()
        );
        all.dedup();
        assert_eq!(all.len(), order(1).len());
    }

    #[test]
    fn a_seed_gives_one_order_and_another_seed_another() {
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }

    #[test]
    fn the_first_ones_have_all_operators_and_functions() {
        let order = order(3);
        let operators = |m: &[Mutant]| {
            m.iter()
                .map(|m| m.operator)
                .collect::<std::collections::BTreeSet<_>>()
        };
        let kinds = operators(&order).len();
        assert_eq!(operators(&order[..kinds]).len(), kinds);
        let in_f = order[..kinds].iter().filter(|m| m.function == "f").count();
        assert!(in_f.abs_diff(kinds - in_f) <= 2, "{in_f} of {kinds}");
    }
}
