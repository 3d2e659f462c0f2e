//! Which phis can depend on the input at all.
//!
//! Everything else is found on the way, because its operands come first. Phis come before their
//! operands, so they are looked at beforehand: loop counters then cost nothing.

use beagle_llvm::{Block, Function, Instruction, Opcode, Value};
use rustc_hash::FxHashSet;

use crate::classify::{Functions, Target};

/// The values of a function that may depend on the input: parameters, what is loaded or returned by
/// calls, and what is computed from these.
pub fn dependent<'m>(
    function: Function<'m>,
    functions: &Functions<'m, '_>,
    order: &[Block<'m>],
) -> FxHashSet<Value<'m>> {
    let mut found: FxHashSet<_> = function.parameters().into_iter().collect();
    let mut again = true;
    while again {
        again = false;
        for block in order {
            for instruction in block.instructions() {
                let value = instruction.value();
                if !found.contains(&value) && is_dependent(instruction, functions, &found) {
                    found.insert(value);
                    // Only a phi can have operands that come after it.
                    again = true;
                }
            }
        }
    }
    found
}

fn is_dependent<'m>(
    instruction: Instruction<'m>,
    functions: &Functions<'m, '_>,
    found: &FxHashSet<Value<'m>>,
) -> bool {
    use Opcode::*;
    match instruction.opcode() {
        LLVMLoad | LLVMAtomicRMW | LLVMAtomicCmpXchg => true,
        LLVMAlloca | LLVMStore | LLVMLandingPad => false,
        LLVMCall | LLVMInvoke
            if matches!(
                functions.target(instruction),
                Target::Inner | Target::Outer(..)
            ) =>
        {
            true
        }
        _ => instruction
            .operands()
            .into_iter()
            .any(|operand| found.contains(&operand)),
    }
}

/// The blocks such that each comes after those that dominate it; what cannot be reached comes last.
pub fn order<'m>(function: Function<'m>) -> Vec<Block<'m>> {
    let blocks = function.blocks();
    let mut seen = FxHashSet::default();
    let mut finished = Vec::new();
    let mut work: Vec<(Block<'m>, Vec<Block<'m>>)> = Vec::new();
    let successors = |block: Block<'m>| {
        block
            .terminator()
            .map(|last| last.successors())
            .unwrap_or_default()
    };
    if let Some(&entry) = blocks.first() {
        seen.insert(entry);
        work.push((entry, successors(entry)));
    }
    while let Some((block, next)) = work.last_mut() {
        match next.pop() {
            Some(successor) if seen.insert(successor) => {
                work.push((successor, successors(successor)));
            }
            Some(_) => {}
            None => {
                finished.push(*block);
                work.pop();
            }
        }
    }
    finished.reverse();
    finished.extend(blocks.into_iter().filter(|block| !seen.contains(block)));
    finished
}
