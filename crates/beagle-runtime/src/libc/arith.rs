//! Arithmetic that libc has functions for: expressions of one or two operators.

use core::ffi::{CStr, c_int, c_void};

use beagle_trace::event::{CHECK_DIVISOR, CHECK_QUOTIENT};
use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::view::{finish, pin_pointer};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;
use crate::slots::slots;

mod real {
    unsafe extern "C" {
        pub fn fabs(x: f64) -> f64;
        pub fn floor(x: f64) -> f64;
        pub fn ceil(x: f64) -> f64;
        pub fn trunc(x: f64) -> f64;
        pub fn rint(x: f64) -> f64;
        pub fn nearbyint(x: f64) -> f64;
        pub fn round(x: f64) -> f64;
        pub fn sqrt(x: f64) -> f64;
        pub fn fabsf(x: f32) -> f32;
        pub fn floorf(x: f32) -> f32;
        pub fn ceilf(x: f32) -> f32;
        pub fn truncf(x: f32) -> f32;
        pub fn rintf(x: f32) -> f32;
        pub fn nearbyintf(x: f32) -> f32;
        pub fn roundf(x: f32) -> f32;
        pub fn sqrtf(x: f32) -> f32;
        pub fn fmin(x: f64, y: f64) -> f64;
        pub fn fmax(x: f64, y: f64) -> f64;
        pub fn copysign(x: f64, y: f64) -> f64;
        pub fn fmod(x: f64, y: f64) -> f64;
        pub fn fminf(x: f32, y: f32) -> f32;
        pub fn fmaxf(x: f32, y: f32) -> f32;
        pub fn copysignf(x: f32, y: f32) -> f32;
        pub fn fmodf(x: f32, y: f32) -> f32;
    }
}

/// The absolute value, the least number being its own.
fn absolute(v: Val) -> Val {
    let zero = Val::concrete(0, v.width);
    expr::ite(expr::bin(Op::Slt, v, zero), expr::sub(zero, v), v)
}

/// `abs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_abs(x: c_int) -> c_int {
    let call = Call::take(bg_x_abs as *const c_void);
    let result = x.wrapping_abs();
    finish(
        &call,
        absolute(call.int(0, x)),
        u128::from(result as u32),
        c"abs",
    );
    result
}

/// `labs`, `llabs`, `imaxabs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_labs(x: i64) -> i64 {
    let call = Call::take(bg_x_labs as *const c_void);
    let result = x.wrapping_abs();
    let v = call.word(0, x as usize);
    finish(&call, absolute(v), u128::from(result as u64), c"labs");
    result
}

/// Quotient and remainder, with the checks that a division in the program would get. The divisor must
/// not be 0.
fn divide(call: &Call, x: Val, y: Val) -> (Val, Val) {
    let (quotient, rest) = (expr::bin(Op::SDiv, x, y), expr::bin(Op::SRem, x, y));
    if quotient.is_symbolic() {
        log::check(call.site, CHECK_QUOTIENT, quotient.id);
    }
    (quotient, rest)
}

/// The divisor may be 0 under another input.
fn check_divisor(call: &Call, y: Val) {
    if y.is_symbolic() {
        log::check(call.site, CHECK_DIVISOR, y.id);
    }
}

/// `div`: both results in one register, the quotient lower.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_div(x: c_int, y: c_int) -> u64 {
    unsafe extern "C" {
        fn div(x: c_int, y: c_int) -> u64;
    }
    let call = Call::take(bg_x_div as *const c_void);
    let (a, b) = (call.int(0, x), call.int(1, y));
    check_divisor(&call, b);
    let result = div(x, y);
    let (quotient, rest) = divide(&call, a, b);
    finish(
        &call,
        expr::concat(rest, quotient),
        u128::from(result),
        c"div",
    );
    result
}

/// What `ldiv` gives.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Division {
    quotient: i64,
    rest: i64,
}

/// `ldiv`, `lldiv`, `imaxdiv`: results in two registers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ldiv(x: i64, y: i64) -> Division {
    unsafe extern "C" {
        fn ldiv(x: i64, y: i64) -> Division;
    }
    let call = Call::take(bg_x_ldiv as *const c_void);
    let (a, b) = (call.word(0, x as usize), call.word(1, y as usize));
    check_divisor(&call, b);
    let result = ldiv(x, y);
    let (quotient, rest) = divide(&call, a, b);
    finish(&call, quotient, u128::from(result.quotient as u64), c"ldiv");
    if let Some(second) = (*slots()).rets.get_mut(1) {
        *second = rest.id;
    }
    result
}

/// Bytes in reverse order.
fn swapped(v: Val, value: u128) -> Val {
    if v.is_symbolic() {
        expr::make(Op::Bswap, v.width, v, None, 0, value)
    } else {
        Val::concrete(value, v.width)
    }
}

/// `htonl`, `ntohl`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_htonl(x: u32) -> u32 {
    let call = Call::take(bg_x_htonl as *const c_void);
    call.result(swapped(call.int(0, x as i32), u128::from(x.swap_bytes())));
    x.swap_bytes()
}

/// `htons`, `ntohs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_htons(x: u16) -> u16 {
    let call = Call::take(bg_x_htons as *const c_void);
    let v = call.arg(0, u128::from(x), 16);
    call.result(swapped(v, u128::from(x.swap_bytes())));
    x.swap_bytes()
}

/// The number of the lowest bit that is 1, counted from 1; 0 if there is none.
fn lowest(v: Val) -> Val {
    if !v.is_symbolic() {
        return Val::concrete(0, 32);
    }
    let zeros = if v.value == 0 {
        u128::from(v.width)
    } else {
        u128::from(v.value.trailing_zeros())
    };
    let count = expr::make(Op::Cttz, v.width, v, None, 0, zeros);
    let place = expr::add(expr::extract(count, 0, 32), Val::concrete(1, 32));
    expr::ite(
        expr::eq(v, Val::concrete(0, v.width)),
        Val::concrete(0, 32),
        place,
    )
}

/// `ffs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ffs(x: c_int) -> c_int {
    let call = Call::take(bg_x_ffs as *const c_void);
    call.result(lowest(call.int(0, x)));
    if x == 0 {
        0
    } else {
        x.trailing_zeros() as c_int + 1
    }
}

/// `ffsl`, `ffsll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ffsl(x: i64) -> c_int {
    let call = Call::take(bg_x_ffsl as *const c_void);
    call.result(lowest(call.word(0, x as usize)));
    if x == 0 {
        0
    } else {
        x.trailing_zeros() as c_int + 1
    }
}

/// Gives an operator's value, which is known to be `value`. Where it is not a number, libc's bits may
/// be others than the operator's: only that it is none counts.
fn give(call: &Call, op: Op, width: u16, a: Val, b: Option<Val>, value: u128, name: &CStr) {
    if a.id | b.map_or(0, |b| b.id) == 0 {
        call.result_id(0);
        return;
    }
    let v = expr::make(op, width, a, b, 0, value & mask(width));
    finish(call, v, value, name);
}

/// Declares functions of one argument.
macro_rules! unary {
    ($($symbol:ident, $real:ident, $float:ty, $width:literal, $op:ident, $name:literal;)*) => {$(
        /// A function of floating-point numbers.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(x: $float) -> $float {
            let call = Call::take($symbol as *const c_void);
            let result = real::$real(x);
            let v = call.arg(0, u128::from(x.to_bits()), $width);
            give(&call, Op::$op, $width, v, None, u128::from(result.to_bits()), $name);
            result
        }
    )*};
}

unary! {
    bg_x_fabs, fabs, f64, 64, FAbs, c"fabs";
    bg_x_floor, floor, f64, 64, FFloor, c"floor";
    bg_x_ceil, ceil, f64, 64, FCeil, c"ceil";
    bg_x_trunc, trunc, f64, 64, FTrunc, c"trunc";
    bg_x_rint, rint, f64, 64, FRint, c"rint";
    bg_x_nearbyint, nearbyint, f64, 64, FRint, c"nearbyint";
    bg_x_round, round, f64, 64, FRound, c"round";
    bg_x_sqrt, sqrt, f64, 64, FSqrt, c"sqrt";
    bg_x_fabsf, fabsf, f32, 32, FAbs, c"fabsf";
    bg_x_floorf, floorf, f32, 32, FFloor, c"floorf";
    bg_x_ceilf, ceilf, f32, 32, FCeil, c"ceilf";
    bg_x_truncf, truncf, f32, 32, FTrunc, c"truncf";
    bg_x_rintf, rintf, f32, 32, FRint, c"rintf";
    bg_x_nearbyintf, nearbyintf, f32, 32, FRint, c"nearbyintf";
    bg_x_roundf, roundf, f32, 32, FRound, c"roundf";
    bg_x_sqrtf, sqrtf, f32, 32, FSqrt, c"sqrtf";
}

/// Declares functions of two arguments.
macro_rules! binary {
    ($($symbol:ident, $real:ident, $float:ty, $width:literal, $op:ident, $name:literal;)*) => {$(
        /// A function of two floating-point numbers.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(x: $float, y: $float) -> $float {
            let call = Call::take($symbol as *const c_void);
            let result = real::$real(x, y);
            let a = call.arg(0, u128::from(x.to_bits()), $width);
            let b = call.arg(1, u128::from(y.to_bits()), $width);
            give(&call, Op::$op, $width, a, Some(b), u128::from(result.to_bits()), $name);
            result
        }
    )*};
}

binary! {
    bg_x_fmin, fmin, f64, 64, FMin, c"fmin";
    bg_x_fmax, fmax, f64, 64, FMax, c"fmax";
    bg_x_copysign, copysign, f64, 64, FCopysign, c"copysign";
    bg_x_fmod, fmod, f64, 64, FRem, c"fmod";
    bg_x_fminf, fminf, f32, 32, FMin, c"fminf";
    bg_x_fmaxf, fmaxf, f32, 32, FMax, c"fmaxf";
    bg_x_copysignf, copysignf, f32, 32, FCopysign, c"copysignf";
    bg_x_fmodf, fmodf, f32, 32, FRem, c"fmodf";
}

/// Declares functions that start a sequence of random numbers: what they are given is taken to be what
/// it is, then the numbers do not depend on the input.
macro_rules! seeds {
    ($($symbol:ident, $real:ident, $seed:ty, $bits:literal;)*) => {$(
        /// Starts a sequence of random numbers.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(seed: $seed) {
            unsafe extern "C" {
                fn $real(seed: $seed);
            }
            let call = Call::take($symbol as *const c_void);
            log::pin_value(call.site, call.arg(0, seed as u128, $bits));
            $real(seed);
            call.result_id(0);
        }
    )*};
}

seeds! {
    bg_x_srand, srand, u32, 32;
    bg_x_srandom, srandom, u32, 32;
    bg_x_srand48, srand48, u64, 64;
}

/// `rand_r`: the state is taken to be what it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_rand_r(state: *mut u32) -> c_int {
    unsafe extern "C" {
        fn rand_r(state: *mut u32) -> c_int;
    }
    let call = Call::take(bg_x_rand_r as *const c_void);
    pin_pointer(&call, 0, state);
    if call.recorded() && shadow::any(state.cast(), 4) {
        log::pin_value(call.site, shadow::load(state.cast(), 4));
    }
    let result = rand_r(state);
    shadow::clear(state.cast(), 4);
    call.result_id(0);
    result
}
