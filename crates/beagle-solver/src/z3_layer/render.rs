//! The text that `printf` makes of an integer, as terms of Z3.

use z3::ast::{BV, Bool};

use super::terms::{constant, resized};
use crate::facts::Facts;

/// The text of a number: an optional minus and digits, or one character.
pub(super) struct Text {
    /// Whether there is a minus.
    negative: Option<Bool>,
    /// The digits as characters, the lowest first.
    digits: Vec<BV>,
    /// For each count of digits from 2 on, whether there are at least so many.
    reaches: Vec<Bool>,
}

impl Text {
    /// The text of a value; `None` unless the conversion is one without flags, width and precision
    /// of an integer or character.
    pub(super) fn new(conversion: &str, value: &BV, facts: Facts) -> Option<Self> {
        let width = value.get_size();
        if width > 64 {
            return None;
        }
        let (base, letters) = match conversion {
            "%c" => return Some(Self::character(value)),
            "%lld" | "%lli" => return Some(Self::signed(value, facts)),
            "%llu" => (10, b'a'),
            "%llx" => (16, b'a'),
            "%llX" => (16, b'A'),
            "%llo" => (8, b'a'),
            "%llb" | "%llB" => (2, b'a'),
            _ => return None,
        };
        Some(Self::unsigned(value, facts.max, base, letters))
    }

    fn character(value: &BV) -> Self {
        Self {
            negative: None,
            digits: vec![resized(value, 8)],
            reaches: Vec::new(),
        }
    }

    fn signed(value: &BV, facts: Facts) -> Self {
        let width = value.get_size();
        let half = 1u64 << (width - 1);
        if facts.max < half {
            return Self::unsigned(value, facts.max, 10, b'a');
        }
        let negative = value.bvslt(constant(width, 0));
        // The least number is its own negation, and right as an unsigned number.
        let magnitude = negative.ite(&value.bvneg(), value);
        Self {
            negative: Some(negative),
            ..Self::unsigned(&magnitude, half, 10, b'a')
        }
    }

    fn unsigned(value: &BV, max: u64, base: u64, letters: u8) -> Self {
        // Division is dear, so it is done in as few bits as the value and the base need.
        let width = (64 - max.leading_zeros()).max(64 - base.leading_zeros());
        let mut rest = resized(value, width);
        let (mut digits, mut reaches) = (Vec::new(), Vec::new());
        let divisor = constant(width, base.into());
        let mut power = 1u64;
        loop {
            let digit = resized(&rest.bvurem(&divisor), 8);
            digits.push(character_of(&digit, letters));
            match power.checked_mul(base) {
                Some(next) if next <= max => power = next,
                _ => break,
            }
            reaches.push(constant(width, power.into()).bvule(resized(value, width)));
            rest = rest.bvudiv(&divisor);
        }
        Self {
            negative: None,
            digits,
            reaches,
        }
    }

    /// The length of the text.
    pub(super) fn length(&self, width: u32) -> BV {
        let one = |bit: &Bool| bit.ite(&constant(width, 1), &constant(width, 0));
        let more = self.reaches.iter().chain(&self.negative);
        more.fold(constant(width, 1), |sum, bit| sum.bvadd(one(bit)))
    }

    /// A byte of the text; 0 past its end.
    pub(super) fn byte(&self, index: u32) -> BV {
        let positive = self.digit_from_left(Some(index));
        let Some(negative) = &self.negative else {
            return positive;
        };
        let after_minus = match index {
            0 => constant(8, b'-'.into()),
            _ => self.digit_from_left(index.checked_sub(1)),
        };
        negative.ite(&after_minus, &positive)
    }

    /// The digit at this place from the left.
    fn digit_from_left(&self, index: Option<u32>) -> BV {
        let index = index.map_or(usize::MAX, |index| index as usize);
        // By the count of digits, which is at least 1.
        let of_count = |count: usize| match count.checked_sub(index.saturating_add(1)) {
            Some(place) => self.digits[place].clone(),
            None => constant(8, 0),
        };
        let reaches = self.reaches.iter().enumerate();
        reaches.fold(of_count(1), |fewer, (at, reached)| {
            reached.ite(&of_count(at + 2), &fewer)
        })
    }
}

fn character_of(digit: &BV, letters: u8) -> BV {
    let decimal = digit.bvadd(b'0');
    let letter = digit.bvadd(letters - 10);
    digit.bvult(10u8).ite(&decimal, &letter)
}
