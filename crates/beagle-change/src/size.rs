//! Sizes of structures that differ between the versions only because of another field.
//!
//! Clang puts sizes as plain numbers into the program, so they are recognised by where they stand:
//! where the source says `sizeof`, and where clang copies or steps over whole structures. A size
//! that may be seen from outside, as in `fwrite(&s, sizeof s, 1, out)`, stays what it is.

use beagle_program::{Effects, Op, Program, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::token::{Side, Token, token_of};

/// A number that may be the size of a structure, or of several in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    value: u64,
    /// What the source asks the size of.
    written: Token,
}

/// The structures whose size is another in the other version.
#[derive(Default)]
pub(crate) struct Resized {
    /// By name.
    sizes: FxHashMap<String, u64>,
}

impl Side<'_> {
    /// Tells both sides which structures have another size in the other version.
    pub(crate) fn note_resized(old: &mut Side, new: &mut Side) {
        let (old_sizes, new_sizes) = (sizes(old.program), sizes(new.program));
        for (name, before) in old_sizes {
            let Some(after) = new_sizes.get(&name) else {
                continue;
            };
            // A name that stands for several structures is left alone: better to report too much.
            if let (1, 1, Some(&before), Some(&after)) = (
                before.len(),
                after.len(),
                before.iter().next(),
                after.iter().next(),
            ) && before != after
                && before.min(after) > 0
            {
                old.resized.sizes.insert(name.clone(), before);
                new.resized.sizes.insert(name, after);
            }
        }
    }

    /// A constant in a statement as size, if it may be one.
    pub(crate) fn size_in(&self, root: StmtId, stmt: StmtId, value: u64) -> Option<Size> {
        if self.resized.sizes.is_empty() || value < 2 || !self.only_measures(root, stmt) {
            return None;
        }
        let written = self.written(stmt);
        let text = written.as_ref().map_or("", |written| &written.text);
        let macros = self.sources.size_macros(&self.program.files);
        let written = if macros.used_in(text) {
            let operands = macros.operands_in(text);
            let spaceless = |text: &&str| text.split_whitespace().collect::<String>();
            token_of(operands.iter().map(spaceless).collect::<Vec<_>>())
        } else if self.sizes_by_itself(stmt, text) {
            0
        } else {
            return None;
        };
        Some(Size { value, written })
    }

    /// Whether a size here and a size there are the same number, or sizes of the same structure,
    /// which another field made grow or shrink.
    pub(crate) fn same_size(&self, size: Size, other: &Side, other_size: Size) -> bool {
        if size.value == other_size.value {
            return true;
        }
        let same_count = |(name, &here): (&String, &u64)| {
            let there = other.resized.sizes.get(name).copied().unwrap_or(0);
            let (count, rest) = (size.value / here, size.value % here);
            rest == 0 && count.checked_mul(there) == Some(other_size.value)
        };
        size.written == other_size.written && self.resized.sizes.iter().any(same_count)
    }

    /// Whether a size in such a statement only says how much memory is meant: to allocate, copy,
    /// clear, compare or step over. Written to a file or printed, another size is another output.
    fn only_measures(&self, root: StmtId, stmt: StmtId) -> bool {
        if self.program.stmt(stmt).op == Op::PointerDifference {
            return true;
        }
        let Some(callee) = self.program.called_function(root) else {
            return false;
        };
        let callee = self.program.function(callee);
        if callee.is_defined() {
            // The project's own `xmalloc` and the like.
            let name = callee.name.to_lowercase();
            return ["alloc", "mem", "copy", "clear", "zero", "dup"]
                .iter()
                .any(|word| name.contains(word));
        }
        let effects = Effects::of(&callee.symbol);
        !effects.is_unknown && !effects.is_output && !effects.is_input
    }

    /// Whether clang puts sizes of structures into such statements without being asked: copies
    /// and clearing of whole structures, and differences of pointers.
    fn sizes_by_itself(&self, stmt: StmtId, text: &str) -> bool {
        match self.program.stmt(stmt).op {
            Op::PointerDifference => true,
            Op::Call(_) => {
                let name = self
                    .program
                    .called_function(stmt)
                    .map_or("", |id| &self.program.function(id).symbol);
                let copies = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memset");
                // With `memcpy` in the text the size was written by the programmer.
                copies && !text.contains("mem")
            }
            _ => false,
        }
    }
}

/// The sizes of the structures of each name.
fn sizes(program: &Program) -> FxHashMap<String, FxHashSet<u64>> {
    let mut sizes = FxHashMap::<String, FxHashSet<u64>>::default();
    for structure in &program.structs {
        sizes
            .entry(structure.name.clone())
            .or_default()
            .insert(structure.size);
    }
    sizes
}
