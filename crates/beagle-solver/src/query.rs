//! Random expressions and questions, for tests of what answers them.
//!
//! A question is a [`Recipe`] first, which can be made in a pool as it is written or rewritten, so
//! that both forms can be compared. Equal seeds give equal questions.

mod floats;
mod shapes;

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use crate::pool::{Expr, Pool, Table, Term};
use crate::random::Random;
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, Variable, VariableKind};

/// What questions are about.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The number of input bytes.
    pub bytes: u32,
    /// Whether the size of the input and the number of arguments occur.
    pub sizes: bool,
    /// Whether there is floating point.
    pub floats: bool,
    /// Whether values of more than 64 bits occur.
    pub wide: bool,
    /// How deep expressions are.
    pub depth: usize,
    /// How many conditions there are at most.
    pub conditions: usize,
}

impl Kind {
    /// Integers over a few bytes.
    pub const INTEGERS: Self = Self {
        bytes: 4,
        sizes: true,
        floats: false,
        wide: true,
        depth: 4,
        conditions: 6,
    };

    /// Questions that can be decided by trying all inputs.
    pub const TINY: Self = Self {
        bytes: 2,
        sizes: false,
        ..Self::INTEGERS
    };

    /// Floating point over a few bytes.
    pub const FLOATS: Self = Self {
        floats: true,
        depth: 2,
        conditions: 3,
        ..Self::TINY
    };
}

/// One operation of a recipe; operands are numbers of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ingredient {
    op: Op,
    width: u16,
    a: usize,
    b: usize,
    c: usize,
    value: u128,
}

/// A table, with numbers of ingredients as cells.
#[derive(Clone, Debug)]
struct Shelf {
    bytes: Vec<u8>,
    cells: Vec<(u32, usize)>,
}

/// Expressions that are not in a pool yet.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    ingredients: Vec<Ingredient>,
    shelves: Vec<Shelf>,
    conversions: Vec<&'static str>,
    conditions: Vec<usize>,
}

/// How the expressions of a recipe are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As they are written.
    Plain,
    /// By [`Pool::make`].
    Rewritten,
}

impl Recipe {
    /// The conditions in a pool.
    pub fn make(&self, pool: &mut Pool, form: Form) -> Vec<Expr> {
        let made = self.make_all(pool, form);
        self.conditions.iter().map(|&at| made[at]).collect()
    }

    fn make_all(&self, pool: &mut Pool, form: Form) -> Vec<Expr> {
        let stdin = pool.source(&SourceKey::Stdin);
        let mut made: Vec<Expr> = Vec::with_capacity(self.ingredients.len());
        for ingredient in &self.ingredients {
            let &Ingredient {
                op, width, value, ..
            } = ingredient;
            let expr = match op {
                Op::Const => pool.constant(width, value),
                Op::Var => pool.variable(VariableKind::Byte(stdin, ingredient.a as u32)),
                Op::Size => pool.variable(VariableKind::Size(stdin)),
                Op::ArgCount => pool.variable(VariableKind::ArgCount),
                _ => {
                    let term = self.term(pool, &made, ingredient);
                    match form {
                        Form::Plain => pool.intern(term),
                        Form::Rewritten => pool.make(term),
                    }
                }
            };
            made.push(expr);
        }
        made
    }

    fn term(&self, pool: &mut Pool, made: &[Expr], ingredient: &Ingredient) -> Term {
        let &Ingredient {
            op, width, a, b, c, ..
        } = ingredient;
        let operand = |at: usize| made[at].0;
        let (b, c) = match op {
            Op::Lookup => {
                let shelf = &self.shelves[b];
                let cells = shelf.cells.iter();
                let table = Table {
                    bytes: shelf.bytes.clone(),
                    cells: cells.map(|&(at, cell)| (at, made[cell])).collect(),
                };
                (pool.add_table(table), 0)
            }
            Op::RenderByte | Op::RenderLen => (pool.add_conversion(self.conversions[b]), c as u32),
            Op::Ite => (operand(b), operand(c)),
            op if op.arity() == beagle_trace::op::Arity::One => (0, c as u32),
            _ => (operand(b), c as u32),
        };
        Term {
            op,
            width,
            a: operand(a),
            b,
            c,
        }
    }
}

/// A random conjunction.
#[derive(Debug)]
pub struct Query {
    /// Where its expressions are.
    pub pool: Pool,
    /// The conditions, rewritten.
    pub conditions: Vec<Expr>,
    /// The same conditions as they were written.
    pub plain: Vec<Expr>,
    /// The values of the variables in the parent input, by number.
    pub hint: Vec<u128>,
}

impl Query {
    /// The value of a variable in the parent input.
    pub fn hint(&self, variable: Variable) -> u128 {
        self.hint.get(variable.0 as usize).copied().unwrap_or(0)
    }

    /// The question of a seed. Often all conditions but the last hold at the parent input, as along
    /// a path.
    pub fn new(kind: Kind, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let recipe = shapes::Maker::new(&mut random, kind).conditions();
        let parent = Input::new(&mut random, kind);
        let truth = recipe.values(&recipe.conditions, &parent);
        let mut recipe = recipe;
        let last = recipe.conditions.len() - 1;
        // The rest are left as they are; they conflict more often.
        if random.chance(80) {
            for (at, held) in truth.into_iter().enumerate() {
                let wanted = at != last || random.chance(15);
                if held.is_some_and(|value| (value == 1) != wanted) {
                    recipe.conditions[at] = recipe.negation(recipe.conditions[at]);
                }
            }
        }
        let mut pool = Pool::new();
        let plain = recipe.make(&mut pool, Form::Plain);
        let conditions = recipe.make(&mut pool, Form::Rewritten);
        let hint = (0..pool.variable_count() as u32)
            .map(|number| parent.value(pool.variable_kind(Variable(number))))
            .collect();
        Self {
            pool,
            conditions,
            plain,
            hint,
        }
    }
}

impl Recipe {
    fn add(&mut self, ingredient: Ingredient) -> usize {
        self.ingredients.push(ingredient);
        self.ingredients.len() - 1
    }

    fn negation(&mut self, condition: usize) -> usize {
        let one = self.add(Ingredient {
            op: Op::Const,
            width: 1,
            a: 0,
            b: 0,
            c: 0,
            value: 1,
        });
        self.add(Ingredient {
            op: Op::Xor,
            width: 1,
            a: condition,
            b: one,
            c: 0,
            value: 0,
        })
    }

    /// The values of ingredients for an input.
    fn values(&self, of: &[usize], input: &Input) -> Vec<Option<u128>> {
        let mut pool = Pool::new();
        let made = self.make_all(&mut pool, Form::Plain);
        let roots: Vec<Expr> = of.iter().map(|&at| made[at]).collect();
        let tape = Tape::new(&pool, &roots);
        let mut values = Values::default();
        tape.run(&mut values, |variable| {
            input.value(pool.variable_kind(variable))
        });
        (0..roots.len()).map(|at| tape.root(&values, at)).collect()
    }
}

/// Values of all variables.
#[derive(Clone, Debug)]
struct Input {
    bytes: Vec<u8>,
    size: u64,
    arguments: u32,
}

impl Input {
    fn new(random: &mut Random, kind: Kind) -> Self {
        let text = random.chance(60);
        let mut byte = || match text {
            true => random.pick(b"0123456789abcxyzABZ +-.,\n"),
            false => random.next() as u8,
        };
        Self {
            bytes: (0..kind.bytes).map(|_| byte()).collect(),
            size: random.below(100) as u64,
            arguments: random.below(5) as u32,
        }
    }

    fn value(&self, kind: VariableKind) -> u128 {
        match kind {
            VariableKind::Byte(_, index) => self.bytes.get(index as usize).map_or(0, |&b| b.into()),
            VariableKind::Size(_) => self.size.into(),
            VariableKind::ArgCount => self.arguments.into(),
        }
    }
}

/// A constant of this width that is likely to matter.
fn corner(random: &mut Random, width: u16) -> u128 {
    let value = match random.below(9) {
        0 => 0,
        1 => 1,
        2 => u128::MAX,
        3 => 1 << (width - 1),
        4 => mask(width) >> 1,
        5 => (1u128 << random.below(width.into()))
            .wrapping_add(random.below(3) as u128)
            .wrapping_sub(1),
        6 => random.pick(b"0123456789abcxyzABZ +-.,\n").into(),
        7 => random.below(256) as u128,
        _ => random.wide(),
    };
    value & mask(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_questions() {
        let text = |query: &Query| {
            let conditions = query.plain.iter();
            conditions
                .map(|&expr| query.pool.show(expr))
                .collect::<Vec<_>>()
        };
        for kind in [Kind::INTEGERS, Kind::FLOATS] {
            let one = Query::new(kind, 7);
            assert_eq!(text(&one), text(&Query::new(kind, 7)));
            assert_ne!(text(&one), text(&Query::new(kind, 8)));
        }
    }

    #[test]
    fn all_operators_occur() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..1500 {
            for kind in [Kind::INTEGERS, Kind::FLOATS] {
                let query = Query::new(kind, seed);
                let tape = Tape::new(&query.pool, &query.plain);
                seen.extend(tape.steps.iter().map(|step| step.term.op));
            }
        }
        let missing: Vec<Op> = Op::ALL
            .iter()
            .copied()
            .filter(|op| !seen.contains(op))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
