//! What a program must not do: the conditions under which the checks of a run fail.

use beagle_solver::{Expr, Importer, Pool};
use beagle_trace::event::Site;
use beagle_trace::node::NodeId;
use beagle_trace::op::Op;
use beagle_trace::{CheckKind, Event, Trace};
use rustc_hash::FxHashSet;

/// A check that could fail.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Holds for inputs for which it fails.
    pub expr: Expr,
    /// The statement.
    pub site: Site,
    /// The word of the trace at which its event starts.
    pub word: usize,
}

/// The checks of a run, each condition once.
pub fn faults(pool: &mut Pool, importer: &mut Importer<'_>, trace: &Trace<'_>) -> Vec<Fault> {
    let mut all = Vec::new();
    let mut seen = FxHashSet::default();
    let mut events = trace.events();
    loop {
        let word = events.position();
        let Some(event) = events.next() else { break };
        let Event::Check { site, check, node } = event else {
            continue;
        };
        let Some(expr) = fails(pool, importer, trace, check, node) else {
            continue;
        };
        if pool.value(expr).is_none() && seen.insert((site, expr)) {
            all.push(Fault { expr, site, word });
        }
    }
    all
}

/// When a check fails.
fn fails(
    pool: &mut Pool,
    importer: &mut Importer<'_>,
    trace: &Trace<'_>,
    check: CheckKind,
    id: NodeId,
) -> Option<Expr> {
    let node = *trace.node(id)?;
    if check == CheckKind::Divisor {
        let value = importer.expr(pool, id)?;
        let zero = pool.constant(pool.width(value), 0);
        return Some(pool.eq(value, zero));
    }
    let a = importer.expr(pool, node.a)?;
    let b = importer.expr(pool, node.b)?;
    let width = node.width;
    match check {
        CheckKind::Divisor => None,
        CheckKind::Shift => {
            let limit = pool.constant(width, width.into());
            Some(pool.op(Op::Ule, 1, &[limit, b]))
        }
        CheckKind::Quotient => {
            let least = pool.constant(width, 1 << (width - 1));
            let minus_one = pool.constant(width, u128::MAX);
            let (x, y) = (pool.eq(a, least), pool.eq(b, minus_one));
            Some(pool.op(Op::And, 1, &[x, y]))
        }
        CheckKind::Overflow => {
            let op = node.op()?;
            let wide = match op {
                Op::Add | Op::Sub => width + 1,
                Op::Mul => width * 2,
                _ => return None,
            };
            if wide > 128 {
                return None;
            }
            let (x, y) = (pool.op(Op::SExt, wide, &[a]), pool.op(Op::SExt, wide, &[b]));
            let exact = pool.op(op, wide, &[x, y]);
            let kept = pool.extract(exact, 0, width);
            let kept = pool.op(Op::SExt, wide, &[kept]);
            Some(pool.ne(exact, kept))
        }
    }
}
