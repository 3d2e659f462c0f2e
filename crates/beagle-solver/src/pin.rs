//! Look-ups pinned to where they look.
//!
//! A look-up in memory that itself depends on the input hangs together with every byte of that
//! memory. Most questions have an answer that leaves the place alone: then the look-up is just the
//! bytes that it reads.

use beagle_trace::op::Op;
use rustc_hash::FxHashMap;

use crate::lazy::Lazy;
use crate::model::Hint;
use crate::pool::{Expr, Pool, Term};
use crate::support::{NONE, Support, Supports};

/// What expressions are for one input, when look-ups stay where they are.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    memo: FxHashMap<Expr, (Expr, Support)>,
    equalities: Supports<Expr>,
}

impl Pins {
    /// The pinned expression, and that offsets are what they are for the input; `None` if nothing is
    /// to be pinned, or too much.
    pub(crate) fn pin(
        &mut self,
        pool: &mut Pool,
        (hint, values): (&Hint, &mut Lazy),
        root: Expr,
    ) -> Option<(Expr, Vec<Expr>)> {
        let mut todo = vec![root];
        while let Some(&expr) = todo.last() {
            if self.memo.contains_key(&expr) {
                todo.pop();
                continue;
            }
            let term = pool.term(expr);
            let place = place(pool, hint, values, &term);
            let read = place.map(|start| read(pool, &term, start));
            let needed = term.operands().chain(read.iter().flatten().copied());
            let before = todo.len();
            todo.extend(needed.filter(|operand| !self.memo.contains_key(operand)));
            if todo.len() > before {
                continue;
            }
            todo.pop();
            let made = self.translate(pool, expr, term, place);
            self.memo.insert(expr, made);
        }
        let (pinned, equalities) = *self.memo.get(&root)?;
        let equalities = self.equalities.get(equalities)?;
        (!equalities.is_empty()).then(|| (pinned, equalities.to_vec()))
    }

    fn translate(
        &mut self,
        pool: &mut Pool,
        expr: Expr,
        term: Term,
        place: Option<usize>,
    ) -> (Expr, Support) {
        let known = |pins: &Self, operand: Expr| {
            let known = pins.memo.get(&operand).copied();
            known.unwrap_or((operand, NONE))
        };
        let mut all = NONE;
        if let Some(start) = place {
            let (offset, support) = known(self, Expr(term.a));
            let here = pool.constant(64, start as u128);
            let stays = pool.eq(offset, here);
            all = self.equalities.union(all, support);
            if pool.value(stays).is_none() {
                let one = self.equalities.one(stays);
                all = self.equalities.union(all, one);
            }
            let mut whole: Option<Expr> = None;
            for index in start..start + usize::from(term.width / 8) {
                let table = pool.table(term.b);
                let constant = table.bytes[index];
                let byte = match table.cell(index) {
                    Some(cell) => {
                        let (byte, support) = known(self, cell);
                        all = self.equalities.union(all, support);
                        byte
                    }
                    None => pool.constant(8, constant.into()),
                };
                whole = Some(match whole {
                    None => byte,
                    Some(low) => {
                        let width = pool.width(low) + 8;
                        pool.op(Op::Concat, width, &[byte, low])
                    }
                });
            }
            return (whole.unwrap_or(expr), all);
        }
        let (mut changed, mut fields) = (false, [term.a, term.b, term.c]);
        for (field, operand) in fields.iter_mut().zip(term.operands()) {
            let (pinned, support) = known(self, operand);
            changed |= pinned != operand;
            *field = pinned.0;
            all = self.equalities.union(all, support);
        }
        let [a, b, c] = fields;
        let made = if changed {
            pool.make(Term { a, b, c, ..term })
        } else {
            expr
        };
        (made, all)
    }
}

/// Where a look-up looks for the input, if its table depends on the input.
fn place(pool: &Pool, hint: &Hint, values: &mut Lazy, term: &Term) -> Option<usize> {
    if term.op != Op::Lookup || pool.table(term.b).cells.is_empty() {
        return None;
    }
    let value = |variable| hint.value(pool.variable_kind(variable));
    let start = values.value(pool, &value, Expr(term.a))?;
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::from(term.width / 8))?;
    (end <= pool.table(term.b).bytes.len()).then_some(start)
}

/// The cells that a look-up reads that depend on the input.
fn read(pool: &Pool, term: &Term, start: usize) -> Vec<Expr> {
    let table = pool.table(term.b);
    let cells = start..start + usize::from(term.width / 8);
    cells.filter_map(|index| table.cell(index)).collect()
}
