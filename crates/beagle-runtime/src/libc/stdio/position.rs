//! Where the program is in a source of the input, and how much is left: as expressions over the size.
//!
//! If the program sought position `base` and has since asked for bytes up to `wanted`, it is at
//! `wanted`, or at the end if the source ends before: `max(base, min(size, wanted))`. That holds for
//! sources of any size, so nothing needs to be assumed about the size, and an input can grow.

use beagle_trace::event::ASSUME_SIZE;
use beagle_trace::op::Op;

use crate::expr::{self, Val};
use crate::{input, log};

/// See the module.
#[derive(Clone, Copy)]
pub struct Position {
    /// The source.
    pub source: u32,
    base: u64,
    wanted: u64,
    /// Sought relative to the end; then the above are not known.
    from_end: Option<i64>,
    /// A node of which `wanted` is only right while it has its value; not yet logged.
    loose: u32,
    /// The most that was wanted since "end of file" was last forgotten; 0 for nothing.
    tried: u64,
}

fn word(value: u64) -> Val {
    Val::concrete(u128::from(value), 64)
}

impl Position {
    /// Nowhere.
    pub const NONE: Self = Self::at(0, 0);

    /// At this offset of the source.
    pub const fn at(source: u32, offset: u64) -> Self {
        Self {
            source,
            base: offset,
            wanted: offset,
            from_end: None,
            loose: 0,
            tried: 0,
        }
    }

    /// So far from the end.
    pub const fn at_end(source: u32, offset: i64) -> Self {
        Self {
            from_end: Some(offset),
            ..Self::at(source, 0)
        }
    }

    fn size(&self) -> Val {
        input::size(self.source)
    }

    /// Logs what must hold for `wanted` to be right; after this it is a number that reads can use.
    pub fn settle(&mut self, site: u32) {
        if self.loose != 0 {
            log::pin(site, ASSUME_SIZE, expr::node(self.loose));
            self.loose = 0;
        }
        if let Some(offset) = self.from_end {
            let size = self.size();
            log::pin(site, ASSUME_SIZE, size);
            *self = Self {
                tried: self.tried,
                ..Self::at(self.source, (size.value as u64).wrapping_add_signed(offset))
            };
        }
    }

    /// Logs what must hold for the position to be what it is now. For positions that are kept by
    /// something that has no expression.
    pub fn fix(&mut self, site: u32) {
        let here = self.tell();
        self.settle(site);
        log::pin(site, ASSUME_SIZE, here);
        *self = Self {
            tried: self.tried,
            ..Self::at(self.source, here.value as u64)
        };
    }

    /// The offset of the next byte; only right after [`Position::settle`], and past the end if the end
    /// was met.
    pub fn offset(&self) -> u64 {
        self.wanted
    }

    /// The position (64 bits).
    pub fn tell(&self) -> Val {
        if let Some(offset) = self.from_end {
            return expr::add(self.size(), word(offset as u64));
        }
        if self.wanted == self.base {
            return word(self.base);
        }
        let size = self.size();
        let end = if self.base == 0 {
            size
        } else {
            let short = expr::bin(Op::Ult, size, word(self.base));
            expr::ite(short, word(self.base), size)
        };
        let met = expr::bin(Op::Ult, size, word(self.wanted));
        expr::ite(met, end, word(self.wanted))
    }

    /// How many bytes are left (64 bits). After [`Position::settle`].
    pub fn left(&self) -> Val {
        let size = self.size();
        if self.wanted == 0 {
            return size;
        }
        let met = expr::bin(Op::Ult, size, word(self.wanted));
        expr::ite(met, word(0), expr::sub(size, word(self.wanted)))
    }

    /// How many bytes one gets who asks for `n` (64 bits).
    pub fn gets(&self, n: Val) -> Val {
        let left = self.left();
        expr::ite(expr::bin(Op::Ult, left, n), left, n)
    }

    /// Whether there is another byte (1 bit).
    pub fn more(&self) -> Val {
        expr::bin(Op::Ult, word(self.wanted), self.size())
    }

    /// So many bytes (64 bits) were asked for.
    pub fn advance(&mut self, n: Val) {
        let n_now = n.value as u64;
        self.wanted = self.wanted.saturating_add(n_now);
        if n_now != 0 {
            self.tried = self.tried.max(self.wanted);
        }
        self.loose = n.id;
    }

    /// The byte that was asked for last is put back, if there was one. Both ways one is where one was.
    pub fn back(&mut self) {
        self.wanted = self.wanted.saturating_sub(1);
        self.base = self.base.min(self.wanted);
    }

    /// "End of file" is forgotten.
    pub fn clear_end(&mut self) {
        self.tried = 0;
    }

    /// Whether someone has met the end (1 bit).
    pub fn met_end(&self) -> Val {
        if self.tried == 0 {
            return Val::concrete(0, 1);
        }
        expr::bin(Op::Ult, self.size(), word(self.tried))
    }
}
