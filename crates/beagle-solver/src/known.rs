//! What the conditions of a path say of the expressions of later ones.

use std::collections::hash_map::Entry;

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;

use crate::bytes::{self, ByteSet};
use crate::facts::{self, Facts};
use crate::pool::{Expr, Pool, Term};
use crate::support::{NONE, Support, Supports};
use crate::variable::Variable;
use crate::words::Words;

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
    memo: FxHashMap<Expr, Simple>,
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
        if let Some((variable, set)) = bytes::truth(pool, atom) {
            self.limit(pool, variable, set, time, reasons);
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
        let mut local: FxHashMap<Expr, Simple> = FxHashMap::default();
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
            for (field, operand) in fields.iter_mut().zip(term.operands()) {
                let Some(found) = self.found(&local, operand, prefix) else {
                    continue;
                };
                changed |= found.expr != operand;
                *field = found.expr.0;
                simple.time = simple.time.max(found.time);
                simple.reasons = self.reasons.union(simple.reasons, found.reasons);
                let signed = matches!(term.op, Op::SExt | Op::SDiv | Op::SRem | Op::AShr);
                if signed && let Some(short) = self.trimmed(pool, found.expr, prefix) {
                    changed = true;
                    *field = short.expr.0;
                    simple.time = simple.time.max(short.time);
                    simple.reasons = self.reasons.union(simple.reasons, short.reasons);
                }
            }
            if changed {
                let [a, b, c] = fields;
                simple.expr = pool.make(Term { a, b, c, ..term });
                // A rewritten expression can be one whose value is known.
                if let Some(known) = self.value(simple.expr, prefix) {
                    simple.expr = known.expr;
                    simple.time = simple.time.max(known.time);
                    simple.reasons = self.reasons.union(simple.reasons, known.reasons);
                }
            }
            match self.memo.entry(expr) {
                Entry::Vacant(entry) => {
                    entry.insert(simple);
                }
                Entry::Occupied(_) => {
                    local.insert(expr, simple);
                }
            }
        }
        self.found(&local, root, prefix).unwrap_or(Simple {
            expr: root,
            time: 0,
            reasons: NONE,
        })
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

    fn found(&self, local: &FxHashMap<Expr, Simple>, expr: Expr, prefix: u32) -> Option<Simple> {
        let memo = || self.memo.get(&expr).filter(|simple| simple.time <= prefix);
        let known = self.value(expr, prefix);
        known.or_else(|| memo().or_else(|| local.get(&expr)).copied())
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
