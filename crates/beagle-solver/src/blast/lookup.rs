//! Circuits that read a table: a tree of choices over the bits of the offset.
//!
//! Equal parts of the table become the same gates, because equal gates are one.

use super::gates::Bit;
use super::words::{self, Word};
use super::{Blaster, MOST_GATES};
use crate::layer::Why;
use crate::pool::{Expr, Pool, Term};

/// The tree is made over at most this many bits of the offset.
const MOST_OFFSET_BITS: usize = 16;

impl Blaster {
    /// The bytes of a table at an offset; 0 where it reaches outside.
    pub(super) fn lookup(&mut self, pool: &Pool, term: &Term) -> Result<Word, Why> {
        let table = pool.table(term.b);
        let offset = self.operand(pool, term.a);
        let facts = pool.facts(Expr(term.a));
        let width = usize::from(term.width);
        let bytes = width.div_ceil(8);
        let outside = Ok(words::constant(width, 0));
        let Some(last) = table.bytes.len().checked_sub(bytes) else {
            return outside;
        };
        let (least, most) = (facts.min, facts.max.min(last as u64));
        if least > most {
            return outside;
        }
        // Above the highest bit in which the bounds differ, all offsets inside agree.
        let low = 64 - (least ^ most).leading_zeros() as usize;
        let mut base = least & !(u64::MAX.checked_shr(64 - low as u32).unwrap_or(0));
        let mut free = Vec::new();
        for (at, bit) in offset.iter().enumerate().take(low) {
            match bit.constant() {
                Some(value) => base |= u64::from(value) << at,
                None => free.push((at, *bit)),
            }
        }
        if free.len() > MOST_OFFSET_BITS {
            return Err(Why::Unsupported);
        }
        if width << free.len() > MOST_GATES * 8 {
            return Err(Why::Size);
        }
        let spread = |number: usize| {
            let bits = free.iter().enumerate();
            bits.fold(base, |all, (from, &(to, _))| {
                all | ((number >> from & 1) as u64) << to
            })
        };
        let offsets: Vec<u64> = (0..1 << free.len()).map(spread).collect();
        let mut word = Word::with_capacity(width);
        for at in 0..width {
            let leaves = offsets.iter().map(|&offset| {
                // Offsets that cannot be or are outside are free: the choice between them and
                // others is none.
                let inside = (least..=most).contains(&offset);
                inside.then(|| self.table_bit(pool, term.b, offset as usize + at / 8, at % 8))
            });
            let mut level: Vec<Option<Bit>> = leaves.collect();
            for &(_, choice) in &free {
                let pairs = level.chunks(2).map(|pair| match *pair {
                    [Some(other), Some(then)] => Some(self.gates.mux(choice, then, other)),
                    [other, then] => then.or(other),
                    _ => None,
                });
                level = pairs.collect();
            }
            word.push(level.first().copied().flatten().unwrap_or(Bit::FALSE));
        }
        if facts.max > last as u64 {
            let outside = self.gates.less(&words::constant(64, last as u128), &offset);
            for bit in &mut word {
                *bit = self.gates.and(*bit, !outside);
            }
        }
        Ok(word)
    }

    /// A bit of a byte of a table.
    fn table_bit(&self, pool: &Pool, table: u32, index: usize, at: usize) -> Bit {
        let table = pool.table(table);
        let cell = table.cell(index).and_then(|cell| self.known(pool, cell));
        match cell {
            Some(bits) => bits.get(at).copied().unwrap_or(Bit::FALSE),
            None => Bit::from(table.bytes[index] >> at & 1 == 1),
        }
    }
}
