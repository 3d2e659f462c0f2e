//! What one version's traces are to carry: the numbers that both versions share, and which
//! statements are part of a change.

use std::collections::BTreeSet;

use beagle_program::{Const, FunctionId, GlobalId, Operand, Program, StmtId};

use crate::comparison::{Change, Comparison, Subject};
use crate::matching::Pair;
use crate::watch::Watched;

/// Statements of one version, each with the index of a change that it is part of.
pub type Changed = Vec<(StmtId, usize)>;

/// The numbers of one version's statements and functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The number of each statement, by the index of its `StmtId`.
    pub stmts: Vec<u32>,
    /// The number of each function, by the index of its `FunctionId`.
    pub functions: Vec<u32>,
    /// Whether the statement is part of a change, by the index of its `StmtId`: one that is
    /// itself changed, or that names a variable that is.
    pub changed: Vec<bool>,
    /// The number of the variable that the statement puts a value into, by the index of its `StmtId`;
    /// 0 if that is not watched. See [`Watched`](crate::Watched).
    pub watched: Vec<u32>,
}

impl Numbers {
    /// For a program on its own: everything has the number of its index, and nothing changed.
    pub fn own(program: &Program) -> Self {
        Self {
            stmts: (0..program.stmts.len() as u32).collect(),
            functions: (0..program.functions.len() as u32).collect(),
            changed: vec![false; program.stmts.len()],
            watched: Vec::new(),
        }
    }
}

impl Comparison {
    /// The numbers of the old and of the new version: statements as in
    /// [`stmts`](Comparison::stmts), functions by their index in
    /// [`functions`](Comparison::functions).
    pub fn numbers(&self, old: &Program, new: &Program) -> (Numbers, Numbers) {
        self.numbers_watching(old, new, self.watched(old, new))
    }

    /// The same with other variables that are watched.
    pub fn numbers_watching(
        &self,
        old: &Program,
        new: &Program,
        watched: Watched,
    ) -> (Numbers, Numbers) {
        let (old_functions, new_functions) = self.function_numbers(old, new);
        let mut changed_old = vec![false; old.stmts.len()];
        let mut changed_new = vec![false; new.stmts.len()];
        let mut old_globals = vec![false; old.globals.len()];
        let mut new_globals = vec![false; new.globals.len()];
        for change in &self.changes {
            for stmt in &change.old {
                changed_old[stmt.index()] = true;
            }
            for stmt in &change.new {
                changed_new[stmt.index()] = true;
            }
            if let Subject::Global(pair) = change.subject {
                pair.old.inspect(|id| old_globals[id.index()] = true);
                pair.new.inspect(|id| new_globals[id.index()] = true);
            }
        }
        mark_users(old, old_globals, &mut changed_old);
        mark_users(new, new_globals, &mut changed_new);
        (
            Numbers {
                stmts: self.stmts.old.clone(),
                functions: old_functions,
                changed: changed_old,
                watched: watched.old,
            },
            Numbers {
                stmts: self.stmts.new.clone(),
                functions: new_functions,
                changed: changed_new,
                watched: watched.new,
            },
        )
    }

    /// The statements of old and of new that are part of a change, each with the index of the change:
    /// those that are themselves changed, and those that name a variable that is.
    pub fn changed_statements(&self, old: &Program, new: &Program) -> (Changed, Changed) {
        let numbered = || self.changes.iter().enumerate();
        let own = |stmts: fn(&Change) -> &[StmtId]| {
            let all = numbered().flat_map(move |(index, change)| {
                stmts(change).iter().map(move |&stmt| (stmt, index))
            });
            all.collect::<Vec<_>>()
        };
        let globals = |side: fn(Pair<GlobalId>) -> Option<GlobalId>| {
            let all = numbered().filter_map(move |(index, change)| match change.subject {
                Subject::Global(pair) => Some((side(pair)?, index)),
                _ => None,
            });
            all.collect::<Vec<_>>()
        };
        let mut in_old = own(|change| &change.old);
        let mut in_new = own(|change| &change.new);
        add_users(old, &globals(|pair| pair.old), &mut in_old);
        add_users(new, &globals(|pair| pair.new), &mut in_new);
        (in_old, in_new)
    }

    /// One numbering for the functions of both versions, by `FunctionId` of each: the index into
    /// [`functions`](Comparison::functions).
    pub fn function_numbers(&self, old: &Program, new: &Program) -> (Vec<u32>, Vec<u32>) {
        let mut numbers = (
            vec![u32::MAX; old.functions.len()],
            vec![u32::MAX; new.functions.len()],
        );
        for (number, pair) in self.functions.iter().enumerate() {
            let note = |numbers: &mut Vec<u32>, id: Option<FunctionId>| {
                if let Some(id) = id {
                    numbers[id.index()] = number as u32;
                }
            };
            note(&mut numbers.0, pair.old);
            note(&mut numbers.1, pair.new);
        }
        numbers
    }
}

/// Marks the statements that name a changed variable, or one whose initial value does.
fn mark_users(program: &Program, globals: Vec<bool>, stmts: &mut [bool]) {
    let changed = (0..).map(GlobalId).zip(globals);
    let changed = changed.filter(|(_, changed)| *changed);
    let changed: Vec<_> = changed.map(|(global, _)| (global, 0)).collect();
    let mut users = Vec::new();
    add_users(program, &changed, &mut users);
    for (stmt, _) in users {
        stmts[stmt.index()] = true;
    }
}

/// Adds the statements that name a changed variable, or one whose initial value does, each with the
/// change that the variable is given with.
fn add_users(program: &Program, changed: &[(GlobalId, usize)], users: &mut Changed) {
    if changed.is_empty() {
        return;
    }
    // The variables in whose initial values each one is named.
    let mut naming: Vec<Vec<GlobalId>> = vec![Vec::new(); program.globals.len()];
    for (id, global) in program.globals() {
        if let Some(operand) = global.initial {
            each_global(program, operand, &mut |named| {
                naming[named.index()].push(id)
            });
        }
    }
    let mut changes: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); program.globals.len()];
    for &(global, change) in changed {
        let mut work = vec![global];
        while let Some(global) = work.pop() {
            if changes[global.index()].insert(change) {
                work.extend(&naming[global.index()]);
            }
        }
    }
    for (id, _) in program.functions() {
        for stmt in program.function_stmts(id) {
            let mut found = BTreeSet::new();
            for &operand in program.operands(stmt) {
                each_global(program, operand, &mut |global| {
                    found.extend(&changes[global.index()]);
                });
            }
            users.extend(found.into_iter().map(|change| (stmt, change)));
        }
    }
}

/// Calls a function with each variable whose address an operand is or contains.
fn each_global(program: &Program, operand: Operand, found: &mut dyn FnMut(GlobalId)) {
    match operand {
        Operand::Global(id) => found(id),
        Operand::Const(id) => match program.constant(id) {
            Const::Aggregate(parts) | Const::Address(_, parts) | Const::Expression(_, parts) => {
                for &part in parts {
                    each_global(program, part, found);
                }
            }
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::process::Command;

    use super::*;
    use crate::{SourceTree, compare};

    fn program(dir: &std::path::Path, text: &str) -> (Program, SourceTree) {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join("x.c"), text).unwrap();
        let clang = Command::new("clang-19")
            .args(["-O0", "-g", "-Xclang", "-disable-O0-optnone"])
            .args(["-emit-llvm", "-c", "x.c", "-o", "x.bc"])
            .current_dir(dir)
            .status();
        assert!(clang.unwrap().success());
        let program = Program::load(&dir.join("x.bc")).unwrap();
        (program, SourceTree::new(dir))
    }

    /// Compares two programs.
    pub(crate) fn compared<R>(
        old: &str,
        new: &str,
        look: impl FnOnce(&Program, &Program, &Comparison) -> R,
    ) -> R {
        let dir = tempfile::tempdir().unwrap();
        let (old, old_sources) = program(&dir.path().join("old"), old);
        let (new, new_sources) = program(&dir.path().join("new"), new);
        let comparison = compare(&old, &old_sources, &new, &new_sources);
        look(&old, &new, &comparison)
    }

    /// The lines of the marked statements.
    fn lines(program: &Program, changed: &[bool]) -> Vec<u32> {
        let stmts = program.stmts.iter().zip(changed);
        let marked = stmts.filter(|(_, changed)| **changed);
        let mut lines: Vec<_> = marked
            .filter_map(|(stmt, _)| Some(stmt.place?.line))
            .collect();
        lines.dedup();
        lines
    }

    #[test]
    fn statements_that_name_a_changed_variable_are_part_of_the_change() {
        let text = "int limit = 10, other = 1;\n\
            int *const where[2] = {&other, &limit};\n\
            int direct(void) {\n return limit; }\n\
            int element(int i) {\n return *where[i]; }\n\
            int neither(void) {\n return other; }\n";
        compared(text, &text.replace("10", "11"), |old, new, comparison| {
            assert_eq!(comparison.changes.len(), 1);
            let (a, b) = comparison.numbers(old, new);
            assert_eq!(lines(old, &a.changed), [4, 6]);
            assert_eq!(lines(new, &b.changed), [4, 6]);
            assert_eq!(a.stmts, b.stmts);
        });
    }
}
