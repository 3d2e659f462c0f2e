//! Circuits for numbers: bits in a slice, the lowest first.

use super::gates::{Bit, Gates};

/// The bits of a number, the lowest first.
pub(crate) type Word = Vec<Bit>;

/// The bits of a constant.
pub(crate) fn constant(width: usize, value: u128) -> Word {
    (0..width)
        .map(|at| Bit::from(at < 128 && value >> at & 1 == 1))
        .collect()
}

/// The value, if all bits are constant.
pub(crate) fn value(word: &[Bit]) -> Option<u128> {
    let bits = word.iter().enumerate();
    bits.map(|(at, bit)| bit.constant().map(|bit| u128::from(bit) << at))
        .sum()
}

/// All bits negated.
pub(crate) fn not(word: &[Bit]) -> Word {
    word.iter().map(|&bit| !bit).collect()
}

/// How many bits there are up to the highest that is not always 0.
pub(crate) fn significant(word: &[Bit]) -> usize {
    let highest = word.iter().rposition(|&bit| bit != Bit::FALSE);
    highest.map_or(0, |at| at + 1)
}

/// The highest bit.
pub(crate) fn sign(word: &[Bit]) -> Bit {
    word.last().copied().unwrap_or(Bit::FALSE)
}

impl Gates {
    /// `a + b + carry`, and the carry out.
    pub(crate) fn add_words(&mut self, a: &[Bit], b: &[Bit], carry: Bit) -> (Word, Bit) {
        let mut carry = carry;
        let sum = a.iter().zip(b).map(|(&x, &y)| {
            let half = self.xor(x, y);
            let sum = self.xor(half, carry);
            carry = self.majority(x, y, carry);
            sum
        });
        (sum.collect(), carry)
    }

    /// `a - b`, and whether there was nothing to borrow, that is, `a >= b`.
    pub(crate) fn subtract(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Bit) {
        self.add_words(a, &not(b), Bit::TRUE)
    }

    /// `-a` if `choice`, else `a`.
    fn negate_if(&mut self, choice: Bit, a: &[Bit]) -> Word {
        let flipped: Word = a.iter().map(|&bit| self.xor(bit, choice)).collect();
        let zero = constant(a.len(), 0);
        self.add_words(&flipped, &zero, choice).0
    }

    /// Bit by bit `a` if `choice`, else `b`.
    pub(crate) fn choose(&mut self, choice: Bit, a: &[Bit], b: &[Bit]) -> Word {
        let pairs = a.iter().zip(b);
        pairs.map(|(&x, &y)| self.mux(choice, x, y)).collect()
    }

    /// Whether `a == b`.
    pub(crate) fn equal(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        let same: Word = a.iter().zip(b).map(|(&x, &y)| self.same(x, y)).collect();
        self.all(same)
    }

    /// Whether `a < b`, unsigned.
    pub(crate) fn less(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        // The highest bit in which they differ decides. With a constant each step is one gate.
        let mut less = Bit::FALSE;
        for (&x, &y) in a.iter().zip(b) {
            less = self.majority(!x, y, less);
        }
        less
    }

    /// Whether `a < b`, signed.
    pub(crate) fn less_signed(&mut self, a: &[Bit], b: &[Bit]) -> Bit {
        // The order of signed numbers is that of unsigned ones with the sign flipped.
        let flip = |word: &[Bit]| {
            let mut word = word.to_vec();
            if let Some(sign) = word.last_mut() {
                *sign = !*sign;
            }
            word
        };
        self.less(&flip(a), &flip(b))
    }

    /// `a * b`, as wide as they.
    pub(crate) fn multiply(&mut self, a: &[Bit], b: &[Bit]) -> Word {
        if let Some(factor) = value(b) {
            return self.multiply_constant(a, factor);
        }
        if let Some(factor) = value(a) {
            return self.multiply_constant(b, factor);
        }
        // As few rows as possible.
        let rows = |word: &[Bit]| word.iter().filter(|&&bit| bit != Bit::FALSE).count();
        let (a, b) = if rows(a) < rows(b) { (b, a) } else { (a, b) };
        let width = a.len();
        let mut sum = constant(width, 0);
        for (at, &bit) in b.iter().enumerate() {
            if bit == Bit::FALSE {
                continue;
            }
            let row: Word = a[..width - at].iter().map(|&x| self.and(x, bit)).collect();
            let (high, _) = self.add_words(&sum[at..], &row, Bit::FALSE);
            sum.splice(at.., high);
        }
        sum
    }

    fn multiply_constant(&mut self, a: &[Bit], factor: u128) -> Word {
        // Digits 1, 0, -1 without neighbours, so that a run of ones takes two rows.
        let width = a.len();
        let mut sum = constant(width, 0);
        let mut rest = factor;
        for at in 0..width {
            if rest & 1 == 1 {
                let row = &a[..width - at];
                let negative = rest & 2 == 2;
                let high = if negative {
                    self.subtract(&sum[at..], row).0
                } else {
                    self.add_words(&sum[at..], row, Bit::FALSE).0
                };
                sum.splice(at.., high);
                // After a digit of -1 the rest is one more; at the very top that does not count.
                rest = (rest >> 1).wrapping_add(negative.into());
            } else {
                rest >>= 1;
            }
        }
        sum
    }

    /// The unsigned quotient and remainder; all ones and `a` for a divisor of 0.
    pub(crate) fn divide(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Word) {
        let width = a.len();
        // A remainder is below the divisor, so one bit more is enough for a step. Only for a divisor
        // of 0 it is wrong; then all comparisons hold and the quotient is as it should be.
        let divisor_width = significant(b);
        let mut quotient = constant(width, 0);
        let mut rest: Word = Vec::new();
        for at in (0..significant(a)).rev() {
            rest.insert(0, a[at]);
            rest.truncate(divisor_width + 1);
            let mut divisor = b[..divisor_width.min(rest.len())].to_vec();
            divisor.resize(rest.len(), Bit::FALSE);
            let (less, mut fits) = self.subtract(&rest, &divisor);
            // Bits of the divisor above the rest so far.
            for &bit in &b[rest.len().min(divisor_width)..divisor_width] {
                fits = self.and(fits, !bit);
            }
            rest = self.choose(fits, &less, &rest);
            quotient[at] = fits;
        }
        rest.resize(width, Bit::FALSE);
        let some = self.any(b.iter().copied());
        // Steps that were left out for zeros at the top of `a`.
        for bit in &mut quotient[significant(a)..] {
            *bit = !some;
        }
        (quotient, self.choose(some, &rest, a))
    }

    /// The signed quotient and remainder, rounded to zero.
    pub(crate) fn divide_signed(&mut self, a: &[Bit], b: &[Bit]) -> (Word, Word) {
        // For a divisor of 0 the unsigned quotient is all ones: -1, or 1 once negated for a
        // negative dividend, as it should be; so is the remainder.
        let (sign_a, sign_b) = (sign(a), sign(b));
        let (positive_a, positive_b) = (self.negate_if(sign_a, a), self.negate_if(sign_b, b));
        let (quotient, rest) = self.divide(&positive_a, &positive_b);
        let different = self.xor(sign_a, sign_b);
        (
            self.negate_if(different, &quotient),
            self.negate_if(sign_a, &rest),
        )
    }

    /// `a` shifted towards higher bits by `distance`, where bits `fill` move in; the same as wide as
    /// `a` for all greater distances.
    pub(crate) fn shift(&mut self, a: &[Bit], distance: &[Bit], fill: Bit) -> Word {
        let width = a.len();
        let mut word = a.to_vec();
        let mut beyond = Vec::new();
        for (stage, &choice) in distance.iter().enumerate() {
            if stage >= 16 || 1 << stage >= width {
                beyond.push(choice);
                continue;
            }
            let by = 1 << stage;
            let moved: Word = (0..width)
                .map(|at| if at < by { fill } else { word[at - by] })
                .collect();
            word = self.choose(choice, &moved, &word);
        }
        let beyond = self.any(beyond);
        self.choose(beyond, &vec![fill; width], &word)
    }

    /// `a` shifted towards lower bits, in the same way.
    pub(crate) fn shift_down(&mut self, a: &[Bit], distance: &[Bit], fill: Bit) -> Word {
        let reverse: Word = a.iter().rev().copied().collect();
        let mut word = self.shift(&reverse, distance, fill);
        word.reverse();
        word
    }

    /// The number of ones.
    pub(crate) fn count_ones(&mut self, a: &[Bit]) -> Word {
        let width = a.len();
        let mut sums: Vec<Word> = a.iter().map(|&bit| vec![bit]).collect();
        while sums.len() > 1 {
            let pairs = sums.chunks(2).map(|pair| match pair {
                [x, y] => {
                    let longer = x.len().max(y.len());
                    let widen = |word: &Word| {
                        let mut word = word.clone();
                        word.resize(longer, Bit::FALSE);
                        word
                    };
                    let (mut sum, carry) = self.add_words(&widen(x), &widen(y), Bit::FALSE);
                    sum.push(carry);
                    sum
                }
                _ => pair[0].clone(),
            });
            sums = pairs.collect();
        }
        let mut sum = sums.pop().unwrap_or_default();
        sum.resize(width, Bit::FALSE);
        sum
    }

    /// The number of zeros before the first one of these bits.
    pub(crate) fn count_zeros(&mut self, bits: impl DoubleEndedIterator<Item = Bit>) -> Word {
        let bits: Word = bits.collect();
        let width = bits.len();
        let mut count = constant(width, width as u128);
        for (at, &bit) in bits.iter().enumerate().rev() {
            count = self.choose(bit, &constant(width, at as u128), &count);
        }
        count
    }

    /// A comparison of floats of 32 or 64 bits: true if one of the `relations` holds: bit 0 equal,
    /// bit 1 greater, bit 2 less, bit 3 unordered.
    pub(crate) fn compare_floats(&mut self, a: &[Bit], b: &[Bit], relations: u32) -> Bit {
        let fraction = if a.len() == 32 { 23 } else { 52 };
        let top = a.len() - 1;
        let mut is_nan = |word: &[Bit]| {
            let most = self.all(word[fraction..top].iter().copied());
            let some = self.any(word[..fraction].iter().copied());
            self.and(most, some)
        };
        let nans = [is_nan(a), is_nan(b)];
        let unordered = self.any(nans);
        let magnitudes = a[..top].iter().chain(&b[..top]).copied();
        let zeros = !self.any(magnitudes);
        let same = self.equal(a, b);
        let equal = self.or(same, zeros);
        // Magnitudes count the other way if both are negative.
        let (up, down) = (
            self.less(&a[..top], &b[..top]),
            self.less(&b[..top], &a[..top]),
        );
        let if_negative = self.or(!b[top], down);
        let if_positive = self.and(!b[top], up);
        let below = self.mux(a[top], if_negative, if_positive);
        let less = self.and(below, !equal);
        let greater = self.and(!below, !equal);
        let ordered = [equal, greater, less].into_iter().enumerate();
        let named: Vec<Bit> = ordered
            .filter(|(at, _)| relations >> at & 1 == 1)
            .map(|(_, bit)| bit)
            .collect();
        let named = self.any(named);
        self.mux(unordered, Bit::from(relations & 8 != 0), named)
    }
}
