//! The conditions of one run, ready for questions about any prefix of them.

use std::collections::hash_map::Entry;

use beagle_trace::Input;
use beagle_trace::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bytes::{self, ByteSet};
use crate::facts::{self, Facts};
use crate::model::Hint;
use crate::partition::Partition;
use crate::pool::{Expr, Pool, Term};
use crate::support::{NONE, Support, Supports};
use crate::variable::{Source, Variable, VariableKind};

/// Conditions that all held in one run, in order.
///
/// Each is simplified by those before it (a byte that was compared with a constant is that constant
/// from then on) and cut into parts that are joined by "and". Questions name a prefix: the number of
/// conditions that must still hold.
#[derive(Debug)]
pub struct Path {
    hint: Hint,
    conditions: Vec<Expr>,
    /// What remains of each condition after simplification by the earlier ones.
    simplified: Vec<Expr>,
    /// The parts of the simplified conditions, each with the time of its condition.
    atoms: Vec<(Expr, u32)>,
    partition: Partition,
    known: Known,
    /// For each variable the conditions as they came that name it.
    mentions: FxHashMap<Variable, Vec<u32>>,
    /// The bytes of each source that are named, in ascending order.
    bytes: FxHashMap<Source, Vec<(u32, Variable)>>,
    /// Conditions that the earlier ones exclude: the recording is at fault.
    impossible: usize,
}

/// An expression after simplification.
#[derive(Clone, Copy, Debug)]
struct Simple {
    expr: Expr,
    /// The time of the latest condition that was used; that of the first condition is 1.
    time: u32,
    /// The conditions that were used.
    reasons: Support,
}

/// What is known of expressions from some time on.
#[derive(Debug, Default)]
struct Known {
    /// What expressions can be replaced by, in the order of time.
    values: FxHashMap<Expr, Vec<Simple>>,
    memo: FxHashMap<Expr, Simple>,
    reasons: Supports<u32>,
    /// What bytes can be, and for which conditions.
    bytes: FxHashMap<Variable, (ByteSet, Support)>,
    /// Bits and bounds that follow for expressions.
    facts: FxHashMap<Expr, Facts>,
}

impl Path {
    /// A path without conditions, of a run on this input.
    pub fn new(pool: &mut Pool, input: Input) -> Self {
        Self {
            hint: Hint::new(pool, input),
            conditions: Vec::new(),
            simplified: Vec::new(),
            atoms: Vec::new(),
            partition: Partition::default(),
            known: Known::default(),
            mentions: FxHashMap::default(),
            bytes: FxHashMap::default(),
            impossible: 0,
        }
    }

    /// The input of the run.
    pub fn hint(&self) -> &Hint {
        &self.hint
    }

    /// The conditions as they came.
    pub fn conditions(&self) -> &[Expr] {
        &self.conditions
    }

    /// How many conditions are excluded by the earlier ones; 0 unless the recording is at fault.
    pub fn impossible(&self) -> usize {
        self.impossible
    }

    /// Whether the condition at this index follows from the earlier ones: its negation is no
    /// question worth asking.
    pub fn follows(&self, pool: &Pool, index: usize) -> bool {
        pool.value(self.simplified[index]).is_some()
    }

    /// Adds a condition that held in the run.
    pub fn push(&mut self, pool: &mut Pool, condition: Expr) {
        let number = self.conditions.len() as u32;
        let found = self.known.simplify(pool, condition, number);
        let simple = found.expr;
        let time = number + 1;
        self.conditions.push(condition);
        self.simplified.push(simple);
        for variable in pool.variables_of(condition) {
            self.mention(pool, variable, number);
        }
        match pool.value(simple) {
            Some(1) => return,
            Some(_) => {
                self.impossible += 1;
                return;
            }
            None => {}
        }
        let before = self.atoms.len();
        for atom in parts(pool, simple) {
            if self.known.follows(pool, atom) {
                continue;
            }
            self.known.learn(pool, atom, found.reasons, time);
            let number = self.atoms.len() as u32;
            self.atoms.push((atom, time));
            let variables = pool.variables_of(atom);
            self.partition.join(time, &variables, Some(number));
            for &variable in &variables {
                let chain = self.chain(pool, variable);
                self.partition.join(time, &chain, None);
            }
        }
        if self.atoms.len() == before
            && let Some(last) = self.simplified.last_mut()
        {
            *last = pool.truth(true);
        }
    }

    fn mention(&mut self, pool: &Pool, variable: Variable, condition: u32) {
        let mentions = self.mentions.entry(variable).or_default();
        if mentions.is_empty()
            && let VariableKind::Byte(source, index) = pool.variable_kind(variable)
        {
            let bytes = self.bytes.entry(source).or_default();
            let at = bytes.partition_point(|&(known, _)| known < index);
            bytes.insert(at, (index, variable));
        }
        mentions.push(condition);
    }

    /// The bytes that have to be there for a byte past the end of a string to be there, itself the
    /// last; empty for other variables.
    pub(crate) fn chain(&self, pool: &mut Pool, variable: Variable) -> Vec<Variable> {
        let VariableKind::Byte(source, index) = pool.variable_kind(variable) else {
            return Vec::new();
        };
        let end = self.hint.size(source).min(u64::from(u32::MAX)) as u32;
        if !pool.source_key(source).is_string() || index <= end {
            return Vec::new();
        }
        let bytes = (end..=index).map(|index| {
            let expr = pool.variable(VariableKind::Byte(source, index));
            Variable(pool.term(expr).c)
        });
        bytes.collect()
    }

    /// The variables and parts of conditions that hang together with these variables, when only the
    /// first conditions count.
    pub(crate) fn slice(&self, prefix: u32, variables: &[Variable]) -> (Vec<Variable>, Vec<u32>) {
        self.partition.slice(prefix, variables)
    }

    /// A part of a condition.
    pub(crate) fn atom(&self, number: u32) -> Expr {
        self.atoms[number as usize].0
    }

    /// The index of the condition that a part belongs to.
    pub(crate) fn atom_condition(&self, number: u32) -> u32 {
        self.atoms[number as usize].1 - 1
    }

    /// The bytes of a source that the first conditions name, in ascending order.
    pub(crate) fn bytes(
        &self,
        prefix: u32,
        source: Source,
    ) -> impl Iterator<Item = (u32, Variable)> + Clone {
        let bytes = self.bytes.get(&source).into_iter().flatten().copied();
        bytes.filter(move |(_, variable)| {
            let first = self.mentions.get(variable).and_then(|all| all.first());
            first.is_some_and(|&first| first < prefix)
        })
    }

    /// The sources with bytes that the first conditions name.
    pub(crate) fn sources(&self, prefix: u32) -> impl Iterator<Item = Source> {
        let sources = self.bytes.keys().copied();
        sources.filter(move |&source| self.bytes(prefix, source).next().is_some())
    }

    /// The conditions as they came, of the first ones, that name any of these variables.
    pub(crate) fn naming(&self, prefix: u32, variables: &[Variable]) -> Vec<Expr> {
        let mut numbers: Vec<u32> = variables
            .iter()
            .filter_map(|variable| self.mentions.get(variable))
            .flat_map(|all| all.iter().copied().take_while(|&number| number < prefix))
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut seen = FxHashSet::default();
        let exprs = numbers.iter().map(|&n| self.conditions[n as usize]);
        exprs.filter(|&expr| seen.insert(expr)).collect()
    }

    /// An expression as it is on this path after the first conditions.
    pub fn simplify(&mut self, pool: &mut Pool, expr: Expr, prefix: usize) -> Expr {
        self.known.simplify(pool, expr, prefix as u32).expr
    }

    /// The conditions among the first that were used to simplify an expression.
    pub(crate) fn reasons(&mut self, pool: &mut Pool, expr: Expr, prefix: u32) -> Vec<u32> {
        let set = self.known.simplify(pool, expr, prefix).reasons;
        match self.known.reasons.get(set) {
            Some(conditions) => conditions.to_vec(),
            None => (0..prefix).collect(),
        }
    }
}

impl Known {
    /// Whether a part of a condition follows from what is known by now.
    fn follows(&mut self, pool: &Pool, atom: Expr) -> bool {
        if let Some((variable, set)) = bytes::truth(pool, atom) {
            let known = self.bytes.get(&variable);
            return known.is_some_and(|(known, _)| known.and(set.complement()).is_empty());
        }
        self.facts_of(pool, atom).value() == Some(1)
    }

    /// Bits and bounds of an expression, for what is known of its bytes. What was found for fewer
    /// conditions stays right.
    fn facts_of(&mut self, pool: &Pool, root: Expr) -> Facts {
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
            let known = if term.is_variable() {
                match self.bytes.get(&Variable(term.c)) {
                    Some((set, _)) => Facts::among(set.iter().map(u64::from), term.width),
                    None => pool.facts(expr),
                }
            } else {
                facts::of(pool, &term, |operand| {
                    let known = self.facts.get(&operand).copied();
                    known.unwrap_or_else(|| pool.facts(operand))
                })
            };
            self.facts.insert(expr, known);
        }
        self.facts.get(&root).copied().unwrap_or(pool.facts(root))
    }

    /// Notes what a part of a condition says that was simplified for these reasons.
    fn learn(&mut self, pool: &mut Pool, atom: Expr, reasons: Support, time: u32) {
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
            Some(&(known, before)) => (known, before),
            None => (ByteSet::ALL, NONE),
        };
        let common = |set: ByteSet| {
            let facts = Facts::among(set.iter().map(u64::from), 8);
            (facts.ones as u8, facts.zeros as u8)
        };
        let now = known.and(set);
        let reasons = self.reasons.union(before, reasons);
        self.bytes.insert(variable, (now, reasons));
        let byte = pool.variable_expr(variable);
        self.facts.remove(&byte);
        let (ones, zeros) = common(now);
        if now.is_empty() || (ones, zeros) == common(known) {
            return;
        }
        let spelled = spelled_out(pool, byte, ones, zeros);
        self.note(byte, spelled, time, reasons);
    }

    fn simplify(&mut self, pool: &mut Pool, root: Expr, prefix: u32) -> Simple {
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
fn parts(pool: &mut Pool, condition: Expr) -> Vec<Expr> {
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
