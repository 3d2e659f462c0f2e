//! Strings in the program's memory, byte by byte, and what is taken for granted about them.
//!
//! Under another input a string may go on behind the byte that ends it now: then that byte is a
//! variable. Expressions must know the bytes behind it, but only such as can be read safely.

use core::ffi::CStr;

use beagle_trace::event::{ASSUME_ADDRESS, ASSUME_LENGTH, ASSUME_SIZE};
use beagle_trace::layout::Loss;
use beagle_trace::node::{Node, mask};
use beagle_trace::op::Op;

use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::object;
use crate::shadow;
use crate::state::state;

/// Expressions cover at most so many bytes of a string.
pub const MAX: usize = 4096;

/// Assumptions about the length of a string cover at most so many bytes.
const MAX_ASSUMED: usize = 1 << 18;

/// So many bytes share one assumption.
const CHUNK: usize = 256;

/// Bytes from `p` on, of which `known` were read by the real function.
pub struct Text {
    p: *const u8,
    known: usize,
    limit: Option<usize>,
}

impl Text {
    /// The text at `p`, of which `known` bytes can be read for sure.
    pub const fn new(p: *const u8, known: usize) -> Self {
        Self {
            p,
            known,
            limit: None,
        }
    }

    /// Byte `i`, or `None` if it may not be possible to read it.
    pub unsafe fn at(&mut self, i: usize) -> Option<Val> {
        if i >= self.known && i >= self.limit() {
            return None;
        }
        Some(shadow::byte(self.p.add(i)))
    }

    /// How far the memory reaches that holds the text: to the end of its object, else of its page.
    unsafe fn limit(&mut self) -> usize {
        if let Some(limit) = self.limit {
            return limit;
        }
        let limit = match object::find(self.p, self.known.max(1)) {
            Some(o) => o
                .base
                .saturating_add(o.size)
                .saturating_sub(self.p as usize),
            None if self.known == 0 => 0,
            None => {
                let last = (self.p as usize).saturating_add(self.known - 1);
                (last | 4095)
                    .saturating_add(1)
                    .saturating_sub(self.p as usize)
            }
        };
        self.limit = Some(limit);
        limit
    }
}

/// A concrete byte.
pub const fn letter(b: u8) -> Val {
    Val::concrete(b as u128, 8)
}

/// A concrete address or size.
pub const fn word(v: usize) -> Val {
    Val::concrete(v as u128, 64)
}

/// Whether the byte is 0; 1 bit.
pub fn is_zero(b: Val) -> Val {
    expr::eq(b, letter(0))
}

/// Whether the value is one of `low ..= high`, unsigned; 1 bit.
pub fn within(v: Val, low: u128, high: u128) -> Val {
    if low == high {
        return expr::eq(v, Val::concrete(low, v.width));
    }
    let from = expr::sub(v, Val::concrete(low, v.width));
    expr::bin(Op::Ult, from, Val::concrete(high - low + 1, v.width))
}

/// Whether the 8 or more bits are a digit in decimal.
pub fn is_digit(v: Val) -> Val {
    within(v, u128::from(b'0'), u128::from(b'9'))
}

/// A byte in lower case, as in the C locale.
pub fn lower(b: Val) -> Val {
    let upper = within(b, u128::from(b'A'), u128::from(b'Z'));
    expr::ite(upper, expr::add(b, Val::concrete(32, b.width)), b)
}

/// If the value is a narrower one, extended: that one.
pub fn narrow(v: Val) -> Option<(Op, Val)> {
    let node = raw(v.id)?;
    let op = node.op()?;
    matches!(op, Op::ZExt | Op::SExt).then(|| (op, expr::node(node.a)))
}

fn raw(id: u32) -> Option<Node> {
    let state = state();
    // SAFETY: numbers below the count are nodes in the mapped memory.
    unsafe { (id != 0 && id < (*state).node_count).then(|| *(*state).nodes.add(id as usize)) }
}

/// What follows holds only while `condition` does; logged once. Must hold now.
pub fn assume(site: u32, reason: u32, condition: Val) {
    if condition.id == 0 {
        return;
    }
    if condition.value == 1 {
        log::pin(site, reason, condition);
    } else {
        log::lose(Loss::Mismatch);
    }
}

/// The pointer passed as argument `i` is taken to be what it is.
pub fn pin_pointer<T>(call: &Call, i: usize, p: *const T) {
    log::pin(call.site, ASSUME_ADDRESS, call.word(i, p as usize));
}

/// The size passed as argument `i` is taken to be what it is.
pub fn pin_size(call: &Call, i: usize, n: usize) {
    log::pin(call.site, ASSUME_SIZE, call.word(i, n));
}

/// Gives the result's expression to the caller if it explains what the function really returned.
pub fn finish(call: &Call, v: Val, real: u128, name: &CStr) {
    if v.value == real & mask(v.width) {
        call.result(v);
    } else {
        log::lose_in(Loss::Mismatch, name);
        call.result_id(0);
    }
}

/// The result is concrete though it depends on the input.
pub fn give_up(call: &Call, name: &CStr) {
    log::lose_in(Loss::Model, name);
    call.result_id(0);
}

/// Assumes that the string at `p`, of which at most `bound` bytes count, has the length it has.
/// False if it is too long for that.
pub unsafe fn assume_length(site: u32, p: *const u8, len: usize, bound: usize) -> bool {
    let terminated = len < bound;
    let bytes = if terminated { len + 1 } else { len };
    if !shadow::any(p, bytes) {
        return true;
    }
    if bytes > MAX_ASSUMED {
        return false;
    }
    let mut from = 0;
    while from < bytes {
        let to = (from + CHUNK).min(bytes);
        let mut all = Val::concrete(1, 1);
        for i in from..to {
            let b = shadow::byte(p.add(i));
            if b.is_symbolic() {
                let zero = is_zero(b);
                all = expr::and(all, if i == len { zero } else { expr::not(zero) });
            }
        }
        assume(site, ASSUME_LENGTH, all);
        from = to;
    }
    true
}

/// How many bytes at `p` decide what a search gives that one byte stops: all up to one that stops it
/// under every input, or up to the `bound`. `stops` tells whether a byte does (1 bit); in this run the
/// first that does is byte `at`. `None` if that are too many.
///
/// Where the memory ends before that is known, the search is assumed to stop where it does now.
pub unsafe fn window(
    site: u32,
    p: *const u8,
    at: usize,
    bound: usize,
    stops: impl Fn(Val) -> Val,
) -> Option<usize> {
    if at > MAX {
        return None;
    }
    let mut text = Text::new(p, at.saturating_add(1).min(bound));
    let mut i = at;
    while i <= MAX {
        if i >= bound {
            return Some(bound);
        }
        let Some(b) = text.at(i) else { break };
        let stop = stops(b);
        if stop.id == 0 && stop.value == 1 {
            return Some(i + 1);
        }
        i += 1;
    }
    assume(site, ASSUME_LENGTH, stops(shadow::byte(p.add(at))));
    Some(at + 1)
}

/// The place of the first byte that is 0 among the `count` bytes at `p`, plus `base`; `base` plus
/// `count` if there is none.
pub unsafe fn length(p: *const u8, count: usize, base: usize) -> Val {
    let mut result = word(base.wrapping_add(count));
    for i in (0..count).rev() {
        let b = shadow::byte(p.add(i));
        if b.is_symbolic() || b.value == 0 {
            result = expr::ite(is_zero(b), word(base.wrapping_add(i)), result);
        }
    }
    result
}
