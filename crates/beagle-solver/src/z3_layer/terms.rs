//! Expressions as terms of Z3, all of them bit-vectors and booleans.

use crate::clock::Moment;

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool};

use super::floats::Floats;
use super::render;
use crate::layer::Why;
use crate::pool::{Expr, Pool, Term};

/// More places of a table than this are not spelled out.
const MAX_ENTRIES: u64 = 1 << 14;

/// How often the clock is asked, in expressions.
const CLOCK: usize = 256;

/// A value of one bit as a boolean, others as bit-vectors.
#[derive(Clone, Debug)]
enum Node {
    Bit(Bool),
    Bits(BV),
}

/// The terms of the expressions of one pool.
#[derive(Default)]
pub(super) struct Terms {
    nodes: FxHashMap<Expr, Node>,
    floats: Floats,
}

/// The bit-vector of this width.
pub(super) fn constant(width: u32, value: u128) -> BV {
    if width <= 64 {
        BV::from_u64(value as u64, width)
    } else {
        let high = BV::from_u64((value >> 64) as u64, width - 64);
        high.concat(BV::from_u64(value as u64, 64))
    }
}

/// Cut or filled with zeros to this width.
pub(super) fn resized(bits: &BV, width: u32) -> BV {
    let from = bits.get_size();
    match from.cmp(&width) {
        std::cmp::Ordering::Less => bits.zero_ext(width - from),
        std::cmp::Ordering::Equal => bits.clone(),
        std::cmp::Ordering::Greater => bits.extract(width - 1, 0),
    }
}

/// One bit as a bit-vector.
fn bit_vector(bit: &Bool) -> BV {
    bit.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1))
}

/// Whether a bit is 1.
fn is_set(bits: &BV, at: u32) -> Bool {
    bits.extract(at, at).eq(1u8)
}

impl Terms {
    /// How many expressions have their term.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Makes the terms of these expressions and of all that they are made of.
    pub(super) fn add(
        &mut self,
        pool: &Pool,
        roots: &[Expr],
        most: usize,
        deadline: Moment,
    ) -> Result<(), Why> {
        let mut made = 0;
        // Expressions are deep; no recursion.
        let mut todo: Vec<(Expr, bool)> = roots.iter().map(|&root| (root, false)).collect();
        while let Some((expr, ready)) = todo.pop() {
            if self.nodes.contains_key(&expr) {
                continue;
            }
            let term = pool.term(expr);
            if !ready {
                todo.push((expr, true));
                todo.extend(term.operands().map(|operand| (operand, false)));
                if term.op == Op::Lookup {
                    let cells = &pool.table(term.b).cells;
                    todo.extend(cells.iter().map(|&(_, cell)| (cell, false)));
                }
                continue;
            }
            made += 1;
            if made > most {
                return Err(Why::Size);
            }
            if made % CLOCK == 0 && Moment::now() >= deadline {
                return Err(Why::Budget);
            }
            let node = self.node(pool, &term)?;
            self.nodes.insert(expr, node);
        }
        Ok(())
    }

    /// The term of an expression as a bit-vector.
    pub(super) fn bits(&self, expr: Expr) -> BV {
        match &self.nodes[&expr] {
            Node::Bits(bits) => bits.clone(),
            Node::Bit(bit) => bit_vector(bit),
        }
    }

    /// The term of an expression of one bit as a boolean.
    pub(super) fn bit(&self, expr: Expr) -> Bool {
        match &self.nodes[&expr] {
            Node::Bits(bits) => bits.eq(1u8),
            Node::Bit(bit) => bit.clone(),
        }
    }

    fn node(&mut self, pool: &Pool, term: &Term) -> Result<Node, Why> {
        let width = u32::from(term.width);
        let [x, y, z] = [term.a, term.b, term.c].map(Expr);
        if width == 1
            && let Some(bit) = self.logic(pool, term)
        {
            return Ok(Node::Bit(bit));
        }
        let bits = match term.op {
            Op::Const => constant(width, pool.constant_value(term)),
            Op::Var | Op::Size | Op::ArgCount => BV::new_const(term.c, width),
            Op::Ite => self.bit(x).ite(&self.bits(y), &self.bits(z)),
            Op::ZExt => resized(&self.bits(x), width),
            Op::SExt => {
                let bits = self.bits(x);
                bits.sign_ext(width - bits.get_size())
            }
            Op::Extract => self.bits(x).extract(term.c + width - 1, term.c),
            Op::Ctpop => ones(&self.bits(x)),
            Op::Ctlz => leading_zeros(&self.bits(x)),
            Op::Cttz => trailing_zeros(&self.bits(x)),
            Op::Bswap => reversed(&self.bits(x), 8),
            Op::Bitreverse => reversed(&self.bits(x), 1),
            Op::Lookup => self.lookup(pool, term)?,
            Op::RenderByte | Op::RenderLen => {
                let conversion = pool.conversion(term.b);
                let text = render::Text::new(conversion, &self.bits(x), pool.facts(x))
                    .ok_or(Why::Unsupported)?;
                match term.op {
                    Op::RenderByte => text.byte(term.c),
                    _ => text.length(width),
                }
            }
            op => match self.binary(op, x, y) {
                Some(bits) => bits,
                None => self.float(pool, term)?,
            },
        };
        Ok(Node::Bits(bits))
    }

    /// The operators whose result of one bit is better said with booleans.
    fn logic(&self, pool: &Pool, term: &Term) -> Option<Bool> {
        let [x, y, z] = [term.a, term.b, term.c].map(Expr);
        let narrow = |expr: Expr| pool.width(expr) == 1;
        let bit = match term.op {
            Op::Const => Bool::from_bool(term.a & 1 == 1),
            Op::And | Op::Mul => Bool::and(&[self.bit(x), self.bit(y)]),
            Op::Or => Bool::or(&[self.bit(x), self.bit(y)]),
            Op::Add | Op::Sub | Op::Xor => {
                let one = pool.value(y) == Some(1);
                match one {
                    true => self.bit(x).not(),
                    false => self.bit(x).xor(self.bit(y)),
                }
            }
            Op::Ite => self.bit(x).ite(&self.bit(y), &self.bit(z)),
            Op::Eq if narrow(x) => self.bit(x).iff(self.bit(y)),
            Op::Ne if narrow(x) => self.bit(x).xor(self.bit(y)),
            Op::Eq => self.bits(x).eq(self.bits(y)),
            Op::Ne => self.bits(x).eq(self.bits(y)).not(),
            Op::Ult => self.bits(x).bvult(self.bits(y)),
            Op::Ule => self.bits(x).bvule(self.bits(y)),
            Op::Slt => self.bits(x).bvslt(self.bits(y)),
            Op::Sle => self.bits(x).bvsle(self.bits(y)),
            Op::FCmp => super::floats::compare(&self.bits(x), &self.bits(y), term.c),
            _ => return None,
        };
        Some(bit)
    }

    /// Z3 means the same by division by 0 and by shifts of more than the width.
    fn binary(&self, op: Op, x: Expr, y: Expr) -> Option<BV> {
        let make: fn(&BV, BV) -> BV = match op {
            Op::Add => BV::bvadd,
            Op::Sub => BV::bvsub,
            Op::Mul => BV::bvmul,
            Op::UDiv => BV::bvudiv,
            Op::SDiv => BV::bvsdiv,
            Op::URem => BV::bvurem,
            Op::SRem => BV::bvsrem,
            Op::And => BV::bvand,
            Op::Or => BV::bvor,
            Op::Xor => BV::bvxor,
            Op::Shl => BV::bvshl,
            Op::LShr => BV::bvlshr,
            Op::AShr => BV::bvashr,
            Op::Concat => BV::concat,
            _ => return None,
        };
        Some(make(&self.bits(x), self.bits(y)))
    }

    fn float(&mut self, pool: &Pool, term: &Term) -> Result<BV, Why> {
        let operands: Vec<BV> = term.operands().map(|operand| self.bits(operand)).collect();
        debug_assert_eq!(
            u32::from(pool.width(Expr(term.a))),
            operands[0].get_size(),
            "a term has the width of its expression"
        );
        self.floats
            .operation(term.op, &operands, u32::from(term.width))
            .ok_or(Why::Unsupported)
    }

    /// A tree of choices by the bits of the offset. Outside of the table it has some value.
    fn lookup(&self, pool: &Pool, term: &Term) -> Result<BV, Why> {
        let table = pool.table(term.b);
        let (bytes, width) = (u64::from(term.width / 8), u32::from(term.width));
        let places = (table.bytes.len() as u64 + 1).saturating_sub(bytes);
        let facts = pool.facts(Expr(term.a));
        let last = facts.max.min(places.saturating_sub(1));
        if places == 0 || facts.min > last {
            return Ok(constant(width, 0));
        }
        if last - facts.min > MAX_ENTRIES {
            return Err(Why::Size);
        }
        let cell = |index: u64| match table.cell(index as usize) {
            Some(expr) => self.bits(expr),
            None => BV::from_u64(table.bytes[index as usize].into(), 8),
        };
        let entry = |at: u64| {
            let (low, rest) = (cell(at), at + 1..at + bytes);
            rest.fold(low, |all, index| cell(index).concat(all))
        };
        let possible = |at: u64| at & facts.zeros == 0 && !at & facts.ones == 0;
        let mut level: Vec<(u64, BV)> = (facts.min..=last)
            .filter(|&at| possible(at))
            .map(|at| (at, entry(at)))
            .collect();
        let offset = self.bits(Expr(term.a));
        let mut bit = 0;
        while level.len() > 1 {
            level = pairs(level, &is_set(&offset, bit));
            bit += 1;
        }
        Ok(level.pop().map_or(constant(width, 0), |(_, value)| value))
    }
}

/// Halves the numbers of the entries; of two with the same half the bit decides.
fn pairs(level: Vec<(u64, BV)>, bit: &Bool) -> Vec<(u64, BV)> {
    let mut next: Vec<(u64, BV)> = Vec::with_capacity(level.len() / 2 + 1);
    for (at, value) in level {
        match next.last_mut() {
            // Ascending, so the one before has an even number.
            Some((half, low)) if *half == at / 2 => {
                if !low.ast_eq(&value) {
                    *low = bit.ite(&value, low);
                }
            }
            _ => next.push((at / 2, value)),
        }
    }
    next
}

/// The number of ones: sums of ever wider parts.
fn ones(bits: &BV) -> BV {
    let width = bits.get_size();
    let mut parts: Vec<BV> = (0..width).map(|at| bits.extract(at, at)).collect();
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| {
                let size = pair[0].get_size() + 1;
                let sum = resized(&pair[0], size);
                match pair.get(1) {
                    Some(other) => sum.bvadd(resized(other, size)),
                    None => sum,
                }
            })
            .collect();
    }
    parts.pop().map_or(bits.clone(), |sum| resized(&sum, width))
}

fn leading_zeros(bits: &BV) -> BV {
    let width = bits.get_size();
    let none = constant(width, width.into());
    (0..width).fold(none, |rest, at| {
        is_set(bits, at).ite(&constant(width, (width - 1 - at).into()), &rest)
    })
}

fn trailing_zeros(bits: &BV) -> BV {
    let width = bits.get_size();
    let none = constant(width, width.into());
    (0..width).rev().fold(none, |rest, at| {
        is_set(bits, at).ite(&constant(width, at.into()), &rest)
    })
}

/// The parts of this size in reverse order.
fn reversed(bits: &BV, size: u32) -> BV {
    let parts = bits.get_size() / size;
    let part = |at: u32| bits.extract(at * size + size - 1, at * size);
    (1..parts).fold(part(0), |all, at| all.concat(part(at)))
}
