//! The conditions of one run, ready for questions about any prefix of them.

use beagle_trace::Input;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::known::parts;
use crate::lazy::Lazy;
use crate::model::Hint;
use crate::partition::{Joined, Partition};
use crate::pin::Pins;
use crate::pool::{Expr, Pool};
use crate::structure::Origin;
use crate::variable::{Source, Variable, VariableKind};
use crate::view::View;

/// Conditions that all held in one run, in order.
///
/// Each is simplified by those before it (a byte that was compared with a constant is that constant
/// from then on) and cut into parts that are joined by "and". Questions name a prefix: the number of
/// conditions that must still hold.
#[derive(Debug)]
pub struct Path {
    hint: Hint,
    conditions: Vec<Expr>,
    /// Where each condition is met first.
    numbers: FxHashMap<Expr, u32>,
    exact: View,
    /// The same with look-ups pinned to where they look, once there are such.
    pinned: Option<View>,
    pins: Pins,
    /// The values of expressions for the input.
    values: Lazy,
    /// For each variable the first condition that names it.
    first: FxHashMap<Variable, u32>,
    /// For each variable the conditions that it decides for the input: while no variable that decides
    /// a condition changes, the condition holds.
    deciding: FxHashMap<Variable, Vec<u32>>,
    /// The same for conditions that many variables decide, by what hangs together.
    wide: Partition,
    /// What was joined there, and what was named before.
    wide_joined: Joined,
    named: Joined,
    /// The bytes of each source that are named, in ascending order.
    bytes: FxHashMap<Source, Vec<(u32, Variable)>>,
    /// Conditions that the earlier ones exclude: the recording is at fault.
    impossible: usize,
}

impl Path {
    /// A path without conditions, of a run on this input.
    pub fn new(pool: &mut Pool, input: Input) -> Self {
        Self {
            hint: Hint::new(pool, input),
            conditions: Vec::new(),
            numbers: FxHashMap::default(),
            exact: View::default(),
            pinned: None,
            pins: Pins::default(),
            values: Lazy::default(),
            first: FxHashMap::default(),
            deciding: FxHashMap::default(),
            wide: Partition::default(),
            wide_joined: Joined::default(),
            named: Joined::default(),
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

    /// Whether a condition holds for the input of the run.
    pub(crate) fn holds(&mut self, pool: &Pool, condition: Expr) -> bool {
        self.value(pool, condition) == Some(1)
    }

    /// The value of an expression for the input of the run; `None` where it is not defined.
    pub fn value(&mut self, pool: &Pool, expr: Expr) -> Option<u128> {
        let hint = |variable: Variable| self.hint.value(pool.variable_kind(variable));
        self.values.value(pool, &hint, expr)
    }

    /// The variables that the value of an expression for the input of the run is made of; none if they are too
    /// many to say.
    pub fn read(&mut self, pool: &Pool, expr: Expr) -> &[Variable] {
        self.value(pool, expr);
        self.values.read(expr).unwrap_or_default()
    }

    /// Whether the condition at this index follows from the earlier ones: its negation is no
    /// question worth asking.
    pub fn follows(&self, pool: &Pool, index: usize) -> bool {
        pool.value(self.exact.simplified(index)).is_some()
    }

    /// Adds a condition that held in the run.
    pub fn push(&mut self, pool: &mut Pool, condition: Expr) {
        let number = self.conditions.len() as u32;
        self.mention(pool, condition, number);
        if !self.exact.push(pool, &self.hint, condition) {
            self.impossible += 1;
        }
        let pinned = self
            .pins
            .pin(pool, (&self.hint, &mut self.values), condition);
        if self.pinned.is_none() && pinned.is_some() {
            // Until now the two were the same.
            let mut view = View::default();
            for &earlier in &self.conditions {
                view.push(pool, &self.hint, earlier);
            }
            self.pinned = Some(view);
        }
        if let Some(view) = &mut self.pinned {
            let (condition, equalities) = pinned.unwrap_or((condition, Vec::new()));
            for equality in equalities {
                view.accompany(pool, &self.hint, equality);
            }
            view.push(pool, &self.hint, condition);
        }
        self.conditions.push(condition);
        self.numbers.entry(condition).or_insert(number);
    }

    /// The conditions, with look-ups pinned or not. Unless there are look-ups that can be, both are the
    /// same.
    pub(crate) fn view(&self, pinned: bool) -> &View {
        let view = self.pinned.as_ref().filter(|_| pinned);
        view.unwrap_or(&self.exact)
    }

    /// What is asked for after the first conditions, when look-ups stay where they are; `None` if
    /// there are no look-ups that can be pinned.
    pub(crate) fn pinned(
        &mut self,
        pool: &mut Pool,
        asked: &[Expr],
        prefix: u32,
    ) -> Option<Vec<(Expr, Origin)>> {
        let view = self.pinned.as_mut()?;
        let mut all = Vec::new();
        for (index, &expr) in asked.iter().enumerate() {
            let pinned = self.pins.pin(pool, (&self.hint, &mut self.values), expr);
            let (expr, equalities) = pinned.unwrap_or((expr, Vec::new()));
            let expr = view.simplify(pool, expr, prefix);
            let parts = parts(pool, expr).into_iter();
            all.extend(parts.map(|part| (part, Origin::Asked(index as u32))));
            for equality in equalities {
                let equality = view.simplify(pool, equality, prefix);
                all.push((equality, Origin::Restriction));
            }
        }
        Some(all)
    }

    /// The conditions among the first that were used to simplify an expression.
    pub(crate) fn reasons(&mut self, pool: &mut Pool, expr: Expr, prefix: u32) -> Vec<u32> {
        self.exact.reasons(pool, expr, prefix)
    }

    /// The conditions among the first that make something hold that holds because of them: itself if it
    /// is one of them, else those that it can be simplified by, else all that hangs together with it.
    pub(crate) fn because(&mut self, pool: &mut Pool, expr: Expr, prefix: u32) -> Vec<u32> {
        let number = self.numbers.get(&expr);
        if let Some(&number) = number.filter(|&&number| number < prefix) {
            return vec![number];
        }
        let simple = self.exact.simplify(pool, expr, prefix);
        if pool.value(simple) == Some(1) {
            return self.reasons(pool, expr, prefix);
        }
        let (_, atoms) = self.exact.slice(prefix, &pool.variables_of(expr));
        let mut numbers = Vec::new();
        for atom in atoms {
            numbers.extend(self.of_atom(atom));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The condition that a part belongs to, and the earlier ones that it was made of.
    pub(crate) fn of_atom(&self, atom: u32) -> Vec<u32> {
        let mut all = self.exact.atom_reasons(atom);
        all.push(self.exact.atom_condition(atom));
        all
    }

    fn mention(&mut self, pool: &Pool, condition: Expr, number: u32) {
        for variable in self.named.join(pool, condition) {
            if self.first.contains_key(&variable) {
                continue;
            }
            self.first.insert(variable, number);
            if let VariableKind::Byte(source, index) = pool.variable_kind(variable) {
                let bytes = self.bytes.entry(source).or_default();
                let at = bytes.partition_point(|&(known, _)| known < index);
                bytes.insert(at, (index, variable));
            }
        }
        let hint = |variable: Variable| self.hint.value(pool.variable_kind(variable));
        self.values.value(pool, &hint, condition);
        match self.values.read(condition) {
            Some(deciding) => {
                for &variable in deciding {
                    self.deciding.entry(variable).or_default().push(number);
                }
            }
            None => {
                let all = self.wide_joined.join(pool, condition);
                self.wide.join(number + 1, &all, Some(number));
            }
        }
    }

    /// The bytes of a source that the first conditions name, in ascending order.
    pub(crate) fn bytes(
        &self,
        prefix: u32,
        source: Source,
    ) -> impl Iterator<Item = (u32, Variable)> + Clone {
        let bytes = self.bytes.get(&source).into_iter().flatten().copied();
        bytes.filter(move |(_, variable)| {
            let first = self.first.get(variable);
            first.is_some_and(|&first| first < prefix)
        })
    }

    /// The sources with bytes that the first conditions name.
    pub(crate) fn sources(&self, prefix: u32) -> impl Iterator<Item = Source> {
        let sources = self.bytes.keys().copied();
        sources.filter(move |&source| self.bytes(prefix, source).next().is_some())
    }

    /// The conditions as they came, of the first ones, that may no longer hold if these variables
    /// change.
    pub(crate) fn decided_by(&self, prefix: u32, variables: &[Variable]) -> Vec<Expr> {
        let mut numbers: Vec<u32> = variables
            .iter()
            .filter_map(|variable| self.deciding.get(variable))
            .flat_map(|all| all.iter().copied().take_while(|&number| number < prefix))
            .collect();
        let (_, wide) = self.wide.slice(prefix, variables);
        numbers.extend(wide);
        numbers.sort_unstable();
        numbers.dedup();
        let mut seen = FxHashSet::default();
        let exprs = numbers.iter().map(|&n| self.conditions[n as usize]);
        exprs.filter(|&expr| seen.insert(expr)).collect()
    }

    /// An expression as it is on this path after the first conditions.
    pub fn simplify(&mut self, pool: &mut Pool, expr: Expr, prefix: usize) -> Expr {
        self.exact.simplify(pool, expr, prefix as u32)
    }
}
