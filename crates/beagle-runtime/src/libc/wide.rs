//! Strings of wide characters: elements of 32 bits. What is simple is followed, the rest is counted.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use beagle_trace::event::{ASSUME_LENGTH, ASSUME_VALUE};
use beagle_trace::op::Op;

use super::ctype::{self, Class};
use super::view::{self, MAX, finish, give_up, pin_pointer, pin_size, word};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::shadow;

/// A wide character.
type Wide = i32;

mod real {
    use super::Wide;
    use core::ffi::c_int;
    unsafe extern "C" {
        pub fn wcslen(s: *const Wide) -> usize;
        pub fn wcscmp(a: *const Wide, b: *const Wide) -> c_int;
        pub fn wcsncmp(a: *const Wide, b: *const Wide, n: usize) -> c_int;
        pub fn wmemcmp(a: *const Wide, b: *const Wide, n: usize) -> c_int;
        pub fn wcscpy(d: *mut Wide, s: *const Wide) -> *mut Wide;
        pub fn wcschr(s: *const Wide, c: Wide) -> *mut Wide;
        pub fn wmemcpy(d: *mut Wide, s: *const Wide, n: usize) -> *mut Wide;
        pub fn wmemmove(d: *mut Wide, s: *const Wide, n: usize) -> *mut Wide;
        pub fn wmemset(d: *mut Wide, c: Wide, n: usize) -> *mut Wide;
        pub fn towlower(c: u32) -> u32;
        pub fn towupper(c: u32) -> u32;
        pub fn iswalpha(c: u32) -> c_int;
        pub fn iswdigit(c: u32) -> c_int;
        pub fn iswalnum(c: u32) -> c_int;
        pub fn iswspace(c: u32) -> c_int;
        pub fn iswupper(c: u32) -> c_int;
        pub fn iswlower(c: u32) -> c_int;
        pub fn iswpunct(c: u32) -> c_int;
        pub fn iswprint(c: u32) -> c_int;
        pub fn iswgraph(c: u32) -> c_int;
        pub fn iswcntrl(c: u32) -> c_int;
        pub fn iswxdigit(c: u32) -> c_int;
        pub fn iswblank(c: u32) -> c_int;
    }
}

const ZERO: Val = Val::concrete(0, 32);

/// Element `i`.
unsafe fn at(s: *const Wide, i: usize) -> Val {
    shadow::load(s.add(i).cast(), 4)
}

unsafe fn any(s: *const Wide, n: usize) -> bool {
    shadow::any(s.cast(), n.saturating_mul(4))
}

/// Assumes that the string ends where it does, at `len`, but may end sooner.
unsafe fn assume_end(call: &Call, s: *const Wide, len: usize) {
    let last = at(s, len);
    view::assume(call.site, ASSUME_LENGTH, expr::eq(last, ZERO));
}

/// `wcslen`: not longer than it is now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wcslen(s: *const Wide) -> usize {
    let call = Call::take(bg_x_wcslen as *const c_void);
    pin_pointer(&call, 0, s);
    let len = real::wcslen(s);
    if !call.recorded() || !any(s, len + 1) {
        call.result_id(0);
    } else if len > MAX {
        give_up(&call, c"wcslen");
    } else {
        assume_end(&call, s, len);
        let mut result = word(len);
        for i in (0..len).rev() {
            result = expr::ite(expr::eq(at(s, i), ZERO), word(i), result);
        }
        finish(&call, result, len as u128, c"wcslen");
    }
    len
}

/// `wcschr`: in a string not longer than it is now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wcschr(s: *const Wide, c: Wide) -> *mut Wide {
    let call = Call::take(bg_x_wcschr as *const c_void);
    pin_pointer(&call, 0, s);
    let found = real::wcschr(s, c);
    let len = real::wcslen(s);
    let wanted = call.int(1, c);
    if !call.recorded() || (wanted.id == 0 && !any(s, len + 1)) {
        call.result_id(0);
    } else if len > MAX {
        give_up(&call, c"wcschr");
    } else {
        assume_end(&call, s, len);
        let place = |i: usize| word(s.add(i) as usize);
        let mut result = expr::ite(expr::eq(wanted, ZERO), place(len), word(0));
        for i in (0..len).rev() {
            let v = at(s, i);
            result = expr::ite(expr::eq(v, ZERO), word(0), result);
            result = expr::ite(expr::eq(v, wanted), place(i), result);
        }
        finish(&call, result, found as u128, c"wcschr");
    }
    found
}

/// Whether `n` elements and some more lie in one page. Where strings cross pages, a variant of glibc
/// gives other numbers of the right sign, which depend on what is behind the strings.
fn within_page(s: *const Wide, n: usize) -> bool {
    (s as usize & 4095).saturating_add(n.saturating_mul(4)) <= 4096 - 512
}

/// Gives the result of a comparison: -1, 0 or 1. What lies behind the place that decided it now is
/// taken not to matter.
unsafe fn compare(
    call: &Call,
    a: *const Wide,
    b: *const Wide,
    n: usize,
    strings: bool,
    result: c_int,
    name: &CStr,
) {
    pin_pointer(call, 0, a);
    pin_pointer(call, 1, b);
    if !call.recorded() {
        call.result_id(0);
        return;
    }
    let mut end = 0;
    while end < n && *a.add(end) == *b.add(end) && !(strings && *a.add(end) == 0) {
        end += 1;
    }
    let seen = end.saturating_add(1).min(n);
    if !any(a, seen) && !any(b, seen) {
        call.result_id(0);
        return;
    }
    let odd = strings && !(within_page(a, seen) && within_page(b, seen));
    if end > MAX || odd || !(-1..=1).contains(&result) {
        give_up(call, name);
        return;
    }
    let mut v = ZERO;
    for i in (0..seen).rev() {
        let (x, y) = (at(a, i), at(b, i));
        let less = expr::bin(Op::Slt, x, y);
        let sign = expr::ite(
            less,
            Val::concrete(u128::from(u32::MAX), 32),
            Val::concrete(1, 32),
        );
        let same = expr::eq(x, y);
        if i == end {
            let decided = if same.value == 1 {
                expr::and(same, expr::eq(x, ZERO))
            } else {
                expr::not(same)
            };
            view::assume(call.site, ASSUME_LENGTH, decided);
        } else if strings {
            v = expr::ite(expr::eq(x, ZERO), ZERO, v);
        }
        v = expr::ite(same, v, sign);
    }
    finish(call, v, u128::from(result as u32), name);
}

/// `wcscmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wcscmp(a: *const Wide, b: *const Wide) -> c_int {
    let call = Call::take(bg_x_wcscmp as *const c_void);
    let result = real::wcscmp(a, b);
    compare(&call, a, b, usize::MAX, true, result, c"wcscmp");
    result
}

/// `wcsncmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wcsncmp(a: *const Wide, b: *const Wide, n: usize) -> c_int {
    let call = Call::take(bg_x_wcsncmp as *const c_void);
    pin_size(&call, 2, n);
    let result = real::wcsncmp(a, b, n);
    compare(&call, a, b, n, true, result, c"wcsncmp");
    result
}

/// `wmemcmp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wmemcmp(a: *const Wide, b: *const Wide, n: usize) -> c_int {
    let call = Call::take(bg_x_wmemcmp as *const c_void);
    pin_size(&call, 2, n);
    let result = real::wmemcmp(a, b, n);
    compare(&call, a, b, n, false, result, c"wmemcmp");
    result
}

/// `wcscpy`: the length is taken to be what it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wcscpy(d: *mut Wide, s: *const Wide) -> *mut Wide {
    let call = Call::take(bg_x_wcscpy as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    let len = real::wcslen(s);
    real::wcscpy(d, s);
    let mut followed = true;
    if call.recorded() && any(s, len + 1) {
        followed = len <= MAX;
        if followed {
            let mut all = expr::eq(at(s, len), ZERO);
            for i in 0..len {
                all = expr::and(all, expr::not(expr::eq(at(s, i), ZERO)));
            }
            view::assume(call.site, ASSUME_LENGTH, all);
        } else {
            crate::log::lose_in(beagle_trace::layout::Loss::Model, c"wcscpy");
        }
    }
    shadow::clear(d.cast(), 4 * (len + 1));
    if followed {
        shadow::copy(d.cast(), s.cast(), 4 * len);
    }
    call.result(call.word(0, d as usize));
    d
}

/// `wmemcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wmemcpy(d: *mut Wide, s: *const Wide, n: usize) -> *mut Wide {
    let call = Call::take(bg_x_wmemcpy as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    pin_size(&call, 2, n);
    real::wmemcpy(d, s, n);
    shadow::copy(d.cast(), s.cast(), n.wrapping_mul(4));
    call.result(call.word(0, d as usize));
    d
}

/// `wmemmove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wmemmove(d: *mut Wide, s: *const Wide, n: usize) -> *mut Wide {
    let call = Call::take(bg_x_wmemmove as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    pin_size(&call, 2, n);
    real::wmemmove(d, s, n);
    shadow::copy(d.cast(), s.cast(), n.wrapping_mul(4));
    call.result(call.word(0, d as usize));
    d
}

/// `wmemset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_wmemset(d: *mut Wide, c: Wide, n: usize) -> *mut Wide {
    let call = Call::take(bg_x_wmemset as *const c_void);
    pin_pointer(&call, 0, d);
    pin_size(&call, 2, n);
    real::wmemset(d, c, n);
    let v = call.int(1, c);
    if v.is_symbolic() {
        for i in 0..n {
            shadow::store(d.add(i).cast(), 4, v);
        }
    } else {
        shadow::clear(d.cast(), n.wrapping_mul(4));
    }
    call.result(call.word(0, d as usize));
    d
}

/// Whether the character is ASCII, which is assumed then. Others are not followed.
fn is_ascii(call: &Call, v: Val) -> bool {
    let ascii = expr::bin(Op::Ult, v, Val::concrete(128, 32));
    if ascii.value == 1 {
        view::assume(call.site, ASSUME_VALUE, ascii);
    }
    ascii.value == 1
}

/// `towlower`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_towlower(c: u32) -> u32 {
    let call = Call::take(bg_x_towlower as *const c_void);
    let result = real::towlower(c);
    let v = call.int(0, c as i32);
    if v.id == 0 {
        call.result_id(0);
    } else if is_ascii(&call, v) && (0..128).all(|c| real::towlower(c) == lower(c)) {
        let moved = expr::add(v, Val::concrete(32, 32));
        let v = expr::ite(ctype::UPPER.holds(v), moved, v);
        finish(&call, v, u128::from(result), c"towlower");
    } else {
        give_up(&call, c"towlower");
    }
    result
}

/// `towupper`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_towupper(c: u32) -> u32 {
    let call = Call::take(bg_x_towupper as *const c_void);
    let result = real::towupper(c);
    let v = call.int(0, c as i32);
    if v.id == 0 {
        call.result_id(0);
    } else if is_ascii(&call, v) && (0..128).all(|c| real::towupper(c) == upper(c)) {
        let moved = expr::sub(v, Val::concrete(32, 32));
        let v = expr::ite(ctype::LOWER.holds(v), moved, v);
        finish(&call, v, u128::from(result), c"towupper");
    } else {
        give_up(&call, c"towupper");
    }
    result
}

fn lower(c: u32) -> u32 {
    u32::from((c as u8).to_ascii_lowercase())
}

fn upper(c: u32) -> u32 {
    u32::from((c as u8).to_ascii_uppercase())
}

/// The number that a function of a class gives for all ASCII characters of the class, if it is one
/// number and gives 0 for the others. `known` keeps it.
fn yes(class: Class, run: impl Fn(u32) -> c_int, known: &AtomicU32) -> Option<u32> {
    const NONE: u32 = u32::MAX;
    let found = known.load(Relaxed);
    if found != 0 {
        return (found != NONE).then_some(found);
    }
    let mut number = 0;
    for c in 0..128 {
        let result = run(c) as u32;
        let member = class.has(c as u8);
        if member && number == 0 {
            number = result;
        }
        if result != if member { number } else { 0 } || (member && number == 0) {
            number = NONE;
            break;
        }
    }
    known.store(number, Relaxed);
    (number != NONE).then_some(number)
}

/// Declares the functions of the classes.
macro_rules! classes {
    ($($symbol:ident, $real:ident, $class:ident, $name:literal;)*) => {$(
        /// The function of a class of wide characters.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(c: u32) -> c_int {
            static KNOWN: AtomicU32 = AtomicU32::new(0);
            let call = Call::take($symbol as *const c_void);
            let result = real::$real(c);
            let v = call.int(0, c as i32);
            if v.id == 0 {
                call.result_id(0);
            } else if is_ascii(&call, v)
                && let Some(number) = yes(ctype::$class, |c| real::$real(c), &KNOWN)
            {
                let number = Val::concrete(u128::from(number), 32);
                let v = expr::ite(ctype::$class.holds(v), number, ZERO);
                finish(&call, v, u128::from(result as u32), $name);
            } else {
                give_up(&call, $name);
            }
            result
        }
    )*};
}

classes! {
    bg_x_iswalpha, iswalpha, ALPHA, c"iswalpha";
    bg_x_iswdigit, iswdigit, DIGIT, c"iswdigit";
    bg_x_iswalnum, iswalnum, ALNUM, c"iswalnum";
    bg_x_iswspace, iswspace, SPACE, c"iswspace";
    bg_x_iswupper, iswupper, UPPER, c"iswupper";
    bg_x_iswlower, iswlower, LOWER, c"iswlower";
    bg_x_iswpunct, iswpunct, PUNCT, c"iswpunct";
    bg_x_iswprint, iswprint, PRINT, c"iswprint";
    bg_x_iswgraph, iswgraph, GRAPH, c"iswgraph";
    bg_x_iswcntrl, iswcntrl, CNTRL, c"iswcntrl";
    bg_x_iswxdigit, iswxdigit, XDIGIT, c"iswxdigit";
    bg_x_iswblank, iswblank, BLANK, c"iswblank";
}
