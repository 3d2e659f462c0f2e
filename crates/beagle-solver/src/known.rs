//! What the conditions of a path say of the expressions of later ones.

use std::collections::hash_map::Entry;

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;

use crate::bytes::{self, ByteSet};
use crate::facts::{self, Facts};
use crate::pool::{Expr, Pool, Term};
use crate::project::{greatest, projected};
use crate::support::{NONE, Support, Supports};
use crate::variable::Variable;
use crate::words::Words;

/// Times are below this.
pub(crate) const NEVER: u32 = u32::MAX;

/// An expression after simplification.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simple {
    /// What it is now.
    pub expr: Expr,
    /// The time of the latest condition that was used; that of the first condition is 1.
    pub time: u32,
    /// The conditions that were used.
    pub reasons: Support,
}

/// What is known of expressions from some time on.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// What expressions can be replaced by, in the order of time.
    values: FxHashMap<Expr, Vec<Simple>>,
    /// What was found with all that was known.
    memo: FxHashMap<Expr, Simple>,
    /// What was found where later conditions say more of some operand, and from when on they do.
    early: FxHashMap<Expr, (Simple, u32)>,
    reasons: Supports<u32>,
    /// What bytes can be, and for which conditions.
    bytes: FxHashMap<Variable, (ByteSet, Support, u32)>,
    /// Bits and bounds that follow for expressions.
    facts: FxHashMap<Expr, Told>,
    words: Words,
}

/// Bits and bounds of an expression, from some time on.
#[derive(Clone, Copy, Debug)]
struct Told {
    facts: Facts,
    /// The time of the latest condition that was used, and all of them.
    time: u32,
    reasons: Support,
}

impl Told {
    /// What holds without any conditions.
    fn always(facts: Facts) -> Self {
        Self {
            facts,
            time: 0,
            reasons: NONE,
        }
    }
}

/// A part of a condition as it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharp {
    /// What it says, given the earlier ones.
    pub expr: Expr,
    /// The earlier conditions that it stands for, too.
    pub reasons: Support,
}

impl Known {
    /// Whether a part of a condition follows from what is known by now.
    pub(crate) fn follows(&mut self, pool: &mut Pool, atom: Expr) -> bool {
        if let Some((variable, set)) = bytes::truth(pool, atom) {
            let known = self.bytes.get(&variable);
            return known.is_some_and(|(known, ..)| known.and(set.complement()).is_empty());
        }
        self.facts_of(pool, atom).facts.value() == Some(1) || self.words.follows(pool, atom)
    }

    /// What to keep of a part of a condition, whose numbers will be `number` and the next; `replaced` is
    /// called with the earlier parts that it makes superfluous.
    pub(crate) fn sharpen(
        &mut self,
        pool: &mut Pool,
        atom: Expr,
        reasons: Support,
        time: u32,
        number: u32,
        mut replaced: impl FnMut(u32),
    ) -> Vec<Sharp> {
        let plain = vec![Sharp {
            expr: atom,
            reasons: NONE,
        }];
        let Some(narrowed) = self.words.narrow(pool, atom) else {
            return plain;
        };
        if narrowed.now.is_empty() {
            return plain;
        }
        let own = self.reasons.one(time - 1);
        let new = self.reasons.union(reasons, own);
        let all = self.reasons.union(narrowed.before, new);
        let word = narrowed.word;
        if let Some((low, high)) = narrowed.now.bounds() {
            let known = self.facts_of(pool, word);
            let told = Told {
                facts: known.facts.within(low, high, pool.width(word)),
                time,
                reasons: self.reasons.union(known.reasons, all),
            };
            self.facts.insert(word, told);
        }
        self.words.learn(word, narrowed.now, all);
        let Some(ends) = narrowed.instead else {
            self.words
                .replace(word, number, narrowed.own)
                .into_iter()
                .for_each(replaced);
            return plain;
        };
        let mut kept = Vec::new();
        for (expr, says) in ends {
            let mut members = parts(pool, expr);
            // An equation of a word is one of each of its bytes: none of them replaces anything alone.
            match members.len() {
                1 => {
                    let at = number + kept.len() as u32;
                    let gone = self.words.replace(word, at, says);
                    gone.into_iter().for_each(&mut replaced);
                }
                _ => self.words.forget(word).into_iter().for_each(&mut replaced),
            }
            kept.extend(members.drain(..).map(|expr| Sharp { expr, reasons: all }));
        }
        kept
    }

    /// Bits and bounds of an expression, for what is known of its bytes. What was found for fewer
    /// conditions stays right.
    fn facts_of(&mut self, pool: &Pool, root: Expr) -> Told {
        let mut todo = vec![root];
        while let Some(&expr) = todo.last() {
            if self.facts.contains_key(&expr) {
                todo.pop();
                continue;
            }
            let term = pool.term(expr);
            let before = todo.len();
            let operands = term.operands();
            todo.extend(operands.filter(|operand| !self.facts.contains_key(operand)));
            if todo.len() > before {
                continue;
            }
            todo.pop();
            let always = pool.facts(expr);
            let mut told = Told::always(always);
            if term.is_variable() {
                if let Some(&(set, reasons, time)) = self.bytes.get(&Variable(term.c)) {
                    let facts = Facts::among(set.iter().map(u64::from), term.width);
                    told = Told {
                        facts,
                        time,
                        reasons,
                    };
                }
            } else {
                told.facts = facts::of(pool, &term, |operand| {
                    let known = self.facts.get(&operand).map(|told| told.facts);
                    known.unwrap_or_else(|| pool.facts(operand))
                });
                if told.facts != always {
                    for operand in term.operands() {
                        let Some(&known) = self.facts.get(&operand) else {
                            continue;
                        };
                        told.time = told.time.max(known.time);
                        told.reasons = self.reasons.union(told.reasons, known.reasons);
                    }
                }
            }
            self.facts.insert(expr, told);
        }
        let known = self.facts.get(&root).copied();
        known.unwrap_or(Told::always(pool.facts(root)))
    }

    /// An operand without the bits at the top that are 0 after the first conditions, if that was not
    /// known without them. Signed division of numbers that cannot be negative is much work for nothing.
    fn trimmed(&mut self, pool: &mut Pool, operand: Expr, prefix: u32) -> Option<Simple> {
        let width = pool.width(operand);
        if width > 64 || pool.facts(operand).sign(width).is_some() {
            return None;
        }
        let told = self.facts_of(pool, operand);
        let bits = 64 - (!told.facts.zeros).leading_zeros() as u16;
        if told.time > prefix || bits == 0 || bits >= width {
            return None;
        }
        let low = pool.extract(operand, 0, bits);
        Some(Simple {
            expr: pool.op(Op::ZExt, width, &[low]),
            time: told.time,
            reasons: told.reasons,
        })
    }

    /// An operand over one byte without the bits at the top that are 0 for all values that the byte can have
    /// after the first conditions. With them, the digits of a number do not overlap.
    fn digit(&mut self, pool: &mut Pool, operand: Expr, prefix: u32) -> Option<Simple> {
        let width = pool.width(operand);
        let variable = pool.only_variable(operand)?;
        let &(set, reasons, time) = self.bytes.get(&variable)?;
        if time > prefix || width > 64 || operand == pool.variable_expr(variable) {
            return None;
        }
        let length = |value: u64| (64 - value.leading_zeros() as u16).max(1);
        let bits = length(greatest(pool, operand, set)? as u64);
        if bits >= length(pool.facts(operand).max) {
            return None;
        }
        let low = pool.extract(operand, 0, bits);
        Some(Simple {
            expr: pool.op(Op::ZExt, width, &[low]),
            time,
            reasons,
        })
    }

    /// Notes what a part of a condition says that was simplified for these reasons.
    pub(crate) fn learn(&mut self, pool: &mut Pool, atom: Expr, reasons: Support, time: u32) {
        let own = self.reasons.one(time - 1);
        let reasons = self.reasons.union(reasons, own);
        let (yes, no) = (pool.truth(true), pool.truth(false));
        let term = pool.term(atom);
        match term.op {
            Op::Xor if Expr(term.b) == yes => self.note(Expr(term.a), no, time, reasons),
            Op::Eq if pool.value(Expr(term.b)).is_some() => {
                self.note(Expr(term.a), Expr(term.b), time, reasons);
            }
            _ => {}
        }
        self.note(atom, yes, time, reasons);
        self.learn_part(pool, atom, time, reasons);
        if let Some((variable, set)) = bytes::truth(pool, atom) {
            self.limit(pool, variable, set, time, reasons);
        } else if term.op == Op::Eq && pool.value(Expr(term.b)).is_some() {
            self.limit_each(pool, atom, time, reasons);
        }
    }

    /// Notes the bits of a word of which a condition says what they are.
    fn learn_part(&mut self, pool: &Pool, atom: Expr, time: u32, reasons: Support) {
        let term = pool.term(atom);
        let (part, value) = match (term.op, pool.value(Expr(term.b))) {
            (Op::Xor, Some(1)) => (Expr(term.a), 0),
            (Op::Eq, Some(value)) => (Expr(term.a), value as u64),
            _ => (atom, 1),
        };
        let Term {
            op, width, a, c, ..
        } = pool.term(part);
        let word = Expr(a);
        if op != Op::Extract || pool.width(word) > 64 {
            return;
        }
        let known = self.facts_of(pool, word);
        let told = Told {
            facts: known.facts.with_part(value, c, width, pool.width(word)),
            time,
            reasons: self.reasons.union(known.reasons, reasons),
        };
        self.facts.insert(word, told);
    }

    /// Notes what an equation says of each of its bytes, if they are few.
    fn limit_each(&mut self, pool: &mut Pool, equation: Expr, time: u32, reasons: Support) {
        let Some(variables) = pool.few_variables_of(equation) else {
            return;
        };
        let known = variables
            .iter()
            .map(|name| Some((*name, *self.bytes.get(name)?)));
        let Some(known) = known.collect::<Option<Vec<_>>>() else {
            return;
        };
        let sets: Vec<_> = known.iter().map(|&(name, (set, ..))| (name, set)).collect();
        let left = projected(pool, equation, &sets);
        let Some(left) = left else {
            return;
        };
        // Each set follows from the equation and all of the others.
        let all = known.iter().fold(reasons, |all, &(_, (_, of_set, _))| {
            self.reasons.union(all, of_set)
        });
        let mut fixed: Vec<Variable> = Vec::new();
        for ((name, before), left) in sets.into_iter().zip(left) {
            if left != before && !left.is_empty() {
                self.limit(pool, name, left, time, all);
                fixed.extend((left.count() == 1).then_some(name));
            }
        }
        if !fixed.is_empty() {
            // What was made of them before becomes simpler.
            self.memo.retain(|&expr, _| {
                let variables = pool.few_variables_of(expr);
                let is_fixed = |name: &Variable| fixed.contains(name);
                variables.is_some_and(|all| !all.iter().any(is_fixed))
            });
        }
    }

    fn note(&mut self, expr: Expr, value: Expr, time: u32, reasons: Support) {
        self.values.entry(expr).or_default().push(Simple {
            expr: value,
            time,
            reasons,
        });
    }

    /// Notes that a byte is in a set. Bits that all values have in common are spelled out, so that
    /// rewriting sees them: a digit is `0011` and four bits.
    fn limit(
        &mut self,
        pool: &mut Pool,
        variable: Variable,
        set: ByteSet,
        time: u32,
        reasons: Support,
    ) {
        let (known, before) = match self.bytes.get(&variable) {
            Some(&(known, before, _)) => (known, before),
            None => (ByteSet::ALL, NONE),
        };
        let common = |set: ByteSet| {
            let facts = Facts::among(set.iter().map(u64::from), 8);
            (facts.ones as u8, facts.zeros as u8)
        };
        let now = known.and(set);
        let reasons = self.reasons.union(before, reasons);
        self.bytes.insert(variable, (now, reasons, time));
        let byte = pool.variable_expr(variable);
        self.facts.remove(&byte);
        let (ones, zeros) = common(now);
        if now.is_empty() || (ones, zeros) == common(known) {
            return;
        }
        let spelled = spelled_out(pool, byte, ones, zeros);
        self.note(byte, spelled, time, reasons);
    }

    /// An expression as it is after the first conditions.
    pub(crate) fn simplify(&mut self, pool: &mut Pool, root: Expr, prefix: u32) -> Simple {
        let mut todo = vec![root];
        // What was found for this question only, where the memory holds something of later times.
        let mut local: FxHashMap<Expr, (Simple, u32)> = FxHashMap::default();
        while let Some(&expr) = todo.last() {
            if self.found(&local, expr, prefix).is_some() {
                todo.pop();
                continue;
            }
            let term = pool.term(expr);
            let before = todo.len();
            let missing = term.operands();
            todo.extend(missing.filter(|&operand| self.found(&local, operand, prefix).is_none()));
            if todo.len() > before {
                continue;
            }
            todo.pop();
            let mut simple = Simple {
                expr,
                time: 0,
                reasons: NONE,
            };
            let (mut changed, mut fields) = (false, [term.a, term.b, term.c]);
            let mut until = self.more_from(expr, prefix);
            for (field, operand) in fields.iter_mut().zip(term.operands()) {
                let Some((found, of_operand)) = self.found(&local, operand, prefix) else {
                    continue;
                };
                let found = self.settled(found, prefix);
                until = until.min(of_operand);
                changed |= found.expr != operand;
                *field = found.expr.0;
                simple.time = simple.time.max(found.time);
                simple.reasons = self.reasons.union(simple.reasons, found.reasons);
                let short = match term.op {
                    Op::SExt | Op::SDiv | Op::SRem | Op::AShr => {
                        self.trimmed(pool, found.expr, prefix)
                    }
                    Op::ZExt => self.digit(pool, found.expr, prefix),
                    // Other sums are linear, and stay so.
                    Op::Add if pool.term(found.expr).op == Op::Ite => {
                        self.digit(pool, found.expr, prefix)
                    }
                    _ => None,
                };
                if let Some(short) = short {
                    changed = true;
                    *field = short.expr.0;
                    simple.time = simple.time.max(short.time);
                    simple.reasons = self.reasons.union(simple.reasons, short.reasons);
                }
            }
            if changed {
                let [a, b, c] = fields;
                simple.expr = pool.make(Term { a, b, c, ..term });
                simple = self.settled(simple, prefix);
            }
            if until < NEVER {
                let known = self.early.get(&expr);
                match known.is_none_or(|(known, until)| known.time <= prefix && *until <= prefix) {
                    true => self.early.insert(expr, (simple, until)),
                    false => local.insert(expr, (simple, until)),
                };
            } else {
                match self.memo.entry(expr) {
                    Entry::Vacant(entry) => {
                        entry.insert(simple);
                    }
                    Entry::Occupied(_) => {
                        local.insert(expr, (simple, until));
                    }
                }
            }
        }
        let found = self.found(&local, root, prefix).map(|(found, _)| found);
        let found = found.unwrap_or(Simple {
            expr: root,
            time: 0,
            reasons: NONE,
        });
        self.settled(found, prefix)
    }

    /// What an expression became may be one whose value is known, perhaps only since then.
    fn settled(&mut self, simple: Simple, prefix: u32) -> Simple {
        let Some(known) = self.value(simple.expr, prefix) else {
            return simple;
        };
        Simple {
            expr: known.expr,
            time: simple.time.max(known.time),
            reasons: self.reasons.union(simple.reasons, known.reasons),
        }
    }

    /// The conditions of a set, if they are not too many.
    pub(crate) fn conditions(&self, reasons: Support) -> Option<&[u32]> {
        self.reasons.get(reasons)
    }

    /// What an expression can be replaced by, as far as the first conditions tell.
    fn value(&self, expr: Expr, prefix: u32) -> Option<Simple> {
        let all = self.values.get(&expr)?;
        all.iter().rev().find(|known| known.time <= prefix).copied()
    }

    /// From when on conditions after the first say more of an expression.
    fn more_from(&self, expr: Expr, prefix: u32) -> u32 {
        let mut values = self.values.get(&expr).into_iter().flatten();
        let next = values.find(|known| known.time > prefix);
        next.map_or(NEVER, |known| known.time)
    }

    /// What an expression became, and until when no more is known of it.
    fn found(
        &self,
        local: &FxHashMap<Expr, (Simple, u32)>,
        expr: Expr,
        prefix: u32,
    ) -> Option<(Simple, u32)> {
        let more = self.more_from(expr, prefix);
        if let Some(known) = self.value(expr, prefix) {
            return Some((known, more));
        }
        let all = self.memo.get(&expr).filter(|known| known.time <= prefix);
        if let Some(&simple) = all {
            return Some((simple, more));
        }
        let early = self.early.get(&expr);
        let early = early.filter(|(known, until)| known.time <= prefix && prefix < *until);
        early.or_else(|| local.get(&expr)).copied()
    }
}

/// A byte with the bits that are known as constants.
fn spelled_out(pool: &mut Pool, byte: Expr, ones: u8, zeros: u8) -> Expr {
    let known = ones | zeros;
    let mut low = 0;
    let mut all: Option<Expr> = None;
    while low < 8 {
        let is_known = known >> low & 1 == 1;
        let same = if is_known {
            known >> low
        } else {
            !known >> low
        };
        let count = same.trailing_ones().min(8 - low) as u16;
        let part = if is_known {
            pool.constant(count, (ones >> low).into())
        } else {
            pool.extract(byte, low as u16, count)
        };
        all = Some(match all {
            Some(below) => {
                let width = count + pool.width(below);
                pool.op(Op::Concat, width, &[part, below])
            }
            None => part,
        });
        low += u32::from(count);
    }
    all.unwrap_or(byte)
}

/// The parts of a condition that are joined by "and".
pub(crate) fn parts(pool: &mut Pool, condition: Expr) -> Vec<Expr> {
    let yes = pool.truth(true);
    let (mut todo, mut parts) = (vec![condition], Vec::new());
    while let Some(expr) = todo.pop() {
        let term = pool.term(expr);
        if term.op == Op::And && term.width == 1 {
            todo.extend([Expr(term.b), Expr(term.a)]);
            continue;
        }
        if term.op == Op::Xor && term.width == 1 && Expr(term.b) == yes {
            let inner = pool.term(Expr(term.a));
            if inner.op == Op::Or {
                let (left, right) = (pool.not(Expr(inner.a)), pool.not(Expr(inner.b)));
                todo.extend([right, left]);
                continue;
            }
        }
        parts.push(expr);
    }
    parts
}
