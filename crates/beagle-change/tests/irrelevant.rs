//! Which ways on from branches cannot matter to which change.

mod support;

use beagle_change::{Comparison, Irrelevance, Phase, Way};
use beagle_program::{CallGraph, Op, StmtId};
use support::{Built, build, comparison, files};

/// Two versions of a program, whose branches are named by `/*?name*/` on their lines in new.
struct Versions {
    old: Built,
    new: Built,
    text: String,
    comparison: Comparison,
}

impl Versions {
    /// New is old with some text replaced.
    fn new(old: &str, edits: &[(&str, &str)]) -> Self {
        let old = format!("#include <stdio.h>\n#include <stdlib.h>\n{old}");
        let mut text = old.clone();
        for (from, to) in edits {
            assert!(text.contains(from), "no {from}");
            text = text.replace(from, to);
        }
        let version = |text: &str| build(&files(text)).unwrap_or_else(|why| panic!("{why}"));
        let (old, new) = (version(&old), version(&text));
        let comparison = comparison(&old, &new);
        Self {
            old,
            new,
            text,
            comparison,
        }
    }

    fn way(&self, name: &str, to: u32) -> Way {
        let mut lines = (1..).zip(self.text.lines());
        let line = lines.find(|(_, line)| line.contains(&format!("/*?{name}*/")));
        let line = line.unwrap_or_else(|| panic!("no {name}")).0;
        let program = &self.new.program;
        let mut stmts = (0..program.stmts.len() as u32).map(StmtId);
        let new = stmts.find(|&stmt| {
            let stmt = program.stmt(stmt);
            stmt.op == Op::Branch && stmt.place.is_some_and(|place| place.line == line)
        });
        let new = new.expect("a branch");
        let numbers = &self.comparison.stmts;
        let number = numbers.new[new.index()];
        let old = numbers.old.iter().position(|&other| other == number);
        let old = StmtId(old.expect("both have it") as u32);
        let to = Some(to);
        Way { old, new, to }
    }

    /// Checks to which changes a way can matter, before infection and after it.
    #[track_caller]
    fn check(&self, name: &str, to: u32, before: &[usize], after: &[usize]) {
        let programs = (&self.old.program, &self.new.program);
        let calls = (CallGraph::of(programs.0), CallGraph::of(programs.1));
        let irrelevance = Irrelevance::of(
            (programs.0, &calls.0),
            (programs.1, &calls.1),
            &self.comparison,
        );
        let way = self.way(name, to);
        for (phase, expected) in [
            (Phase::BeforeInfection, before),
            (Phase::AfterInfection, after),
        ] {
            let all = 0..self.comparison.changes.len();
            let matters = |&change: &usize| !irrelevance.is_irrelevant(way, phase, Some(change));
            let found: Vec<usize> = all.filter(matters).collect();
            assert_eq!(found, expected, "{name} {to} {phase:?}");
            let none = irrelevance.is_irrelevant(way, phase, None);
            assert_eq!(none, found.is_empty(), "{name} {to} {phase:?}");
        }
    }
}

#[test]
fn changes_are_kept_apart() {
    let versions = Versions::new(
        "void first(void) { puts(\"one\"); }
        void second(void) { puts(\"two\"); }
        int main(int n, char **v) {
            if (n > 9) /*?start*/
                return 1;
            if (n > 3) { /*?a*/
                first();
                if (n > 5) /*?b*/
                    return 2;
            } else {
                second();
            }
            return 0;
        }",
        &[("\"one\"", "\"1\""), ("\"two\"", "\"2\"")],
    );
    assert_eq!(versions.comparison.changes.len(), 2);
    versions.check("start", 0, &[], &[]);
    versions.check("start", 1, &[0, 1], &[0, 1]);
    versions.check("a", 0, &[0], &[0]);
    versions.check("a", 1, &[1], &[1]);
    // The first change may have had its effect before, the second not.
    versions.check("b", 0, &[], &[0]);
    versions.check("b", 1, &[], &[0]);
}

#[test]
fn deleted_code_is_where_it_was() {
    let versions = Versions::new(
        "int main(int n, char **v) {
            if (n > 3) { /*?a*/
                puts(\"gone\");
            }
            if (n > 5) /*?b*/
                return 2;
            return 0;
        }",
        &[("puts(\"gone\");", "")],
    );
    versions.check("a", 0, &[0], &[0]);
    versions.check("a", 1, &[], &[]);
    versions.check("b", 0, &[], &[0]);
}

#[test]
fn a_changed_branch_matters_both_ways() {
    let versions = Versions::new(
        "int main(int n, char **v) {
            if (n > 1) /*?first*/
                return 1;
            if (n > 3) /*?changed*/
                return 2;
            return 0;
        }",
        &[("n > 3", "n > 4")],
    );
    versions.check("first", 0, &[], &[]);
    versions.check("first", 1, &[0], &[0]);
    versions.check("changed", 0, &[0], &[0]);
    versions.check("changed", 1, &[0], &[0]);
}

#[test]
fn a_changed_variable_matters_where_it_is_named() {
    let versions = Versions::new(
        "int limit = 3;
        int *const where = &limit;
        int main(int n, char **v) {
            if (n > 1) /*?a*/
                return *where;
            if (n > 2) /*?b*/
                return 1;
            return 0;
        }",
        &[("limit = 3", "limit = 4")],
    );
    versions.check("a", 0, &[0], &[0]);
    versions.check("a", 1, &[], &[]);
}

#[test]
fn changed_assembler_matters_everywhere() {
    let versions = Versions::new(
        "__asm__(\".globl hook\\nhook: ret\");
        int main(int n, char **v) {
            if (n > 1) /*?a*/
                return 1;
            return 0;
        }",
        &[("hook: ret", "hook: nop; ret")],
    );
    versions.check("a", 0, &[0], &[0]);
}

#[test]
fn ways_are_counted() {
    let versions = Versions::new(
        "int main(int n, char **v) {
            if (n > 1) {
                if (n > 2)
                    return 1;
                return 2;
            }
            puts(\"one\");
            return n > 0 ? 3 : 4;
        }",
        &[("\"one\"", "\"1\"")],
    );
    let programs = (&versions.old.program, &versions.new.program);
    let calls = (CallGraph::of(programs.0), CallGraph::of(programs.1));
    let irrelevance = Irrelevance::of(
        (programs.0, &calls.0),
        (programs.1, &calls.1),
        &versions.comparison,
    );
    let counts = irrelevance.counts(&versions.comparison);
    let found = (counts.ways, counts.before_infection, counts.after_infection);
    // Not the way to the change, but those within the first branch, and those behind the change.
    assert!(counts.ways >= 4, "{counts:?}");
    assert_eq!(counts.after_infection, 3, "{found:?}");
    assert_eq!(counts.before_infection, counts.ways - 1, "{found:?}");
}
