//! What the conditions of a path leave of the words that they compare with constants.
//!
//! A loop over a length asks again and again whether the end is reached, and leaves a condition each
//! time. All of them together say no more than the last does, if that is made to say what they all
//! say: "is not 7" after "is at least 7" is "is at least 8". So one condition takes the place of
//! thousands.

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;

use crate::facts::mask64;
use crate::pool::{Expr, Pool};
use crate::ranges::Ranges;
use crate::support::{NONE, Support};
use crate::variable::{Variable, VariableKind};

/// Sets of more intervals are not followed.
const MOST_PARTS: usize = 64;
/// A condition that is about more gaps between possible values stays as it is.
const MOST_GAPS: usize = 2;
/// So many conditions on one word are looked at to see whether a new one replaces them.
const MOST_ACTIVE: usize = 8;

/// What is known of one word.
#[derive(Debug)]
struct Word {
    set: Ranges,
    /// The conditions that the set comes from.
    reasons: Support,
    /// Conditions on the word that none later replaces, with what each says alone.
    active: Vec<(u32, Ranges)>,
}

/// Words with the values that they can have.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: FxHashMap<Expr, Word>,
    /// Words that are made of bytes, by these bytes in ascending order.
    of_bytes: FxHashMap<Vec<Variable>, Expr>,
}

/// What a condition on a word means after the earlier ones.
#[derive(Debug)]
pub(crate) struct Narrowed {
    /// The word.
    pub word: Expr,
    /// What remains of its values.
    pub now: Ranges,
    /// What to say instead, together with the earlier conditions the same.
    pub instead: Option<Vec<(Expr, Ranges)>>,
    /// What the condition itself says.
    pub own: Ranges,
    /// What was known before, and for which conditions.
    pub before: Support,
}

impl Words {
    /// What a condition on a word means; `None` if it is none. Nothing is noted yet.
    pub(crate) fn narrow(&mut self, pool: &mut Pool, condition: Expr) -> Option<Narrowed> {
        let (word, own) = self.word(pool, condition)?;
        let known = self.words.get(&word);
        let facts = pool.facts(word);
        let all = Ranges::between(facts.min, facts.max);
        let (set, before) = known.map_or((&all, NONE), |known| (&known.set, known.reasons));
        let now = set.and(&own);
        if now.parts() > MOST_PARTS {
            return None;
        }
        let instead = sharper(pool, word, &now, &own);
        Some(Narrowed {
            word,
            now,
            instead,
            own,
            before,
        })
    }

    /// Whether a condition says nothing new.
    pub(crate) fn follows(&mut self, pool: &mut Pool, condition: Expr) -> bool {
        let Some((word, own)) = self.word(pool, condition) else {
            return false;
        };
        let known = self.words.get(&word);
        known.is_some_and(|known| known.set.and(&own) == known.set)
    }

    /// Notes what remains of a word.
    pub(crate) fn learn(&mut self, word: Expr, now: Ranges, reasons: Support) {
        let known = self.words.entry(word).or_insert_with(|| Word {
            set: now.clone(),
            reasons,
            active: Vec::new(),
        });
        (known.set, known.reasons) = (now, reasons);
    }

    /// Notes that a condition with this number says this of a word; gives those that it replaces.
    pub(crate) fn replace(&mut self, word: Expr, number: u32, says: Ranges) -> Vec<u32> {
        let Some(known) = self.words.get_mut(&word) else {
            return Vec::new();
        };
        let mut replaced = Vec::new();
        known.active.retain(|(earlier, set)| {
            let implied = set.and(&says) == says;
            if implied {
                replaced.push(*earlier);
            }
            !implied
        });
        if known.active.len() == MOST_ACTIVE {
            known.active.remove(0);
        }
        known.active.push((number, says));
        replaced
    }

    /// The conditions on a word, when others are to stand for all of them.
    pub(crate) fn forget(&mut self, word: Expr) -> Vec<u32> {
        let known = self.words.get_mut(&word).map(|known| &mut known.active);
        let active = known.map(std::mem::take).unwrap_or_default();
        active.into_iter().map(|(number, _)| number).collect()
    }

    /// The word that a condition is about, and the values for which it holds. Conditions on single
    /// bytes are sets of their own.
    fn word(&mut self, pool: &mut Pool, condition: Expr) -> Option<(Expr, Ranges)> {
        if let Some(variable) = pool.only_variable(condition)
            && matches!(pool.variable_kind(variable), VariableKind::Byte(..))
        {
            return None;
        }
        if let Some((word, set)) = Ranges::of_word(pool, condition) {
            if pool.term(word).op == Op::Concat
                && let Some(mut bytes) = bytes_of(pool, word)
            {
                bytes.sort_unstable();
                self.of_bytes.entry(bytes).or_insert(word);
            }
            return Some((word, set));
        }
        self.other_than(pool, condition)
    }

    /// The same for "not all of these bytes have these values", which is what remains of "is not"
    /// for a word of several bytes.
    fn other_than(&mut self, pool: &mut Pool, condition: Expr) -> Option<(Expr, Ranges)> {
        let term = pool.term(condition);
        let negated = term.op == Op::Xor && term.width == 1 && pool.value(Expr(term.b)) == Some(1);
        if !negated || pool.term(Expr(term.a)).op != Op::And {
            return None;
        }
        let mut values: Vec<(Variable, u64)> = Vec::new();
        let mut todo = vec![Expr(term.a)];
        while let Some(expr) = todo.pop() {
            let term = pool.term(expr);
            match term.op {
                Op::And => todo.extend([Expr(term.a), Expr(term.b)]),
                Op::Eq => {
                    let byte = pool.term(Expr(term.a));
                    let value = pool.value(Expr(term.b))?;
                    values.push((
                        Some(Variable(byte.c)).filter(|_| byte.op == Op::Var)?,
                        value as u64,
                    ));
                }
                _ => return None,
            }
            if values.len() + todo.len() > 8 {
                return None;
            }
        }
        values.sort_unstable();
        let bytes: Vec<Variable> = values.iter().map(|&(variable, _)| variable).collect();
        if bytes.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let word = match self.of_bytes.get(&bytes) {
            Some(&word) => word,
            None => {
                // Numbers mostly lie in an input with the highest byte first.
                let mut order = bytes.clone();
                order.sort_unstable_by_key(|&byte| match pool.variable_kind(byte) {
                    VariableKind::Byte(source, index) => Some((source, index)),
                    _ => None,
                });
                let word = concat(pool, &order)?;
                self.of_bytes.insert(bytes, word);
                word
            }
        };
        let value = |variable: Variable| {
            let at = values.binary_search_by_key(&variable, |&(known, _)| known);
            at.ok().map(|at| values[at].1)
        };
        let mut point = 0;
        for variable in bytes_of(pool, word)? {
            point = point << 8 | value(variable)?;
        }
        Some((word, Ranges::only(point).complement(pool.width(word))))
    }
}

/// What a condition on a word says together with the earlier ones, if that is more: the whole of each
/// gap between possible values that it is about.
fn sharper(pool: &mut Pool, word: Expr, now: &Ranges, own: &Ranges) -> Option<Vec<(Expr, Ranges)>> {
    let width = pool.width(word);
    if let Some((low, high)) = now.bounds()
        && low == high
    {
        // Alone it says as much only if it is an equation.
        let value = pool.constant(width, low.into());
        let same = pool.eq(word, value);
        return (own != now).then(|| vec![(same, now.clone())]);
    }
    let most = mask64(width);
    let excluded = own.complement(width);
    let gaps = now.complement(width);
    let touched = |&(low, high): &(u64, u64)| !excluded.and(&Ranges::between(low, high)).is_empty();
    let touched: Vec<(u64, u64)> = gaps.iter().filter(touched).collect();
    if touched.len() > MOST_GAPS || touched.iter().copied().eq(excluded.iter()) {
        return None;
    }
    let statements = touched.into_iter().map(|(low, high)| {
        let limit = |pool: &mut Pool, value: u64| pool.constant(width, value.into());
        let expr = if high == most {
            let low = limit(pool, low);
            pool.op(Op::Ult, 1, &[word, low])
        } else {
            let start = limit(pool, low);
            let offset = pool.op(Op::Sub, width, &[word, start]);
            let count = limit(pool, high - low + 1);
            let inside = pool.op(Op::Ult, 1, &[offset, count]);
            pool.not(inside)
        };
        (expr, Ranges::between(low, high).complement(width))
    });
    Some(statements.collect())
}

/// The bytes that a word is made of, the highest first, if it is nothing but bytes.
fn bytes_of(pool: &Pool, word: Expr) -> Option<Vec<Variable>> {
    let (mut bytes, mut todo) = (Vec::new(), vec![word]);
    while let Some(expr) = todo.pop() {
        let term = pool.term(expr);
        match term.op {
            Op::Concat => todo.extend([Expr(term.b), Expr(term.a)]),
            Op::Var => bytes.push(Variable(term.c)),
            _ => return None,
        }
        if bytes.len() + todo.len() > 8 {
            return None;
        }
    }
    Some(bytes)
}

/// The word of some bytes, the highest first.
fn concat(pool: &mut Pool, bytes: &[Variable]) -> Option<Expr> {
    let mut bytes = bytes.iter().rev().map(|&byte| pool.variable_expr(byte));
    let bytes: Vec<Expr> = bytes.by_ref().collect();
    bytes.into_iter().reduce(|low, high| {
        let width = pool.width(low) + 8;
        pool.op(Op::Concat, width, &[high, low])
    })
}
