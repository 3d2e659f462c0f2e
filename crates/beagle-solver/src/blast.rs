//! Expressions as circuits of gates. What was once made stays.
//!
//! Operators that are not defined for all values count as 0 where they are not.

mod circuit;
mod gates;
mod implied;
mod lookup;
#[cfg(test)]
mod tests;
mod words;

use crate::clock::Moment;

use beagle_trace::op::Op;

pub(crate) use self::circuit::{Circuit, Lanes, Marks};
pub(crate) use self::gates::{Bit, Gate, Gates};
use self::words::Word;
use crate::layer::Why;
use crate::pool::{Expr, Pool, Term};
use crate::variable::Variable;

/// No more gates than this are made at once.
const MOST_GATES: usize = 1 << 20;

/// So many gates are made before the clock is looked at.
const GATES_PER_CHECK: usize = 1 << 12;

/// So many expressions are visited before the clock is looked at.
const EXPRESSIONS_PER_CHECK: usize = 1 << 10;

/// An expression without a circuit.
const NONE: u32 = u32::MAX;

/// The circuits of expressions.
#[derive(Debug)]
pub(crate) struct Blaster {
    gates: Gates,
    /// By expression: where its bits start, or [`NONE`].
    starts: Vec<u32>,
    bits: Vec<Bit>,
}

impl Blaster {
    /// No circuits.
    pub(crate) fn new() -> Self {
        Self {
            gates: Gates::new(),
            starts: Vec::new(),
            bits: Vec::new(),
        }
    }

    /// The gates of all circuits.
    pub(crate) fn gates(&self) -> &Gates {
        &self.gates
    }

    /// How many bytes all circuits take, about.
    pub(crate) fn memory(&self) -> usize {
        self.gates.memory() + (self.starts.capacity() + self.bits.capacity()) * size_of::<u32>()
    }

    /// The bits of an expression, the lowest first, if it has a circuit.
    fn known(&self, pool: &Pool, expr: Expr) -> Option<&[Bit]> {
        let start = *self.starts.get(expr.index())?;
        let width = usize::from(pool.width(expr));
        (start != NONE).then(|| &self.bits[start as usize..start as usize + width])
    }

    /// The bits of an operand, whose circuit was made before.
    fn operand(&self, pool: &Pool, number: u32) -> Word {
        let known = self.known(pool, Expr(number));
        known.map(<[Bit]>::to_vec).unwrap_or_default()
    }

    /// The bit between 0x20 and 0x7e of a byte.
    pub(crate) fn printable(&mut self, variable: Variable) -> Bit {
        let byte: Word = (0..8).map(|at| self.gates.input(variable, at)).collect();
        let above = self.gates.or(byte[5], byte[6]);
        let delete = self.gates.all(byte[..7].iter().copied());
        self.gates.all([above, !byte[7], !delete])
    }

    /// Makes the circuit of an expression and gives its bits, the lowest first.
    pub(crate) fn encode(
        &mut self,
        pool: &Pool,
        root: Expr,
        deadline: Moment,
    ) -> Result<&[Bit], Why> {
        if self.starts.len() < pool.len() {
            self.starts.resize(pool.len(), NONE);
        }
        let first = self.gates.len();
        let mut check = first + GATES_PER_CHECK;
        let mut visited = 0;
        // Expressions are deep; no recursion.
        let mut todo = vec![root];
        while let Some(&expr) = todo.last() {
            visited += 1;
            if self.gates.len() >= check || visited % EXPRESSIONS_PER_CHECK == 0 {
                check = self.gates.len() + GATES_PER_CHECK;
                if self.gates.len() - first > MOST_GATES {
                    return Err(Why::Size);
                }
                if Moment::now() >= deadline {
                    return Err(Why::Budget);
                }
            }
            if self.starts[expr.index()] != NONE {
                todo.pop();
                continue;
            }
            let term = pool.term(expr);
            let before = todo.len();
            let missing = |operand: &Expr| self.starts[operand.index()] == NONE;
            todo.extend(term.operands().filter(missing));
            if term.op == Op::Lookup {
                let cells = pool.table(term.b).cells.iter();
                todo.extend(cells.map(|&(_, cell)| cell).filter(missing));
            }
            if todo.len() > before {
                continue;
            }
            let mut word = self.circuit(pool, &term)?;
            word.resize(term.width.into(), Bit::FALSE);
            if term.width <= 64 {
                let facts = pool.facts(expr);
                for (at, bit) in word.iter_mut().enumerate() {
                    if facts.zeros >> at & 1 == 1 {
                        *bit = Bit::FALSE;
                    } else if facts.ones >> at & 1 == 1 {
                        *bit = Bit::TRUE;
                    }
                }
            }
            self.starts[expr.index()] = self.bits.len() as u32;
            self.bits.append(&mut word);
            todo.pop();
        }
        self.known(pool, root).ok_or(Why::Unsupported)
    }

    /// The bits of a term whose operands have circuits.
    fn circuit(&mut self, pool: &Pool, term: &Term) -> Result<Word, Why> {
        let width = usize::from(term.width);
        match term.op {
            Op::Const => Ok(words::constant(width, pool.constant_value(term))),
            Op::Var | Op::Size | Op::ArgCount => {
                let variable = Variable(term.c);
                let bits = (0..width as u32).map(|bit| self.gates.input(variable, bit));
                Ok(bits.collect())
            }
            Op::Ite => {
                let choice = self.operand(pool, term.a);
                let (then, other) = (self.operand(pool, term.b), self.operand(pool, term.c));
                Ok(self.gates.choose(choice[0], &then, &other))
            }
            Op::Lookup => self.lookup(pool, term),
            op if op.arity() == beagle_trace::op::Arity::One => {
                let a = self.operand(pool, term.a);
                self.unary(term, a)
            }
            _ => {
                let (a, b) = (self.operand(pool, term.a), self.operand(pool, term.b));
                self.binary(term, &a, &b)
            }
        }
    }

    fn unary(&mut self, term: &Term, mut a: Word) -> Result<Word, Why> {
        let width = usize::from(term.width);
        let gates = &mut self.gates;
        Ok(match term.op {
            Op::ZExt => a,
            Op::SExt => {
                a.resize(width, words::sign(&a));
                a
            }
            Op::Extract => a.into_iter().skip(term.c as usize).take(width).collect(),
            Op::Ctpop => gates.count_ones(&a),
            Op::Ctlz => gates.count_zeros(a.into_iter().rev()),
            Op::Cttz => gates.count_zeros(a.into_iter()),
            Op::Bswap if width.is_multiple_of(8) => a.rchunks(8).flatten().copied().collect(),
            Op::Bitreverse => {
                a.reverse();
                a
            }
            Op::FNeg => {
                a[width - 1] = !a[width - 1];
                a
            }
            Op::FAbs => {
                a[width - 1] = Bit::FALSE;
                a
            }
            _ => return Err(Why::Unsupported),
        })
    }

    fn binary(&mut self, term: &Term, a: &[Bit], b: &[Bit]) -> Result<Word, Why> {
        let gates = &mut self.gates;
        let bitwise = |mut of: Box<dyn FnMut(Bit, Bit) -> Bit + '_>| {
            a.iter().zip(b).map(|(&x, &y)| of(x, y)).collect()
        };
        Ok(match term.op {
            Op::Add => gates.add_words(a, b, Bit::FALSE).0,
            Op::Sub => gates.subtract(a, b).0,
            Op::Mul => gates.multiply(a, b),
            Op::UDiv => gates.divide(a, b).0,
            Op::URem => gates.divide(a, b).1,
            Op::SDiv => gates.divide_signed(a, b).0,
            Op::SRem => gates.divide_signed(a, b).1,
            Op::And => bitwise(Box::new(|x, y| gates.and(x, y))),
            Op::Or => bitwise(Box::new(|x, y| gates.or(x, y))),
            Op::Xor => bitwise(Box::new(|x, y| gates.xor(x, y))),
            Op::Shl => gates.shift(a, b, Bit::FALSE),
            Op::LShr => gates.shift_down(a, b, Bit::FALSE),
            Op::AShr => gates.shift_down(a, b, words::sign(a)),
            Op::Eq => vec![gates.equal(a, b)],
            Op::Ne => vec![!gates.equal(a, b)],
            Op::Ult => vec![gates.less(a, b)],
            Op::Ule => vec![!gates.less(b, a)],
            Op::Slt => vec![gates.less_signed(a, b)],
            Op::Sle => vec![!gates.less_signed(b, a)],
            Op::Concat => b.iter().chain(a).copied().collect(),
            Op::FCopysign => {
                let mut word = a.to_vec();
                word.pop();
                word.push(words::sign(b));
                word
            }
            Op::FCmp if matches!(a.len(), 32 | 64) => vec![gates.compare_floats(a, b, term.c)],
            _ => return Err(Why::Unsupported),
        })
    }
}
