//! Random numbers that are the same in every run.

/// A generator: xorshift with a multiplication.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator; equal seeds give equal numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// 128 random bits.
    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// A number less than that, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        // The bias is of no importance here.
        (self.next() >> 16) as usize % limit.max(1)
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A number from the range, ends included.
    pub(crate) fn between(&mut self, low: u128, high: u128) -> u128 {
        match (high - low).checked_add(1) {
            Some(count) => low + self.wide() % count,
            None => self.wide(),
        }
    }
}
