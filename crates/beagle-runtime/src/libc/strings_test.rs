//! Strings and memory, against the real libc.

use std::ffi::{c_char, c_int, c_void};

use super::explore::{Case, Places, Random, Tally, Text};
use super::{compare, copy, heap, memory, search};

mod real {
    use std::ffi::{c_char, c_int, c_void};
    unsafe extern "C" {
        pub fn strcmp(a: *const c_char, b: *const c_char) -> c_int;
        pub fn strncmp(a: *const c_char, b: *const c_char, n: usize) -> c_int;
        pub fn strcasecmp(a: *const c_char, b: *const c_char) -> c_int;
        pub fn strncasecmp(a: *const c_char, b: *const c_char, n: usize) -> c_int;
        pub fn strcoll(a: *const c_char, b: *const c_char) -> c_int;
        pub fn memcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int;
        pub fn bcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int;
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
        pub fn strcpy(d: *mut c_char, s: *const c_char) -> *mut c_char;
        pub fn stpcpy(d: *mut c_char, s: *const c_char) -> *mut c_char;
        pub fn strcat(d: *mut c_char, s: *const c_char) -> *mut c_char;
        pub fn strncpy(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char;
        pub fn stpncpy(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char;
        pub fn strncat(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char;
        pub fn memcpy(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void;
        pub fn memmove(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void;
        pub fn mempcpy(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void;
        pub fn memset(d: *mut c_void, c: c_int, n: usize) -> *mut c_void;
        pub fn memccpy(d: *mut c_void, s: *const c_void, c: c_int, n: usize) -> *mut c_void;
    }

    /// Some of libc's variants give another number where memory ends at the end of a page.
    #[repr(align(1024))]
    struct Room([u8; 64]);

    fn room(from: *const c_void, n: usize) -> Room {
        let mut room = Room([0; 64]);
        unsafe { std::ptr::copy_nonoverlapping(from.cast(), room.0.as_mut_ptr(), n) };
        std::hint::black_box(room)
    }

    pub unsafe fn memcmp_within_a_page(a: *const c_void, b: *const c_void, n: usize) -> c_int {
        let (a, b) = (room(a, n), room(b, n));
        unsafe { memcmp(a.0.as_ptr().cast(), b.0.as_ptr().cast(), n) }
    }

    pub unsafe fn bcmp_within_a_page(a: *const c_void, b: *const c_void, n: usize) -> c_int {
        let (a, b) = (room(a, n), room(b, n));
        unsafe { bcmp(a.0.as_ptr().cast(), b.0.as_ptr().cast(), n) }
    }
}

const CASES: usize = 250;
const TRIES: usize = 24;
const ALPHABET: &[u8] = b"abAB\0\0=z";

/// A string of the alphabet (mostly without 0), of variable length, that may end by a variable.
fn text(random: &mut Random, most: usize) -> Text {
    let len = random.below(most + 1);
    let mut bytes = random.text(&ALPHABET[..4], len);
    if random.below(4) == 0 && len > 0 {
        let at = random.below(len);
        bytes[at] = ALPHABET[random.below(ALPHABET.len())];
    }
    let pad = [0, 0, 1, 4][random.below(4)];
    let text = Text::new(bytes, pad);
    if random.below(2) == 0 {
        text.some(random)
    } else {
        text
    }
}

/// Checks a function of two texts, a number and a character.
fn run(
    seed: u64,
    symbol: *const c_void,
    call: impl Fn(Places, usize, c_int) -> u64,
    real: impl Fn(Places, usize, c_int) -> u64,
    output: Option<usize>,
    argument: Option<usize>,
) -> Tally {
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for _ in 0..CASES {
        let mut texts = vec![text(&mut random, 12), text(&mut random, 6)];
        if random.below(3) == 0 {
            // Texts that are much alike.
            let mut same = texts[0].bytes.clone();
            if !same.is_empty() && random.below(2) == 0 {
                let at = random.below(same.len());
                same[at] = b'b';
            }
            texts[1].bytes = same;
            texts[1].fixed.clear();
        }
        let n = random.below(10);
        let c = c_int::from(ALPHABET[random.below(ALPHABET.len())]);
        // A character that depends on the input: the last variable of a text of its own.
        let mut args = Vec::new();
        let mut c_from = None;
        if let Some(index) = argument
            && random.below(3) == 0
        {
            texts.push(Text::new([c as u8], 0));
            args = vec![None; index + 1];
            args[index] = Some((2, 0, 32));
            c_from = Some(2);
        }
        let value = |p: Places| c_from.map_or(c, |i| c_int::from(unsafe { *p[i] }));
        Case {
            texts,
            alphabet: ALPHABET,
            symbol,
            call: &|p| call(p, n, value(p)),
            real: &|p| real(p, n, value(p)),
            output: output.map(|i| (i, 24)),
            args,
            tries: TRIES,
        }
        .check(&mut random, &mut tally);
    }
    println!("{seed}: {tally:?}");
    assert!(tally.lost == 0, "{tally:?}");
    assert!(tally.followed > CASES / 3, "{tally:?}");
    assert!(tally.agreed > CASES * TRIES / 12, "{tally:?}");
    tally
}

const fn s(p: *mut u8) -> *const c_char {
    p.cast()
}

const fn v(p: *mut u8) -> *const c_void {
    p.cast()
}

/// Tests one function: the replaced and the real one get the same arguments.
macro_rules! check {
    ($test:ident, $seed:literal, $module:ident::$symbol:ident, $real:ident, |$p:ident, $n:ident, $c:ident| ($($arg:expr),*), $to:ty, $output:expr, $argument:expr) => {
        #[test]
        fn $test() {
            run(
                $seed,
                $module::$symbol as *const c_void,
                |$p, $n, $c| { let _ = ($n, $c); unsafe { $module::$symbol($($arg),*) as $to as u64 } },
                |$p, $n, $c| { let _ = ($n, $c); unsafe { real::$real($($arg),*) as $to as u64 } },
                $output,
                $argument,
            );
        }
    };
}

check!(
    strcmp,
    1,
    compare::bg_x_strcmp,
    strcmp,
    |p, n, c| (s(p[0]), s(p[1])),
    u32,
    None,
    None
);
check!(
    strncmp,
    2,
    compare::bg_x_strncmp,
    strncmp,
    |p, n, c| (s(p[0]), s(p[1]), n),
    u32,
    None,
    None
);
check!(
    strcasecmp,
    3,
    compare::bg_x_strcasecmp,
    strcasecmp,
    |p, n, c| (s(p[0]), s(p[1])),
    u32,
    None,
    None
);
check!(
    strncasecmp,
    4,
    compare::bg_x_strncasecmp,
    strncasecmp,
    |p, n, c| (s(p[0]), s(p[1]), n),
    u32,
    None,
    None
);
check!(
    strcoll,
    5,
    compare::bg_x_strcoll,
    strcoll,
    |p, n, c| (s(p[0]), s(p[1])),
    u32,
    None,
    None
);
check!(
    memcmp,
    6,
    compare::bg_x_memcmp,
    memcmp_within_a_page,
    |p, n, c| (v(p[0]), v(p[1]), n),
    u32,
    None,
    None
);
check!(
    bcmp,
    7,
    compare::bg_x_bcmp,
    bcmp_within_a_page,
    |p, n, c| (v(p[0]), v(p[1]), n),
    u32,
    None,
    None
);
check!(
    strlen,
    8,
    search::bg_x_strlen,
    strlen,
    |p, n, c| (s(p[0])),
    u64,
    None,
    None
);
check!(
    strnlen,
    9,
    search::bg_x_strnlen,
    strnlen,
    |p, n, c| (s(p[0]), n),
    u64,
    None,
    None
);
check!(
    strchr,
    10,
    search::bg_x_strchr,
    strchr,
    |p, n, c| (s(p[0]), c),
    u64,
    None,
    Some(1)
);
check!(
    strrchr,
    11,
    search::bg_x_strrchr,
    strrchr,
    |p, n, c| (s(p[0]), c),
    u64,
    None,
    Some(1)
);
check!(
    strchrnul,
    12,
    search::bg_x_strchrnul,
    strchrnul,
    |p, n, c| (s(p[0]), c),
    u64,
    None,
    Some(1)
);
check!(
    memchr,
    13,
    search::bg_x_memchr,
    memchr,
    |p, n, c| (v(p[0]), c, n),
    u64,
    None,
    Some(1)
);
check!(
    memrchr,
    14,
    search::bg_x_memrchr,
    memrchr,
    |p, n, c| (v(p[0]), c, n),
    u64,
    None,
    Some(1)
);
check!(
    rawmemchr,
    15,
    search::bg_x_rawmemchr,
    rawmemchr,
    |p, n, c| (v(p[0]), 0),
    u64,
    None,
    None
);
check!(
    strstr,
    16,
    search::bg_x_strstr,
    strstr,
    |p, n, c| (s(p[0]), s(p[1])),
    u64,
    None,
    None
);
check!(
    strcasestr,
    17,
    search::bg_x_strcasestr,
    strcasestr,
    |p, n, c| (s(p[0]), s(p[1])),
    u64,
    None,
    None
);
check!(
    memmem,
    18,
    search::bg_x_memmem,
    memmem,
    |p, n, c| (v(p[0]), n, v(p[1]), n % 3),
    u64,
    None,
    None
);
check!(
    strspn,
    19,
    search::bg_x_strspn,
    strspn,
    |p, n, c| (s(p[0]), s(p[1])),
    u64,
    None,
    None
);
check!(
    strcspn,
    20,
    search::bg_x_strcspn,
    strcspn,
    |p, n, c| (s(p[0]), s(p[1])),
    u64,
    None,
    None
);
check!(
    strpbrk,
    21,
    search::bg_x_strpbrk,
    strpbrk,
    |p, n, c| (s(p[0]), s(p[1])),
    u64,
    None,
    None
);
check!(
    strcpy,
    22,
    copy::bg_x_strcpy,
    strcpy,
    |p, n, c| (p[0].cast(), s(p[1])),
    u64,
    Some(0),
    None
);
check!(
    stpcpy,
    23,
    copy::bg_x_stpcpy,
    stpcpy,
    |p, n, c| (p[0].cast(), s(p[1])),
    u64,
    Some(0),
    None
);
check!(
    strcat,
    24,
    copy::bg_x_strcat,
    strcat,
    |p, n, c| (p[0].cast(), s(p[1])),
    u64,
    Some(0),
    None
);
check!(
    strncpy,
    25,
    copy::bg_x_strncpy,
    strncpy,
    |p, n, c| (p[0].cast(), s(p[1]), n),
    u64,
    Some(0),
    None
);
check!(
    stpncpy,
    26,
    copy::bg_x_stpncpy,
    stpncpy,
    |p, n, c| (p[0].cast(), s(p[1]), n),
    u64,
    Some(0),
    None
);
check!(
    strncat,
    27,
    copy::bg_x_strncat,
    strncat,
    |p, n, c| (p[0].cast(), s(p[1]), n),
    u64,
    Some(0),
    None
);
check!(
    memcpy,
    28,
    memory::bg_x_memcpy,
    memcpy,
    |p, n, c| (p[0].cast(), v(p[1]), n),
    u64,
    Some(0),
    None
);
check!(
    memmove,
    29,
    memory::bg_x_memmove,
    memmove,
    |p, n, c| (p[0].cast(), v(p[0].add(2)), n),
    u64,
    Some(0),
    None
);
check!(
    mempcpy,
    30,
    memory::bg_x_mempcpy,
    mempcpy,
    |p, n, c| (p[0].cast(), v(p[1]), n),
    u64,
    Some(0),
    None
);
check!(
    memset,
    31,
    memory::bg_x_memset,
    memset,
    |p, n, c| (p[0].cast(), c, n),
    u64,
    Some(0),
    Some(1)
);
check!(
    memccpy,
    32,
    memory::bg_x_memccpy,
    memccpy,
    |p, n, c| (p[0].cast(), v(p[1]), c, n),
    u64,
    Some(0),
    Some(2)
);

unsafe extern "C" fn lcpy(d: *mut c_char, s: *const c_char, n: usize) -> usize {
    unsafe {
        let len = real::strlen(s);
        if n > 0 {
            let k = len.min(n - 1);
            real::memcpy(d.cast(), s.cast(), k);
            *d.add(k) = 0;
        }
        len
    }
}

#[test]
fn strlcpy() {
    run(
        33,
        copy::bg_x_strlcpy as *const c_void,
        |p, n, _| unsafe { copy::bg_x_strlcpy(p[0].cast(), s(p[1]), n) as u64 },
        |p, n, _| unsafe { lcpy(p[0].cast(), s(p[1]), n) as u64 },
        Some(0),
        None,
    );
}

#[test]
fn strlcat() {
    run(
        34,
        copy::bg_x_strlcat as *const c_void,
        |p, n, _| unsafe { copy::bg_x_strlcat(p[0].cast(), s(p[1]), n) as u64 },
        |p, n, _| unsafe {
            let at = real::strnlen(s(p[0]), n);
            at as u64 + lcpy(p[0].add(at).cast(), s(p[1]), n - at) as u64
        },
        Some(0),
        None,
    );
}

/// A copy on the heap has the shadows of its source, and the source's length is assumed.
#[test]
fn strdup_and_realloc() {
    let mut random = Random(99);
    let mut tally = Tally::default();
    for round in 0..CASES {
        let texts = vec![Text::new(random.text(b"xyz", 24), 0), text(&mut random, 12)];
        // The copy goes back to a text so that it is looked at.
        let symbol = heap::bg_x_strdup as *const c_void;
        Case {
            texts,
            alphabet: ALPHABET,
            symbol,
            call: &|p| unsafe {
                let mut copy = heap::bg_x_strdup(s(p[1])).cast::<u8>();
                let len = real::strlen(s(copy));
                for k in 0..round % 3 {
                    copy = heap::bg_x_realloc(copy.cast(), 64 + 1000 * k).cast();
                }
                memory::bg_x_memcpy(p[0].cast(), copy.cast(), len + 1);
                heap::bg_x_free(copy.cast());
                // As if strdup had just returned.
                let slots = crate::slots::slots();
                (*slots).returner = symbol;
                (&mut (*slots).rets)[0] = 0;
                0
            },
            real: &|p| unsafe {
                real::strcpy(p[0].cast(), s(p[1]));
                0
            },
            output: Some((0, 24)),
            args: Vec::new(),
            tries: TRIES,
        }
        .check(&mut random, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.followed > CASES / 2 && tally.lost == 0, "{tally:?}");
}
