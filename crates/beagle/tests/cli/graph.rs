//! `beagle graph`: the order of changes, written in three ways.

use std::fmt::Write;

use crate::support::{Scratch, subjects};

const NEW: &str = "#include <stdio.h>\n\
    int main(int argc, char **argv) {\n\
    int a = argc + 1;\n\
    puts(\"a\");\n\
    int b = argc * 3;\n\
    puts(\"b\");\n\
    printf(\"%d\\n\", a + b);\n\
    return 0;\n}\n";

fn scratch() -> Scratch {
    let old = NEW.replace("argc + 1", "argc").replace("* 3", "* 2");
    Scratch::with(&[("old.c", &old), ("new.c", NEW)])
}

#[test]
fn the_graph_names_changes_meetings_and_outputs() {
    let scratch = scratch();
    let ran = scratch
        .beagle("-q graph old.c new.c --format json")
        .exits(1);
    let graph = ran.json();
    let nodes = graph["nodes"].as_array().unwrap();
    let kinds: Vec<_> = nodes
        .iter()
        .map(|node| node["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["change", "change"], "{ran}");
    let output = nodes.iter().find(|node| node["kind"] == "output").unwrap();
    assert_eq!(output["text"], "printf(\"%d\\n\", a + b);", "{ran}");
    assert_eq!(output["changes"], serde_json::json!([1, 2]), "{ran}");
    assert_eq!(graph["first"], serde_json::json!([1]), "{ran}");
    let ran = scratch.beagle("-q graph old.c new.c").exits(1);
    assert!(ran.stdout.starts_with("digraph changes {"), "{ran}");
}

#[test]
fn the_name_of_the_file_says_what_is_written() {
    let scratch = scratch();
    let ran = scratch.beagle("-q graph old.c new.c --out g.svg").exits(1);
    assert_eq!(ran.stdout, "");
    assert!(scratch.read("g.svg").starts_with("<svg "));
    scratch.beagle("-q graph old.c new.c --out g.json").exits(1);
    assert!(scratch.read("g.json").starts_with("{"));
    scratch.beagle("-q graph old.c new.c --out g.txt").fails(2);
    scratch
        .beagle("-q graph old.c new.c --out none/g.svg")
        .fails(2);
    let ran = scratch.beagle("-q graph old.c old.c").exits(0);
    assert!(!ran.stdout.contains("n1"), "{ran}");
}

/// A feature of a subject with a dozen hunks.
#[test]
fn a_project_of_several_files_has_a_graph() {
    let jobs = subjects().join("jobs");
    let line = format!(
        "-q graph {} {} --format svg",
        jobs.join("base").display(),
        jobs.join("kill-command/new").display()
    );
    let ran = Scratch::new().beagle(&line).exits(1);
    assert!(ran.stdout.matches("<title>").count() > 5, "{ran}");
}

const MANY: usize = 300;

/// Each function has a change. They are commands of a loop, or each calls the next.
fn many(factor: usize, is_chain: bool) -> String {
    let mut code = "#include <stdio.h>\nstatic int state;\n".to_owned();
    for i in 0..MANY {
        let next = match is_chain && i > 0 {
            true => format!("if (x != {i}) f{}(x);", i - 1),
            false => String::new(),
        };
        writeln!(
            code,
            "static void f{i}(int x) {{\n\
             int y = x * {factor};\n\
             if (y == {i}) state += y;\n\
             {next}\n}}"
        )
        .unwrap();
    }
    code.push_str("int main(void) {\nint c;\nwhile ((c = getchar()) != EOF) {\n");
    match is_chain {
        true => writeln!(code, "f{}(c);", MANY - 1).unwrap(),
        false => {
            code.push_str("switch (c) {\n");
            for i in 0..MANY {
                writeln!(code, "case {i}: f{i}(getchar()); break;").unwrap();
            }
            code.push_str("}\n");
        }
    }
    code.push_str("}\nprintf(\"%d\\n\", state);\nreturn 0;\n}\n");
    code
}

#[test]
fn three_hundred_changes_have_a_graph() {
    for is_chain in [false, true] {
        let (old, new) = (many(2, is_chain), many(3, is_chain));
        let scratch = Scratch::with(&[("old.c", &old), ("new.c", &new)]);
        scratch.beagle("-q graph old.c new.c --out g.json").exits(1);
        let graph: serde_json::Value = serde_json::from_str(&scratch.read("g.json")).unwrap();
        let nodes = graph["nodes"].as_array().unwrap().iter();
        let changes = nodes.filter(|node| node["kind"] == "change");
        let reachable = changes.filter(|node| node["reachable"] == true);
        assert_eq!(reachable.count(), MANY);
        scratch.beagle("-q graph old.c new.c --out g.svg").exits(1);
        assert!(scratch.read("g.svg").ends_with("</svg>\n"));
    }
}
