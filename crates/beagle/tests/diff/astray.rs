//! Programs that read all of their input before they do anything with it.

use std::fs;

use crate::support::Pair;

/// The change is in a table that is read where a document is parsed, and again where it is written. It can be seen in
/// a character that is given by its number only: `\\u000c`. Each step to that makes a document that is refused.
#[test]
fn a_document_that_is_refused_on_the_way() {
    let subject = beagle_subjects::root().join("jsonpick");
    let text = |name: &str| fs::read_to_string(subject.join(name)).unwrap();
    let pair = Pair::new(&text("base.c"), &text("form-feed-value/new.c"));
    pair.write("one", br#"["\f", "\\f"]"#);
    // About 100 runs; 4600 were not enough when documents that are refused were left to themselves.
    let line = "--first --stdin one --strategy reach,infect,propagate,shadow,cover,prune -- {-c}";
    let report = pair.diff(line).is("different", 1).within(1000);
    report.one("output");
}
