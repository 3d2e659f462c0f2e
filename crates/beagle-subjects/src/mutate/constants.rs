//! The constants that one might have written instead of a constant.

/// The replacements of a literal: one more, one less, zero, the other sign; a letter or digit
/// between quotes becomes its neighbours. A minus sign before the number is part of it. Keeps the
/// base and the suffix.
pub(super) fn variants(literal: &str) -> Vec<String> {
    let (negative, digits) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, literal),
    };
    let variants = if literal.starts_with('\'') {
        letters(literal)
    } else if let Some(integer) = Integer::parse(digits) {
        integers(&integer, negative)
    } else {
        floats(digits, negative)
    };
    let mut kept = Vec::new();
    for variant in variants {
        if variant != literal && !kept.contains(&variant) {
            kept.push(variant);
        }
    }
    kept
}

struct Integer<'s> {
    value: i128,
    radix: u32,
    suffix: &'s str,
}

impl<'s> Integer<'s> {
    fn parse(literal: &'s str) -> Option<Self> {
        let digits = literal.trim_end_matches(['u', 'U', 'l', 'L']);
        let suffix = &literal[digits.len()..];
        let lower = digits.to_ascii_lowercase();
        let (radix, digits) = match lower.strip_prefix("0x") {
            Some(rest) => (16, rest),
            None if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
            None => (10, &lower[..]),
        };
        // Below 2^64 in C, so that a neighbour cannot overflow here.
        let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
        Some(Self {
            value,
            radix,
            suffix,
        })
    }

    fn with(&self, value: i128) -> String {
        let (sign, size) = (if value < 0 { "-" } else { "" }, value.unsigned_abs());
        let suffix = self.suffix;
        match self.radix {
            16 if size != 0 => format!("{sign}{size:#x}{suffix}"),
            8 if size != 0 => format!("{sign}0{size:o}{suffix}"),
            _ => format!("{sign}{size}{suffix}"),
        }
    }
}

fn integers(integer: &Integer<'_>, negative: bool) -> Vec<String> {
    let value = if negative {
        -integer.value
    } else {
        integer.value
    };
    [value + 1, value - 1, 0, -value]
        .map(|other| integer.with(other))
        .into()
}

fn floats(digits: &str, negative: bool) -> Vec<String> {
    let minus = format!("-{digits}");
    let (itself, other) = if negative {
        (&*minus, digits)
    } else {
        (digits, &*minus)
    };
    vec![
        format!("({itself} + 1)"),
        format!("({itself} - 1)"),
        "0.0".into(),
        other.into(),
    ]
}

fn letters(literal: &str) -> Vec<String> {
    let &[b'\'', letter, b'\''] = literal.as_bytes() else {
        return Vec::new();
    };
    let neighbours = [letter.wrapping_add(1), letter.wrapping_sub(1)];
    let plain = |c: &u8| c.is_ascii_graphic() && !matches!(c, b'\'' | b'\\');
    neighbours
        .iter()
        .filter(|c| plain(c))
        .map(|&c| format!("'{}'", char::from(c)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::variants;

    #[test]
    fn an_integer_keeps_its_base_and_suffix() {
        assert_eq!(variants("10"), ["11", "9", "0", "-10"]);
        assert_eq!(variants("0xffUL"), ["0x100UL", "0xfeUL", "0UL", "-0xffUL"]);
        assert_eq!(variants("017"), ["020", "016", "0", "-017"]);
    }

    #[test]
    fn no_variant_is_given_twice_or_is_the_constant_itself() {
        assert_eq!(variants("1"), ["2", "0", "-1"]);
        assert_eq!(variants("0"), ["1", "-1"]);
        assert_eq!(variants("0x1"), ["0x2", "0", "-0x1"]);
    }

    #[test]
    fn a_minus_sign_belongs_to_the_constant() {
        assert_eq!(variants("-1"), ["0", "-2", "1"]);
        assert_eq!(variants("- 2.5")[2..], ["0.0", "2.5"]);
    }

    #[test]
    fn floats_and_letters_have_neighbours_too() {
        assert_eq!(variants("0.5"), ["(0.5 + 1)", "(0.5 - 1)", "0.0", "-0.5"]);
        assert_eq!(variants("'b'"), ["'c'", "'a'"]);
        assert_eq!(variants("'('"), ["')'"]);
        assert!(variants("'\\n'").is_empty());
    }

    #[test]
    fn the_largest_constant_does_not_overflow() {
        assert_eq!(variants("0xffffffffffffffff")[0], "0x10000000000000000");
    }
}
