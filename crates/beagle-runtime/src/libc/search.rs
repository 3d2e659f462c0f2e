//! Lengths of strings and places of bytes in them: a chain of choices over the bytes that depend on
//! the input, from the last to the first.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::{ASSUME_LENGTH, ASSUME_VALUE};

use super::ctype;
use super::view::{
    MAX, Text, assume, assume_length, finish, give_up, is_zero, length, letter, lower, pin_pointer,
    pin_size, window, within, word,
};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;

mod real {
    use core::ffi::{c_char, c_int, c_void};
    unsafe extern "C" {
        pub fn strlen(s: *const c_char) -> usize;
        pub fn strnlen(s: *const c_char, n: usize) -> usize;
        pub fn strchr(s: *const c_char, c: c_int) -> *mut c_char;
        pub fn strrchr(s: *const c_char, c: c_int) -> *mut c_char;
        pub fn strchrnul(s: *const c_char, c: c_int) -> *mut c_char;
        pub fn memchr(s: *const c_void, c: c_int, n: usize) -> *mut c_void;
        pub fn memrchr(s: *const c_void, c: c_int, n: usize) -> *mut c_void;
        pub fn rawmemchr(s: *const c_void, c: c_int) -> *mut c_void;
        pub fn strstr(s: *const c_char, t: *const c_char) -> *mut c_char;
        pub fn strcasestr(s: *const c_char, t: *const c_char) -> *mut c_char;
        pub fn memmem(s: *const c_void, n: usize, t: *const c_void, m: usize) -> *mut c_void;
        pub fn strspn(s: *const c_char, set: *const c_char) -> usize;
        pub fn strcspn(s: *const c_char, set: *const c_char) -> usize;
        pub fn strpbrk(s: *const c_char, set: *const c_char) -> *mut c_char;
    }
}

/// At most so many pairs of bytes are compared in a search for a text.
const MAX_PAIRS: usize = 1 << 15;

/// The address of byte `i` of `s`.
fn place(s: *const u8, i: usize) -> Val {
    word((s as usize).wrapping_add(i))
}

const NULL: Val = word(0);

/// The byte that argument 1 says.
fn wanted(call: &Call, c: c_int) -> Val {
    expr::extract(call.int(1, c), 0, 8)
}

/// A search through the string at `s` that one byte stops.
struct Search<'a> {
    call: &'a Call,
    name: &'a CStr,
    s: *const u8,
    /// What it gave.
    real: usize,
    /// Where it stopped.
    at: usize,
}

impl Search<'_> {
    /// Whether the result may depend on the input; if not, says so. `others`: whether anything but the
    /// bytes up to the place does.
    unsafe fn concerned(&self, others: bool) -> bool {
        let concerned = self.call.recorded() && (others || shadow::any(self.s, self.at + 1));
        if !concerned {
            self.call.result_id(0);
        }
        concerned
    }

    /// Gives what `expression` makes of the bytes that count. If none of them stopped the search, which
    /// is not possible, anything will do.
    unsafe fn give(&self, stops: impl Fn(Val) -> Val, expression: impl FnOnce(usize) -> Val) {
        match window(self.call.site, self.s, self.at, usize::MAX, stops) {
            Some(count) => finish(self.call, expression(count), self.real as u128, self.name),
            None => give_up(self.call, self.name),
        }
    }
}

/// Where `found` lies in `s`, or the length of `s` if it is null.
unsafe fn offset(s: *const c_char, found: *const c_char) -> usize {
    if found.is_null() {
        real::strlen(s)
    } else {
        (found as usize).wrapping_sub(s as usize)
    }
}

/// `strlen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strlen(s: *const c_char) -> usize {
    let call = Call::take(bg_x_strlen as *const c_void);
    pin_pointer(&call, 0, s);
    let len = real::strlen(s);
    measure(&call, s.cast(), len, usize::MAX, c"strlen");
    len
}

/// `strnlen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strnlen(s: *const c_char, n: usize) -> usize {
    let call = Call::take(bg_x_strnlen as *const c_void);
    pin_pointer(&call, 0, s);
    pin_size(&call, 1, n);
    let len = real::strnlen(s, n);
    measure(&call, s.cast(), len, n, c"strnlen");
    len
}

/// Gives the length of a string; that of a long one is assumed.
unsafe fn measure(call: &Call, s: *const u8, len: usize, bound: usize, name: &CStr) {
    if !call.recorded() || !shadow::any(s, len.saturating_add(1).min(bound)) {
        call.result_id(0);
    } else if let Some(count) = window(call.site, s, len, bound, is_zero) {
        finish(call, length(s, count, 0), len as u128, name);
    } else if assume_length(call.site, s, len, bound) {
        call.result_id(0);
    } else {
        give_up(call, name);
    }
}

/// The first place of `c` among `count` bytes; `end` if there is none. `stopped` gives what comes of a
/// 0 at a place before.
unsafe fn first(
    s: *const u8,
    count: usize,
    c: Val,
    end: Val,
    stopped: impl Fn(usize) -> Option<Val>,
) -> Val {
    let mut result = end;
    for i in (0..count).rev() {
        let b = shadow::byte(s.add(i));
        if (b.is_symbolic() || b.value == 0)
            && let Some(other) = stopped(i)
        {
            result = expr::ite(is_zero(b), other, result);
        }
        result = expr::ite(expr::eq(b, c), place(s, i), result);
    }
    result
}

/// `strchr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strchr(s: *const c_char, c: c_int) -> *mut c_char {
    let call = Call::take(bg_x_strchr as *const c_void);
    pin_pointer(&call, 0, s);
    let found = real::strchr(s, c);
    let c = wanted(&call, c);
    let search = Search {
        call: &call,
        name: c"strchr",
        s: s.cast(),
        real: found as usize,
        at: offset(s, found),
    };
    if search.concerned(c.is_symbolic()) {
        search.give(
            |b| expr::or(is_zero(b), expr::eq(b, c)),
            |count| first(s.cast(), count, c, NULL, |_| Some(NULL)),
        );
    }
    found
}

/// `strchrnul`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strchrnul(s: *const c_char, c: c_int) -> *mut c_char {
    let call = Call::take(bg_x_strchrnul as *const c_void);
    pin_pointer(&call, 0, s);
    let found = real::strchrnul(s, c);
    let c = wanted(&call, c);
    let search = Search {
        call: &call,
        name: c"strchrnul",
        s: s.cast(),
        real: found as usize,
        at: offset(s, found),
    };
    if search.concerned(c.is_symbolic()) {
        search.give(
            |b| expr::or(is_zero(b), expr::eq(b, c)),
            |count| first(s.cast(), count, c, NULL, |i| Some(place(s.cast(), i))),
        );
    }
    found
}

/// `strrchr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strrchr(s: *const c_char, c: c_int) -> *mut c_char {
    let call = Call::take(bg_x_strrchr as *const c_void);
    pin_pointer(&call, 0, s);
    let found = real::strrchr(s, c);
    let c = wanted(&call, c);
    let search = Search {
        call: &call,
        name: c"strrchr",
        s: s.cast(),
        real: found as usize,
        at: real::strlen(s),
    };
    if !search.concerned(c.is_symbolic()) {
        return found;
    }
    log::pin(call.site, ASSUME_VALUE, c);
    let c = letter(c.value as u8);
    let s = s.cast::<u8>();
    search.give(is_zero, |count| {
        if c.value == 0 {
            return length(s, count, s as usize);
        }
        // Forwards: the last one before the string ends.
        let mut inside = Val::concrete(1, 1);
        let mut result = NULL;
        for i in 0..count {
            let b = shadow::byte(s.add(i));
            let here = expr::and(inside, expr::eq(b, c));
            result = expr::ite(here, place(s, i), result);
            inside = expr::and(inside, expr::not(is_zero(b)));
        }
        result
    });
    found
}

/// Gives the place of `c`, which `found` says, in memory of at most `n` bytes. No more than the bytes
/// up to the place are sure to be readable.
unsafe fn in_memory(call: &Call, s: *const u8, c: Val, n: usize, found: usize, name: &CStr) {
    let at = if found == 0 {
        n
    } else {
        found.wrapping_sub(s as usize)
    };
    let known = at.saturating_add(1).min(n);
    if !call.recorded() || (c.id == 0 && !shadow::any(s, known)) {
        call.result_id(0);
        return;
    }
    if at > MAX {
        give_up(call, name);
        return;
    }
    let mut text = Text::new(s, known);
    // Where it is found for sure.
    let mut count = at;
    let mut end = NULL;
    while count < n {
        match text.at(count) {
            Some(b) if b.id | c.id == 0 && b.value == c.value => {
                end = place(s, count);
                break;
            }
            Some(_) if count < MAX => count += 1,
            _ => {
                let here = shadow::byte(s.add(at));
                assume(call.site, ASSUME_LENGTH, expr::eq(here, c));
                count = at;
                end = place(s, at);
                break;
            }
        }
    }
    finish(call, first(s, count, c, end, |_| None), found as u128, name);
}

/// `memchr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memchr(s: *const c_void, c: c_int, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memchr as *const c_void);
    pin_pointer(&call, 0, s);
    pin_size(&call, 2, n);
    let found = real::memchr(s, c, n);
    in_memory(
        &call,
        s.cast(),
        wanted(&call, c),
        n,
        found as usize,
        c"memchr",
    );
    found
}

/// `rawmemchr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_rawmemchr(s: *const c_void, c: c_int) -> *mut c_void {
    let call = Call::take(bg_x_rawmemchr as *const c_void);
    pin_pointer(&call, 0, s);
    let found = real::rawmemchr(s, c);
    let c = wanted(&call, c);
    in_memory(&call, s.cast(), c, usize::MAX, found as usize, c"rawmemchr");
    found
}

/// `memrchr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memrchr(s: *const c_void, c: c_int, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memrchr as *const c_void);
    pin_pointer(&call, 0, s);
    pin_size(&call, 2, n);
    let found = real::memrchr(s, c, n);
    let c = wanted(&call, c);
    let s = s.cast::<u8>();
    // What lies before the place counts only if the place may be another.
    let from = if found.is_null() {
        0
    } else {
        (found as usize).wrapping_sub(s as usize)
    };
    if !call.recorded() || (c.id == 0 && !shadow::any(s.add(from), n - from)) {
        call.result_id(0);
    } else if n > MAX {
        give_up(&call, c"memrchr");
    } else {
        let mut result = NULL;
        for i in 0..n {
            let b = shadow::byte(s.add(i));
            result = expr::ite(expr::eq(b, c), place(s, i), result);
        }
        finish(&call, result, found as u128, c"memrchr");
    }
    found
}

/// A text that is looked for in another.
struct Needle {
    p: *const u8,
    len: usize,
    folded: bool,
}

impl Needle {
    /// Whether the text lies at `s`; 1 bit.
    unsafe fn matches(&self, s: *const u8) -> Val {
        let mut all = Val::concrete(1, 1);
        for j in (0..self.len).rev() {
            let (mut x, mut y) = (shadow::byte(s.add(j)), shadow::byte(self.p.add(j)));
            if self.folded {
                (x, y) = (lower(x), lower(y));
            }
            all = expr::and(expr::eq(x, y), all);
            if all.id == 0 && all.value == 0 {
                return all;
            }
        }
        all
    }

    /// The first place of the text at which it starts before byte `count`, else `end`. In strings, a 0
    /// ends the search.
    unsafe fn find(&self, s: *const u8, count: usize, strings: bool, end: Val) -> Val {
        let mut result = end;
        for i in (0..count).rev() {
            if strings {
                // The text has no 0, so that it lies before the end if it starts before it.
                let b = shadow::byte(s.add(i));
                if b.is_symbolic() || b.value == 0 {
                    result = expr::ite(is_zero(b), NULL, result);
                }
            }
            result = expr::ite(self.matches(s.add(i)), place(s, i), result);
        }
        result
    }

    /// Gives the place of the text among `count` bytes, which was really `found`. If there is too much
    /// to compare, the text is taken to be where it is, unless it is at an earlier place.
    unsafe fn give(
        &self,
        call: &Call,
        s: *const u8,
        count: Option<usize>,
        strings: bool,
        found: usize,
        name: &CStr,
    ) {
        let fits =
            |places: usize| places.saturating_mul(self.len) <= MAX_PAIRS && places <= MAX + 1;
        let v = match count {
            // An empty text is everywhere.
            _ if self.len == 0 => place(s, 0),
            Some(count) if count < self.len => NULL,
            Some(count) if fits(count - self.len + 1) => {
                self.find(s, count - self.len + 1, strings, NULL)
            }
            _ => {
                let at = found.wrapping_sub(s as usize);
                if found == 0 || !fits(at) {
                    give_up(call, name);
                    return;
                }
                assume(call.site, ASSUME_LENGTH, self.matches(s.add(at)));
                self.find(s, at, strings, place(s, at))
            }
        };
        finish(call, v, found as u128, name);
    }
}

/// What `strstr` and `strcasestr` have in common.
unsafe fn find_string(
    call: &Call,
    s: *const c_char,
    t: *const c_char,
    folded: bool,
    found: *mut c_char,
    name: &CStr,
) {
    pin_pointer(call, 0, s);
    pin_pointer(call, 1, t);
    if !call.recorded() {
        call.result_id(0);
        return;
    }
    let len = real::strlen(t);
    let others = shadow::any(t.cast(), len + 1);
    let at = offset(s, found);
    let seen = if found.is_null() { at + 1 } else { at + len };
    if !others && !shadow::any(s.cast(), seen) {
        call.result_id(0);
        return;
    }
    if (others && !assume_length(call.site, t.cast(), len, usize::MAX))
        || (folded && !ctype::is_plain())
    {
        give_up(call, name);
        return;
    }
    let needle = Needle {
        p: t.cast(),
        len,
        folded,
    };
    let s = s.cast::<u8>();
    // The bytes before the one that ends the string for sure.
    let count = window(call.site, s, real::strlen(s.cast()), usize::MAX, is_zero);
    needle.give(call, s, count.map(|n| n - 1), true, found as usize, name);
}

/// `strstr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strstr(s: *const c_char, t: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strstr as *const c_void);
    let found = real::strstr(s, t);
    find_string(&call, s, t, false, found, c"strstr");
    found
}

/// `strcasestr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcasestr(s: *const c_char, t: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strcasestr as *const c_void);
    let found = real::strcasestr(s, t);
    find_string(&call, s, t, true, found, c"strcasestr");
    found
}

/// `memmem`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memmem(
    s: *const c_void,
    n: usize,
    t: *const c_void,
    m: usize,
) -> *mut c_void {
    let call = Call::take(bg_x_memmem as *const c_void);
    pin_pointer(&call, 0, s);
    pin_size(&call, 1, n);
    pin_pointer(&call, 2, t);
    pin_size(&call, 3, m);
    let found = real::memmem(s, n, t, m);
    if !call.recorded() || m > n || !(shadow::any(s.cast(), n) || shadow::any(t.cast(), m)) {
        call.result_id(0);
        return found;
    }
    let needle = Needle {
        p: t.cast(),
        len: m,
        folded: false,
    };
    needle.give(&call, s.cast(), Some(n), false, found as usize, c"memmem");
    found
}

/// A set of bytes, given as a string.
struct Set {
    p: *const u8,
    len: usize,
    /// Those of its bytes that do not depend on the input.
    fixed: [bool; 256],
    symbolic: bool,
}

impl Set {
    /// The set of the bytes of the string at `p`, whose length is assumed. `None` if it is too long.
    unsafe fn new(call: &Call, p: *const u8) -> Option<Self> {
        let len = real::strlen(p.cast());
        let symbolic = shadow::any(p, len + 1);
        if symbolic && (len > 256 || !assume_length(call.site, p, len, usize::MAX)) {
            return None;
        }
        let mut fixed = [false; 256];
        for i in 0..len {
            let b = if symbolic {
                shadow::byte(p.add(i))
            } else {
                letter(*p.add(i))
            };
            if b.id == 0
                && let Some(member) = fixed.get_mut(b.value as usize)
            {
                *member = true;
            }
        }
        Some(Self {
            p,
            len,
            fixed,
            symbolic,
        })
    }

    /// Whether the byte is a member; 1 bit. Members that are neighbours count as one range.
    unsafe fn holds(&self, b: Val) -> Val {
        let is = |v: usize| self.fixed.get(v).copied().unwrap_or(false);
        let mut any = Val::concrete(0, 1);
        if b.id == 0 {
            any = Val::concrete(u128::from(is(b.value as usize)), 1);
        } else {
            let mut low = 0;
            while low < 256 {
                if !is(low) {
                    low += 1;
                    continue;
                }
                let mut high = low;
                while is(high + 1) {
                    high += 1;
                }
                any = expr::or(any, within(b, low as u128, high as u128));
                low = high + 1;
            }
        }
        if self.symbolic {
            for i in 0..self.len {
                let member = shadow::byte(self.p.add(i));
                if member.is_symbolic() {
                    any = expr::or(any, expr::eq(b, member));
                }
            }
        }
        any
    }
}

/// What the functions with sets have in common. `until`: whether a member stops the search.
unsafe fn with_set(
    search: &Search,
    set: *const c_char,
    until: bool,
    result: impl Fn(usize, Val, Val, Val) -> Val,
) {
    let call = search.call;
    pin_pointer(call, 0, search.s);
    pin_pointer(call, 1, set);
    let others = call.recorded() && shadow::any(set.cast(), real::strlen(set) + 1);
    if !search.concerned(others) {
        return;
    }
    let Some(set) = Set::new(call, set.cast()) else {
        give_up(call, search.name);
        return;
    };
    let stops = |b: Val| {
        let member = set.holds(b);
        if until {
            expr::or(is_zero(b), member)
        } else {
            expr::not(member)
        }
    };
    search.give(stops, |count| {
        let mut all = NULL;
        for i in (0..count).rev() {
            let b = shadow::byte(search.s.add(i));
            all = result(i, b, set.holds(b), all);
        }
        all
    });
}

/// `strspn`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strspn(s: *const c_char, set: *const c_char) -> usize {
    let call = Call::take(bg_x_strspn as *const c_void);
    let n = real::strspn(s, set);
    let search = Search {
        call: &call,
        name: c"strspn",
        s: s.cast(),
        real: n,
        at: n,
    };
    // A 0 is no member.
    with_set(&search, set, false, |i, _, member, rest| {
        expr::ite(member, rest, word(i))
    });
    n
}

/// `strcspn`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcspn(s: *const c_char, set: *const c_char) -> usize {
    let call = Call::take(bg_x_strcspn as *const c_void);
    let n = real::strcspn(s, set);
    let search = Search {
        call: &call,
        name: c"strcspn",
        s: s.cast(),
        real: n,
        at: n,
    };
    with_set(&search, set, true, |i, b, member, rest| {
        expr::ite(expr::or(is_zero(b), member), word(i), rest)
    });
    n
}

/// `strpbrk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strpbrk(s: *const c_char, set: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strpbrk as *const c_void);
    let found = real::strpbrk(s, set);
    let search = Search {
        call: &call,
        name: c"strpbrk",
        s: s.cast(),
        real: found as usize,
        at: offset(s, found),
    };
    with_set(&search, set, true, |i, b, member, rest| {
        let rest = expr::ite(is_zero(b), NULL, rest);
        expr::ite(member, place(s.cast(), i), rest)
    });
    found
}
