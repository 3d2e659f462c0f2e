//! The `printf` family: which parts of its text depend on the input.
//!
//! The real function prints. What it printed is put together once more, conversion by conversion, each
//! by the real `vsnprintf`, to know which bytes came from which argument.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::{ASSUME_ADDRESS, ASSUME_LENGTH, ASSUME_VALUE};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use super::format::{Directive, LEFT, LOCAL, Length, Work};
use super::own::own;
use super::real::{self, File};
use super::stream::{self, channel_of};
use super::text::Text;
use super::{assume_length, assume_once, channel, pin_address};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::variadic::VaList;
use crate::{log, shadow, sys, table};

/// The reader of traces does not print longer numbers.
const MAX_FIELD: u32 = 1 << 20;

/// How a text is going to be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Printed: the values count, the lengths of numbers may differ.
    Printed,
    /// Stored: lengths are taken for granted.
    Stored,
}

/// Adds what `printf` makes of the arguments to `text`. Gives the length as an expression (32 bits)
/// under what was assumed.
pub unsafe fn render(
    text: &mut Text,
    site: u32,
    format: *const c_char,
    list: &VaList,
    name: &CStr,
    usage: Use,
) -> Val {
    let errno = *sys::__errno_location();
    let work = &mut (*own()).work;
    let bytes = CStr::from_ptr(format).to_bytes();
    let start = text.len();
    let mut length = Val::concrete(0, 32);
    let followed = work.parse(bytes);
    if followed {
        work.fetch(list);
    }
    let symbolic_format = shadow::any(format.cast(), bytes.len() + 1);
    if !followed && symbolic_format {
        super::assume_bytes(site, format.cast(), bytes.len() + 1);
    }
    if !followed || !(symbolic_format || any_symbolic(work)) {
        append(text, format, list, errno);
        clear_counts(work, followed);
    } else {
        let stored = usage == Use::Stored || work.directives().iter().any(|d| d.letter == b'n');
        let mut at = 0;
        for d in work.directives() {
            literal(text, site, format, at, d.from);
            super::assume_bytes(site, format.cast::<u8>().add(d.from), d.to - d.from);
            let extra = convert(text, site, work, d, name, stored, errno);
            length = expr::add(length, extra);
            at = d.to;
        }
        literal(text, site, format, at, bytes.len());
        assume_length(site, format.cast::<u8>().add(bytes.len()), 0, true);
        clear_counts(work, true);
    }
    // What is not part of the lengths of numbers is as long as it is.
    let whole = (text.len() - start) as u128;
    let fixed = whole.wrapping_sub(length.value);
    expr::add(length, Val::concrete(fixed, 32))
}

/// Whether any argument, or any string that is printed, depends on the input.
unsafe fn any_symbolic(work: &Work) -> bool {
    work.directives().iter().any(|d| {
        let count = |c| work.count_value(c).is_some_and(Val::is_symbolic);
        let value = work.value(d.argument);
        count(d.width)
            || count(d.precision)
            || value.is_symbolic() && d.letter != b'p'
            || (d.letter == b's' || d.letter == b'S') && {
                let (p, n, ended) = string(work, d, value);
                !p.is_null() && shadow::any(p, n + usize::from(ended))
            }
    })
}

/// The string that is printed: where it lies, how many bytes of it, and whether its end was looked at.
unsafe fn string(work: &Work, d: &Directive, value: Val) -> (*const u8, usize, bool) {
    let p = value.value as usize as *const u8;
    if p.is_null() {
        return (p, 0, false);
    }
    let (_, _, precision) = work.numbers(d);
    if d.letter == b'S' || d.length == Length::Long {
        // Wide characters: only whether one of them depends on the input counts.
        let most = precision.map_or(usize::MAX, |p| p as usize);
        let mut n = 0;
        while n < most && *p.cast::<u32>().add(n) != 0 {
            n += 1;
        }
        return (p, 4 * n, false);
    }
    match precision {
        Some(most) => {
            let n = real::strnlen(p.cast(), most as usize);
            (p, n, n < most as usize)
        }
        None => (p, sys::strlen(p.cast()), true),
    }
}

/// What `%n` stored is concrete.
unsafe fn clear_counts(work: &Work, followed: bool) {
    if followed {
        for d in work.directives().iter().filter(|d| d.letter == b'n') {
            let p = work.value(d.argument).value as usize as *const u8;
            if !p.is_null() {
                shadow::clear(p, d.bytes());
            }
        }
    }
}

/// A part of the format itself; if it depends on the input, that it is not a conversion.
unsafe fn literal(text: &mut Text, site: u32, format: *const c_char, from: usize, to: usize) {
    let p = format.cast::<u8>().add(from);
    let n = to - from;
    text.memory(p, n);
    if shadow::any(p, n) {
        for i in 0..n {
            let byte = shadow::byte(p.add(i));
            if byte.is_symbolic() {
                let end = expr::bin(Op::Ne, byte, Val::concrete(0, 8));
                let percent = expr::bin(Op::Ne, byte, Val::concrete(b'%'.into(), 8));
                assume_once(site, ASSUME_VALUE, expr::and(end, percent));
            }
        }
    }
}

/// Adds what the real `vsnprintf` prints; gives its length.
unsafe fn append(text: &mut Text, format: *const c_char, list: &VaList, errno: c_int) -> usize {
    let saved = sys::Errno::save();
    let mut room = 256;
    let mut printed = 0;
    while let Some((to, size)) = text.room(room) {
        let mut list = *list;
        *sys::__errno_location() = errno;
        let n = real::vsnprintf(to.cast(), size, format, &mut list);
        let Ok(n) = usize::try_from(n) else {
            break;
        };
        if n < size {
            text.wrote(n);
            printed = n;
            break;
        }
        room = n + 1;
    }
    saved.restore();
    printed
}

/// Adds one conversion; gives the length of a number as an expression, or 0 if its length is fixed.
unsafe fn convert(
    text: &mut Text,
    site: u32,
    work: &Work,
    d: &Directive,
    name: &CStr,
    stored: bool,
    errno: c_int,
) -> Val {
    let nothing = Val::concrete(0, 32);
    for count in [d.width, d.precision] {
        if let Some(v) = work.count_value(count) {
            log::pin(site, ASSUME_LENGTH, v);
        }
    }
    let position = text.len();
    if d.letter == b'%' {
        text.plain(b"%");
        return nothing;
    }
    if d.letter == b'n' {
        return nothing;
    }
    let (spec, _) = work.text(d, Work::modifier(d));
    let place = if d.letter == b'm' {
        VaList::EMPTY
    } else {
        work.place(d.argument)
    };
    let len = append(text, spec.as_ptr().cast(), &place, errno);
    if d.letter == b'm' {
        return nothing;
    }
    let value = work.value(d.argument);
    let (flags, width, precision) = work.numbers(d);
    let left = flags & LEFT != 0;
    match d.letter {
        b's' if d.length != Length::Long => {
            log::pin(site, ASSUME_ADDRESS, value);
            let (p, n, ended) = string(work, d, value);
            if !p.is_null() {
                assume_length(site, p, n, ended);
                let from = if left {
                    position
                } else {
                    position + len.saturating_sub(n)
                };
                text.shadows(from, p, n);
            }
            nothing
        }
        b's' | b'S' => {
            let (p, n, _) = string(work, d, value);
            if value.is_symbolic() || !p.is_null() && shadow::any(p, n) {
                log::lose_in(Loss::Model, name);
            }
            nothing
        }
        b'c' if d.length != Length::Long => {
            let from = if left || len == 0 {
                position
            } else {
                position + len - 1
            };
            text.piece(from, 1, expr::extract(value, 0, 8).id, 0);
            nothing
        }
        b'p' => nothing,
        _ if !value.is_symbolic() => nothing,
        _ => {
            let long = width.unwrap_or(0).max(precision.unwrap_or(0)) > MAX_FIELD;
            let number = if d.integer().is_some() {
                (flags & LOCAL == 0).then(|| expr::extract(value, 0, d.bytes() as u16 * 8))
            } else {
                (d.float() && flags & LOCAL == 0 && plain_radix()).then_some(value)
            };
            let modifier: &[u8] = if d.float() { b"" } else { b"ll" };
            let (spec, spec_len) = work.text(d, modifier);
            let blob = match number {
                Some(_) if !long => table::conversion(spec.get(..spec_len).unwrap_or(&[])),
                _ => None,
            };
            let (Some(number), Some(blob)) = (number, blob) else {
                log::lose_in(Loss::Model, name);
                return nothing;
            };
            if number.id == 0 {
                return nothing;
            }
            text.piece(position, len, number.id, blob);
            let length = expr::indexed(Op::RenderLen, 32, number, blob, 0, len as u128);
            if stored {
                let same = expr::eq(length, Val::concrete(len as u128, 32));
                assume_once(site, ASSUME_LENGTH, same);
                return nothing;
            }
            length
        }
    }
}

/// Whether the locale has a point where the reader of traces expects one.
unsafe fn plain_radix() -> bool {
    const RADIX: c_int = 0x1_0000;
    let found = real::nl_langinfo(RADIX);
    found.is_null() || CStr::from_ptr(found) == c"."
}

/// Where something is printed.
#[derive(Clone, Copy)]
enum To {
    Stream(*mut File),
    Descriptor(c_int),
}

/// `flag` is that of a checked variant, or -1; `index` the number of the format among the arguments.
unsafe fn print(
    mut call: Call,
    to: To,
    flag: c_int,
    index: usize,
    format: *const c_char,
    list: *mut VaList,
    name: &CStr,
) -> c_int {
    let own_list = *list;
    let errno = *sys::__errno_location();
    let result = call.outside(|| match to {
        To::Stream(file) if flag < 0 => real::vfprintf(file, format, list),
        To::Stream(file) => real::__vfprintf_chk(file, flag, format, list),
        To::Descriptor(fd) if flag < 0 => real::vdprintf(fd, format, list),
        To::Descriptor(fd) => real::__vdprintf_chk(fd, flag, format, list),
    });
    if !call.recorded() || result < 0 || format.is_null() {
        call.result_id(0);
        return result;
    }
    let saved = sys::Errno::save();
    pin_address(&call, index, format as usize);
    let channel = match to {
        To::Stream(file) => {
            // Not `printf`, nor its checked variant.
            if index > usize::from(flag >= 0) {
                pin_address(&call, 0, file as usize);
            }
            channel_of(file)
        }
        To::Descriptor(fd) => {
            log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
            let found = channel::descriptor(fd);
            found.written();
            if (found.channel == 1 || found.channel == 2) && pending(found.channel) {
                // What was printed before is still in the stream's buffer: it comes after this.
                log::lose_in(Loss::Stream, name);
            }
            found.channel
        }
    };
    let text = &mut (*own()).text;
    text.clear();
    *sys::__errno_location() = errno;
    let length = render(text, call.site, format, &own_list, name, Use::Printed);
    if length.value as usize != result as usize && !text.failed {
        // Something in the format was not understood: the bytes are right, who made them is unknown.
        let symbolic = !text.pieces().is_empty();
        text.clear();
        append(text, format, &own_list, errno);
        if symbolic {
            log::lose_in(Loss::Mismatch, name);
        }
        call.result_id(0);
    } else {
        call.result(length);
    }
    text.record(call.site, channel, name);
    saved.restore();
    result
}

/// For the variadic functions of `entry.c`: prints to a stream. `own` is the address of the function
/// that the program called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_vfprintf(
    own: *const c_void,
    file: *mut File,
    flag: c_int,
    index: u32,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    print(
        Call::take(own),
        To::Stream(file),
        flag,
        index as usize,
        format,
        list,
        c"printf",
    )
}

/// As [`bgr_vfprintf`], to a descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_vdprintf(
    own: *const c_void,
    fd: c_int,
    flag: c_int,
    index: u32,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    print(
        Call::take(own),
        To::Descriptor(fd),
        flag,
        index as usize,
        format,
        list,
        c"dprintf",
    )
}

/// `vprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vprintf(format: *const c_char, list: *mut VaList) -> c_int {
    let call = Call::take(bg_x_vprintf as *const c_void);
    print(
        call,
        To::Stream(real::stdout),
        -1,
        0,
        format,
        list,
        c"vprintf",
    )
}

/// `vfprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vfprintf(
    file: *mut File,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let call = Call::take(bg_x_vfprintf as *const c_void);
    print(call, To::Stream(file), -1, 1, format, list, c"vfprintf")
}

/// `vdprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vdprintf(
    fd: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let call = Call::take(bg_x_vdprintf as *const c_void);
    print(call, To::Descriptor(fd), -1, 1, format, list, c"vdprintf")
}

/// `__vprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vprintf_chk(
    flag: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let call = Call::take(bg_x___vprintf_chk as *const c_void);
    let to = To::Stream(real::stdout);
    print(call, to, flag.max(0), 1, format, list, c"vprintf")
}

/// `__vfprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vfprintf_chk(
    file: *mut File,
    flag: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let call = Call::take(bg_x___vfprintf_chk as *const c_void);
    print(
        call,
        To::Stream(file),
        flag.max(0),
        2,
        format,
        list,
        c"vfprintf",
    )
}

/// `__vdprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vdprintf_chk(
    fd: c_int,
    flag: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let call = Call::take(bg_x___vdprintf_chk as *const c_void);
    print(
        call,
        To::Descriptor(fd),
        flag.max(0),
        2,
        format,
        list,
        c"vdprintf",
    )
}

/// Whether the stream has bytes that were not written yet.
pub unsafe fn pending(channel: u32) -> bool {
    let file = if channel == 1 {
        real::stdout
    } else {
        real::stderr
    };
    !file.is_null() && stream::descriptor(file) >= 0 && real::__fpending(file) > 0
}
