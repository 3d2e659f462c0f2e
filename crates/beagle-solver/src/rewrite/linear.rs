//! Sums, products and quotients.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::{Expr, Term};

/// Sums with more addends are not taken apart.
pub(super) const MOST: usize = 4;

/// What is multiplied by a factor and added: an expression, made as wide as the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Core {
    expr: Expr,
    /// How it is extended if it is narrower.
    signed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Addend {
    core: Core,
    factor: u128,
    /// The product of the two, if it is there already.
    made: Option<Expr>,
}

/// A sum taken apart.
#[derive(Debug)]
struct Sum {
    width: u16,
    addends: [Addend; MOST],
    count: usize,
    constant: u128,
    /// Whether addends were combined.
    merged: bool,
}

impl Sum {
    fn new(width: u16) -> Self {
        let none = Addend {
            core: Core {
                expr: Expr(0),
                signed: false,
            },
            factor: 0,
            made: None,
        };
        Self {
            width,
            addends: [none; MOST],
            count: 0,
            constant: 0,
            merged: false,
        }
    }

    /// Adds an addend; `None` if there are too many.
    fn add(&mut self, new: Addend) -> Option<()> {
        let same = self.addends[..self.count]
            .iter_mut()
            .find(|old| old.core == new.core);
        match same {
            Some(old) => {
                old.factor = old.factor.wrapping_add(new.factor) & mask(self.width);
                old.made = None;
                self.merged = true;
            }
            None => {
                *self.addends.get_mut(self.count)? = new;
                self.count += 1;
            }
        }
        Some(())
    }

    fn add_constant(&mut self, value: u128) {
        self.constant = self.constant.wrapping_add(value) & mask(self.width);
    }
}

impl Rewriter<'_> {
    /// `Add` and `Sub` of more than one bit.
    pub(super) fn sum(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        let minus = if op == Op::Sub { mask(width) } else { 1 };
        if op == Op::Add && self.value(b) == Some(0) {
            return self.by("add-zero", a);
        }
        if a == b {
            // Not addend by addend.
            let result = match op {
                Op::Add => self.binary_constant(Op::Mul, a, 2),
                _ => self.constant(width, 0),
            };
            return self.by("sum-same", result);
        }
        let mut sum = Sum::new(width);
        let taken = self
            .take(&mut sum, a, 1)
            .and_then(|()| self.take(&mut sum, b, minus));
        let (result, name) = match taken {
            Some(()) => {
                let name = if sum.merged { "sum-merge" } else { "sum-order" };
                (self.emit(sum), name)
            }
            None => (self.large_sum(op, a, b), "sum-large"),
        };
        let term = Term {
            op,
            width,
            a: a.0,
            b: b.0,
            c: 0,
        };
        if self.pool.term(result) == term {
            return Some(result);
        }
        self.by(name, result)
    }

    /// Takes an expression apart into a sum; `None` if that gets too large.
    fn take(&mut self, sum: &mut Sum, expr: Expr, factor: u128) -> Option<()> {
        let width = sum.width;
        let mut todo = [(expr, factor); MOST];
        let mut left = 1;
        while left > 0 {
            left -= 1;
            let (expr, factor) = todo[left];
            let term = self.term(expr);
            match term.op {
                Op::Const => {
                    let value = self.pool.constant_value(&term);
                    sum.add_constant(value.wrapping_mul(factor));
                }
                Op::Add | Op::Sub => {
                    let second = match term.op {
                        Op::Sub => factor.wrapping_neg() & mask(width),
                        _ => factor,
                    };
                    for (operand, factor) in [(term.b, second), (term.a, factor)] {
                        if let Some(value) = self.value(Expr(operand)) {
                            sum.add_constant(value.wrapping_mul(factor));
                            continue;
                        }
                        if left + sum.count >= MOST {
                            return None;
                        }
                        todo[left] = (Expr(operand), factor);
                        left += 1;
                    }
                }
                Op::Xor if self.value(Expr(term.b)) == Some(mask(width)) => {
                    // The complement is one less than the negation.
                    sum.add_constant(factor.wrapping_neg());
                    todo[left] = (Expr(term.a), factor.wrapping_neg() & mask(width));
                    left += 1;
                }
                _ => {
                    let (core, scale, constant) = self.scaled(expr);
                    sum.add_constant(constant.wrapping_mul(factor));
                    let made = (factor == 1 && constant == 0).then_some(expr);
                    let factor = scale.wrapping_mul(factor) & mask(width);
                    sum.add(Addend { core, factor, made })?;
                }
            }
        }
        Some(())
    }

    /// An expression as factor * core + constant.
    fn scaled(&self, expr: Expr) -> (Core, u128, u128) {
        let (core, factor, constant) = self.scaled_core(expr);
        if core.signed && self.width(core.expr) == 1 {
            let factor = factor.wrapping_neg() & mask(self.width(expr));
            return (unsigned(core.expr), factor, constant);
        }
        (core, factor, constant)
    }

    fn scaled_core(&self, expr: Expr) -> (Core, u128, u128) {
        let width = self.width(expr);
        let (mut factor, mut constant) = (1u128, 0u128);
        let mut expr = expr;
        // A product of a product is the most that normal forms hold.
        for _ in 0..3 {
            let term = self.term(expr);
            let (x, y) = (Expr(term.a), Expr(term.b));
            let core = match term.op {
                Op::Mul => match self.value(y) {
                    Some(k) => {
                        factor = factor.wrapping_mul(k);
                        self.core(x, width)
                    }
                    None => break,
                },
                Op::Add => match self.value(y) {
                    Some(k) => {
                        constant = constant.wrapping_add(factor.wrapping_mul(k));
                        self.core(x, width)
                    }
                    None => break,
                },
                Op::Sub => match self.value(x) {
                    Some(k) => {
                        constant = constant.wrapping_add(factor.wrapping_mul(k));
                        factor = factor.wrapping_neg();
                        self.core(y, width)
                    }
                    None => break,
                },
                Op::Concat => {
                    let low = self.width(y);
                    if let Some(k) = self.value(y) {
                        constant = constant.wrapping_add(factor.wrapping_mul(k));
                        factor <<= low;
                        self.core(x, width)
                    } else if let Some(k) = self.value(x) {
                        constant = constant.wrapping_add(factor.wrapping_mul(k << low));
                        match self.with_constant(Op::Concat, y) {
                            Some((expr, k)) => {
                                constant = constant.wrapping_add(factor.wrapping_mul(k));
                                factor <<= low - self.width(expr);
                                unsigned(expr)
                            }
                            None => unsigned(y),
                        }
                    } else {
                        break;
                    }
                }
                Op::ZExt | Op::SExt => {
                    let signed = term.op == Op::SExt;
                    let Some((expr, k)) = self.with_constant(Op::Concat, x) else {
                        break;
                    };
                    constant = constant.wrapping_add(factor.wrapping_mul(k));
                    factor <<= self.width(x) - self.width(expr);
                    Core { expr, signed }
                }
                _ => break,
            };
            if self.width(core.expr) != width {
                return (core, factor & mask(width), constant & mask(width));
            }
            expr = core.expr;
        }
        (
            self.core(expr, width),
            factor & mask(width),
            constant & mask(width),
        )
    }

    /// What an expression, of which only the low bits of its width count, is cut or extended from.
    fn core(&self, expr: Expr, width: u16) -> Core {
        let term = self.term(expr);
        let x = Expr(term.a);
        match term.op {
            Op::ZExt => unsigned(x),
            Op::SExt => Core {
                expr: x,
                signed: true,
            },
            Op::Extract if term.c == 0 && self.width(x) >= width => unsigned(x),
            _ => unsigned(expr),
        }
    }

    fn resize(&mut self, core: Core, width: u16) -> Expr {
        if self.width(core.expr) > width {
            return self.extract(core.expr, 0, width);
        }
        let op = if core.signed { Op::SExt } else { Op::ZExt };
        self.extend(op, core.expr, width)
    }

    /// The normal form of a sum.
    fn emit(&mut self, sum: Sum) -> Expr {
        let (width, constant) = (sum.width, sum.constant);
        let addends = &sum.addends[..sum.count];
        // The parts to add, and after them those to subtract.
        let mut add: [Option<(Core, Expr)>; MOST] = [None; MOST];
        let mut subtract = add;
        // Whether a part turned out to be a sum itself, or of another core.
        let mut nested = false;
        for (at, addend) in addends.iter().enumerate() {
            if addend.factor == 0 {
                continue;
            }
            if addend.factor == mask(width) {
                let part = self.resize(addend.core, width);
                nested |= self.is_sum(part);
                let core = self.scaled(part).0;
                nested |= core != addend.core;
                subtract[at] = Some((core, part));
                continue;
            }
            add[at] = Some(match addend.made {
                Some(made) => (addend.core, made),
                None => {
                    let x = self.resize(addend.core, width);
                    nested |= addend.factor == 1 && self.is_sum(x);
                    let made = self.times(x, addend.factor);
                    let core = self.scaled(made).0;
                    nested |= core != addend.core || self.value(made).is_some();
                    (core, made)
                }
            });
        }
        if self.budget > 0
            && (nested || self.join_fields(&mut add))
            && let Some(sum) = self.take_all(&add, &subtract, width, constant)
        {
            self.budget = self.budget.saturating_sub(1);
            return self.emit(sum);
        }
        add.sort_unstable();
        subtract.sort_unstable();
        let mut all = None;
        let mut constant = constant;
        for &(_, part) in add.iter().flatten() {
            let both = match all {
                Some(all) => self.put(Op::Add, all, part),
                None => part,
            };
            all = Some(both);
            if let Some(value) = self.value(both) {
                // Only one value was left.
                constant = constant.wrapping_add(value) & mask(width);
                all = None;
            }
        }
        let alone = subtract.iter().flatten().count() == 1;
        for &(_, part) in subtract.iter().flatten() {
            all = Some(match all {
                Some(all) => self.put(Op::Sub, all, part),
                None if alone || self.extended_bit(part).is_some() => {
                    let from = if alone {
                        std::mem::take(&mut constant)
                    } else {
                        0
                    };
                    self.minus(from, part)
                }
                None => {
                    let from = std::mem::take(&mut constant);
                    let from = self.constant(width, from);
                    self.put(Op::Sub, from, part)
                }
            });
        }
        match all {
            Some(all) if constant == 0 => all,
            Some(all) => self.plus_constant(all, constant),
            None => self.constant(width, constant),
        }
    }

    fn is_sum(&self, expr: Expr) -> bool {
        let term = self.term(expr);
        match term.op {
            Op::Const | Op::Add | Op::Sub => true,
            Op::Xor => self.value(Expr(term.b)) == Some(mask(term.width)),
            _ => false,
        }
    }

    /// Joins two addends that have no bits in common to one, if there are such.
    fn join_fields(&mut self, parts: &mut [Option<(Core, Expr)>; MOST]) -> bool {
        for i in 0..MOST {
            for j in i + 1..MOST {
                if let (Some((_, a)), Some((core, b))) = (parts[i], parts[j])
                    && let Some(joined) = self.join(Op::Or, a, b)
                {
                    parts[i] = None;
                    parts[j] = Some((core, joined));
                    return true;
                }
            }
        }
        false
    }

    fn take_all(
        &mut self,
        add: &[Option<(Core, Expr)>],
        subtract: &[Option<(Core, Expr)>],
        width: u16,
        constant: u128,
    ) -> Option<Sum> {
        let mut sum = Sum::new(width);
        sum.add_constant(constant);
        for &(_, part) in add.iter().flatten() {
            self.take(&mut sum, part, 1)?;
        }
        for &(_, part) in subtract.iter().flatten() {
            self.take(&mut sum, part, mask(width))?;
        }
        Some(sum)
    }

    /// A constant minus an expression that is neither a constant nor a sum with one.
    fn minus(&mut self, constant: u128, x: Expr) -> Expr {
        let width = self.width(x);
        match self.extended_bit(x) {
            Some(bit) => {
                let signs = self.extend(Op::SExt, bit, width);
                if constant == 0 {
                    return signs;
                }
                self.plus_constant(signs, constant)
            }
            None if constant == mask(width) => self.binary_constant(Op::Xor, x, constant),
            None => {
                let constant = self.constant(width, constant);
                self.put(Op::Sub, constant, x)
            }
        }
    }

    fn extended_bit(&self, x: Expr) -> Option<Expr> {
        self.under(Op::ZExt, x).filter(|&bit| self.width(bit) == 1)
    }

    fn plus_constant(&mut self, x: Expr, constant: u128) -> Expr {
        let constant = self.constant(self.width(x), constant);
        match self.join(Op::Or, x, constant) {
            Some(joined) => joined,
            None => self.put(Op::Add, x, constant),
        }
    }

    /// A sum or difference whose parts are in order.
    fn put(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        self.finish(Term {
            op,
            width: self.width(a),
            a: a.0,
            b: b.0,
            c: 0,
        })
    }

    /// A product with a constant, of what has no factor.
    fn times(&mut self, x: Expr, factor: u128) -> Expr {
        let width = self.width(x);
        if factor == 1 {
            return x;
        }
        if factor.is_power_of_two() {
            let by = factor.trailing_zeros() as u16;
            let (high, low) = (self.extract(x, 0, width - by), self.constant(by, 0));
            return self.concat(high, low);
        }
        let factor = self.constant(width, factor);
        self.put(Op::Mul, x, factor)
    }

    /// A sum that is too large to take apart: only constants and what is equal at the top.
    fn large_sum(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        let width = self.width(a);
        let (x, p) = self.with_constant(Op::Add, a).unwrap_or((a, 0));
        let (y, q) = self.with_constant(Op::Add, b).unwrap_or((b, 0));
        let constant = match op {
            Op::Add => p.wrapping_add(q),
            _ => p.wrapping_sub(q),
        } & mask(width);
        let rest = match (op, self.term(x), self.term(y)) {
            _ if op == Op::Sub && x == y => return self.constant(width, constant),
            (Op::Sub, sum, _) if sum.op == Op::Add && sum.b == y.0 => Expr(sum.a),
            (Op::Sub, sum, _) if sum.op == Op::Add && sum.a == y.0 => Expr(sum.b),
            (Op::Add, difference, _) if difference.op == Op::Sub && difference.b == y.0 => {
                Expr(difference.a)
            }
            (Op::Add, _, difference) if difference.op == Op::Sub && difference.b == x.0 => {
                Expr(difference.a)
            }
            _ if self.value(y).is_some() || self.value(x).is_some() => {
                // One is a constant, and the other large.
                return self.large_with_constant(op, x, y, constant);
            }
            (Op::Add, ..) if x > y => self.put(op, y, x),
            _ => self.put(op, x, y),
        };
        if constant == 0 {
            return rest;
        }
        self.plus_constant(rest, constant)
    }

    fn large_with_constant(&mut self, op: Op, x: Expr, y: Expr, constant: u128) -> Expr {
        let width = self.width(x);
        if let Some(k) = self.value(y) {
            let k = if op == Op::Sub { k.wrapping_neg() } else { k };
            let constant = constant.wrapping_add(k) & mask(width);
            if constant == 0 {
                return x;
            }
            return self.plus_constant(x, constant);
        }
        // Only a difference has its constant first.
        let k = self.value(x).unwrap_or(0).wrapping_add(constant) & mask(width);
        self.minus(k, y)
    }

    /// `Mul` of more than one bit.
    pub(super) fn product(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        let Some(k) = self.value(b) else {
            return self.product_of_two(a, b);
        };
        if k == 0 {
            return self.by("mul-zero", b);
        }
        if k == 1 {
            return self.by("mul-one", a);
        }
        // a is sign * x + added.
        let (sign, x, added) = match (self.term(a).op, self.pair(Op::Sub, a)) {
            (Op::Add, _) => match self.with_constant(Op::Add, a) {
                Some((x, added)) => (1, x, added),
                None => (1, a, 0),
            },
            (_, Some((c, x))) => match self.value(c) {
                Some(c) => (mask(width), x, c),
                None => (1, a, 0),
            },
            _ => (1, a, 0),
        };
        let (core, scale, constant) = self.scaled(x);
        let added = added.wrapping_add(constant.wrapping_mul(sign)) & mask(width);
        let factor = scale.wrapping_mul(sign).wrapping_mul(k) & mask(width);
        if factor == k && added == 0 && !k.is_power_of_two() && k != mask(width) {
            return None;
        }
        let mut sum = Sum::new(width);
        let made = None;
        sum.add(Addend { core, factor, made })?;
        sum.add_constant(added.wrapping_mul(k));
        let product = self.emit(sum);
        self.by("mul-scale", product)
    }

    fn product_of_two(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        for (bit, x) in [(a, b), (b, a)] {
            if let Some(bit) = self.under(Op::ZExt, bit)
                && self.width(bit) == 1
            {
                let zero = self.constant(width, 0);
                let choice = self.ite(bit, x, zero);
                return self.by("mul-bit", choice);
            }
            if let Some((y, k)) = self.with_constant(Op::Mul, bit) {
                let product = self.binary(Op::Mul, width, y, x);
                let product = self.binary_constant(Op::Mul, product, k);
                return self.by("mul-factor", product);
            }
        }
        None
    }

    /// `UDiv` and `URem` of more than one bit.
    pub(super) fn unsigned_division(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        if op == Op::URem && self.bounds(a).1 < self.bounds(b).0 {
            return self.by("urem-small", a);
        }
        let k = self.value(b)?;
        if k == 0 {
            let result = match op {
                Op::UDiv => self.constant(width, mask(width)),
                _ => a,
            };
            return self.by("division-by-zero", result);
        }
        if k.is_power_of_two() {
            let by = k.trailing_zeros() as u16;
            let part = match op {
                Op::UDiv => self.extract(a, by, width - by),
                _ if by == 0 => self.constant(width, 0),
                _ => self.extract(a, 0, by),
            };
            let result = self.zext(part, width);
            return self.by("division-power", result);
        }
        if let Some(x) = self.under(Op::ZExt, a)
            && k <= mask(self.width(x))
        {
            let narrow = self.binary_constant(op, x, k);
            let result = self.zext(narrow, width);
            return self.by("division-zext", result);
        }
        if op == Op::UDiv
            && let Some((x, j)) = self.with_constant(Op::UDiv, a)
            && let Some(both) = j.checked_mul(k)
            && both <= mask(width)
        {
            let result = self.binary_constant(op, x, both);
            return self.by("division-twice", result);
        }
        None
    }

    /// `SDiv` and `SRem` of more than one bit.
    pub(super) fn signed_division(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        if self.sign(a) == Some(false) && self.sign(b) == Some(false) {
            let unsigned = if op == Op::SDiv { Op::UDiv } else { Op::URem };
            let result = self.binary(unsigned, width, a, b);
            return self.by("division-unsigned", result);
        }
        let k = self.value(b)?;
        let result = match op {
            Op::SDiv if k == 1 => a,
            Op::SDiv if k == mask(width) => {
                let zero = self.constant(width, 0);
                self.binary(Op::Sub, width, zero, a)
            }
            Op::SRem if k == 0 => a,
            Op::SRem if k == 1 || k == mask(width) => self.constant(width, 0),
            _ => return None,
        };
        self.by("signed-division-trivial", result)
    }
}

fn unsigned(expr: Expr) -> Core {
    Core {
        expr,
        signed: false,
    }
}
