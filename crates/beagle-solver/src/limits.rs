//! What conditions over a single variable leave of it.
//!
//! Most conditions of a path are about one byte or one size. They become sets, and most questions
//! are decided by these sets alone.

use std::borrow::Borrow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bytes::{self, ByteSet};
use crate::layer::Found;
use crate::pool::{Expr, Pool};
use crate::ranges::Ranges;
use crate::structure::Origin;
use crate::variable::{Variable, VariableKind};

/// The values that a variable can have.
#[derive(Clone, Debug)]
pub(crate) enum Domain {
    /// Of a byte.
    Byte(ByteSet),
    /// Of a size or the number of arguments.
    Wide(Ranges),
}

impl Domain {
    /// The values for which a condition holds, if it is about one variable and simple enough.
    pub(crate) fn of(pool: &Pool, condition: Expr) -> Option<(Variable, Domain)> {
        let variable = pool.only_variable(condition)?;
        match pool.variable_kind(variable) {
            VariableKind::Byte(..) => {
                let (_, set) = bytes::truth(pool, condition)?;
                Some((variable, Domain::Byte(set)))
            }
            _ => {
                let (_, set) = Ranges::of(pool, condition)?;
                Some((variable, Domain::Wide(set)))
            }
        }
    }

    fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Domain::Byte(a), Domain::Byte(b)) => Domain::Byte(a.and(*b)),
            (Domain::Wide(a), Domain::Wide(b)) => Domain::Wide(a.and(b)),
            // A variable is a byte or it is not.
            _ => self.clone(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Domain::Byte(set) => set.is_empty(),
            Domain::Wide(set) => set.is_empty(),
        }
    }

    fn best(&self, hint: u128) -> Option<u128> {
        match self {
            Domain::Byte(set) => set.best(hint as u8).map(Into::into),
            Domain::Wide(set) => set.best(hint as u64).map(Into::into),
        }
    }
}

/// The conditions of a question, sorted.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    /// Conditions over one variable, by index, with the values for which they hold.
    single: FxHashMap<Variable, Vec<(usize, Domain)>>,
    /// What variables can be by all of these.
    domains: FxHashMap<Variable, Domain>,
    /// The same for bytes only.
    bytes: FxHashMap<Variable, ByteSet>,
    /// The other conditions, by index.
    rest: Vec<usize>,
    /// Those of them that compare an expression with a constant, by that expression, with the values
    /// for which they hold.
    words: FxHashMap<Expr, Vec<(usize, Domain)>>,
    /// The least and greatest value that these leave.
    bounds: FxHashMap<Expr, (u64, u64)>,
}

impl Limits {
    /// Sorts conditions. `known` remembers what conditions over one variable say.
    pub(crate) fn new(
        pool: &Pool,
        conditions: &[Expr],
        known: &mut FxHashMap<Expr, Option<(Variable, Domain)>>,
    ) -> Self {
        let mut limits = Self::default();
        for (at, &condition) in conditions.iter().enumerate() {
            let domain = known.entry(condition);
            match domain.or_insert_with(|| Domain::of(pool, condition)) {
                Some((variable, domain)) => {
                    let single = limits.single.entry(*variable).or_default();
                    single.push((at, domain.clone()));
                }
                None => {
                    limits.rest.push(at);
                    if let Some((word, set)) = Ranges::of_word(pool, condition) {
                        let single = limits.words.entry(word).or_default();
                        single.push((at, Domain::Wide(set)));
                    }
                }
            }
        }
        limits
    }

    /// All conditions as ones that no set stands for.
    pub(crate) fn none(count: usize) -> Self {
        Self {
            rest: (0..count).collect(),
            ..Self::default()
        }
    }

    /// Computes the sets, and answers if they decide.
    pub(crate) fn decide(
        &mut self,
        origins: &[Origin],
        hint: &dyn Fn(Variable) -> u128,
    ) -> Option<Found> {
        for (&variable, single) in &mut self.single {
            // Restrictions last: a conflict without them is final.
            single.sort_by_key(|&(at, _)| (origins[at] == Origin::Restriction, at));
            let all = meet(single)?;
            if all.is_empty() {
                return Some(Found::Conflict(conflict(single)));
            }
            if let Domain::Byte(set) = all {
                self.bytes.insert(variable, set);
            }
            self.domains.insert(variable, all);
        }
        if !self.rest.is_empty() {
            for (&word, single) in &self.words {
                match meet(single)? {
                    left if left.is_empty() => return Some(Found::Conflict(conflict(single))),
                    Domain::Wide(left) => {
                        self.bounds.extend(left.bounds().map(|ends| (word, ends)))
                    }
                    Domain::Byte(_) => {}
                }
            }
            return None;
        }
        let mut model = Vec::new();
        self.complete(&mut model, hint)?;
        Some(Found::Model(model))
    }

    /// The conditions over several variables, by index.
    pub(crate) fn rest(&self) -> &[usize] {
        &self.rest
    }

    /// What bytes can be.
    pub(crate) fn bytes(&self) -> &FxHashMap<Variable, ByteSet> {
        &self.bytes
    }

    /// The least and greatest value that conditions leave of an expression that they compare.
    pub(crate) fn bounds(&self, word: Expr) -> Option<(u64, u64)> {
        self.bounds.get(&word).copied()
    }

    /// The conditions that compare an expression, by index.
    pub(crate) fn on_word(&self, word: Expr) -> impl Iterator<Item = usize> {
        let single = self.words.get(&word).into_iter().flatten();
        single.map(|&(at, _)| at)
    }

    /// The conditions that are not about single bytes, by index: those over several variables, and
    /// of those over sizes that also occur there the tightest.
    pub(crate) fn beyond_bytes(&self, pool: &Pool, conditions: &[Expr]) -> Vec<usize> {
        let mut needed = self.rest.clone();
        for variable in self.open(pool, conditions) {
            if !self.bytes.contains_key(&variable) {
                needed.extend(self.tightest(variable));
            }
        }
        needed
    }

    /// The conditions that matter for those over several variables, by index: these, and those over
    /// one variable that occurs in them.
    pub(crate) fn related(&self, pool: &Pool, conditions: &[Expr]) -> Vec<usize> {
        let mut needed = self.rest.clone();
        for variable in self.open(pool, conditions) {
            if self.bytes.contains_key(&variable) {
                needed.extend(self.of(variable));
            } else {
                needed.extend(self.tightest(variable));
            }
        }
        needed
    }

    /// The variables of the conditions over several.
    fn open(&self, pool: &Pool, conditions: &[Expr]) -> Vec<Variable> {
        pool.variables_of_all(self.rest.iter().map(|&at| conditions[at]))
    }

    /// The conditions over one variable, by index.
    pub(crate) fn of(&self, variable: Variable) -> impl Iterator<Item = usize> {
        let single = self.single.get(&variable).into_iter().flatten();
        single.map(|&(at, _)| at)
    }

    /// As few conditions over one variable as are found to leave no more than all do.
    fn tightest(&self, variable: Variable) -> Vec<usize> {
        let (Some(single), Some(Domain::Wide(all))) =
            (self.single.get(&variable), self.domains.get(&variable))
        else {
            return self.of(variable).collect();
        };
        let mut kept: Vec<usize> = Vec::new();
        let mut left: Option<Ranges> = None;
        // Later conditions are mostly the tighter ones.
        for (at, domain) in single.iter().rev() {
            let Domain::Wide(set) = domain else { continue };
            let with = left.as_ref().map_or(set.clone(), |left| left.and(set));
            if left.as_ref() != Some(&with) {
                kept.push(*at);
                let done = with == *all;
                left = Some(with);
                if done {
                    break;
                }
            }
        }
        kept
    }

    /// Adds the variables that have to change because of their sets alone.
    pub(crate) fn complete(
        &self,
        model: &mut Vec<(Variable, u128)>,
        hint: &dyn Fn(Variable) -> u128,
    ) -> Option<()> {
        let known: FxHashSet<Variable> = model.iter().map(|&(variable, _)| variable).collect();
        let mut domains: Vec<_> = self.domains.iter().collect();
        domains.sort_unstable_by_key(|&(&variable, _)| variable);
        for (&variable, domain) in domains {
            if known.contains(&variable) {
                continue;
            }
            let was = hint(variable);
            let best = domain.best(was)?;
            if best != was {
                model.push((variable, best));
            }
        }
        Some(())
    }
}

/// The values that all conditions over one variable leave.
fn meet<T: Borrow<(usize, Domain)>>(sets: &[T]) -> Option<Domain> {
    let mut sets = sets.iter().map(|set| &set.borrow().1);
    let first = sets.next()?.clone();
    Some(sets.fold(first, |all, set| all.and(set)))
}

/// Conditions over one variable that exclude each other, none of them without need.
fn conflict(single: &[(usize, Domain)]) -> Vec<usize> {
    let excluded = |sets: &[&(usize, Domain)]| meet(sets).is_some_and(|left| left.is_empty());
    // The first that leaves nothing together with those before it is needed; of those before it,
    // the first that leaves nothing together with the needed ones; and so on.
    let mut kept: Vec<&(usize, Domain)> = Vec::new();
    let mut left = single;
    while !excluded(&kept) {
        let mut all = meet(&kept);
        let next = left.iter().position(|one| {
            let with = all.as_ref().map_or(one.1.clone(), |all| all.and(&one.1));
            let empty = with.is_empty();
            all = Some(with);
            empty
        });
        let Some(next) = next else { break };
        kept.push(&left[next]);
        left = &left[..next];
    }
    kept.iter().map(|&&(at, _)| at).collect()
}
