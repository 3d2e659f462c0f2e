//! Gates of one bit; equal ones are one, and constants are folded.

use std::ops::Not;

use rustc_hash::FxHashMap;

use crate::variable::Variable;

/// The output of a gate, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Bit(u32);

impl Bit {
    /// Always 0.
    pub(crate) const FALSE: Bit = Bit(0);
    /// Always 1.
    pub(crate) const TRUE: Bit = Bit(1);

    /// The output of the gate with this number.
    pub(crate) fn of_gate(gate: usize) -> Bit {
        Bit((gate as u32) << 1)
    }

    /// The number of the gate.
    pub(crate) fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether it is the negation of the gate's output.
    pub(crate) fn is_negative(self) -> bool {
        self.0 & 1 == 1
    }

    /// Its negation if `negate`.
    pub(crate) fn negate_if(self, negate: bool) -> Bit {
        Bit(self.0 ^ u32::from(negate))
    }

    /// Its value, if it is constant.
    pub(crate) fn constant(self) -> Option<bool> {
        (self.gate() == 0).then(|| self.is_negative())
    }
}

impl From<bool> for Bit {
    fn from(value: bool) -> Self {
        Bit(value.into())
    }
}

impl Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

/// What computes one bit. Operands are outputs of gates with smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Gate {
    /// Always 0; only gate 0.
    Zero,
    /// This bit of a variable.
    Input(Variable, u32),
    /// Both.
    And(Bit, Bit),
    /// Exactly one.
    Xor(Bit, Bit),
    /// The second if the first is 1, else the third.
    Mux(Bit, Bit, Bit),
    /// At least two.
    Majority(Bit, Bit, Bit),
}

impl Gate {
    /// The operands.
    pub(crate) fn operands(self) -> impl Iterator<Item = Bit> + Clone {
        let (operands, count) = match self {
            Gate::Zero | Gate::Input(..) => ([Bit::FALSE; 3], 0),
            Gate::And(a, b) | Gate::Xor(a, b) => ([a, b, Bit::FALSE], 2),
            Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => ([a, b, c], 3),
        };
        operands.into_iter().take(count)
    }

    /// The same gate with other operands.
    pub(crate) fn map(self, mut of: impl FnMut(Bit) -> Bit) -> Gate {
        match self {
            Gate::Zero | Gate::Input(..) => self,
            Gate::And(a, b) => Gate::And(of(a), of(b)),
            Gate::Xor(a, b) => Gate::Xor(of(a), of(b)),
            Gate::Mux(a, b, c) => Gate::Mux(of(a), of(b), of(c)),
            Gate::Majority(a, b, c) => Gate::Majority(of(a), of(b), of(c)),
        }
    }
}

/// All gates, operands first.
#[derive(Debug)]
pub(crate) struct Gates {
    gates: Vec<Gate>,
    index: FxHashMap<Gate, u32>,
}

impl Gates {
    /// Only the constant.
    pub(crate) fn new() -> Self {
        Self {
            gates: vec![Gate::Zero],
            index: FxHashMap::default(),
        }
    }

    /// How many gates there are.
    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }

    /// The gate with this number.
    pub(crate) fn get(&self, gate: usize) -> Gate {
        self.gates[gate]
    }

    /// How many bytes the gates take, about.
    pub(crate) fn memory(&self) -> usize {
        let entry = size_of::<Gate>() + size_of::<u32>() + 1;
        self.gates.capacity() * size_of::<Gate>() + self.index.capacity() * entry * 8 / 7
    }

    fn add(&mut self, gate: Gate) -> Bit {
        let next = self.gates.len();
        let number = *self.index.entry(gate).or_insert(next as u32);
        if number as usize == next {
            self.gates.push(gate);
        }
        Bit::of_gate(number as usize)
    }

    /// A bit of a variable.
    pub(crate) fn input(&mut self, variable: Variable, bit: u32) -> Bit {
        self.add(Gate::Input(variable, bit))
    }

    /// Whether both are 1.
    pub(crate) fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Bit::FALSE || a == !b {
            return Bit::FALSE;
        }
        if a == Bit::TRUE || a == b {
            return b;
        }
        for (x, y) in [(a, b), (b, a)] {
            let Gate::And(p, q) = self.gates[y.gate()] else {
                continue;
            };
            let (same, opposite) = (p == x || q == x, p == !x || q == !x);
            match (y.is_negative(), same, opposite) {
                (false, true, _) => return y,
                (false, _, true) => return Bit::FALSE,
                (true, _, true) => return x,
                // The operands of a gate are not themselves of this form, so this ends at once.
                (true, true, _) => return self.and(x, if p == x { !q } else { !p }),
                _ => {}
            }
        }
        self.add(Gate::And(a, b))
    }

    /// Whether one is 1.
    pub(crate) fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// Whether exactly one is 1.
    pub(crate) fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let negate = a.is_negative() ^ b.is_negative();
        let (a, b) = (Bit(a.0 & !1), Bit(b.0 & !1));
        let (a, b) = (a.min(b), a.max(b));
        if a == b {
            return Bit::from(negate);
        }
        if a == Bit::FALSE {
            return b.negate_if(negate);
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.gates[y.gate()] {
                Gate::Xor(p, q) if p == x => return q.negate_if(negate),
                Gate::Xor(p, q) if q == x => return p.negate_if(negate),
                _ => {}
            }
        }
        self.add(Gate::Xor(a, b)).negate_if(negate)
    }

    /// Whether they are equal.
    pub(crate) fn same(&mut self, a: Bit, b: Bit) -> Bit {
        !self.xor(a, b)
    }

    /// `then` if `choice` is 1, else `other`.
    pub(crate) fn mux(&mut self, choice: Bit, then: Bit, other: Bit) -> Bit {
        if choice.is_negative() {
            return self.mux(!choice, other, then);
        }
        if choice == Bit::FALSE || then == other {
            return other;
        }
        if then == !other {
            return self.xor(choice, other);
        }
        if then == choice || then == Bit::TRUE {
            return self.or(choice, other);
        }
        if then == !choice || then == Bit::FALSE {
            return self.and(!choice, other);
        }
        if other == choice || other == Bit::FALSE {
            return self.and(choice, then);
        }
        if other == !choice || other == Bit::TRUE {
            return self.or(!choice, then);
        }
        let negate = then.is_negative();
        let (then, other) = (then.negate_if(negate), other.negate_if(negate));
        self.add(Gate::Mux(choice, then, other)).negate_if(negate)
    }

    /// Whether at least two are 1.
    pub(crate) fn majority(&mut self, a: Bit, b: Bit, c: Bit) -> Bit {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        // Sorted, so equal gates are neighbours.
        if a.gate() == b.gate() {
            return if a == b { a } else { c };
        }
        if b.gate() == c.gate() {
            return if b == c { b } else { a };
        }
        match a.constant() {
            Some(false) => self.and(b, c),
            Some(true) => self.or(b, c),
            None => {
                let negate = a.is_negative();
                let [a, b, c] = all.map(|bit| bit.negate_if(negate));
                self.add(Gate::Majority(a, b, c)).negate_if(negate)
            }
        }
    }

    /// Whether all are 1.
    pub(crate) fn all(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        // A balanced tree, so that long ones do not become deep.
        let mut bits: Vec<Bit> = bits.into_iter().collect();
        while bits.len() > 1 {
            let pairs = bits.chunks(2).map(|pair| match *pair {
                [a, b] => self.and(a, b),
                _ => pair[0],
            });
            bits = pairs.collect();
        }
        bits.first().copied().unwrap_or(Bit::TRUE)
    }

    /// Whether one of them is 1.
    pub(crate) fn any(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        !self.all(bits.into_iter().map(Not::not))
    }
}
