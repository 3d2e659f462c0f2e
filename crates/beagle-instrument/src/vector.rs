//! Shadows of taking values apart and putting them together.

use beagle_llvm::{Instruction, IntPredicate, Type, TypeKind, Value};
use beagle_trace::layout::Loss;

use crate::function::Pass;
use crate::leaves::count;

/// The numbers of the scalars of a part, and of how many there are.
fn range(mut ty: Type<'_>, indices: &[u32]) -> Option<std::ops::Range<usize>> {
    let mut start = 0;
    for &index in indices {
        match ty.kind() {
            TypeKind::Struct(_, fields) => {
                let index = index as usize;
                for field in fields.get(..index)? {
                    start += count(*field)?;
                }
                ty = *fields.get(index)?;
            }
            TypeKind::Array(_, element) => {
                start += count(element)? * index as usize;
                ty = element;
            }
            _ => return None,
        }
    }
    Some(start..start + count(ty)?)
}

impl<'e, 'm> Pass<'e, 'm> {
    /// A part of a structure or array.
    pub fn extract_value(&mut self, instruction: Instruction<'m>) {
        let Some(whole) = instruction.operand(0) else {
            return;
        };
        if self.is_concrete(whole) {
            return;
        }
        let shadows = self.shadows(whole);
        if let Some(part) = range(whole.ty(), &instruction.indices())
            && let Some(part) = shadows.get(part)
        {
            self.set(instruction.value(), part.to_vec());
        }
    }

    /// A structure or array with another part.
    pub fn insert_value(&mut self, instruction: Instruction<'m>) {
        let (Some(whole), Some(part)) = (instruction.operand(0), instruction.operand(1)) else {
            return;
        };
        if self.is_concrete(whole) && self.is_concrete(part) {
            return;
        }
        let mut shadows = self.shadows(whole);
        let new = self.shadows(part);
        if let Some(range) = range(whole.ty(), &instruction.indices())
            && let Some(old) = shadows.get_mut(range)
            && old.len() == new.len()
        {
            old.copy_from_slice(&new);
            self.set(instruction.value(), shadows);
        }
    }

    /// An element of a vector.
    pub fn extract_element(&mut self, instruction: Instruction<'m>) {
        let (Some(vector), Some(index)) = (instruction.operand(0), instruction.operand(1)) else {
            return;
        };
        self.after(instruction);
        self.emit.lost(
            Loss::Instruction,
            Some("extractelement"),
            [self.shadow(index)],
        );
        if self.is_concrete(vector) {
            return;
        }
        let lanes = self.shadows(vector);
        let shadow = match index.as_int() {
            Some(index) => lanes.get(index as usize).copied(),
            None => (0..)
                .zip(lanes)
                .map(|(n, lane)| (self.is(index, n), lane))
                .fold(None, |found, (is_it, lane)| {
                    let before = found.unwrap_or(self.emit.zero);
                    Some(self.emit.builder.select(is_it, lane, before))
                }),
        };
        if let Some(shadow) = shadow {
            self.set_one(instruction.value(), shadow);
        }
    }

    fn is(&self, index: Value<'m>, number: u64) -> Value<'m> {
        let number = self.emit.editor.const_int(index.ty(), number);
        self.emit
            .builder
            .compare(IntPredicate::LLVMIntEQ, index, number)
    }

    /// A vector with another element.
    pub fn insert_element(&mut self, instruction: Instruction<'m>) {
        let [vector, element, index] = instruction.operands()[..] else {
            return;
        };
        self.after(instruction);
        self.emit.lost(
            Loss::Instruction,
            Some("insertelement"),
            [self.shadow(index)],
        );
        if self.is_concrete(vector) && self.is_concrete(element) {
            return;
        }
        let new = self.shadow(element);
        let lanes = (0..).zip(self.shadows(vector));
        let shadows = lanes
            .map(|(number, lane)| match index.as_int() {
                Some(index) if index == number => new,
                Some(_) => lane,
                None => {
                    let is_it = self.is(index, number);
                    self.emit.builder.select(is_it, new, lane)
                }
            })
            .collect();
        self.set(instruction.value(), shadows);
    }

    /// Elements of two vectors.
    pub fn shuffle(&mut self, instruction: Instruction<'m>) {
        let (Some(a), Some(b)) = (instruction.operand(0), instruction.operand(1)) else {
            return;
        };
        let lanes: Vec<_> = self.shadows(a).into_iter().chain(self.shadows(b)).collect();
        let lane = |lane: Option<u32>| {
            lane.and_then(|lane| lanes.get(lane as usize).copied())
                .unwrap_or(self.emit.zero)
        };
        let shadows = instruction.shuffle_mask().into_iter().map(lane).collect();
        self.set(instruction.value(), shadows);
    }
}
