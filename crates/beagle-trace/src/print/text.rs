//! Numbers, characters and names as text.

use crate::arithmetic::Value;
use crate::node::mask;

/// Strings up to this length are shown as they are.
const MAX_STRING: usize = 32;
/// Numbers from here on are easier to read by their digits of four bits.
const LARGE: u128 = 1 << 33;
/// Negative numbers down to this are probably meant to be negative.
const SMALL_NEGATIVE: i128 = -(1 << 15);

pub(super) fn sign_extend(value: u128, width: u16) -> i128 {
    let bits = value & mask(width);
    Value { bits, width }.signed()
}

pub(super) fn signed(value: u128, width: u16) -> String {
    match width {
        1 => value.to_string(),
        _ => {
            let value = sign_extend(value, width);
            let sign = if value < 0 { "-" } else { "" };
            format!("{sign}{}", unsigned(value.unsigned_abs()))
        }
    }
}

pub(super) fn unsigned(value: u128) -> String {
    if value >= LARGE {
        format!("{value:#x}")
    } else {
        value.to_string()
    }
}

/// With sign if that makes a small negative number.
pub(super) fn either(value: u128, width: u16) -> String {
    if width >= 8 && (SMALL_NEGATIVE..0).contains(&sign_extend(value, width)) {
        signed(value, width)
    } else {
        unsigned(value)
    }
}

/// As operands of bitwise operators are written.
pub(super) fn bits(value: u128) -> String {
    if value < 10 {
        value.to_string()
    } else {
        format!("{value:#x}")
    }
}

pub(super) fn float(value: u128, width: u16) -> String {
    if width == 32 {
        format!("{:?}", f32::from_bits(value as u32))
    } else {
        format!("{:?}", f64::from_bits(value as u64))
    }
}

/// A character, if the number is one. What is not printed is written as such only if it is compared
/// for equality.
pub(super) fn character(value: u128, width: u16, equality: bool) -> Option<String> {
    let number = sign_extend(value, width);
    let number = if number < 0 && width == 8 {
        value as i128
    } else {
        number
    };
    let byte = u8::try_from(number).ok()?;
    let shown = match byte {
        0 if equality => "\\0".into(),
        b'\n' | b'\t' | b'\r' if equality => byte.escape_ascii().to_string(),
        b'"' => "\"".into(),
        b' '..=b'~' => byte.escape_ascii().to_string(),
        _ => return None,
    };
    Some(format!("'{shown}'"))
}

/// A table that is a short string.
pub(super) fn string(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    let printable = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    (printable && (1..=MAX_STRING).contains(&bytes.len())).then(|| quoted(bytes))
}

/// A string as C writes it.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    format!("\"{}\"", text.replace("\\'", "'"))
}

/// The name of a file or variable, in quotes if it could be taken for something else.
pub(super) fn name(bytes: &[u8]) -> String {
    let plain = |&byte: &u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        format!("\"{}\"", bytes.escape_ascii())
    }
}
