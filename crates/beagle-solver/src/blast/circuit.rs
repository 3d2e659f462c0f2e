//! The part of all gates that a question is about, and its values for many inputs at once.

use super::gates::{Bit, Gate, Gates};
use crate::variable::Variable;

/// A bit for each of 256 inputs.
pub(crate) type Lanes = [u64; 4];

/// Where gates are in a [`Circuit`]; kept from one to the next, so that none costs more than its size.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    round: u32,
    /// By gate: the round in which it was met last, and its place.
    places: Vec<(u32, u32)>,
}

impl Marks {
    /// How many bytes they take.
    pub(crate) fn memory(&self) -> usize {
        self.places.capacity() * size_of::<(u32, u32)>()
    }

    fn next(&mut self, gates: usize) {
        self.places.resize(gates, (0, 0));
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.places.fill((0, 0));
            self.round = 1;
        }
    }

    fn place(&self, gate: usize) -> Option<u32> {
        let (round, place) = self.places[gate];
        (round == self.round).then_some(place)
    }
}

/// A few bits with the gates that they depend on.
#[derive(Debug)]
pub(crate) struct Circuit {
    /// The gates, operands first; operands are places in this list.
    steps: Vec<Gate>,
    /// The numbers of the gates among all.
    numbers: Vec<u32>,
    /// The bits that it was made for, by place.
    roots: Vec<Bit>,
    /// Its variables in ascending order, each with the places of its bits and their index.
    variables: Vec<(Variable, Vec<(u32, u32)>)>,
}

impl Circuit {
    /// The gates that these bits depend on.
    pub(crate) fn new(gates: &Gates, marks: &mut Marks, roots: &[Bit]) -> Self {
        marks.next(gates.len());
        let mut circuit = Self {
            steps: Vec::new(),
            numbers: Vec::new(),
            roots: Vec::new(),
            variables: Vec::new(),
        };
        let mut inputs = Vec::new();
        let mut todo = Vec::new();
        for &root in roots {
            todo.push(root.gate());
            while let Some(&gate) = todo.last() {
                if marks.place(gate).is_some() {
                    todo.pop();
                    continue;
                }
                let before = todo.len();
                let content = gates.get(gate);
                let operands = content.operands().map(Bit::gate);
                todo.extend(operands.filter(|&gate| marks.place(gate).is_none()));
                if todo.len() > before {
                    continue;
                }
                todo.pop();
                let place = circuit.steps.len() as u32;
                marks.places[gate] = (marks.round, place);
                if let Gate::Input(variable, bit) = content {
                    inputs.push((variable, place, bit));
                }
                circuit.steps.push(content.map(|bit| at_place(marks, bit)));
                circuit.numbers.push(gate as u32);
            }
            circuit.roots.push(at_place(marks, root));
        }
        inputs.sort_unstable();
        for (variable, place, bit) in inputs {
            match circuit.variables.last_mut() {
                Some((last, bits)) if *last == variable => bits.push((place, bit)),
                _ => circuit.variables.push((variable, vec![(place, bit)])),
            }
        }
        circuit
    }

    /// How many gates there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The gates, operands first; operands are places in this list.
    pub(super) fn steps(&self) -> &[Gate] {
        &self.steps
    }

    /// The bits that it was made for, by place.
    pub(super) fn roots(&self) -> &[Bit] {
        &self.roots
    }

    /// The numbers of the gates among all, operands first.
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// The variables in ascending order.
    pub(crate) fn variables(&self) -> impl Iterator<Item = Variable> {
        self.variables.iter().map(|&(variable, _)| variable)
    }

    /// The number among all gates of each bit of a variable that matters, with its index; the
    /// variable by its place among [`Self::variables`].
    pub(crate) fn variable_bits(&self, variable: usize) -> impl Iterator<Item = (Bit, u32)> {
        let bits = self.variables[variable].1.iter();
        bits.map(|&(place, bit)| (self.global(place), bit))
    }

    fn global(&self, place: u32) -> Bit {
        Bit::of_gate(self.numbers[place as usize] as usize)
    }

    /// Which of the variables these roots depend on.
    pub(crate) fn reached(&self, roots: impl Iterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.steps.len()];
        for root in roots {
            reached[self.roots[root].gate()] = true;
        }
        for at in (0..self.steps.len()).rev() {
            if reached[at] {
                for operand in self.steps[at].operands() {
                    reached[operand.gate()] = true;
                }
            }
        }
        let of_variable = |(_, bits): &(Variable, Vec<(u32, u32)>)| {
            bits.iter().any(|&(place, _)| reached[place as usize])
        };
        self.variables.iter().map(of_variable).collect()
    }

    /// Sets the bits of a variable in all lanes.
    pub(crate) fn set(&self, values: &mut Vec<Lanes>, variable: usize, value: u128) {
        values.resize(self.steps.len(), [0; 4]);
        for &(place, bit) in &self.variables[variable].1 {
            let set = value >> bit & 1 == 1;
            values[place as usize] = [if set { u64::MAX } else { 0 }; 4];
        }
    }

    /// Sets a variable to its own value in each lane.
    pub(crate) fn set_lanes(
        &self,
        values: &mut Vec<Lanes>,
        variable: usize,
        value: impl Fn(usize) -> u128,
    ) {
        values.resize(self.steps.len(), [0; 4]);
        let all: Vec<u128> = (0..256).map(value).collect();
        for &(place, bit) in &self.variables[variable].1 {
            let lanes = &mut values[place as usize];
            for (word, values) in lanes.iter_mut().zip(all.chunks(64)) {
                let bits = values.iter().enumerate();
                *word = bits.fold(0, |word, (lane, value)| {
                    word | ((value >> bit & 1) as u64) << lane
                });
            }
        }
    }

    /// Sets a variable of 8 bits to each of its values, in the lane of that number.
    pub(crate) fn set_every_byte(&self, values: &mut Vec<Lanes>, variable: usize) {
        values.resize(self.steps.len(), [0; 4]);
        const ALL: u64 = u64::MAX;
        for &(place, bit) in &self.variables[variable].1 {
            values[place as usize] = match bit {
                // Runs of as many zeros, then ones, as the bit is worth.
                0..6 => [(ALL / ((1 << (1 << bit)) + 1)) << (1 << bit); 4],
                6 => [0, ALL, 0, ALL],
                _ => [0, 0, ALL, ALL],
            };
        }
    }

    /// Computes all gates from the bits of the variables.
    pub(crate) fn run(&self, values: &mut Vec<Lanes>) {
        values.resize(self.steps.len(), [0; 4]);
        for (at, step) in self.steps.iter().enumerate() {
            let of = |bit: Bit| read(values, bit);
            values[at] = match *step {
                Gate::Zero => [0; 4],
                Gate::Input(..) => continue,
                Gate::And(a, b) => {
                    let (a, b) = (of(a), of(b));
                    lanes(|word| a[word] & b[word])
                }
                Gate::Xor(a, b) => {
                    let (a, b) = (of(a), of(b));
                    lanes(|word| a[word] ^ b[word])
                }
                Gate::Mux(choice, a, b) => {
                    let (choice, a, b) = (of(choice), of(a), of(b));
                    lanes(|word| choice[word] & a[word] | !choice[word] & b[word])
                }
                Gate::Majority(a, b, c) => {
                    let (a, b, c) = (of(a), of(b), of(c));
                    lanes(|word| a[word] & b[word] | c[word] & (a[word] | b[word]))
                }
            };
        }
    }

    /// The value of a bit that the circuit was made for.
    pub(crate) fn root(&self, values: &[Lanes], root: usize) -> Lanes {
        read(values, self.roots[root])
    }

    /// The lanes in which all the bits that it was made for are 1.
    pub(crate) fn all(&self, values: &[Lanes]) -> Lanes {
        let mut all = [u64::MAX; 4];
        for &root in &self.roots {
            let root = read(values, root);
            all = lanes(|word| all[word] & root[word]);
        }
        all
    }
}

fn at_place(marks: &Marks, bit: Bit) -> Bit {
    let place = marks.place(bit.gate()).unwrap_or(0);
    Bit::of_gate(place as usize).negate_if(bit.is_negative())
}

#[inline]
fn read(values: &[Lanes], bit: Bit) -> Lanes {
    let negate = if bit.is_negative() { u64::MAX } else { 0 };
    let value = &values[bit.gate()];
    lanes(|word| value[word] ^ negate)
}

/// A loop that the compiler makes one operation of; it does not of `map`.
#[inline]
fn lanes(of: impl Fn(usize) -> u64) -> Lanes {
    let mut lanes = [0; 4];
    for (word, lane) in lanes.iter_mut().enumerate() {
        *lane = of(word);
    }
    lanes
}
