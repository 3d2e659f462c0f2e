//! Slices of snippets, as lines: a slice starts at the line marked `/*from*/` and holds exactly the
//! lines that end in `// in`, beside the start.

use std::collections::BTreeSet;

use beagle_program::{Dependence, Fact, Slice, StmtId};

use super::{Case, lift};

/// Checks the lines that may depend on the marked one.
#[track_caller]
pub fn check_forward(text: &str) {
    check(text, |dependence, from| dependence.forward(from));
}

/// Checks the lines on which the marked one may depend.
#[track_caller]
pub fn check_backward(text: &str) {
    check(text, |dependence, from| dependence.backward(from));
}

#[track_caller]
fn check(text: &str, slice: impl Fn(&Dependence, &[Fact]) -> Slice) {
    let case = lift(text);
    let mut expected = case.lines_with("// in");
    expected.insert(case.line("from"));
    let dependence = Dependence::of(&case.program);
    let from: Vec<_> = case.marked("from").into_iter().map(Fact::Stmt).collect();
    let found = lines(&case, &slice(&dependence, &from));
    assert!(
        expected == found,
        "missing {:?}, too many {:?} in\n{}",
        expected.difference(&found).collect::<Vec<_>>(),
        found.difference(&expected).collect::<Vec<_>>(),
        numbered(text)
    );
}

/// Checks that the slice forward from `/*from*/` holds the lines that end in `// in`, and none of
/// those that end in `// not in`; the others are left open.
#[track_caller]
pub fn check_forward_holds(text: &str) {
    check_holds(text, |_, stmt| vec![Fact::Stmt(stmt)]);
}

/// Like [`check_forward_holds`], for what may be different if the marked line were another one.
#[track_caller]
pub fn check_changed_holds(text: &str) {
    check_holds(text, |dependence, stmt| dependence.changed(stmt));
}

#[track_caller]
fn check_holds(text: &str, facts: impl Fn(&Dependence, StmtId) -> Vec<Fact>) {
    let case = lift(text);
    let dependence = Dependence::of(&case.program);
    let marked = case.marked("from").into_iter();
    let from: Vec<_> = marked.flat_map(|stmt| facts(&dependence, stmt)).collect();
    let found = lines(&case, &dependence.forward(&from));
    let missing = &case.lines_with("// in") - &found;
    let wrong = &case.lines_with("// not in") & &found;
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "missing {missing:?}, too many {wrong:?} in\n{}",
        numbered(text)
    );
}

/// The lines of a slice.
pub fn lines(case: &Case, slice: &Slice) -> BTreeSet<u32> {
    slice
        .stmts()
        .filter_map(|stmt| case.line_of(stmt))
        .collect()
}

fn numbered(text: &str) -> String {
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(number, line): (u32, _)| format!("{number:3} {line}\n"));
    lines.collect()
}
