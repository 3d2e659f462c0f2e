//! Sets of bytes, and conditions as such sets.

use super::*;
use crate::random::Random;
use crate::search::samples::{Samples, bytes};

fn random_set(random: &mut Random) -> ByteSet {
    ByteSet(std::array::from_fn(|_| match random.below(4) {
        0 => 0,
        1 => u64::MAX,
        _ => random.next(),
    }))
}

#[test]
fn sets_follow_the_laws() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let (a, b) = (random_set(&mut random), random_set(&mut random));
        for value in 0..=255 {
            let (in_a, in_b) = (a.contains(value), b.contains(value));
            assert_eq!(a.and(b).contains(value), in_a && in_b);
            assert_eq!(a.or(b).contains(value), in_a || in_b);
            assert_eq!(a.complement().contains(value), !in_a);
        }
        let listed: Vec<u8> = a.iter().collect();
        assert!(listed.is_sorted_by(|x, y| x < y));
        assert_eq!(listed.len(), a.count() as usize);
        assert!(listed.iter().all(|&value| a.contains(value)));
        assert_eq!(a.least(), listed.first().copied());
        assert_eq!(a.greatest(), listed.last().copied());
        assert_eq!(a.is_empty(), listed.is_empty());
        let mut again = ByteSet::NONE;
        listed.iter().for_each(|&value| again.insert(value));
        assert_eq!(again, a);
    }
    let printable: Vec<u8> = (0x20..=0x7e).collect();
    assert_eq!(ByteSet::PRINTABLE.iter().collect::<Vec<u8>>(), printable);
    assert_eq!(ByteSet::only(200).iter().collect::<Vec<u8>>(), [200]);
}

fn set(values: &[u8]) -> ByteSet {
    let mut set = ByteSet::NONE;
    values.iter().for_each(|&value| set.insert(value));
    set
}

#[test]
fn the_best_value_is_what_a_person_would_type() {
    assert_eq!(ByteSet::NONE.best(b'a'), None);
    assert_eq!(ByteSet::ALL.best(7), Some(7));
    // The same kind of character before a nearer one.
    assert_eq!(set(b":0").best(b'9'), Some(b'0'));
    assert_eq!(set(b"Z{b").best(b'z'), Some(b'b'));
    assert_eq!(set(b"a/").best(b'Z'), Some(b'a'));
    // Printable before nearer.
    assert_eq!(set(&[128, b'!']).best(127), Some(b'!'));
    assert_eq!(set(&[3, 9, 200]).best(b'a'), Some(9));
    assert_eq!(set(&[3, 9, 200]).best(4), Some(3));
}

/// The set of a condition by plain evaluation.
fn plainly(pool: &Pool, expr: Expr) -> (ByteSet, ByteSet) {
    let tape = Tape::new(pool, &[expr]);
    let mut values = Values::default();
    let (mut holds, mut undefined) = (ByteSet::NONE, ByteSet::NONE);
    for value in 0..=255u8 {
        tape.run(&mut values, |_| value.into());
        match tape.root(&values, 0) {
            Some(1) => holds.insert(value),
            Some(_) => {}
            None => undefined.insert(value),
        }
    }
    (holds, undefined)
}

#[test]
fn truth_is_what_plain_evaluation_says() {
    let mut pool = Pool::new();
    let leaves = bytes(&mut pool, 1);
    let mut samples = Samples {
        pool: &mut pool,
        leaves,
        random: Random::new(7),
        exotic: true,
    };
    let mut lanes = Lanes::default();
    let (mut some, mut partial) = (0, 0);
    for round in 0..1500 {
        let expr = samples.condition(round % 5);
        if samples.pool.variables_of(expr).is_empty() {
            assert_eq!(truth(samples.pool, expr), None);
            continue;
        }
        let found = Truth::of(samples.pool, expr, &mut lanes).expect("one byte");
        let (holds, undefined) = plainly(samples.pool, expr);
        assert_eq!(found.holds, holds, "{round}");
        assert_eq!(found.undefined, undefined, "{round}");
        assert_eq!(truth(samples.pool, expr), Some((Variable(0), holds)));
        some += usize::from(!holds.is_empty() && holds != ByteSet::ALL);
        partial += usize::from(!undefined.is_empty());
    }
    assert!(some > 300 && partial > 20, "{some} {partial}");
}

#[test]
fn truth_is_for_one_bit_over_one_byte() {
    let mut pool = Pool::new();
    let variables = bytes(&mut pool, 2);
    assert_eq!(truth(&pool, variables[0]), None);
    let both = pool.eq(variables[0], variables[1]);
    assert_eq!(truth(&pool, both), None);
    let size = pool.variable(crate::VariableKind::Size(crate::Source(0)));
    let zero = pool.constant(64, 0);
    let empty = pool.eq(size, zero);
    assert_eq!(truth(&pool, empty), None);
    let x = pool.constant(8, b'x'.into());
    let is_x = pool.eq(variables[1], x);
    assert_eq!(truth(&pool, is_x), Some((Variable(1), ByteSet::only(b'x'))));
}
