//! What follows from bits being 1, gate by gate, without any trial.
//!
//! Many questions without an answer are seen to have none in this way, in less time than it takes to
//! make their gates known to a SAT solver.

use super::circuit::Circuit;
use super::gates::{Bit, Gate};

/// To have fewer of the bits that conflict is worth visiting so many gates.
const FEWER_GATES: usize = 1 << 14;

/// The eight values of three operands: in which of them each is 1.
const OPERANDS: [u8; 3] = [0b1010_1010, 0b1100_1100, 0b1111_0000];

/// Why a gate has its value.
#[derive(Clone, Copy, Debug)]
enum Reason {
    /// It is always so.
    None,
    /// It is one of the bits that must be 1, by its place.
    Root(usize),
    /// Because of this gate, whose operand or output it is.
    Gate(u32),
}

/// Where the values of gates contradict each other.
enum Contradiction {
    /// At the operands and the output of this gate.
    Gate(u32),
    /// At this root: its gate has the other value.
    Root(usize),
}

/// The values of gates that are known so far.
struct Implied<'a> {
    circuit: &'a Circuit,
    users: &'a Users,
    /// By gate, and when it was found.
    values: Vec<Option<(bool, u32)>>,
    /// The gates with values and why they have them, in the order in which they were found.
    trail: Vec<(u32, Reason)>,
}

/// Which gates have a gate as an operand: for each the end of its part of the list.
struct Users {
    ends: Vec<u32>,
    list: Vec<u32>,
}

impl Users {
    fn new(steps: &[Gate]) -> Self {
        let mut ends = vec![0; steps.len() + 1];
        for operand in steps.iter().flat_map(|step| step.operands()) {
            ends[operand.gate() + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut list = vec![0; ends[steps.len()] as usize];
        // From here on the start of the next part, so that they are ends once all are filled in.
        for (at, step) in steps.iter().enumerate() {
            for operand in step.operands() {
                let next = &mut ends[operand.gate()];
                list[*next as usize] = at as u32;
                *next += 1;
            }
        }
        Self { ends, list }
    }

    fn of(&self, gate: u32) -> std::ops::Range<usize> {
        let start = match gate {
            0 => 0,
            gate => self.ends[gate as usize - 1],
        };
        start as usize..self.ends[gate as usize] as usize
    }
}

impl Circuit {
    /// Some of the bits that it was made for, by place, that are seen not to be 1 all at once.
    pub(crate) fn contradiction(&self) -> Option<Vec<usize>> {
        let users = Users::new(self.steps());
        let all: Vec<usize> = (0..self.roots().len()).collect();
        let mut core = Implied::among(self, &users, &all)?;
        let mut left = FEWER_GATES;
        let mut at = 0;
        while at < core.len() && core.len() > 1 {
            let Some(rest) = left.checked_sub(self.len()) else {
                break;
            };
            left = rest;
            let mut without = core.clone();
            without.remove(at);
            match Implied::among(self, &users, &without) {
                Some(smaller) => core = smaller,
                None => at += 1,
            }
        }
        Some(core)
    }
}

impl<'a> Implied<'a> {
    /// Those of these roots that are seen to contradict each other, in ascending order.
    fn among(circuit: &'a Circuit, users: &'a Users, roots: &[usize]) -> Option<Vec<usize>> {
        let mut implied = Self {
            circuit,
            users,
            values: vec![None; circuit.len()],
            trail: Vec::new(),
        };
        let found = implied.propagate(roots)?;
        Some(implied.roots_of(found))
    }

    fn propagate(&mut self, roots: &[usize]) -> Option<Contradiction> {
        let circuit = self.circuit;
        for (at, step) in circuit.steps().iter().enumerate() {
            if *step == Gate::Zero {
                self.assign(Bit::of_gate(at), false, Reason::None);
            }
        }
        for &root in roots {
            let bit = circuit.roots()[root];
            match self.value(bit) {
                Some(true) => {}
                Some(false) => return Some(Contradiction::Root(root)),
                None => self.assign(bit, true, Reason::Root(root)),
            }
        }
        let mut next = 0;
        while let Some(&(gate, _)) = self.trail.get(next) {
            next += 1;
            if !self.visit(gate) {
                return Some(Contradiction::Gate(gate));
            }
            for at in self.users.of(gate) {
                let user = self.users.list[at];
                if !self.visit(user) {
                    return Some(Contradiction::Gate(user));
                }
            }
        }
        None
    }

    fn value(&self, bit: Bit) -> Option<bool> {
        self.values[bit.gate()].map(|(value, _)| value != bit.is_negative())
    }

    fn assign(&mut self, bit: Bit, value: bool, reason: Reason) {
        let when = self.trail.len() as u32;
        self.values[bit.gate()] = Some((value != bit.is_negative(), when));
        self.trail.push((bit.gate() as u32, reason));
    }

    /// Finds what a gate tells of its operands and its output; whether they can be what they are.
    fn visit(&mut self, gate: u32) -> bool {
        let step = self.circuit.steps()[gate as usize];
        let [a, b, c] = OPERANDS;
        let result = match step {
            Gate::Zero | Gate::Input(..) => return true,
            Gate::And(..) => a & b,
            Gate::Xor(..) => a ^ b,
            Gate::Mux(..) => a & b | !a & c,
            Gate::Majority(..) => a & b | c & (a | b),
        };
        let operands = step.operands().zip(OPERANDS);
        let output = (Bit::of_gate(gate as usize), result);
        // The values of the operands that are possible.
        let mut left = u8::MAX;
        for (bit, ones) in operands.clone().chain([output]) {
            match self.value(bit) {
                Some(true) => left &= ones,
                Some(false) => left &= !ones,
                None => {}
            }
        }
        if left == 0 {
            return false;
        }
        for (bit, ones) in operands.chain([output]) {
            if self.value(bit).is_some() {
                continue;
            }
            if left & ones == 0 {
                self.assign(bit, false, Reason::Gate(gate));
            } else if left & !ones == 0 {
                self.assign(bit, true, Reason::Gate(gate));
            }
        }
        true
    }

    /// The roots that a contradiction follows from.
    fn roots_of(&self, contradiction: Contradiction) -> Vec<usize> {
        let mut roots = Vec::new();
        let mut needed = vec![false; self.trail.len()];
        match contradiction {
            Contradiction::Gate(gate) => self.need(gate, u32::MAX, &mut needed),
            Contradiction::Root(root) => {
                roots.push(root);
                let gate = self.circuit.roots()[root].gate();
                if let Some((_, when)) = self.values[gate] {
                    needed[when as usize] = true;
                }
            }
        }
        for when in (0..self.trail.len()).rev() {
            if !needed[when] {
                continue;
            }
            match self.trail[when].1 {
                Reason::None => {}
                Reason::Root(root) => roots.push(root),
                Reason::Gate(gate) => self.need(gate, when as u32, &mut needed),
            }
        }
        roots.sort_unstable();
        roots
    }

    /// Marks what was known of a gate before some time.
    fn need(&self, gate: u32, before: u32, needed: &mut [bool]) {
        let operands = self.circuit.steps()[gate as usize].operands();
        for bit in operands.chain([Bit::of_gate(gate as usize)]) {
            if let Some((_, when)) = self.values[bit.gate()]
                && when < before
            {
                needed[when as usize] = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::blast::{Blaster, Gates, Marks};
    use crate::clock::Moment;
    use crate::query::{Kind, Query};
    use crate::variable::Variable;

    /// The bits of some conditions, and the circuit of them.
    fn circuit(query: &Query) -> Option<(Vec<Bit>, Circuit)> {
        let deadline = Moment::now() + Duration::from_secs(60);
        let mut blaster = Blaster::new();
        let mut bits = Vec::new();
        for &condition in &query.conditions {
            let bit = blaster.encode(&query.pool, condition, deadline).ok()?[0];
            if bit.constant().is_none() {
                bits.push(bit);
            }
        }
        let circuit = Circuit::new(blaster.gates(), &mut Marks::default(), &bits);
        Some((bits, circuit))
    }

    #[test]
    fn contradictions_hold_for_all_values() {
        let (mut found, mut possible) = (0, 0);
        for seed in 0..600 {
            let query = Query::new(Kind::TINY, seed);
            let Some((bits, circuit)) = circuit(&query) else {
                continue;
            };
            let core = circuit.contradiction();
            let variables = circuit.variables().count();
            if variables == 0 || variables > 2 {
                continue;
            }
            // One variable in lanes, the other in turn.
            let mut lanes = Vec::new();
            let mut holds = false;
            for value in 0..256 {
                circuit.set(&mut lanes, variables - 1, value);
                circuit.set_every_byte(&mut lanes, 0);
                circuit.run(&mut lanes);
                let roots = core.clone().unwrap_or_else(|| (0..bits.len()).collect());
                let all = roots.iter().fold([u64::MAX; 4], |all, &root| {
                    let one = circuit.root(&lanes, root);
                    std::array::from_fn(|word| all[word] & one[word])
                });
                holds |= all != [0; 4];
            }
            if core.is_some() {
                assert!(!holds, "seed {seed}: {core:?}");
                found += 1;
            }
            possible += usize::from(holds);
        }
        assert!(found > 5 && possible > 50, "{found} and {possible}");
    }

    #[test]
    fn only_what_contradicts_is_named() {
        let mut gates = Gates::new();
        let [a, b, c] = [0, 1, 2].map(|number| gates.input(Variable(0), number));
        let both = gates.and(a, b);
        let choice = gates.mux(c, !a, !b);
        // Whatever the third is, one of the first two is 0.
        let roots = [c, both, choice];
        let circuit = Circuit::new(&gates, &mut Marks::default(), &roots);
        assert_eq!(circuit.contradiction(), Some(vec![1, 2]));
        let circuit = Circuit::new(&gates, &mut Marks::default(), &roots[..2]);
        assert_eq!(circuit.contradiction(), None);
    }
}
