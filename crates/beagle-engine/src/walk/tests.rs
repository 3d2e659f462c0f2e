//! Walks over steps that are written by hand, of programs that clang compiles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use beagle_change::{Comparison, SourceTree, compare};
use beagle_program::{Op, Program};

use super::*;
use crate::twin::Side;

struct Fixture {
    old: Program,
    new: Program,
    comparison: Comparison,
}

impl Fixture {
    fn new(old: &str, new: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let compiled = |name: &str, text: &str| {
            let dir = dir.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            program(&dir, text)
        };
        let (old, old_sources) = compiled("old", old);
        let (new, new_sources) = compiled("new", new);
        let comparison = compare(&old, &old_sources, &new, &new_sources);
        Self {
            old,
            new,
            comparison,
        }
    }

    fn twin(&self) -> Twin<'_> {
        Twin::new(&self.old, &self.new, &self.comparison)
    }
}

fn program(dir: &Path, text: &str) -> (Program, SourceTree) {
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

/// Writes the steps of one version.
struct Writer<'a> {
    half: &'a Half<'a>,
    numbers: &'a [u32],
    steps: Vec<Step>,
    depth: u32,
}

impl<'a> Writer<'a> {
    fn new(twin: &'a Twin<'a>, side: Side) -> Self {
        Self {
            half: twin.half(side),
            numbers: match side {
                Side::Old => &twin.comparison.stmts.old,
                Side::New => &twin.comparison.stmts.new,
            },
            steps: Vec::new(),
            depth: 1,
        }
    }

    fn push(&mut self, what: What, site: u32) {
        self.steps.push(Step {
            what,
            site,
            node: 0,
            level: 0,
            caller: 0,
            depth: self.depth,
            word: self.steps.len() as u32,
        });
    }

    /// The branch at a line.
    fn branch(&mut self, line: u32, taken: bool) -> &mut Self {
        let stmts = (0..)
            .map(beagle_program::StmtId)
            .zip(&self.half.program.stmts);
        let mut branches = stmts.filter(|(_, stmt)| {
            let branches = stmt.op == Op::Branch;
            branches && stmt.place.is_some_and(|place| place.line == line)
        });
        let (stmt, _) = branches.next().unwrap();
        let site = self.numbers[stmt.index()] + 1;
        self.push(What::Branch(taken), site);
        self
    }

    fn function(&self, name: &str) -> u32 {
        let functions = &mut self.half.program.functions();
        let (id, _) = functions.find(|(_, f)| f.name == name).unwrap();
        self.half.function_number(id)
    }

    fn enter(&mut self, name: &str) -> &mut Self {
        let number = self.function(name);
        self.push(What::Enter, number);
        self.depth += 1;
        self
    }

    fn leave(&mut self, name: &str) -> &mut Self {
        self.depth -= 1;
        let number = self.function(name);
        self.push(What::Leave, number);
        self
    }
}

const LOOP: &str = "\
int out(int);
int f(int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    if (a[i] > 0) {
      if (a[i] > 9)
        s += 1;
      s += out(a[i]);
    }
  if (s > 3)
    out(s);
  return s;
}
int helper(int x) {
  if (x > 1) return 2;
  return 1;
}
int main(int c, char **v) { return f(&c, 1) + helper(c); }
";

/// The pairs and single steps, as text: `=` both, `!` both to different sides, `<` old, `>` new.
fn text(order: &[Met], old: &[Step], new: &[Step]) -> String {
    let sign = |met: &Met| match *met {
        Met::Both(i, j) if old[i as usize].what == new[j as usize].what => '=',
        Met::Both(..) => '!',
        Met::Old(_) => '<',
        Met::New(_) => '>',
    };
    order.iter().map(sign).collect()
}

#[test]
fn equal_traces_are_walked_together() {
    let fixture = Fixture::new(LOOP, LOOP);
    let twin = fixture.twin();
    let mut writer = Writer::new(&twin, Side::Old);
    writer.branch(4, true).branch(5, true).branch(6, false);
    writer.branch(4, false).branch(10, false);
    let steps = writer.steps;
    let order = walk(&twin, &steps, &steps);
    assert_eq!(text(&order, &steps, &steps), "=====");
}

#[test]
fn after_a_parting_the_versions_meet_where_the_ways_do() {
    let changed = LOOP.replace("a[i] > 0", "a[i] > 1");
    let fixture = Fixture::new(LOOP, &changed);
    let twin = fixture.twin();
    let mut old = Writer::new(&twin, Side::Old);
    // Old goes into the body, new does not; the next round and the end are the same.
    old.branch(4, true).branch(5, true).branch(6, false);
    old.branch(4, true).branch(5, false);
    old.branch(4, false).branch(10, true);
    let mut new = Writer::new(&twin, Side::New);
    new.branch(4, true).branch(5, false);
    new.branch(4, true).branch(5, false);
    new.branch(4, false).branch(10, true);
    let (old, new) = (old.steps, new.steps);
    let order = walk(&twin, &old, &new);
    assert_eq!(text(&order, &old, &new), "=!<====");
}

#[test]
fn a_version_that_leaves_the_loop_early_is_met_behind_it() {
    let changed = LOOP.replace("a[i] > 0", "a[i] > 1");
    let fixture = Fixture::new(LOOP, &changed);
    let twin = fixture.twin();
    let mut old = Writer::new(&twin, Side::Old);
    old.branch(4, true)
        .branch(5, false)
        .branch(4, true)
        .branch(5, false);
    old.branch(4, false).branch(10, false);
    let mut new = Writer::new(&twin, Side::New);
    new.branch(4, false).branch(10, false);
    let (old, new) = (old.steps, new.steps);
    let order = walk(&twin, &old, &new);
    assert_eq!(text(&order, &old, &new), "!<<<<=");
}

#[test]
fn a_call_that_only_one_version_makes_is_walked_around() {
    let changed = LOOP.replace("+ helper(c)", "+ helper(c) + helper(c + 1)");
    let fixture = Fixture::new(LOOP, &changed);
    let twin = fixture.twin();
    let mut old = Writer::new(&twin, Side::Old);
    old.enter("f").branch(4, false).branch(10, false).leave("f");
    old.enter("helper").branch(15, false).leave("helper");
    let mut new = Writer::new(&twin, Side::New);
    new.enter("f").branch(4, false).branch(10, false).leave("f");
    new.enter("helper").branch(15, false).leave("helper");
    new.enter("helper").branch(15, true).leave("helper");
    let (old, new) = (old.steps, new.steps);
    let order = walk(&twin, &old, &new);
    assert_eq!(text(&order, &old, &new), "=======>>>");
}

#[test]
fn a_version_that_is_at_the_end_of_a_function_is_met_there() {
    let text = |condition: &str| {
        format!(
            "\
void note(int);
static void end(int a, int b) {{
  {condition}
    note(1);
}}
int main(int c, char **v) {{
  for (int i = 0; i < c; i++)
    end(i, c);
  return 0;
}}
"
        )
    };
    let fixture = Fixture::new(&text("if (a)\nif (b)"), &text("\nif (b)"));
    let twin = fixture.twin();
    let mut old = Writer::new(&twin, Side::Old);
    // Old does not ask for `b` the first time.
    old.enter("end").branch(3, false).leave("end");
    old.branch(8, true);
    old.enter("end").branch(3, true).branch(4, true);
    old.leave("end");
    let mut new = Writer::new(&twin, Side::New);
    new.enter("end").branch(4, true).leave("end");
    new.branch(8, true);
    new.enter("end").branch(4, true).leave("end");
    let (old, new) = (old.steps, new.steps);
    let order = walk(&twin, &old, &new);
    assert_eq!(self::text(&order, &old, &new), "=<>===<==");
}

#[test]
fn two_runs_of_one_version_are_walked_alike() {
    // What changed does not matter: both runs are of new.
    let changed = LOOP.replace("a[i] > 0", "a[i] > 1 && a[i] < 90");
    let fixture = Fixture::new(LOOP, &changed);
    let twin = fixture.twin();
    let mut first = Writer::new(&twin, Side::New);
    first.branch(4, true).branch(5, true).branch(6, false);
    first.branch(4, false).branch(10, true);
    let mut second = Writer::new(&twin, Side::New);
    second.branch(4, true).branch(5, false);
    second.branch(4, false).branch(10, true);
    let (first, second) = (first.steps, second.steps);
    let order = walk_one(&twin.new, &first, &second);
    assert_eq!(text(&order, &first, &second), "=!<==");
}

#[test]
fn every_step_is_taken_once_whatever_the_traces_are() {
    let changed = LOOP
        .replace("a[i] > 9", "a[i] > 8")
        .replace("s > 3", "s > 4");
    let fixture = Fixture::new(LOOP, &changed);
    let twin = fixture.twin();
    let lines = [4, 5, 6, 10, 15];
    let mut state = 1u64;
    let mut random = move |limit: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    for _ in 0..300 {
        let mut trace = |side| {
            let mut writer = Writer::new(&twin, side);
            for _ in 0..random(40) {
                let line = lines[random(lines.len())];
                let taken = random(2) == 0;
                match random(8) {
                    0 => drop(writer.enter("helper")),
                    1 if writer.depth > 1 => drop(writer.leave("helper")),
                    _ => drop(writer.branch(line, taken)),
                }
            }
            writer.steps
        };
        let (old, new) = (trace(Side::Old), trace(Side::New));
        let order = walk(&twin, &old, &new);
        let taken = |side: Side| -> Vec<usize> {
            let steps = order.iter().filter_map(|met| match (*met, side) {
                (Met::Both(i, _), Side::Old) | (Met::Old(i), Side::Old) => Some(i as usize),
                (Met::Both(_, j), Side::New) | (Met::New(j), Side::New) => Some(j as usize),
                _ => None,
            });
            steps.collect()
        };
        assert_eq!(taken(Side::Old), (0..old.len()).collect::<Vec<_>>());
        assert_eq!(taken(Side::New), (0..new.len()).collect::<Vec<_>>());
        for met in &order {
            if let Met::Both(i, j) = *met {
                let (i, j) = (i as usize, j as usize);
                assert!(old[i].what.is_like(new[j].what) && old[i].site == new[j].site);
            }
        }
    }
}
