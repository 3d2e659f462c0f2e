//! The cheapest way to turn one sequence into another, in linear space (Hirschberg).
//!
//! To leave out or to add one costs 1, to change one into another 2, so a change is never cheaper
//! than leaving out and adding; what is left is which elements correspond.

/// The indexes of elements that correspond, in order.
pub fn align<T: Eq>(a: &[T], b: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    part(a, b, (0, 0), &mut pairs);
    pairs
}

fn part<T: Eq>(a: &[T], b: &[T], at: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
    // What is the same at both ends needs no looking.
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    pairs.extend((0..start).map(|i| (at.0 + i, at.1 + i)));
    let (a, b, at) = (&a[start..], &b[start..], (at.0 + start, at.1 + start));
    let same = a.iter().rev().zip(b.iter().rev());
    let end = same.take_while(|(x, y)| x == y).count();
    let (x, y) = (&a[..a.len() - end], &b[..b.len() - end]);
    match (x, y) {
        ([], _) | (_, []) => {}
        ([only], _) => {
            if let Some(j) = y.iter().position(|other| other == only) {
                pairs.push((at.0, at.1 + j));
            }
        }
        _ => {
            let middle = x.len() / 2;
            let before = costs(x[..middle].iter(), y.iter());
            let after = costs(x[middle..].iter().rev(), y.iter().rev());
            let total = |j: usize| before[j] + after[y.len() - j];
            let split = (0..=y.len()).min_by_key(|&j| total(j)).unwrap_or(0);
            part(&x[..middle], &y[..split], at, pairs);
            let at = (at.0 + middle, at.1 + split);
            part(&x[middle..], &y[split..], at, pairs);
        }
    }
    let from = (at.0 + x.len(), at.1 + y.len());
    pairs.extend((0..end).map(|i| (from.0 + i, from.1 + i)));
}

/// What it costs to turn all of `a` into each beginning of `b`.
fn costs<'t, T: Eq + 't>(
    a: impl Iterator<Item = &'t T>,
    b: impl Clone + ExactSizeIterator<Item = &'t T>,
) -> Vec<u32> {
    let mut row: Vec<u32> = (0..=b.len() as u32).collect();
    for x in a {
        let mut corner = row[0];
        row[0] += 1;
        for (j, y) in b.clone().enumerate() {
            let changed = corner + if x == y { 0 } else { 2 };
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(a: &str, b: &str) -> String {
        let (x, y) = (a.as_bytes(), b.as_bytes());
        let pairs = align(x, y).into_iter();
        let same = pairs.map(|(i, j)| {
            assert_eq!(x[i], y[j]);
            char::from(x[i])
        });
        same.collect()
    }

    #[test]
    fn what_corresponds_is_found() {
        assert_eq!(aligned("123789", "12345789"), "123789");
        assert_eq!(aligned("", "abc"), "");
        assert_eq!(aligned("abc", "abc"), "abc");
        assert_eq!(aligned("xay", "bac"), "a");
        assert_eq!(aligned("ab", "cd"), "");
    }

    /// By the table that Hirschberg does without.
    fn longest(a: &[u8], b: &[u8]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] = match x == y {
                    true => table[i][j] + 1,
                    false => table[i + 1][j].max(table[i][j + 1]),
                };
            }
        }
        table[a.len()][b.len()]
    }

    #[test]
    fn nothing_corresponds_better() {
        let mut state = 7u64;
        let mut text = || {
            let mut next = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(99);
                (state >> 33) as usize
            };
            let length = next() % 30;
            (0..length).map(|_| b'a' + (next() % 3) as u8).collect()
        };
        for _ in 0..300 {
            let (a, b): (Vec<u8>, Vec<u8>) = (text(), text());
            let pairs = align(&a, &b);
            assert_eq!(pairs.len(), longest(&a, &b), "{a:?} {b:?}");
            assert!(pairs.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        }
    }
}
