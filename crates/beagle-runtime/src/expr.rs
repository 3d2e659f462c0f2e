//! Makes expressions: equal ones once, obvious ones simpler.
//!
//! Only for use inside [`crate::slots::enter`]. Everything takes and gives [`Val`]s; one without a
//! node is concrete. When there is no room for another node, recording stops and values turn concrete.

use beagle_trace::layout::STOP_NODES;
use beagle_trace::node::{MAX_NODE, Node, mask};
use beagle_trace::op::{Arity, Op};

use crate::fold::{binary, signed};
use crate::state::{state, stop};
use crate::sys;

/// A value of the program: what it is now and, if it depends on the input, its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Val {
    /// Number of its node, or 0.
    pub id: u32,
    /// In bits.
    pub width: u16,
    /// Now; bits above the width are 0.
    pub value: u128,
}

impl Val {
    /// A value that does not depend on the input.
    pub const fn concrete(value: u128, width: u16) -> Self {
        Self {
            id: 0,
            width,
            value: value & mask(width),
        }
    }

    /// A value with this shadow.
    pub const fn shadowed(id: u32, value: u128, width: u16) -> Self {
        Self {
            id,
            width,
            value: value & mask(width),
        }
    }

    /// Whether it depends on the input.
    pub const fn is_symbolic(self) -> bool {
        self.id != 0
    }

    /// As a signed number.
    pub const fn signed(self) -> i128 {
        signed(self.value, self.width)
    }
}

/// The number of the first node at which [`make_room`] is called.
pub const FIRST_CHECK: u32 = 2048;

/// [`Node::flags`]: an assumption pins this node to its value.
const PINNED: u8 = 2;

/// The node with this number; what is no number of a node reads as a constant 0.
fn get(id: u32) -> Node {
    let state = state();
    // SAFETY: numbers below the count are nodes in the mapped memory.
    unsafe {
        if id == 0 || id >= (*state).node_count {
            return Node {
                op: Op::Const as u8,
                flags: 0,
                width: 8,
                a: 0,
                b: 0,
                c: 0,
                value: [0; 2],
            };
        }
        *(*state).nodes.add(id as usize)
    }
}

/// The value of a node.
pub fn node(id: u32) -> Val {
    let node = get(id);
    Val {
        id,
        width: node.width,
        value: node.value(),
    }
}

/// Whether this is the number of a node, of this width.
pub fn is_node(id: u32, width: u16) -> bool {
    // SAFETY: the recorder's own state.
    id != 0 && id < unsafe { (*state()).node_count } && get(id).width == width
}

/// Notes that the node is pinned; false if it was already.
pub fn mark_pinned(id: u32) -> bool {
    mark(id, PINNED)
}

/// Notes that the node is signed arithmetic; false if it was already.
pub fn mark_signed(id: u32) -> bool {
    mark(id, beagle_trace::node::NO_SIGNED_WRAP)
}

fn mark(id: u32, flag: u8) -> bool {
    let state = state();
    // SAFETY: as in `get`.
    unsafe {
        if id == 0 || id >= (*state).node_count {
            return false;
        }
        let flags = &mut (*(*state).nodes.add(id as usize)).flags;
        let fresh = *flags & flag == 0;
        *flags |= flag;
        fresh
    }
}

fn hash(op: u8, width: u16, a: u32, b: u32, c: u32, value: u128) -> u32 {
    let x = (u64::from(a) << 32 | u64::from(b))
        ^ (u64::from(c) << 17)
        ^ (u64::from(op) << 56)
        ^ (u64::from(width) << 48);
    let y = value as u64 ^ ((value >> 64) as u64).rotate_left(32);
    let m = (x ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xff51_afd7_ed55_8ccd)
        ^ y.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (m ^ m >> 29)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_right(32) as u32
}

/// How many slots from its first one on a node may lie near its operands' others.
const WINDOW: u32 = 16;

/// How many constants lie in a row, by their values: those of a counter are found one after the other.
const ROW: u128 = 64;

/// Where the search for a node starts. New nodes are mostly made of the newest ones, so nodes lie in the
/// order of their newest operand: a look-up then is near the last one, not somewhere in memory. Where it
/// is crowded, and for what has no operands, the hash decides.
fn first_slot(op: Op, [a, b, c]: [u32; 3], hash: u32, value: u128) -> u32 {
    match op.arity() {
        Arity::Leaf if op == Op::Const => {
            let row = ((value / ROW) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            (row as u32).wrapping_add((value % ROW) as u32)
        }
        Arity::Leaf => hash,
        _ => a.max(b).max(c).wrapping_mul(2),
    }
}

/// The slot that holds such a node, or the free slot where it belongs.
unsafe fn find(hash: u32, first: u32, same: impl Fn(&Node) -> bool) -> (u32, u32) {
    let state = state();
    let mask = (*state).index_mask;
    let mut slot = first & mask;
    let mut left = WINDOW;
    loop {
        let entry = *(*state).index.add(slot as usize);
        let id = entry as u32;
        // Other nodes are mostly told apart without a look at them.
        if id == 0 || (entry >> 32) as u32 == hash && same(&*(*state).nodes.add(id as usize)) {
            return (slot, id);
        }
        left = left.wrapping_sub(1);
        slot = if left == 0 {
            hash & mask
        } else {
            (slot + 1) & mask
        };
    }
}

/// The node with these fields, new or known. The value takes part only for constants: otherwise it
/// follows from the operands.
fn intern(op: Op, width: u16, a: u32, b: u32, c: u32, value: u128) -> u32 {
    let state = state();
    let key = if op == Op::Const { value } else { 0 };
    let hash = hash(op as u8, width, a, b, c, key);
    // SAFETY: the index and the nodes are mapped, slots hold numbers of nodes or 0.
    unsafe {
        let (slot, known) = find(hash, first_slot(op, [a, b, c], hash, value), |node| {
            node.op == op as u8
                && node.width == width
                && node.a == a
                && node.b == b
                && node.c == c
                && (op != Op::Const || node.value() == value)
        });
        if known != 0 {
            return known;
        }
        let id = (*state).node_count;
        if id >= (*state).max_nodes || id > MAX_NODE {
            stop(STOP_NODES);
            return 0;
        }
        *(*state).nodes.add(id as usize) = Node {
            op: op as u8,
            flags: 0,
            width,
            a,
            b,
            c,
            value: [value as u64, (value >> 64) as u64],
        };
        (*state).node_count = id + 1;
        (*(*state).header).node_count = id + 1;
        *(*state).index.add(slot as usize) = u64::from(hash) << 32 | u64::from(id);
        if id >= (*state).next_check {
            make_room(id);
        }
        id
    }
}

/// What is due now and then as nodes grow many: a larger index, and memory for the next nodes at once
/// instead of page by page, at first use of each.
unsafe fn make_room(id: u32) {
    let state = state();
    if id > (*state).index_mask / 2 {
        grow();
    }
    let bytes = size_of::<Node>();
    // A quarter more each time: small runs pay nothing, large ones little.
    let more = (id / 4).clamp(FIRST_CHECK / 4, 1 << 20);
    if id >= 1 << 14 {
        let page = (*state).nodes.add(id as usize) as usize & !4095;
        let room = ((*state).max_nodes - id).min(more) as usize * bytes;
        sys::populate(page as *mut u8, room & !4095);
    }
    (*state).next_check = (id + more).min((*state).index_mask / 2 + 1);
}

/// Doubles the index, twice.
unsafe fn grow() {
    let state = state();
    let old = (*state).index;
    let old_bytes = ((*state).index_mask as usize + 1) * size_of::<u64>();
    let mask = ((*state).index_mask << 2) | 3;
    let bytes = (mask as usize + 1) * size_of::<u64>();
    let Some(fresh) = sys::map(bytes) else {
        stop(STOP_NODES);
        return;
    };
    if bytes >= 4 << 20 {
        sys::huge(fresh, bytes);
    }
    (*state).index = fresh.cast::<u64>();
    (*state).index_mask = mask;
    for id in 1..(*state).node_count {
        let node = &*(*state).nodes.add(id as usize);
        let Some(op) = node.op() else { continue };
        let key = if op == Op::Const { node.value() } else { 0 };
        let hash = hash(node.op, node.width, node.a, node.b, node.c, key);
        let first = first_slot(op, [node.a, node.b, node.c], hash, node.value());
        // All nodes differ.
        let (slot, _) = find(hash, first, |_| false);
        *(*state).index.add(slot as usize) = u64::from(hash) << 32 | u64::from(id);
    }
    let saved = sys::Errno::save();
    sys::munmap(old.cast(), old_bytes);
    saved.restore();
}

/// The number of a node for the value, made if it is concrete.
fn operand(v: Val) -> u32 {
    if v.id != 0 {
        v.id
    } else {
        intern(Op::Const, v.width, 0, 0, 0, v.value)
    }
}

/// A new node of any kind, with operands and value as given. For operators that have no function here.
pub fn make(op: Op, width: u16, a: Val, b: Option<Val>, c: u32, value: u128) -> Val {
    let a = operand(a);
    let b = b.map_or(0, operand);
    Val::shadowed(intern(op, width, a, b, c, value), value, width)
}

/// A leaf.
pub fn leaf(op: Op, width: u16, a: u32, b: u32, value: u128) -> Val {
    Val::shadowed(intern(op, width, a, b, 0, value), value, width)
}

/// A node whose field `b` is not an operand: look-ups and texts of numbers.
pub fn indexed(op: Op, width: u16, a: Val, b: u32, c: u32, value: u128) -> Val {
    let a = operand(a);
    Val::shadowed(intern(op, width, a, b, c, value), value, width)
}

/// An integer operator or comparison. Shifts must be by less than the width, divisors not 0.
pub fn bin(op: Op, a: Val, b: Val) -> Val {
    match binary(op, a.width, a.value, b.value) {
        Some(value) => bin_with(op, a, b, value),
        None => Val::concrete(0, a.width),
    }
}

/// As [`bin`], for any operator of two operands, with the result known.
pub fn bin_with(op: Op, a: Val, b: Val, value: u128) -> Val {
    let width = if op.is_comparison() { 1 } else { a.width };
    if a.id | b.id == 0 {
        return Val::concrete(value, width);
    }
    if let Some(simple) = simplify(op, a, b, width) {
        return simple;
    }
    let (a, b) = if op.is_commutative() && a.id == 0 {
        (b, a)
    } else {
        (a, b)
    };
    let (x, y) = (operand(a), operand(b));
    Val::shadowed(intern(op, width, x, y, 0, value), value, width)
}

fn simplify(op: Op, a: Val, b: Val, width: u16) -> Option<Val> {
    if a.id == b.id {
        // Both depend on the input, in the same way.
        return match op {
            Op::Sub | Op::Xor => Some(Val::concrete(0, width)),
            Op::And | Op::Or => Some(a),
            Op::Eq | Op::Ule | Op::Sle => Some(Val::concrete(1, 1)),
            Op::Ne | Op::Ult | Op::Slt => Some(Val::concrete(0, 1)),
            _ => None,
        };
    }
    if a.id != 0 && b.id != 0 {
        return None;
    }
    let (v, k) = if a.id != 0 {
        (a, b.value)
    } else {
        (b, a.value)
    };
    let ones = mask(a.width);
    let right = b.id == 0;
    match op {
        Op::Add | Op::Or | Op::Xor if k == 0 => Some(v),
        Op::Sub | Op::Shl | Op::LShr | Op::AShr if right && k == 0 => Some(v),
        Op::Mul if k == 1 => Some(v),
        Op::UDiv | Op::SDiv if right && k == 1 && width > 1 => Some(v),
        Op::Mul | Op::And if k == 0 => Some(Val::concrete(0, width)),
        Op::And if k == ones => Some(v),
        Op::Or if k == ones => Some(Val::concrete(ones, width)),
        Op::And => {
            let n = get(v.id);
            (n.op == Op::ZExt as u8 && k & mask(get(n.a).width) == mask(get(n.a).width))
                .then_some(v)
        }
        Op::Xor if width == 1 => Some(not(v)),
        Op::Add => {
            // Sums of constants are gathered, so that offsets from an address stay short.
            let n = get(v.id);
            let inner = get(n.b);
            if n.op == Op::Add as u8 && inner.op == Op::Const as u8 {
                let sum = Val::concrete(inner.value().wrapping_add(k), width);
                return Some(bin(Op::Add, node(n.a), sum));
            }
            None
        }
        Op::Eq | Op::Ne => {
            let n = get(v.id);
            let inner = get(n.a);
            if v.width == 1 {
                return Some(if (op == Op::Eq) == (k == 1) {
                    v
                } else {
                    not(v)
                });
            }
            if n.op != Op::ZExt as u8 {
                return None;
            }
            if k > mask(inner.width) {
                return Some(Val::concrete(u128::from(op == Op::Ne), 1));
            }
            Some(bin(op, node(n.a), Val::concrete(k, inner.width)))
        }
        _ => None,
    }
}

/// Equal; 1 bit.
pub fn eq(a: Val, b: Val) -> Val {
    bin(Op::Eq, a, b)
}

/// Sum.
pub fn add(a: Val, b: Val) -> Val {
    bin(Op::Add, a, b)
}

/// Difference.
pub fn sub(a: Val, b: Val) -> Val {
    bin(Op::Sub, a, b)
}

/// Both (1 bit each).
pub fn and(a: Val, b: Val) -> Val {
    bin(Op::And, a, b)
}

/// Either (1 bit each).
pub fn or(a: Val, b: Val) -> Val {
    bin(Op::Or, a, b)
}

/// The opposite of a value of 1 bit.
pub fn not(v: Val) -> Val {
    if v.id == 0 {
        return Val::concrete(v.value ^ 1, 1);
    }
    let n = get(v.id);
    let (a, b) = (node(n.a), node(n.b));
    match n.op() {
        Some(Op::Eq) => bin(Op::Ne, a, b),
        Some(Op::Ne) => bin(Op::Eq, a, b),
        Some(Op::Ult) => bin(Op::Ule, b, a),
        Some(Op::Ule) => bin(Op::Ult, b, a),
        Some(Op::Slt) => bin(Op::Sle, b, a),
        Some(Op::Sle) => bin(Op::Slt, b, a),
        Some(Op::Xor) if n.width == 1 && get(n.b).op == Op::Const as u8 => a,
        _ => {
            let one = operand(Val::concrete(1, 1));
            Val::shadowed(
                intern(Op::Xor, 1, v.id, one, 0, v.value ^ 1),
                v.value ^ 1,
                1,
            )
        }
    }
}

/// Filled with zeros to `width`.
pub fn zext(v: Val, width: u16) -> Val {
    extend(Op::ZExt, v, width)
}

/// Filled with its sign to `width`.
pub fn sext(v: Val, width: u16) -> Val {
    extend(Op::SExt, v, width)
}

fn extend(op: Op, v: Val, width: u16) -> Val {
    if v.width >= width {
        return extract(v, 0, width);
    }
    let value = if op == Op::ZExt {
        v.value
    } else {
        v.signed() as u128 & mask(width)
    };
    if v.id == 0 {
        return Val::concrete(value, width);
    }
    let n = get(v.id);
    if n.op == Op::ZExt as u8 || n.op == op as u8 {
        // The sign of what was filled with zeros is 0.
        let op = if n.op == Op::ZExt as u8 { Op::ZExt } else { op };
        return Val::shadowed(intern(op, width, n.a, 0, 0, value), value, width);
    }
    Val::shadowed(intern(op, width, v.id, 0, 0, value), value, width)
}

/// Bits `low` to `low + width - 1`.
pub fn extract(v: Val, low: u32, width: u16) -> Val {
    let value = if low < 128 {
        v.value >> low & mask(width)
    } else {
        0
    };
    if v.id == 0 {
        return Val::concrete(value, width);
    }
    if low == 0 && width >= v.width {
        return v;
    }
    let n = get(v.id);
    match n.op() {
        Some(Op::Extract) => return extract(node(n.a), low + n.c, width),
        Some(Op::ZExt | Op::SExt) => {
            let inner = node(n.a);
            let kept = u32::from(inner.width);
            if low + u32::from(width) <= kept {
                return extract(inner, low, width);
            }
            if n.op == Op::ZExt as u8 && low >= kept {
                return Val::concrete(0, width);
            }
            if low == 0 {
                return if n.op == Op::ZExt as u8 {
                    zext(inner, width)
                } else {
                    sext(inner, width)
                };
            }
        }
        Some(Op::Concat) => {
            let (high, rest) = (node(n.a), node(n.b));
            let split = u32::from(rest.width);
            if low + u32::from(width) <= split {
                return extract(rest, low, width);
            }
            if low >= split {
                return extract(high, low - split, width);
            }
        }
        Some(Op::Const) => return Val::concrete(value, width),
        _ => {}
    }
    Val::shadowed(
        intern(Op::Extract, width, v.id, 0, low, value),
        value,
        width,
    )
}

/// `high` above `low`.
pub fn concat(high: Val, low: Val) -> Val {
    let width = high.width + low.width;
    let value = high.value << low.width | low.value;
    if high.id | low.id == 0 {
        return Val::concrete(value, width);
    }
    if high.id == 0 && high.value == 0 {
        return zext(low, width);
    }
    if high.id != 0 && low.id != 0 {
        let (h, l) = (get(high.id), get(low.id));
        let below = if l.op == Op::Extract as u8 {
            (l.a, l.c)
        } else {
            (low.id, 0)
        };
        if h.op == Op::Extract as u8 && h.a == below.0 && h.c == below.1 + u32::from(low.width) {
            return extract(node(h.a), below.1, width);
        }
    }
    let (a, b) = (operand(high), operand(low));
    Val::shadowed(intern(Op::Concat, width, a, b, 0, value), value, width)
}

/// `yes` if `condition` (1 bit), else `no`.
pub fn ite(condition: Val, yes: Val, no: Val) -> Val {
    let now = if condition.value == 1 { yes } else { no };
    if condition.id == 0 || (yes.id == no.id && yes.value == no.value) {
        return now;
    }
    if yes.width == 1 && yes.id | no.id == 0 {
        return if yes.value == 1 {
            condition
        } else {
            not(condition)
        };
    }
    let (a, b, c) = (operand(condition), operand(yes), operand(no));
    Val::shadowed(
        intern(Op::Ite, yes.width, a, b, c, now.value),
        now.value,
        yes.width,
    )
}

/// If the value is a sum of something and a constant: that something and the constant.
pub fn as_offset(v: Val) -> Option<(Val, u128)> {
    let n = get(v.id);
    let k = get(n.b);
    (v.id != 0 && n.op == Op::Add as u8 && k.op == Op::Const as u8).then(|| (node(n.a), k.value()))
}
