//! Random integer expressions and conditions.

use beagle_trace::op::Op;

use super::{Ingredient, Kind, Random, Recipe, Shelf, corner};

/// Widths as they occur, and some that do not.
const WIDTHS: &[u16] = &[
    1, 2, 3, 5, 7, 8, 8, 8, 8, 9, 13, 15, 16, 16, 17, 24, 31, 32, 32, 32, 32, 33, 48, 63, 64, 64,
    64,
];

/// Widths beyond a machine word.
const WIDE: &[u16] = &[65, 72, 96, 100, 127, 128];

/// What `printf` does here.
const CONVERSIONS: &[&str] = &["%lld", "%llu", "%llx", "%llX", "%llo", "%c"];

/// Makes a recipe.
pub(super) struct Maker<'a> {
    pub(super) random: &'a mut Random,
    pub(super) kind: Kind,
    pub(super) recipe: Recipe,
}

impl<'a> Maker<'a> {
    pub(super) fn new(random: &'a mut Random, kind: Kind) -> Self {
        let recipe = Recipe {
            conversions: CONVERSIONS.to_vec(),
            ..Recipe::default()
        };
        Self {
            random,
            kind,
            recipe,
        }
    }

    /// A recipe with random conditions.
    pub(super) fn conditions(mut self) -> Recipe {
        let count = 1 + self.random.below(self.kind.conditions);
        for _ in 0..count {
            let depth = 1 + self.random.below(self.kind.depth);
            let condition = self.condition(depth);
            self.recipe.conditions.push(condition);
        }
        self.recipe
    }

    pub(super) fn node(&mut self, op: Op, width: u16, operands: &[usize]) -> usize {
        let field = |at: usize| operands.get(at).copied().unwrap_or(0);
        self.recipe.add(Ingredient {
            op,
            width,
            a: field(0),
            b: field(1),
            c: field(2),
            value: 0,
        })
    }

    pub(super) fn constant(&mut self, width: u16, value: u128) -> usize {
        self.recipe.add(Ingredient {
            op: Op::Const,
            width,
            a: 0,
            b: 0,
            c: 0,
            value,
        })
    }

    fn corner(&mut self, width: u16) -> usize {
        let value = corner(self.random, width);
        self.constant(width, value)
    }

    pub(super) fn byte(&mut self) -> usize {
        let index = self.random.below(self.kind.bytes as usize);
        self.node(Op::Var, 8, &[index])
    }

    pub(super) fn width_of(&self, at: usize) -> u16 {
        self.recipe.ingredients[at].width
    }

    fn width(&mut self) -> u16 {
        if self.kind.wide && self.random.chance(6) {
            return self.random.pick(WIDE);
        }
        self.random.pick(WIDTHS)
    }

    /// The value at another width.
    pub(super) fn resized(&mut self, at: usize, width: u16) -> usize {
        let from = self.width_of(at);
        if from == width {
            at
        } else if from < width {
            let op = self.random.pick(&[Op::ZExt, Op::ZExt, Op::SExt]);
            self.node(op, width, &[at])
        } else {
            let low = match self.random.chance(70) {
                true => 0,
                false => self.random.below(usize::from(from - width) + 1),
            };
            self.node(Op::Extract, width, &[at, 0, low])
        }
    }

    fn leaf(&mut self, width: u16) -> usize {
        let at = match self.random.below(10) {
            0..3 => return self.corner(width),
            3 if self.kind.sizes => self.node(Op::Size, 64, &[]),
            4 if self.kind.sizes => self.node(Op::ArgCount, 32, &[]),
            _ => self.byte(),
        };
        self.resized(at, width)
    }

    /// An expression of this width.
    pub(super) fn expr(&mut self, width: u16, depth: usize) -> usize {
        if depth == 0 || self.random.chance(10) {
            return self.leaf(width);
        }
        let depth = depth - 1;
        match self.random.below(20) {
            0..6 => self.arithmetic(width, depth),
            6 => {
                let op = self.random.pick(&[Op::Shl, Op::LShr, Op::AShr]);
                let a = self.expr(width, depth);
                let b = match self.random.chance(60) {
                    true => {
                        let by = self.random.below(usize::from(width) + 2);
                        self.constant(width, by as u128 & beagle_trace::node::mask(width))
                    }
                    false => self.expr(width, depth),
                };
                self.node(op, width, &[a, b])
            }
            7 => {
                let condition = self.condition(depth);
                let (a, b) = (self.expr(width, depth), self.expr(width, depth));
                self.node(Op::Ite, width, &[condition, a, b])
            }
            8 | 9 => {
                let from = self.width();
                let inner = self.expr(from, depth);
                self.resized(inner, width)
            }
            10 if width > 1 => {
                let low = 1 + self.random.below(usize::from(width) - 1) as u16;
                let (a, b) = (self.expr(width - low, depth), self.expr(low, depth));
                self.node(Op::Concat, width, &[a, b])
            }
            11 => {
                let op = match width % 16 {
                    0 => self
                        .random
                        .pick(&[Op::Bswap, Op::Ctpop, Op::Ctlz, Op::Cttz]),
                    _ => self
                        .random
                        .pick(&[Op::Bitreverse, Op::Ctpop, Op::Ctlz, Op::Cttz]),
                };
                let a = self.expr(width, depth);
                self.node(op, width, &[a])
            }
            12 if width.is_multiple_of(8) && width <= 64 => self.lookup(width, depth),
            13 if width == 8 || width == 32 => self.text(width, depth),
            14..18 => {
                let at = self.shape(depth);
                self.resized(at, width)
            }
            18 => self.shared(width).unwrap_or_else(|| self.leaf(width)),
            _ => self.leaf(width),
        }
    }

    /// An earlier expression of this width.
    fn shared(&mut self, width: u16) -> Option<usize> {
        let ingredients = self.recipe.ingredients.iter().enumerate();
        let fit: Vec<usize> = ingredients
            .filter(|(_, ingredient)| ingredient.width == width)
            .map(|(at, _)| at)
            .collect();
        (!fit.is_empty()).then(|| self.random.pick(&fit))
    }

    fn arithmetic(&mut self, width: u16, depth: usize) -> usize {
        const OPS: &[Op] = &[
            Op::Add,
            Op::Add,
            Op::Sub,
            Op::Sub,
            Op::And,
            Op::Or,
            Op::Xor,
            Op::Mul,
            Op::UDiv,
            Op::SDiv,
            Op::URem,
            Op::SRem,
        ];
        let mut op = self.random.pick(OPS);
        let dear = matches!(op, Op::Mul | Op::UDiv | Op::SDiv | Op::URem | Op::SRem);
        // Products and quotients of wide unknowns take the solvers too long.
        let constant = dear && width > 16 && self.random.chance(90);
        if dear && width > 64 && op != Op::Mul {
            op = Op::Add;
        }
        let a = self.expr(width, depth);
        let b = match constant || self.random.chance(30) {
            true => self.corner(width),
            false => self.expr(width, depth),
        };
        match self.random.chance(20) {
            true => self.node(op, width, &[b, a]),
            false => self.node(op, width, &[a, b]),
        }
    }

    /// A look-up that stays inside of its table.
    fn lookup(&mut self, width: u16, depth: usize) -> usize {
        let bytes = usize::from(width / 8);
        let bits = 1 + self.random.below(4);
        let length = (1 << bits) - 1 + bytes;
        let index = self.expr(8, depth);
        let index = match self.random.chance(50) {
            true => {
                let last = self.constant(8, (1 << bits) - 1);
                self.node(Op::And, 8, &[index, last])
            }
            false => {
                let count = self.constant(8, 1 << bits);
                self.node(Op::URem, 8, &[index, count])
            }
        };
        let offset = self.node(Op::ZExt, 64, &[index]);
        let mut cells = Vec::new();
        if self.random.chance(40) {
            for at in 0..length as u32 {
                if self.random.chance(20) {
                    cells.push((at, self.expr(8, depth.min(1))));
                }
            }
        }
        let mut content: Vec<u8> = (0..length).map(|_| self.random.next() as u8).collect();
        for &(at, _) in &cells {
            content[at as usize] = 0;
        }
        self.recipe.shelves.push(Shelf {
            bytes: content,
            cells,
        });
        let table = self.recipe.shelves.len() - 1;
        self.node(Op::Lookup, width, &[offset, table])
    }

    fn text(&mut self, width: u16, depth: usize) -> usize {
        let conversion = self.random.below(CONVERSIONS.len());
        let from = self.random.pick(&[8, 8, 16, 9]);
        let value = self.expr(from, depth);
        let index = self.random.below(5);
        match width {
            8 => self.node(Op::RenderByte, 8, &[value, conversion, index]),
            _ => self.node(Op::RenderLen, 32, &[value, conversion]),
        }
    }

    /// What C programs do.
    fn shape(&mut self, depth: usize) -> usize {
        let byte = self.byte();
        match self.random.below(6) {
            0 => self.digit(byte),
            1 => {
                // Decimal digits to a number.
                let mut sum = self.digit(byte);
                for _ in 0..1 + self.random.below(3) {
                    let next = self.byte();
                    let digit = self.digit(next);
                    let ten = self.constant(32, 10);
                    let product = self.node(Op::Mul, 32, &[sum, ten]);
                    sum = self.node(Op::Add, 32, &[product, digit]);
                }
                sum
            }
            2 => {
                // tolower
                let upper = self.between(byte, b'A', b'Z');
                let distance = self.constant(8, 32);
                let lower = self.node(Op::Or, 8, &[byte, distance]);
                self.node(Op::Ite, 8, &[upper, lower, byte])
            }
            3 => {
                // Bytes to a word.
                let mut word = byte;
                for _ in 0..1 + self.random.below(3) {
                    let next = self.byte();
                    let width = self.width_of(word) + 8;
                    word = self.node(Op::Concat, width, &[next, word]);
                }
                word
            }
            4 => {
                // A step of a hash or checksum.
                let before = self.expr(32, depth.min(1));
                let factor = self.random.pick(&[31, 33, 65599, 16_777_619]);
                let factor = self.constant(32, factor);
                let wide = self.node(Op::ZExt, 32, &[byte]);
                let product = self.node(Op::Mul, 32, &[before, factor]);
                let op = self.random.pick(&[Op::Add, Op::Xor]);
                self.node(op, 32, &[product, wide])
            }
            _ => {
                let word = self.node(Op::ZExt, 32, &[byte]);
                let five = self.constant(32, 5);
                let high = self.node(Op::Shl, 32, &[word, five]);
                let low = self.node(Op::LShr, 32, &[word, five]);
                self.node(Op::Xor, 32, &[high, low])
            }
        }
    }

    fn digit(&mut self, byte: usize) -> usize {
        let word = self.node(Op::SExt, 32, &[byte]);
        let zero = self.constant(32, b'0'.into());
        self.node(Op::Sub, 32, &[word, zero])
    }

    fn between(&mut self, byte: usize, low: u8, high: u8) -> usize {
        let low = self.constant(8, low.into());
        let high = self.constant(8, high.into());
        let above = self.node(Op::Ule, 1, &[low, byte]);
        let below = self.node(Op::Ule, 1, &[byte, high]);
        self.node(Op::And, 1, &[above, below])
    }

    /// An expression of one bit.
    pub(super) fn condition(&mut self, depth: usize) -> usize {
        if self.kind.floats && self.random.chance(70) {
            return self.float_condition(depth);
        }
        match self.random.below(12) {
            0 if depth > 0 => {
                let op = self.random.pick(&[Op::And, Op::Or, Op::Xor]);
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                self.node(op, 1, &[a, b])
            }
            1 => {
                let byte = self.byte();
                let (low, high) = self
                    .random
                    .pick(&[(b'0', b'9'), (b'a', b'z'), (b' ', b'~')]);
                self.between(byte, low, high)
            }
            2 => {
                let byte = self.byte();
                let character = self.corner(8);
                self.node(Op::Eq, 1, &[byte, character])
            }
            _ => {
                const OPS: &[Op] = &[Op::Eq, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle];
                let op = self.random.pick(OPS);
                let width = self.width();
                let a = self.expr(width, depth);
                let b = match self.random.chance(50) {
                    true => self.corner(width),
                    false => self.expr(width, depth),
                };
                self.node(op, 1, &[a, b])
            }
        }
    }
}
