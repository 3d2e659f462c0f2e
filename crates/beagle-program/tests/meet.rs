//! Many influences at once are those of one slice each, and meet where they come together.

mod support;

use beagle_program::{Dependence, Fact, Program, StmtId};
use support::mutants::{Tree, subjects, texts};
use support::{csmith, lift};

/// Compares with a slice from each of some statements; more of them than fit into a word.
#[track_caller]
fn check(program: &Program) {
    let dependence = Dependence::of(program);
    let step = (program.stmts.len() / 70).max(1);
    let sample = (0..program.stmts.len() as u32).step_by(step).map(StmtId);
    let starts: Vec<Vec<Fact>> = sample.map(|stmt| dependence.changed(stmt)).collect();
    let influences = dependence.influences(&starts);
    for (number, start) in starts.iter().enumerate() {
        let slice = dependence.forward(start);
        for stmt in (0..program.stmts.len() as u32).map(StmtId) {
            let (one, many) = (slice.contains(stmt), influences.has(stmt, number));
            assert_eq!(one, many, "{start:?} to {stmt:?}");
        }
    }
    for stmt in dependence.meetings(&influences) {
        assert!(influences.count(stmt) >= 2);
        assert_eq!(influences.of(stmt).count() as u32, influences.count(stmt));
    }
}

#[test]
fn in_programs_that_csmith_makes_up() {
    for seed in [3, 8] {
        check(&csmith::program(seed).program);
    }
}

#[test]
fn in_the_subjects() {
    for subject in subjects().iter().step_by(4) {
        check(&Tree::new(&texts(&subject.base)).program());
    }
}

/// The lines at which what starts at `/*1*/` and at `/*2*/` meets; they end in `// meet`.
#[track_caller]
fn check_meetings(text: &str) {
    let case = lift(text);
    let dependence = Dependence::of(&case.program);
    let start = |marker: &str| -> Vec<Fact> {
        let stmts = case.marked(marker).into_iter();
        stmts.flat_map(|stmt| dependence.changed(stmt)).collect()
    };
    let influences = dependence.influences(&[start("1"), start("2")]);
    let meetings = dependence.meetings(&influences).into_iter();
    let lines: std::collections::BTreeSet<u32> =
        meetings.filter_map(|stmt| case.line_of(stmt)).collect();
    assert_eq!(lines, case.lines_with("// meet"), "{text}");
}

#[test]
fn influences_meet_where_they_first_come_together() {
    check_meetings(
        "#include <stdio.h>
        int main(int argc, char **argv) {
            int a = argc; /*1*/
            int b = argc; /*2*/
            int c = a + b; // meet
            int d = c * 2;
            printf(\"%d\\n\", d);
            printf(\"%d\\n\", a);
            return 0;
        }",
    );
}

#[test]
fn influences_meet_through_memory() {
    check_meetings(
        "int cell;
        void set(int x) {
            cell = x; /*1*/
        }
        void add(int x) {
            if (x > 7) /*2*/
                cell = 0;
        }
        int main(int argc, char **argv) {
            set(argc);
            add(argc);
            int c = cell; // meet
            return c;
        }",
    );
}

#[test]
fn influences_meet_where_one_enters_a_loop() {
    check_meetings(
        "int main(int argc, char **argv) {
            int a = argc; /*1*/
            int b = 0;
            int step = argc; /*2*/
            while (b < 10) { b = b + step; }
            int c = b + a; // meet
            return c;
        }",
    );
}
