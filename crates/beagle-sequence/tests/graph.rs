//! Graphs of small programs, shown as text.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::process::Command;

use beagle_change::{Comparison, SourceTree, compare};
use beagle_program::{Dependence, Program, StmtId};
use beagle_sequence::{Graph, NodeKind, Side};

struct Version {
    program: Program,
    sources: SourceTree,
    _dir: tempfile::TempDir,
}

/// Builds a program as Beagle does.
fn build(text: &str) -> Version {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("main.c"), text).unwrap();
    let output = Command::new("clang-19")
        .args(["-O0", "-g", "-w", "-std=gnu11", "-emit-llvm", "-c"])
        .args([
            "-Xclang",
            "-disable-O0-optnone",
            "-fdebug-compilation-dir=.",
        ])
        .args(["main.c", "-o", "main.bc"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let program = Program::load(&dir.path().join("main.bc")).unwrap();
    Version {
        program,
        sources: SourceTree::new(dir.path()),
        _dir: dir,
    }
}

/// Two versions and their graph.
struct Pair {
    old: Version,
    new: Version,
    comparison: Comparison,
    graph: Graph,
}

/// A line `A //- B` is A in new and B in old; all others are in both.
fn pair(text: &str) -> Pair {
    let side = |pick: fn(&str, &str) -> String| {
        let lines = text.lines().map(|line| match line.split_once("//-") {
            Some((new, old)) => pick(new.trim(), old.trim()),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let old = build(&side(|_, old| old.to_owned()));
    let new = build(&side(|new, _| new.to_owned()));
    let comparison = compare(&old.program, &old.sources, &new.program, &new.sources);
    let dependence = (Dependence::of(&old.program), Dependence::of(&new.program));
    let graph = Graph::of(&dependence.0, &dependence.1, &comparison);
    Pair {
        old,
        new,
        comparison,
        graph,
    }
}

impl Pair {
    /// The line of a node, in new or else in old.
    fn line(&self, node: usize) -> String {
        let node = &self.graph.nodes[node];
        match node.kind {
            NodeKind::Change(number) => {
                let change = &self.comparison.changes[number];
                let line = change.new_lines.first().or(change.old_lines.first());
                line.map_or(String::new(), |line| line.text.trim().to_owned())
            }
            NodeKind::Interaction | NodeKind::Output => {
                let mut places = node.stmts.iter();
                let place = places.find_map(|&stmt| self.new.program.stmt(stmt).place);
                let place = place.unwrap();
                let file = self.new.program.file(place.file);
                let line = self.new.sources.line(file, place.line);
                line.unwrap_or_default().trim().to_owned()
            }
        }
    }

    fn node(&self, text: &str) -> usize {
        let mut nodes = 0..self.graph.nodes.len();
        nodes
            .find(|&node| self.line(node).contains(text))
            .unwrap_or_else(|| panic!("no {text} in\n{}", self.shown()))
    }

    fn has_edge(&self, from: &str, to: &str) -> bool {
        let (from, to) = (self.node(from), self.node(to));
        self.graph.successors(from).iter().any(|edge| edge.to == to)
    }

    fn shown(&self) -> String {
        let mut out = String::new();
        for (number, node) in self.graph.nodes.iter().enumerate() {
            let next: Vec<_> = self.graph.successors(number).iter().map(|e| e.to).collect();
            let (kind, line) = (node.kind, self.line(number));
            writeln!(
                out,
                "{number} {kind:?} {:?} `{line}` → {next:?}",
                node.changes
            )
            .unwrap();
        }
        out
    }

    /// The lines of the interactions.
    fn interactions(&self) -> Vec<String> {
        let nodes = (0..).zip(&self.graph.nodes);
        let meet = nodes.filter(|(_, node)| node.kind == NodeKind::Interaction);
        meet.map(|(number, _)| self.line(number)).collect()
    }
}

const STRAIGHT: &str = "
#include <stdio.h>
int main(int argc, char **argv) {
    int a = 1;
    int b = 2;
    a = argc + 1; //- a = argc;
    b = argc * 3; //- b = argc * 2;
    int c = a + b;
    int d = c + 1;
    printf(\"%d\\n\", d);
    return 0;
}
";

#[test]
fn effects_meet_once_and_show() {
    let pair = pair(STRAIGHT);
    // Adjacent lines are one change; take them apart to see two.
    let apart = STRAIGHT.replace("    b = argc * 3;", "    puts(\"x\");\n    b = argc * 3;");
    let apart = self::pair(&apart);
    assert_eq!(pair.comparison.changes.len(), 1);
    assert_eq!(apart.comparison.changes.len(), 2);
    let shown = apart.shown();
    // What only inherits both is no place of its own.
    assert_eq!(apart.interactions(), ["int c = a + b;"], "{shown}");
    assert!(apart.has_edge("a = argc + 1", "b = argc * 3"), "{shown}");
    assert!(apart.has_edge("b = argc * 3", "int c"), "{shown}");
    assert!(apart.has_edge("int c", "printf"), "{shown}");
    assert!(!apart.has_edge("a = argc + 1", "printf"), "{shown}");
    assert_eq!(apart.graph.first, [apart.node("a = argc + 1")]);
    assert!(
        apart
            .graph
            .reaches(apart.node("a = argc + 1"), apart.node("printf"))
    );
    assert!(
        !apart
            .graph
            .reaches(apart.node("printf"), apart.node("a = argc + 1"))
    );
}

#[test]
fn functions_are_looked_through() {
    let pair = pair(
        "
#include <stdio.h>
static int total;
static void clean(void) { }
static void add(int x) { clean();
    total += x + 1; //- total += x;
}
static int scaled(void) { clean();
    return total * 3; //- return total * 2;
}
static int never(int x) {
    return x + 7; //- return x + 8;
}
int main(int argc, char **argv) {
    if (argc > 2)
        add(argc);
    clean();
    printf(\"%d\\n\", scaled());
    return 0;
}
int (*unused)(int) = 0;
",
    );
    let shown = pair.shown();
    assert!(
        pair.has_edge("total += x + 1", "return total * 3"),
        "{shown}"
    );
    let first: Vec<String> = pair.graph.first.iter().map(|&n| pair.line(n)).collect();
    assert_eq!(
        first,
        ["total += x + 1; ".trim(), "return total * 3;"],
        "{shown}"
    );
    assert!(pair.has_edge("return total * 3", "printf"), "{shown}");
}

#[test]
fn recursion_and_loops_come_to_an_end() {
    let pair = pair(
        "
#include <stdio.h>
static int depth(int n) {
    if (n <= 1) //- if (n <= 0)
        return 1;
    int below = depth(n - 1);
    puts(\"-\");
    return below + 2; //- return below + 1;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < argc; i++) {
        sum += depth(i);
        printf(\"%d\\n\", sum);
    }
    return sum;
}
",
    );
    let shown = pair.shown();
    assert!(pair.has_edge("int below", "if (n <= 1)"), "{shown}");
    assert!(pair.has_edge("puts", "return below + 2"), "{shown}");
    assert!(
        pair.graph
            .reaches(pair.node("return below + 2"), pair.node("if (n <= 1)")),
        "{shown}"
    );
    assert!(
        pair.graph.nodes.iter().all(|node| node.reachable),
        "{shown}"
    );
}

#[test]
fn what_was_deleted_acts_where_it_was() {
    let pair = pair(
        "
#include <stdio.h>
int main(int argc, char **argv) {
    int a = argc, b = argc;
    puts(\"one\");
    //- a = 0;
    puts(\"two\");
    b = argc * 3; //- b = argc * 2;
    puts(\"three\");
    printf(\"%d\\n\", a + b);
    return 0;
}
",
    );
    let shown = pair.shown();
    assert!(pair.has_edge("a = 0", "b = argc * 3"), "{shown}");
    let deleted = pair.node("a = 0");
    assert!(pair.graph.nodes[deleted].reachable, "{shown}");
    // Its influence is that of old.
    let output = pair.node("printf");
    assert_eq!(pair.graph.nodes[output].changes.len(), 2, "{shown}");
    // Its own statements are in old only.
    let store = pair.comparison.changes[0].old[0];
    assert_eq!(pair.graph.nodes_of(Side::Old, store), [deleted]);
}

#[test]
fn what_cannot_be_reached_is_told() {
    let pair = pair(
        "
#include <stdio.h>
int never(int x) {
    return x + 7; //- return x + 8;
}
int main(int argc, char **argv) {
    printf(\"%d\\n\", argc + 1); //- printf(\"%d\\n\", argc);
    return 0;
}
",
    );
    let reachable = |text| pair.graph.nodes[pair.node(text)].reachable;
    assert!(
        !reachable("x + 7") && reachable("argc + 1"),
        "{}",
        pair.shown()
    );
}

#[test]
fn a_trace_is_a_sequence() {
    let apart = STRAIGHT.replace("    b = argc * 3;", "    puts(\"x\");\n    b = argc * 3;");
    let pair = pair(&apart);
    for (side, program) in [
        (Side::Old, &pair.old.program),
        (Side::New, &pair.new.program),
    ] {
        let main = program
            .functions()
            .find(|(_, f)| f.symbol == "main")
            .unwrap()
            .0;
        let stmts: Vec<StmtId> = program.function_stmts(main).collect();
        let sequence = pair.graph.sequence(side, stmts);
        let lines: Vec<String> = sequence.iter().map(|&node| pair.line(node)).collect();
        assert_eq!(
            lines,
            [
                "a = argc + 1;",
                "b = argc * 3;",
                "int c = a + b;",
                "printf(\"%d\\n\", d);"
            ]
        );
    }
}

/// Hundreds of changes, in functions that call each other to a great depth.
#[test]
fn hundreds_of_changes_and_deep_calls_are_no_problem() {
    let mut text =
        String::from("#include <stdio.h>\nstatic int cell[300];\nint f0(int x) { return x; }\n");
    for n in 1..3000 {
        let before = n - 1;
        writeln!(text, "int f{n}(int x) {{").unwrap();
        if n % 10 == 0 {
            let at = n / 10;
            writeln!(text, "    cell[{at}] = x + {n}; //- cell[{at}] = x;").unwrap();
        }
        writeln!(text, "    return f{before}(x + cell[x & 255]) + 1;\n}}").unwrap();
    }
    text.push_str("int main(int c, char **v) { printf(\"%d\\n\", f2999(c)); return 0; }\n");
    let pair = pair(&text);
    let changes = pair.comparison.changes.len();
    assert_eq!(changes, 299);
    let first = pair.node("cell[299]");
    assert_eq!(pair.graph.first, [first]);
    assert!(
        pair.graph.reaches(first, pair.node("cell[1] ")),
        "from the first to the last"
    );
}
