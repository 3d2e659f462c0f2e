//! One conversion of `printf`, as the C library performs it.
//!
//! The text comes from the memory of the program under test, so it is taken apart and judged before
//! the C library gets to see it: a stray `%s` or `%n` would be the end of us.

use std::ffi::{CString, c_int, c_longlong, c_ulonglong};

use crate::node::mask;

/// The greatest width and precision; more would only be a way to spend our memory.
const MAX_FIELD: u32 = 1 << 20;

/// What a conversion takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Signed,
    Unsigned,
    Character,
    Float,
}

/// A conversion that is safe to perform.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    text: CString,
    takes: Takes,
}

impl Conversion {
    /// Takes apart a text such as `%-5lld`; `None` unless it is one conversion of a number with its
    /// length modifier `ll`, of a character, or of a `double`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('%')?;
        let rest = rest.trim_start_matches(['-', '+', ' ', '#', '0', '\'']);
        // A repeated flag is harmless, but no one writes many.
        (text.len() - rest.len() <= 16).then_some(())?;
        let rest = number(rest)?;
        let rest = match rest.strip_prefix('.') {
            Some(rest) => number(rest)?,
            None => rest,
        };
        let takes = match rest {
            "lld" | "lli" => Takes::Signed,
            "llu" | "llo" | "llx" | "llX" | "llb" | "llB" => Takes::Unsigned,
            "c" => Takes::Character,
            "a" | "A" | "e" | "E" | "f" | "F" | "g" | "G" => Takes::Float,
            _ => return None,
        };
        let text = CString::new(text).ok()?;
        Some(Self { text, takes })
    }

    /// Whether it can be performed on a value of this width in bits.
    pub(crate) fn takes(&self, width: u16) -> bool {
        match self.takes {
            Takes::Float => width == 32 || width == 64,
            _ => width <= 64,
        }
    }

    /// What `printf` makes of a value of this width.
    pub(crate) fn render(&self, value: u128, width: u16) -> Option<Vec<u8>> {
        let mut buffer = vec![0; 128];
        let length = self.print(&mut buffer, value, width)?;
        if length >= buffer.len() {
            buffer.resize(length + 1, 0);
            self.print(&mut buffer, value, width)?;
        }
        buffer.truncate(length);
        Some(buffer)
    }

    /// Prints into the buffer, as far as it reaches, and returns the length of the whole text.
    fn print(&self, buffer: &mut [u8], value: u128, width: u16) -> Option<usize> {
        if !self.takes(width) {
            return None;
        }
        let value = value & mask(width);
        let (text, size) = (self.text.as_ptr(), buffer.len());
        let out = buffer.as_mut_ptr().cast();
        // SAFETY: The text is one conversion, which takes one argument of exactly the type passed
        // (see `parse`), and `snprintf` writes no more than the size of the buffer.
        let length = unsafe {
            match self.takes {
                Takes::Signed => libc::snprintf(out, size, text, sign_extend(value, width)),
                Takes::Unsigned => libc::snprintf(out, size, text, value as c_ulonglong),
                Takes::Character => libc::snprintf(out, size, text, c_int::from(value as u8)),
                Takes::Float => libc::snprintf(out, size, text, double(value, width)),
            }
        };
        usize::try_from(length).ok()
    }
}

/// What `printf` makes of a value of this width in bits by a conversion such as `%5lld`: integers
/// are extended by the sign if the conversion is signed. `None` if it is not a conversion of a
/// number or character, or does not take such a value.
pub fn render(conversion: &str, value: u128, width: u16) -> Option<Vec<u8>> {
    Conversion::parse(conversion)?.render(value, width)
}

fn sign_extend(value: u128, width: u16) -> c_longlong {
    let unused = 64 - u32::from(width);
    (value as i64) << unused >> unused
}

fn double(value: u128, width: u16) -> f64 {
    if width == 32 {
        f64::from(f32::from_bits(value as u32))
    } else {
        f64::from_bits(value as u64)
    }
}

/// What follows a number, which may be missing; `None` if it is too large.
fn number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if !digits.is_empty() {
        let value: u32 = digits.parse().ok()?;
        (value <= MAX_FIELD).then_some(())?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(conversion: &str, value: u128, width: u16) -> String {
        let bytes = render(conversion, value, width).expect("a conversion");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn numbers_are_extended_by_the_sign_only_for_signed_conversions() {
        assert_eq!(text("%lld", 0xffff_ffff, 32), "-1");
        assert_eq!(text("%lld", 0xffff_ffff, 64), "4294967295");
        assert_eq!(text("%llu", 0xff, 8), "255");
    }

    #[test]
    fn conversions_do_what_printf_does() {
        assert_eq!(text("%5lld", 42, 32), "   42");
        assert_eq!(text("%-5lld", 42, 32), "42   ");
        assert_eq!(text("%05lld", 0xd6, 8), "-0042");
        assert_eq!(text("%llx", 0xffff_ffff, 32), "ffffffff");
        assert_eq!(text("%#llX", 255, 8), "0XFF");
        assert_eq!(text("%+.3lld", 7, 64), "+007");
        assert_eq!(text("%c", u128::from(b'x'), 8), "x");
        assert_eq!(text("%3c", 0x141, 32), "  A");
        assert_eq!(render("%c", 0, 8), Some(vec![0]));
        assert_eq!(text("%-8.3f", 1.5f64.to_bits().into(), 64), "1.500   ");
        assert_eq!(text("%g", 0.1f32.to_bits().into(), 32), "0.1");
        assert_eq!(text("%f", f64::MAX.to_bits().into(), 64).len(), 316);
        assert_eq!(text("%.300lld", 1, 8).len(), 300);
    }

    #[test]
    fn what_could_harm_us_is_not_a_conversion() {
        for bad in [
            "",
            "%",
            "%s",
            "%n",
            "%lln",
            "%d",
            "%ld",
            "%hhd",
            "%*lld",
            "%.*f",
            "%1$lld",
            "%llf",
            "%Lf",
            "%lld%s",
            "%lld ",
            " %lld",
            "%p",
            "%lc",
            "%99999999lld",
            "%.1048577f",
            "%m",
            "%lld\0",
            "%%",
            "%Ilx",
            "%--------------------lld",
        ] {
            assert_eq!(render(bad, 0, 64), None, "{bad:?}");
        }
        assert_eq!(render("%f", 0, 16), None);
        assert_eq!(render("%lld", 0, 65), None);
    }
}
