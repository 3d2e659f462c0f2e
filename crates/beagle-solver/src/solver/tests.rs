//! Questions about arguments, standard input and sizes, against trying all small inputs.

mod words;

use beagle_trace::Input;
use beagle_trace::op::Op;

use super::*;
use crate::agree::{agree, queries};
use crate::pool::Term;
use crate::query::Kind;
use crate::random::Random;
use crate::tape::Values;
use crate::variable::SourceKey;

/// The bytes that occur; 0 only in standard input.
const LETTERS: [u8; 3] = *b"ab0";
/// Arguments and standard input are no longer than this.
const LONGEST: usize = 3;

fn texts(letters: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut last = all.clone();
    for _ in 0..LONGEST {
        last = last
            .iter()
            .flat_map(|text| {
                letters.iter().map(move |&letter| {
                    let mut longer = text.clone();
                    longer.push(letter);
                    longer
                })
            })
            .collect();
        all.extend(last.clone());
    }
    all
}

fn input(args: &[Vec<u8>], stdin: &[u8]) -> Input {
    Input::from_args("p", args.to_vec()).with_stdin(stdin)
}

struct World {
    pool: Pool,
    argument: Vec<Expr>,
    stdin: Vec<Expr>,
    size: Expr,
    count: Expr,
}

impl World {
    fn new() -> Self {
        let mut pool = Pool::new();
        let argument = pool.source(&SourceKey::Argument(1));
        let stdin = pool.source(&SourceKey::Stdin);
        let bytes = |pool: &mut Pool, source| {
            let all = 0..LONGEST as u32;
            all.map(|index| pool.variable(VariableKind::Byte(source, index)))
                .collect()
        };
        Self {
            argument: bytes(&mut pool, argument),
            stdin: bytes(&mut pool, stdin),
            size: pool.variable(VariableKind::Size(stdin)),
            count: pool.variable(VariableKind::ArgCount),
            pool,
        }
    }

    fn constant(&mut self, width: u16, value: u128) -> Expr {
        self.pool.constant(width, value)
    }

    /// That a byte is one of those that occur.
    fn letter(&mut self, byte: Expr) -> Expr {
        let mut any = self.pool.truth(false);
        for letter in [0].into_iter().chain(LETTERS) {
            let letter = self.constant(8, letter.into());
            let is = self.pool.eq(byte, letter);
            any = self.pool.op(Op::Or, 1, &[any, is]);
        }
        any
    }

    /// What `getchar` gives.
    fn character(&mut self, index: usize) -> Expr {
        let at = self.constant(64, index as u128);
        let there = self.pool.op(Op::Ult, 1, &[at, self.size]);
        let end = self.constant(32, u128::MAX);
        let byte = self.pool.op(Op::ZExt, 32, &[self.stdin[index]]);
        self.pool.op(Op::Ite, 32, &[there, byte, end])
    }

    fn condition(&mut self, random: &mut Random) -> Expr {
        let bytes = [self.argument.clone(), self.stdin.clone()].concat();
        let (byte, other) = (random.pick(&bytes), random.pick(&bytes));
        let letter = random.pick(&[0, b'a', b'b', b'0', b'c']);
        let letter = self.constant(8, letter.into());
        match random.below(9) {
            0 | 1 => self.pool.eq(byte, letter),
            2 => self.pool.op(Op::Ult, 1, &[byte, letter]),
            3 => self.pool.op(Op::Ult, 1, &[byte, other]),
            4 => {
                let sum = self.pool.op(Op::Add, 8, &[byte, other]);
                self.pool.eq(sum, letter)
            }
            5 => {
                let at = self.constant(64, random.below(LONGEST + 1) as u128);
                self.pool.op(Op::Ult, 1, &[at, self.size])
            }
            6 | 7 => {
                let index = random.below(LONGEST);
                let character = self.character(index);
                let wanted = random.pick(&[u128::MAX, 0, b'a'.into(), b'0'.into()]);
                let wanted = self.constant(32, wanted);
                self.pool.eq(character, wanted)
            }
            _ => {
                let limit = self.constant(32, 1 + random.below(3) as u128);
                self.pool.op(Op::Slt, 1, &[limit, self.count])
            }
        }
    }

    fn hints(&mut self, inputs: Vec<Input>) -> Vec<Hint> {
        let inputs = inputs.into_iter();
        inputs
            .map(|input| Hint::new(&mut self.pool, input))
            .collect()
    }

    /// The first of the inputs for which all hold.
    fn first(&self, conditions: &[Expr], among: &[Hint]) -> Option<Input> {
        let tape = Tape::new(&self.pool, conditions);
        let mut values = Values::default();
        let found = among.iter().find(|hint| {
            tape.run(&mut values, |v| hint.value(self.pool.variable_kind(v)));
            tape.all_hold(&values)
        });
        found.map(|hint| hint.input().clone())
    }

    /// Whether all hold for an input.
    fn holds(&mut self, conditions: &[Expr], input: &Input) -> bool {
        let hint = Hint::new(&mut self.pool, input.clone());
        self.first(conditions, &[hint]).is_some()
    }
}

/// All inputs of up to three arguments, of which the first is any short text.
fn all_inputs() -> Vec<Input> {
    let mut all = Vec::new();
    let stdins = texts(&[&LETTERS[..], &[0]].concat());
    let mut first: Vec<Vec<Vec<u8>>> = texts(&LETTERS).into_iter().map(|text| vec![text]).collect();
    first.push(Vec::new());
    for args in first {
        for stdin in &stdins {
            let more = if args.is_empty() { 0..1 } else { 0..3 };
            for extra in more {
                let mut args = args.clone();
                args.resize(args.len() + extra, Vec::new());
                all.push(input(&args, stdin));
            }
        }
    }
    // Longer standard input, for conditions on its size alone.
    let longer: Vec<Input> = all
        .iter()
        .filter(|input| {
            input
                .sources
                .last()
                .is_some_and(|s| s.bytes.len() == LONGEST)
        })
        .map(|input| {
            let mut input = input.clone();
            if let Some(stdin) = input.sources.last_mut() {
                stdin.bytes.push(0);
            }
            input
        })
        .collect();
    all.extend(longer);
    all
}

/// Answers a random question by one layer alone, or by all.
fn answer(layer: Option<Layer>, pool: &Pool, question: &Question<'_>) -> Found {
    let mut solver = Solver::new(Budget::default());
    for other in Layer::ALL {
        if layer.is_some_and(|layer| layer != other) {
            solver.disable(other);
        }
    }
    let origins = vec![Origin::Asked(0); question.conditions.len()];
    solver.decide(pool, question, &origins)
}

/// More with QUERIES=n, other questions with SEED=n.
fn layers_agree_with_z3(kind: Kind, count: u64) {
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok());
    let all = agree(
        kind,
        queries(count),
        seed.unwrap_or(1),
        &mut [
            ("bytes", &mut |p, q| answer(Some(Layer::Bytes), p, q)),
            ("intervals", &mut |p, q| {
                answer(Some(Layer::Intervals), p, q)
            }),
            ("search", &mut |p, q| answer(Some(Layer::Search), p, q)),
            ("sat", &mut |p, q| answer(Some(Layer::Sat), p, q)),
            ("z3", &mut |p, q| answer(Some(Layer::Z3), p, q)),
            ("all", &mut |p, q| answer(None, p, q)),
        ],
    );
    println!("{all:#?}");
    let [.., sat, _, together] = &all[..] else {
        panic!("six ways were tried")
    };
    assert!(all[2].models > 0 && sat.conflicts > 0 && sat.models > 0);
    let answered = together.models + together.conflicts + together.undefined;
    assert!(answered as u64 * 10 > queries(count) * 9, "{together:?}");
}

#[test]
fn layers_agree_with_z3_on_random_questions() {
    layers_agree_with_z3(Kind::INTEGERS, 120);
}

#[test]
fn layers_agree_with_z3_on_tiny_questions() {
    layers_agree_with_z3(Kind::TINY, 120);
}

#[test]
fn answers_agree_with_trying_all_small_inputs() {
    let mut world = World::new();
    let inputs = world.hints(all_inputs());
    let mut random = Random::new(7);
    let (mut found, mut none) = (0, 0);
    // More with QUERIES=n.
    let rounds = std::env::var("QUERIES").ok().and_then(|n| n.parse().ok());
    let mut solver = Solver::new(Budget {
        question: Duration::from_secs(20),
        deadline: None,
    });
    for round in 0..rounds.unwrap_or(60) {
        let args = match random.below(8) {
            0 => Vec::new(),
            _ => vec![
                random
                    .pick(&texts(&LETTERS).iter().map(|t| &t[..]).collect::<Vec<_>>())
                    .to_vec(),
            ],
        };
        let stdin = random
            .pick(
                &texts(&[97, 0, 48])
                    .iter()
                    .map(|t| &t[..])
                    .collect::<Vec<_>>(),
            )
            .to_vec();
        let parent = input(&args, &stdin);
        let mut path = Path::new(&mut world.pool, parent.clone());
        let bytes = [world.argument.clone(), world.stdin.clone()].concat();
        for byte in bytes {
            let letter = world.letter(byte);
            path.push(&mut world.pool, letter);
        }
        let start = path.conditions().len();
        for _ in 0..1 + random.below(6) {
            let condition = world.condition(&mut random);
            let holds = world.holds(&[condition], &parent);
            let condition = if holds {
                condition
            } else {
                world.pool.not(condition)
            };
            path.push(&mut world.pool, condition);
        }
        assert_eq!(path.impossible(), 0, "round {round}");
        let last = path.conditions().len();
        let prefix = start + random.below(last - start);
        let mut asked = vec![world.pool.not(path.conditions()[prefix])];
        if random.below(4) == 0 {
            asked.push(world.condition(&mut random));
        }
        let conditions = [&path.conditions()[..prefix], &asked[..]].concat();
        match solver.ask(&mut world.pool, &mut path, prefix, &asked) {
            Answer::Satisfiable(model) => {
                found += 1;
                let made = model.apply(&world.pool, path.hint()).expect("an input");
                assert!(world.holds(&conditions, &made), "round {round}: {made:?}");
            }
            Answer::Unsatisfiable(core) => {
                none += 1;
                let missed = world.first(&conditions, &inputs);
                assert_eq!(missed, None, "round {round}: {core:?}");
                let of_path = core.path.iter().map(|&at| path.conditions()[at]);
                let mut conflict: Vec<Expr> = of_path.collect();
                conflict.extend(core.asked.iter().map(|&at| asked[at]));
                assert!(core.path.iter().all(|&at| at < prefix));
                let possible = world.first(&conflict, &inputs);
                assert_eq!(possible, None, "round {round}: {core:?}");
            }
            Answer::Unknown(why) => panic!("round {round}: {}", why.text()),
        }
    }
    assert!(found > rounds.unwrap_or(60) / 4, "{found} found");
    assert!(none > 0, "{none} without an answer");
}

/// Bytes of standard input from an index on as one value, the first lowest.
fn assembled(pool: &mut Pool, first: u32, count: u32) -> Expr {
    let source = pool.source(&SourceKey::Stdin);
    let mut all = pool.variable(VariableKind::Byte(source, first));
    for index in first + 1..first + count {
        let next = pool.variable(VariableKind::Byte(source, index));
        let width = pool.width(all) + 8;
        all = pool.op(Op::Concat, width, &[next, all]);
    }
    all
}

/// Asks for one condition on a standard input of zeros.
fn ask_for(pool: &mut Pool, solver: &mut Solver, size: usize, asked: &[Expr]) -> Answer {
    let mut path = Path::new(
        pool,
        Input::from_args("p", [""; 0]).with_stdin(vec![0; size]),
    );
    let answer = solver.ask(pool, &mut path, 0, asked);
    if let Answer::Satisfiable(model) = &answer {
        let made = model.apply(pool, path.hint()).expect("an input");
        let hint = Hint::new(pool, made);
        let tape = Tape::new(pool, asked);
        let mut values = Values::default();
        tape.run(&mut values, |v| hint.value(pool.variable_kind(v)));
        assert!(tape.all_hold(&values), "an answer that is none");
    }
    answer
}

#[test]
fn floating_point_is_solved() {
    let mut pool = Pool::new();
    let mut solver = Solver::new(Budget {
        question: Duration::from_secs(30),
        deadline: None,
    });
    let compare = |pool: &mut Pool, a: Expr, b: Expr, predicate: u32| {
        pool.make(Term {
            op: Op::FCmp,
            width: 1,
            a: a.0,
            b: b.0,
            c: predicate,
        })
    };
    let (x, y) = (assembled(&mut pool, 0, 8), assembled(&mut pool, 8, 8));
    let square = pool.op(Op::FMul, 64, &[x, x]);
    let sum = pool.op(Op::FAdd, 64, &[square, y]);
    let least = pool.constant(64, 2.5f64.to_bits().into());
    let most = pool.constant(64, 1.1f64.to_bits().into());
    // x*x + y > 2.5 && x < 1.1
    let both = [
        compare(&mut pool, sum, least, 2),
        compare(&mut pool, x, most, 4),
    ];
    let answer = ask_for(&mut pool, &mut solver, 16, &both);
    assert!(matches!(answer, Answer::Satisfiable(_)), "{answer:?}");
    // A whole number that is also given as a float: (double)n == y && n > 1000.
    let n = assembled(&mut pool, 0, 4);
    let float = pool.op(Op::SiToFp, 64, &[n]);
    let thousand = pool.constant(32, 1000);
    let equal = [
        compare(&mut pool, float, y, 1),
        pool.op(Op::Slt, 1, &[thousand, n]),
    ];
    let answer = ask_for(&mut pool, &mut solver, 16, &equal);
    assert!(matches!(answer, Answer::Satisfiable(_)), "{answer:?}");
    // No number is less than itself.
    let never = [compare(&mut pool, y, y, 4)];
    let answer = ask_for(&mut pool, &mut solver, 16, &never);
    assert!(matches!(answer, Answer::Unsatisfiable(_)), "{answer:?}");
}

#[test]
fn hard_questions_are_given_up_in_time() {
    let mut pool = Pool::new();
    let mut solver = Solver::new(Budget {
        question: Duration::from_millis(300),
        deadline: None,
    });
    let words: Vec<Expr> = (0..4).map(|at| assembled(&mut pool, at * 8, 8)).collect();
    let prime = pool.constant(64, 18_446_744_073_709_551_557);
    let mut questions = Vec::new();
    // Products.
    let left = pool.op(Op::Mul, 64, &[words[0], words[1]]);
    let right = pool.op(Op::Mul, 64, &[words[2], words[3]]);
    let right = pool.op(Op::Add, 64, &[right, prime]);
    questions.push(pool.eq(left, right));
    // Divisions in a chain.
    let mut chain = words[0];
    for by in [1, 2, 3, 1, 2] {
        let quotient = pool.op(Op::UDiv, 64, &[chain, words[by]]);
        let rest = pool.op(Op::SRem, 64, &[chain, words[by]]);
        chain = pool.op(Op::Add, 64, &[quotient, rest]);
    }
    questions.push(pool.eq(chain, prime));
    // FNV over eight bytes.
    let mut hash = pool.constant(64, 0xcbf2_9ce4_8422_2325);
    let factor = pool.constant(64, 0x100_0000_01b3);
    for at in 0..8 {
        let byte = assembled(&mut pool, at, 1);
        let byte = pool.op(Op::ZExt, 64, &[byte]);
        hash = pool.op(Op::Xor, 64, &[hash, byte]);
        hash = pool.op(Op::Mul, 64, &[hash, factor]);
    }
    questions.push(pool.eq(hash, prime));
    // CRC-32 over eight bytes.
    let mut crc = pool.constant(32, u128::MAX);
    let polynomial = pool.constant(32, 0xedb8_8320);
    let one = pool.constant(32, 1);
    let zero = pool.constant(32, 0);
    for at in 0..8 {
        let byte = assembled(&mut pool, at, 1);
        let byte = pool.op(Op::ZExt, 32, &[byte]);
        crc = pool.op(Op::Xor, 32, &[crc, byte]);
        for _ in 0..8 {
            let odd = pool.extract(crc, 0, 1);
            let half = pool.op(Op::LShr, 32, &[crc, one]);
            let folded = pool.op(Op::Ite, 32, &[odd, polynomial, zero]);
            crc = pool.op(Op::Xor, 32, &[half, folded]);
        }
    }
    let wanted = pool.constant(32, 0xdead_beef);
    questions.push(pool.eq(crc, wanted));
    let mut answered = 0;
    for question in questions {
        // What is answered is checked; what is not ends here all the same.
        match ask_for(&mut pool, &mut solver, 32, &[question]) {
            Answer::Unsatisfiable(_) => panic!("every one of them has a solution"),
            Answer::Satisfiable(_) => answered += 1,
            Answer::Unknown(why) => assert_eq!(why, Unknown::Budget),
        }
    }
    assert!(answered > 0, "CRC-32 is linear");
    // And the solver goes on.
    let byte = assembled(&mut pool, 0, 1);
    let letter = pool.constant(8, b'x'.into());
    let easy = pool.eq(byte, letter);
    let answer = ask_for(&mut pool, &mut solver, 32, &[easy]);
    let Answer::Satisfiable(model) = answer else {
        panic!("{answer:?}")
    };
    assert_eq!(model.changes.len(), 1);
}

#[test]
fn answers_are_near_and_printable() {
    let mut pool = Pool::new();
    let mut solver = Solver::new(Budget::default());
    let input = Input::from_args("p", ["7: abc"]);
    let source = pool.source(&SourceKey::Argument(1));
    let bytes: Vec<Expr> = (0..6)
        .map(|at| pool.variable(VariableKind::Byte(source, at)))
        .collect();
    let mut path = Path::new(&mut pool, input);
    // Another letter.
    let letter = pool.constant(8, b'a'.into());
    let other = pool.ne(bytes[3], letter);
    let Answer::Satisfiable(model) = solver.ask(&mut pool, &mut path, 0, &[other]) else {
        panic!("no answer")
    };
    let made = model.apply(&pool, path.hint()).expect("an input");
    assert_eq!(made.sources[1].bytes, b"7: bbc");
    // A longer argument.
    let eighth = pool.variable(VariableKind::Byte(source, 7));
    let x = pool.constant(8, b'x'.into());
    let is_x = pool.eq(eighth, x);
    let Answer::Satisfiable(model) = solver.ask(&mut pool, &mut path, 0, &[is_x]) else {
        panic!("no answer")
    };
    let made = model.apply(&pool, path.hint()).expect("an input");
    let bytes = &made.sources[1].bytes;
    assert!(bytes.starts_with(b"7: abc") && bytes.ends_with(b"x") && bytes.len() == 8);
    assert!(
        bytes.iter().all(|byte| (b' '..=b'~').contains(byte)),
        "{bytes:?}"
    );
}

#[test]
fn a_model_that_breaks_a_condition_is_not_accepted() {
    let mut pool = Pool::new();
    let [first, second] = [0, 1].map(|at| assembled(&mut pool, at, 1));
    let parent = Input::from_args("p", [""; 0]).with_stdin(*b"xy");
    let mut path = Path::new(&mut pool, parent);
    let letter = pool.constant(8, b'a'.into());
    let other = pool.ne(first, letter);
    path.push(&mut pool, other);
    let asked = pool.eq(second, letter);
    let [first, second] = [first, second].map(|byte| Variable(pool.term(byte).c));
    let mut accepted = |prefix: u32, changes: &[(Variable, u128)]| {
        let changes = changes.to_vec();
        verified(&mut pool, &path, prefix, &[asked], Model { changes })
    };
    let good = [(second, b'a'.into())];
    let same = [(first, b'x'.into()), (second, b'a'.into())];
    let changes = good.to_vec();
    assert_eq!(
        accepted(1, &good),
        Some(Model {
            changes: changes.clone()
        })
    );
    assert_eq!(accepted(1, &same), Some(Model { changes }));
    // What is asked for does not hold, a condition of the path does not hold, neither does.
    assert_eq!(accepted(1, &[(second, b'b'.into())]), None);
    assert_eq!(
        accepted(1, &[(first, b'a'.into()), (second, b'a'.into())]),
        None
    );
    assert_eq!(accepted(1, &[(first, b'a'.into())]), None);
    // A condition after the first ones need not hold.
    assert!(accepted(0, &[(first, b'a'.into()), (second, b'a'.into())]).is_some());
}
