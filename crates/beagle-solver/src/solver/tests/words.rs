//! Paths with many conditions on one word, compared with trying all its values.

use std::time::{Duration, Instant};

use beagle_trace::Input;
use beagle_trace::op::Op;

use crate::path::Path;
use crate::pool::{Expr, Pool};
use crate::random::Random;
use crate::solver::{Answer, Budget, Solver, Unknown};
use crate::statistics::Layer;
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, VariableKind};

/// The values of the first byte that are tried.
const FIRST: [u8; 6] = [0, 1, 2, 0x7f, 0x80, 0xff];

fn input(bytes: [u8; 2]) -> Input {
    Input::from_args("p", [""; 0]).with_stdin(bytes)
}

/// The two bytes of standard input.
fn bytes(pool: &mut Pool) -> [Expr; 2] {
    let stdin = pool.source(&SourceKey::Stdin);
    [0, 1].map(|index| pool.variable(VariableKind::Byte(stdin, index)))
}

/// The bytes of the inputs for which all conditions hold.
fn solutions(pool: &Pool, conditions: &[Expr], bytes: [Expr; 2]) -> Vec<[u8; 2]> {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    let all = FIRST.iter().flat_map(|&a| (0..=255).map(move |b| [a, b]));
    let holds = |tried: &[u8; 2]| {
        tape.run(&mut values, |variable| {
            let at = bytes
                .iter()
                .position(|&b| b == pool.variable_expr(variable));
            at.map_or(2, |at| tried[at].into())
        });
        tape.all_hold(&values)
    };
    all.filter(holds).collect()
}

/// A random condition on the word.
fn condition(pool: &mut Pool, random: &mut Random, [a, b]: [Expr; 2]) -> Expr {
    let order = if random.once_in(3) { [b, a] } else { [a, b] };
    let word = pool.op(Op::Concat, 16, &order);
    let number = [0, 1, 2, 5, 0x100, 0x102, 0x7fff, 0x8000, 0xff00, 0xffff];
    let near = (random.pick(&number) + random.below(7) as u128) & 0xffff;
    let limit = pool.constant(16, near);
    let shift = pool.constant(16, random.pick(&[0, 0, 0, 3, 0xfffe]));
    let sum = pool.op(Op::Add, 16, &[word, shift]);
    let compare = random.pick(&[Op::Eq, Op::Ne, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle]);
    match random.below(10) {
        6 => {
            // A number of two digits.
            let [tens, ones] = order.map(|byte| pool.op(Op::ZExt, 32, &[byte]));
            let ten = pool.constant(32, 10);
            let tens = pool.op(Op::Mul, 32, &[tens, ten]);
            let number = pool.op(Op::Add, 32, &[tens, ones]);
            let limit = pool.constant(32, random.below(30) as u128);
            pool.op(compare, 1, &[number, limit])
        }
        7 => {
            // What a digit or a letter stands for, and another one before it.
            let [first, second] = order;
            let ten = pool.constant(8, 10);
            let below = pool.op(Op::Ult, 1, &[second, ten]);
            let other = pool.op(Op::Sub, 8, &[second, ten]);
            let value = pool.op(Op::Ite, 8, &[below, second, other]);
            let value = pool.op(Op::ZExt, 16, &[value]);
            let first = pool.op(Op::ZExt, 16, &[first]);
            let by = pool.constant(16, random.pick(&[3, 4, 8]));
            let shifted = pool.op(Op::Shl, 16, &[first, by]);
            let number = pool.op(Op::Add, 16, &[shifted, value]);
            pool.op(compare, 1, &[number, limit])
        }
        8 => {
            let low = random.below(12) as u16;
            let count = 1 + random.below(4) as u16;
            let part = pool.extract(sum, low, count);
            let limit = pool.constant(count, random.below(16) as u128);
            pool.op(compare, 1, &[part, limit])
        }
        9 => {
            // A byte is below a small number.
            let few = pool.constant(8, 1 + random.below(20) as u128);
            pool.op(Op::Ult, 1, &[b, few])
        }
        0 => {
            let number = pool.op(Op::SExt, 32, &[sum]);
            let by = pool.constant(32, random.pick(&[1, 2, 7, 0xffff_fffd]));
            let op = random.pick(&[Op::SDiv, Op::SRem, Op::AShr]);
            let part = pool.op(op, 32, &[number, by]);
            let limit = pool.constant(32, (random.below(40) as u128).wrapping_sub(5));
            pool.op(compare, 1, &[part, limit])
        }
        1 => pool.op(compare, 1, &[limit, sum]),
        2 => {
            let other = pool.constant(8, random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]));
            pool.op(compare, 1, &[b, other])
        }
        _ => pool.op(compare, 1, &[sum, limit]),
    }
}

/// Asks for the negation of one of the conditions; whether there is an answer.
fn has_answer(
    random: &mut Random,
    pool: &mut Pool,
    path: &mut Path,
    bytes: [Expr; 2],
    round: u64,
) -> bool {
    let prefix = 1 + random.below(path.conditions().len() - 1);
    let asked = pool.not(path.conditions()[prefix]);
    let conditions = [&path.conditions()[..prefix], &[asked]].concat();
    let shown = |pool: &Pool, all: &[Expr]| -> String {
        let lines = all.iter().map(|&e| pool.show(e));
        lines.collect::<Vec<_>>().join("\n")
    };
    let mut solver = Solver::new(Budget {
        question: Duration::from_secs(20),
        deadline: None,
    });
    if random.once_in(3) {
        solver.disable(random.pick(&[Layer::Bytes, Layer::Intervals, Layer::Search]));
    }
    match solver.ask(pool, path, prefix, &[asked]) {
        Answer::Satisfiable(_) => true,
        Answer::Unsatisfiable(core) => {
            let left = solutions(pool, &conditions, bytes);
            let text = shown(pool, &conditions);
            assert!(left.is_empty(), "round {round}: {left:?} for\n{text}");
            let of_path = core.path.iter().map(|&at| path.conditions()[at]);
            let mut conflict: Vec<Expr> = of_path.collect();
            conflict.extend(core.asked.iter().map(|_| asked));
            let left = solutions(pool, &conflict, bytes);
            let text = shown(pool, &conflict);
            assert!(
                left.is_empty(),
                "round {round}: {left:?} for the core\n{text}"
            );
            false
        }
        Answer::Unknown(why) => panic!("round {round}: {}", why.text()),
    }
}

/// A condition is made simple by an earlier one, and then fixes the byte that this was about: what made it simple
/// belongs to its conflicts all the same.
#[test]
fn conflicts_name_what_their_conditions_were_made_simple_by() {
    let mut pool = Pool::new();
    let stdin = pool.source(&SourceKey::Stdin);
    let [x, y, z] = [0, 1, 2].map(|index| pool.variable(VariableKind::Byte(stdin, index)));
    let parent = Input::from_args("p", [""; 0]).with_stdin([0xfb, 0, 0]);
    let mut path = Path::new(&mut pool, parent);
    let eight = pool.constant(8, 8);
    let sum = pool.op(Op::Add, 8, &[x, eight]);
    for (byte, limit) in [(sum, 16), (z, 2), (y, 2)] {
        let limit = pool.constant(8, limit);
        let below = pool.op(Op::Ult, 1, &[byte, limit]);
        path.push(&mut pool, below);
    }
    let [sum, wide_y, wide_z] = [sum, y, z].map(|byte| pool.op(Op::ZExt, 16, &[byte]));
    let many = pool.constant(16, 17);
    let [times_y, times_z] = [wide_y, wide_z].map(|byte| pool.op(Op::Mul, 16, &[byte, many]));
    let less = pool.op(Op::Sub, 16, &[sum, times_z]);
    let all = pool.op(Op::Add, 16, &[less, times_y]);
    let three = pool.constant(16, 3);
    let equal = pool.eq(all, three);
    path.push(&mut pool, equal);
    let asked = pool.ne(z, y);
    let mut solver = Solver::new(Budget::default());
    let Answer::Unsatisfiable(core) = solver.ask(&mut pool, &mut path, 4, &[asked]) else {
        panic!("z and y must be equal");
    };
    // Without the first condition x = 12, z = 1, y = 0 is an answer.
    assert!(core.path.contains(&0), "{core:?}");
}

/// More with QUERIES=n.
#[test]
fn paths_over_one_word_agree_with_trying_all_values() {
    let rounds = std::env::var("QUERIES").ok().and_then(|n| n.parse().ok());
    let rounds = rounds.unwrap_or(300);
    let mut random = Random::new(11);
    let (mut found, mut none) = (0, 0);
    for round in 0..rounds {
        let mut pool = Pool::new();
        let bytes = bytes(&mut pool);
        let parent = [random.pick(&FIRST), random.next() as u8];
        let mut path = Path::new(&mut pool, input(parent));
        let first = FIRST.map(|value| {
            let value = pool.constant(8, value.into());
            pool.eq(bytes[0], value)
        });
        let any = first.into_iter().reduce(|a, b| pool.op(Op::Or, 1, &[a, b]));
        path.push(&mut pool, any.expect("some values"));
        let loop_from = random.below(0x110) as u128;
        for number in 0..2 + random.below(24) {
            let one = if random.once_in(2) {
                // What a loop leaves behind.
                let word = pool.op(Op::Concat, 16, &bytes);
                let count = pool.constant(16, loop_from + number as u128);
                pool.ne(word, count)
            } else {
                condition(&mut pool, &mut random, bytes)
            };
            let holds = solutions(&pool, &[one], bytes).contains(&parent);
            let one = if holds { one } else { pool.not(one) };
            // Division is not defined for all numbers.
            if solutions(&pool, &[one], bytes).contains(&parent) {
                path.push(&mut pool, one);
            }
        }
        assert_eq!(path.impossible(), 0, "round {round}");
        let last = path.conditions().len();
        if last < 2 {
            continue;
        }
        // In any order: what is remembered of one prefix must be right for the others.
        for _ in 0..3 {
            match has_answer(&mut random, &mut pool, &mut path, bytes, round) {
                true => found += 1,
                false => none += 1,
            }
        }
    }
    assert!(found * 2 > rounds, "{found} found");
    assert!(none * 5 > rounds, "{none} without an answer");
}

#[test]
fn after_the_deadline_no_layer_begins() {
    let mut pool = Pool::new();
    let stdin = pool.source(&SourceKey::Stdin);
    let names: Vec<Expr> = (0..200)
        .map(|index| pool.variable(VariableKind::Byte(stdin, index)))
        .collect();
    let parent = Input::from_args("p", [""; 0]).with_stdin([1; 200]);
    let mut path = Path::new(&mut pool, parent);
    // Products of neighbours, which hang together and which no layer decides in passing.
    for number in 0..20_000 {
        let (a, b) = (names[number % 200], names[(number * 7 + 1) % 200]);
        let [a, b] = [a, b].map(|byte| pool.op(Op::ZExt, 32, &[byte]));
        let product = pool.op(Op::Mul, 32, &[a, b]);
        let limit = pool.constant(32, 1000 + number as u128);
        let other = pool.ne(product, limit);
        path.push(&mut pool, other);
    }
    let [a, b] = [names[0], names[1]].map(|byte| pool.op(Op::ZExt, 32, &[byte]));
    let product = pool.op(Op::Mul, 32, &[a, b]);
    let wanted = pool.constant(32, 23 * 29);
    let asked = pool.eq(product, wanted);
    let prefix = path.conditions().len();
    let mut solver = Solver::new(Budget {
        question: Duration::from_secs(60),
        deadline: Some(Instant::now()),
    });
    let answer = solver.ask(&mut pool, &mut path, prefix, &[asked]);
    assert_eq!(answer, Answer::Unknown(Unknown::Budget));
    for layer in [Layer::Search, Layer::Sat, Layer::Z3] {
        assert_eq!(solver.statistics().layer(layer).asked, 0, "{layer:?}");
    }
    solver.set_budget(Budget {
        question: Duration::from_secs(60),
        deadline: None,
    });
    let answer = solver.ask(&mut pool, &mut path, prefix, &[asked]);
    assert!(matches!(answer, Answer::Satisfiable(_)), "{answer:?}");
}
