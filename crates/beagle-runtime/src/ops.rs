//! What instrumented code calls when a value depends on the input; see `c/inline.c`.

use core::ffi::{c_char, c_void};

use beagle_trace::event::{
    ADDRESS, ASSUME_ADDRESS, ASSUME_EXCHANGE, ASSUME_SIZE, CHECK_DIVISOR, CHECK_OVERFLOW,
    CHECK_QUOTIENT, CHECK_SHIFT, EXT_BOUNDS,
};
use beagle_trace::layout::Loss;
use beagle_trace::node::{NO_SIGNED_WRAP, mask};
use beagle_trace::op::{Arity, Op};

use crate::expr::{self, Val};
use crate::object;
use crate::shadow;
use crate::slots::{enter, slots};
use crate::state::state;
use crate::{libc, log, table};

/// What the `what` of a helper says.
struct What {
    op: Op,
    width: u16,
    flags: u8,
    extra: u32,
}

impl What {
    fn of(what: u32) -> Option<Self> {
        Some(Self {
            op: Op::from_number(what as u8)?,
            width: (what >> 8 & 0xff) as u16,
            flags: (what >> 16) as u8,
            extra: what >> 24,
        })
    }
}

/// An operand: its expression only if that has the width and value which the program sees.
fn operand(id: u32, value: u128, width: u16) -> Val {
    if id != 0 {
        let node = expr::node(id);
        if node.width == width && node.value == value & mask(width) {
            return node;
        }
        log::lose(Loss::Mismatch);
    }
    Val::concrete(value, width)
}

fn binary(what: &What, a: Val, b: Val, result: u128, site: u32) -> Val {
    let op = what.op;
    match op {
        Op::FCmp => {
            if a.id | b.id == 0 {
                return Val::concrete(result, 1);
            }
            return expr::make(op, 1, a, Some(b), what.extra, result);
        }
        Op::Concat => return expr::concat(a, b),
        Op::Shl | Op::LShr | Op::AShr if b.value >= u128::from(b.width) => {
            log::lose(Loss::ShiftTooFar);
            return Val::concrete(result, what.width);
        }
        _ => {}
    }
    let v = expr::bin_with(op, a, b, result);
    if v.id == 0 {
        return v;
    }
    match op {
        Op::Shl | Op::LShr | Op::AShr if b.id != 0 => log::check(site, CHECK_SHIFT, v.id),
        Op::SDiv | Op::SRem if b.id != 0 || b.value == mask(b.width) => {
            log::check(site, CHECK_QUOTIENT, v.id);
        }
        Op::Add | Op::Sub | Op::Mul
            if what.flags & NO_SIGNED_WRAP != 0 && expr::mark_signed(v.id) =>
        {
            log::check(site, CHECK_OVERFLOW, v.id);
        }
        _ => {}
    }
    v
}

fn unary(what: &What, a: Val, result: u128) -> Val {
    if a.id == 0 {
        return Val::concrete(result, what.width);
    }
    match what.op {
        Op::ZExt => expr::zext(a, what.width),
        Op::SExt => expr::sext(a, what.width),
        Op::Extract => expr::extract(a, what.extra, what.width),
        Op::FpToSi | Op::FpToUi if !fits(what.op, a, what.width) => {
            log::lose(Loss::ConversionRange);
            Val::concrete(result, what.width)
        }
        op => expr::make(op, what.width, a, None, 0, result),
    }
}

/// Whether the float, rounded to zero, fits an integer of this width.
fn fits(op: Op, a: Val, width: u16) -> bool {
    let x = if a.width == 32 {
        f64::from(f32::from_bits(a.value as u32))
    } else {
        f64::from_bits(a.value as u64)
    };
    let bits = if op == Op::FpToSi { width - 1 } else { width };
    let limit = (0..bits).fold(1.0, |p, _| p * 2.0);
    let low = if op == Op::FpToSi { -limit } else { 0.0 };
    // The value is cut, so a little more than the limits is still inside.
    x < limit && (x >= low || x > low - 1.0)
}

#[unsafe(no_mangle)]
extern "C" fn bgr_bin(what: u32, sa: u32, sb: u32, x: u64, y: u64, r: u64, site: u32) -> u32 {
    let (Some(what), Some(_inside)) = (What::of(what), enter()) else {
        return 0;
    };
    let (wa, wb) = if what.op == Op::Concat {
        (
            what.width.saturating_sub(what.extra as u16),
            what.extra as u16,
        )
    } else {
        (what.width, what.width)
    };
    let a = operand(sa, u128::from(x), wa);
    let b = operand(sb, u128::from(y), wb);
    binary(&what, a, b, u128::from(r), site).id
}

#[unsafe(no_mangle)]
extern "C" fn bgr_un(what: u32, sa: u32, x: u64, r: u64) -> u32 {
    let (Some(what), Some(_inside)) = (What::of(what), enter()) else {
        return 0;
    };
    let a = operand(sa, u128::from(x), expr::node(sa).width);
    unary(&what, a, u128::from(r)).id
}

#[unsafe(no_mangle)]
extern "C" fn bgr_select(what: u32, sc: u32, sa: u32, sb: u32, c: u32, x: u64, y: u64) -> u32 {
    let (Some(what), Some(_inside)) = (What::of(what), enter()) else {
        return 0;
    };
    let condition = operand(sc, u128::from(c), 1);
    let yes = operand(sa, u128::from(x), what.width);
    let no = operand(sb, u128::from(y), what.width);
    expr::ite(condition, yes, no).id
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_wide(
    what: u32,
    sa: u32,
    sb: u32,
    sc: u32,
    v: *const [u128; 4],
    site: u32,
) -> u32 {
    let (Some(what), Some(_inside)) = (What::of(what), enter()) else {
        return 0;
    };
    let [x, y, z, r] = core::ptr::read_unaligned(v);
    let width = what.width;
    match what.op.arity() {
        Arity::One => unary(&what, operand(sa, x, expr::node(sa).width), r).id,
        Arity::Three => {
            expr::ite(
                operand(sa, x, 1),
                operand(sb, y, width),
                operand(sc, z, width),
            )
            .id
        }
        _ => {
            let (wa, wb) = if what.op == Op::Concat {
                (width.saturating_sub(what.extra as u16), what.extra as u16)
            } else {
                (width, width)
            };
            binary(&what, operand(sa, x, wa), operand(sb, y, wb), r, site).id
        }
    }
}

/// What was loaded: from a table if the address depends on the input, else by its shadows.
unsafe fn loaded(p: *const u8, sp: u32, size: u32, value: u128) -> u32 {
    let (bytes, width) = ((size & 255) as usize, (size >> 8) as u16);
    let address = operand(sp, p as u128, 64);
    let mut v = shadow::load(p, bytes);
    if address.id != 0
        && let Some(object) = object::find(p, bytes)
        && object.size <= (*(*state()).header).max_table as usize
        && let Some(table) = table::table(object)
    {
        let base = Val::concrete(object.base as u128, 64);
        let offset = match expr::as_offset(address) {
            Some((rest, k)) => {
                expr::add(rest, Val::concrete(k.wrapping_sub(object.base as u128), 64))
            }
            None => expr::sub(address, base),
        };
        v = expr::indexed(Op::Lookup, bytes as u16 * 8, offset, table, 0, v.value);
    }
    let v = expr::extract(v, 0, width);
    if v.id != 0 && v.value != value & mask(width) {
        log::lose(Loss::Mismatch);
        return 0;
    }
    v.id
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_load(p: *const u8, sp: u32, size: u32, v: u64) -> u32 {
    match enter() {
        Some(_inside) => loaded(p, sp, size, u128::from(v)),
        None => 0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_load_wide(p: *const u8, sp: u32, size: u32, v: *const u128) -> u32 {
    match enter() {
        Some(_inside) => loaded(p, sp, size, core::ptr::read_unaligned(v)),
        None => 0,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_store(p: *mut u8, size: u32, sv: u32) {
    let (bytes, width) = ((size & 255) as usize, (size >> 8) as u16);
    match enter() {
        Some(_inside) if expr::is_node(sv, width) => shadow::store(p, bytes, expr::node(sv)),
        _ => shadow::clear(p, bytes),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_clear(p: *mut u8, bytes: u64) {
    shadow::clear(p, bytes as usize);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_address(sp: u32, p: *const u8, bytes: u32, site: u32, store: u32) {
    if let Some(_inside) = enter() {
        accessed(sp, p, bytes as usize, site, store != 0);
    }
}

/// An access at an address that depends on the input is about to happen: within its object it can be
/// followed if it is a look-up in a table; otherwise the address is assumed.
unsafe fn accessed(sp: u32, p: *const u8, bytes: usize, site: u32, store: bool) {
    let address = operand(sp, p as u128, 64);
    if address.id == 0 {
        return;
    }
    let found = object::find(p, bytes);
    if let Some(object) = found {
        log::extend(
            EXT_BOUNDS,
            &[
                site,
                (bytes as u32) << 8 | object.kind << 1 | u32::from(store),
                address.id,
                object.base as u32,
                (object.base as u64 >> 32) as u32,
                object.size as u32,
                (object.size as u64 >> 32) as u32,
            ],
        );
        let small = object.size <= (*(*state()).header).max_table as usize;
        if small && !store && bytes <= 16 {
            return;
        }
        if !small {
            log::lose(Loss::Address);
        }
    } else {
        log::lose(Loss::Address);
    }
    log::pin(site, ASSUME_ADDRESS, address);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_copy(
    to: *mut u8,
    from: *const u8,
    n: u64,
    sd: u32,
    ss: u32,
    sn: u32,
    site: u32,
) {
    if sd | ss | sn != 0
        && let Some(_inside) = enter()
    {
        log::pin(site, ASSUME_SIZE, operand(sn, u128::from(n), 64));
        pin_range(sd, to, n, site, true);
        pin_range(ss, from, n, site, false);
    }
    shadow::copy(to, from, n as usize);
}

/// Memory at an address that depends on the input is about to be copied.
unsafe fn pin_range(shadow: u32, p: *const u8, n: u64, site: u32, store: bool) {
    if shadow != 0 && n > 0 {
        accessed(
            shadow,
            p,
            n.min(u64::from(u32::MAX >> 8)) as usize,
            site,
            store,
        );
        log::pin(site, ASSUME_ADDRESS, operand(shadow, p as u128, 64));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_fill(
    to: *mut u8,
    byte: u32,
    n: u64,
    sd: u32,
    sbyte: u32,
    sn: u32,
    site: u32,
) {
    if sd | sbyte | sn != 0
        && let Some(_inside) = enter()
    {
        // Sizes may be passed as 32 or 64 bits.
        log::pin(
            site,
            ASSUME_SIZE,
            operand(sn, u128::from(n), expr::node(sn).width),
        );
        pin_range(sd, to, n, site, true);
        let v = operand(sbyte, u128::from(byte), expr::node(sbyte).width);
        let v = expr::extract(v, 0, 8);
        if v.id != 0 {
            for i in 0..n as usize {
                *shadow::cell_of(to.add(i)) = v.id;
            }
            return;
        }
    }
    shadow::clear(to, n as usize);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_copy_shadow(to: *mut u8, from: *const u8, n: u64) {
    shadow::copy(to, from, n as usize);
}

#[unsafe(no_mangle)]
extern "C" fn bgr_divisor(site: u32, sy: u32) {
    if let Some(_inside) = enter() {
        log::check(site, CHECK_DIVISOR, sy);
    }
}

#[unsafe(no_mangle)]
extern "C" fn bgr_log_full() -> *mut u32 {
    log::full()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_branch(site: u32, taken: u32, s: u32) {
    match enter() {
        Some(_inside) => {
            let condition = operand(s, u128::from(taken), 1);
            if condition.id == 0 {
                put_concrete(site << 3 | taken & 1);
            } else {
                log::branch(site, taken, s);
            }
        }
        None => put_concrete(site << 3 | taken & 1),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_switch(site: u32, chosen: u32, s: u32) {
    match enter() {
        Some(_inside) => log::switch(site, chosen, s),
        None => {
            put_concrete(site << 3 | 4);
            let slots = slots();
            *(*slots).cursor = chosen << 1;
            (*slots).cursor = (*slots).cursor.add(1);
        }
    }
}

/// What the inline helper does for a branch that does not depend on the input.
unsafe fn put_concrete(word: u32) {
    let slots = slots();
    let mut cursor = (*slots).cursor;
    if cursor >= (*slots).end {
        cursor = log::full();
    }
    *cursor = word;
    (*slots).cursor = cursor.add(1);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_unwound(function: u32) {
    let slots = slots();
    // A jump out of a signal handler may have left the recorder in the middle.
    (*slots).busy = 0;
    libc::signals::resume();
    let here = &function as *const u32 as usize;
    object::forget_stack(libc::jump::lowest(), here);
    if let Some(_inside) = enter() {
        log::unwound(function);
    }
}

#[unsafe(no_mangle)]
extern "C" fn bgr_watch(site: u32, place: u32, value: u64, s: u32) {
    if let Some(_inside) = enter() {
        if place & ADDRESS != 0 {
            // SAFETY: the recorded thread alone asks.
            let leads = unsafe { object::leads_to(value as usize) };
            return log::watch(site, place & !ADDRESS, leads, 0);
        }
        log::watch(site, place, value, s);
    }
}

#[unsafe(no_mangle)]
extern "C" fn bgr_exchange(site: u32, s: u32) {
    if let Some(_inside) = enter() {
        log::assume(site, ASSUME_EXCHANGE, expr::node(s));
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_unknown(name: *const c_char) {
    if let Some(_inside) = enter() {
        log::lose_at(Loss::UnknownCall, name);
    }
}

/// How many bytes behind a pointer are looked at for values that depend on the input.
const LOOK: usize = 64;

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_unknown_memory(name: *const c_char, p: *const c_void) {
    if (p as usize) > 4096
        && (*slots()).recording != 0
        && shadow::any(p.cast(), LOOK)
        && let Some(_inside) = enter()
    {
        log::lose_at(Loss::UnknownCall, name);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_lost(cause: u32, name: *const c_char) {
    if let (Some(_inside), Some(loss)) = (enter(), Loss::from_number(cause)) {
        log::lose_at(loss, name);
    }
}
