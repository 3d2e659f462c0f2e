//! Random programs: what can follow and precede each way on from a branch, against all paths that an
//! interpreter with an explicit stack can take, and against what runs of the real program do.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use beagle_program::{BlockId, CallGraph, Const, Op, Operand, Order, Program, StmtId};
use support::{Case, lift};

/// Small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, count: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(count)) as u32
    }
}

/// What a random program is made of.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Calls of functions further down only, nothing that ends the program.
    Plain,
    /// Everything.
    Wild,
}

const FUNCTIONS: u32 = 5;

/// Stands for all that is no function `f0`, `f1`, …
const MAIN: u32 = u32::MAX - 1;

/// Writes random programs. `mark(n)` and `way(n)` write a line to standard output; `choose()` is what
/// branches depend on, and becomes 0 after a while, so that every run ends.
struct Writer {
    random: Random,
    kind: Kind,
    text: String,
    marks: u32,
    ways: u32,
}

const PRELUDE: &str = "
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static unsigned long seed;
static int steps, entered, raised, is_set;
static jmp_buf where;
static int choose(void) {
    if (steps++ > 200) return 0;
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (seed >> 40) & 1;
}
static void mark(int n) { printf(\"m%d\\n\", n); }
static void way(int n) { printf(\"w%d\\n\", n); }
";

impl Writer {
    fn program(seed: u64, kind: Kind) -> String {
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut writer = Self {
            random,
            kind,
            text: PRELUDE.to_owned(),
            marks: 0,
            ways: 0,
        };
        for function in 0..FUNCTIONS {
            let _ = writeln!(writer.text, "static void f{function}(int);");
        }
        writer.text += "static void (*table[])(int) = {f3, f4};\n";
        let wild = kind == Kind::Wild;
        if wild {
            writer.text += "static int compare(const void *a, const void *b) {\n";
            writer.block(MAIN, 1);
            writer.text += "return choose() ? -1 : 1; }\nstatic void handler(int signal) {\n";
            writer.block(MAIN, 1);
            writer.text += "}\nstatic void bye(void) {\nis_set = 0;\n";
            writer.block(MAIN, 1);
            writer.text += "}\n";
        }
        for function in 0..FUNCTIONS {
            let _ = writeln!(writer.text, "static void f{function}(int x) {{");
            writer.text += "if (++entered > 300) return;\n";
            writer.block(function, 2);
            writer.text += "}\n";
        }
        writer.text += "int main(int argc, char **argv) {\nseed = strtoul(argv[1], NULL, 10);\n";
        if wild && writer.random.below(2) == 0 {
            writer.text += "atexit(bye);\n";
        }
        if wild && writer.random.below(2) == 0 {
            writer.text += "signal(SIGUSR1, handler);\n";
            writer.text = writer
                .text
                .replace("/*raise*/", "if (raised++ < 5) raise(SIGUSR1);");
        }
        if wild && writer.random.below(2) == 0 {
            writer.text += "if (setjmp(where)) {\nis_set = 0;\n";
            writer.block(MAIN, 1);
            writer.text += "return 3;\n}\nis_set = 1;\n";
        }
        for _ in 0..2 {
            let _ = writeln!(writer.text, "f{}(0);", writer.random.below(2));
            writer.block(MAIN, 2);
        }
        writer.text += "is_set = 0;\nreturn 0;\n}\n";
        writer.text
    }

    /// A condition is always on a line of its own, and each way on says so first.
    fn open(&mut self, what: &str) {
        let _ = writeln!(self.text, "{what} {{\nway({});", self.ways);
        self.ways += 1;
    }

    fn block(&mut self, function: u32, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(function, depth);
        }
    }

    fn statement(&mut self, function: u32, depth: u32) {
        let wild = self.kind == Kind::Wild;
        match self.random.below(if wild { 13 } else { 8 }) {
            0 | 1 if depth > 0 => {
                self.open("if (choose())");
                self.block(function, depth - 1);
                self.open("} else");
                self.block(function, depth - 1);
                self.text += "}\n";
            }
            2 if depth > 0 => {
                self.open("while (choose())");
                self.block(function, depth - 1);
                self.text += "}\n";
                let _ = writeln!(self.text, "way({});", self.ways);
                self.ways += 1;
            }
            3 | 4 if wild => {
                let _ = writeln!(self.text, "f{}(1);", self.random.below(FUNCTIONS));
            }
            3 | 4 if function + 1 < FUNCTIONS => {
                let down = function + 1 + self.random.below(FUNCTIONS - function - 1);
                let _ = writeln!(self.text, "f{down}(1);");
            }
            5 if wild || function < 3 || function == MAIN => self.text += "table[choose()](1);\n",
            6 if function != MAIN && depth < 2 => self.text += "if (choose()) return;\n",
            8 => self.text += "if (choose()) exit(4);\n",
            9 => {
                self.text += {
                    "if (++entered < 300) { int a[] = {1, 2}; qsort(a, 2, sizeof *a, compare); }\n"
                }
            }
            10 => self.text += "if (is_set && choose()) longjmp(where, 1);\n",
            11 => self.text += "/*raise*/\n",
            _ => {
                let _ = writeln!(self.text, "mark({});", self.marks);
                self.marks += 1;
            }
        }
    }
}

/// A random program with what is said of it.
struct Subject {
    case: Case,
    calls: CallGraph,
    order: Order,
    /// The number of each mark's statement.
    marks: BTreeMap<StmtId, usize>,
    /// By number: the branch, and which of its sides this is.
    ways: BTreeMap<usize, (StmtId, u32)>,
}

impl Subject {
    fn new(seed: u64, kind: Kind) -> Self {
        let case = lift(&Writer::program(seed, kind));
        let program = &case.program;
        let calls = CallGraph::of(program);
        let marks: BTreeMap<_, _> = numbered(program, "mark").collect();
        let all = marks.iter().map(|(&stmt, &mark)| (stmt, mark));
        // The compiler leaves out functions that nobody calls.
        let count = marks.values().max().map_or(0, |most| most + 1);
        let order = Order::of(program, &calls, all, count);
        let branches = |block: BlockId| {
            let before = program.block(block).predecessors.iter();
            let branches = before.map(|&block| program.block(block).terminator());
            branches.filter(|&stmt| program.stmt(stmt).op == Op::Branch)
        };
        let ways = numbered(program, "way").filter_map(|(stmt, way)| {
            let block = program.stmt(stmt).block;
            let branch = branches(block).next()?;
            let sides = &program.block(program.stmt(branch).block).successors;
            let side = sides.iter().position(|&next| next == block)?;
            Some((way, (branch, side as u32)))
        });
        Self {
            ways: ways.collect(),
            order,
            marks,
            calls,
            case,
        }
    }

    fn after(&self, way: usize) -> BTreeSet<usize> {
        let (branch, side) = self.ways[&way];
        let marks = self.order.after_edge(&self.case.program, branch, side);
        marks.expect("a side").iter().collect()
    }

    fn before(&self, way: usize) -> BTreeSet<usize> {
        let marks = self.order.before(&self.case.program, self.ways[&way].0);
        marks.iter().collect()
    }
}

/// The calls of a function, each with its argument.
fn numbered<'p>(program: &'p Program, name: &str) -> impl Iterator<Item = (StmtId, usize)> + 'p {
    let mut functions = program.functions();
    let found = functions.find(|(_, function)| function.name == name);
    let function = found.map(|(id, _)| id);
    let all = (0..program.stmts.len() as u32).map(StmtId);
    let calls =
        all.filter(move |&stmt| function.is_some() && program.called_function(stmt) == function);
    calls.filter_map(|call| match program.arguments(call) {
        [Operand::Const(id)] => match program.constant(*id) {
            Const::Int { bits, .. } => Some((call, *bits as usize)),
            _ => None,
        },
        _ => None,
    })
}

/// All that a program can do, step by step, with an explicit stack of calls.
#[derive(Default)]
struct Paths {
    numbers: BTreeMap<(Vec<StmtId>, StmtId), usize>,
    at: Vec<StmtId>,
    next: Vec<Vec<usize>>,
    previous: Vec<Vec<usize>>,
}

/// Programs that can do more are left out.
const MOST: usize = 100_000;

impl Paths {
    fn of(program: &Program, calls: &CallGraph) -> Option<Self> {
        let mut paths = Self::default();
        let mut functions = program.functions();
        let (_, main) = functions.find(|(_, function)| function.name == "main")?;
        let first = |block: BlockId| StmtId(program.block(block).stmts.start);
        let mut work = vec![(Vec::new(), first(main.entry()?))];
        paths.number(&work[0].0, work[0].1);
        while let Some((stack, stmt)) = work.pop() {
            if paths.at.len() > MOST {
                return None;
            }
            let block = program.block(program.stmt(stmt).block);
            let entries = calls.callees(stmt).iter();
            let entries = entries.filter_map(|&callee| program.function(callee).entry());
            let mut following: Vec<(Vec<StmtId>, StmtId)> = Vec::new();
            for entry in entries {
                let mut deeper = stack.clone();
                deeper.push(StmtId(stmt.0 + 1));
                following.push((deeper, first(entry)));
            }
            if program.stmt(stmt).op == Op::Return {
                let mut stack = stack.clone();
                following.extend(stack.pop().map(|to| (stack, to)));
            } else if stmt == block.terminator() {
                let next = block.successors.iter();
                following.extend(next.map(|&next| (stack.clone(), first(next))));
            } else if following.is_empty() {
                following.push((stack.clone(), StmtId(stmt.0 + 1)));
            }
            let from = paths.number(&stack, stmt).0;
            for (stack, stmt) in following {
                let (to, is_new) = paths.number(&stack, stmt);
                paths.next[from].push(to);
                paths.previous[to].push(from);
                if is_new {
                    work.push((stack, stmt));
                }
            }
        }
        Some(paths)
    }

    fn number(&mut self, stack: &[StmtId], stmt: StmtId) -> (usize, bool) {
        let number = self.at.len();
        let found = *self.numbers.entry((stack.to_vec(), stmt)).or_insert(number);
        if found == number {
            self.at.push(stmt);
            self.next.push(Vec::new());
            self.previous.push(Vec::new());
        }
        (found, found == number)
    }

    fn places(&self, stmt: StmtId) -> Vec<usize> {
        let all = self.at.iter().enumerate();
        all.filter(|(_, at)| **at == stmt)
            .map(|(number, _)| number)
            .collect()
    }

    /// The marks on all ways from some places on, along some edges.
    fn marks(
        &self,
        from: Vec<usize>,
        edges: &[Vec<usize>],
        marks: &BTreeMap<StmtId, usize>,
    ) -> BTreeSet<usize> {
        let mut seen = vec![false; self.at.len()];
        let mut work = from;
        let mut found = BTreeSet::new();
        while let Some(place) = work.pop() {
            if !std::mem::replace(&mut seen[place], true) {
                found.extend(marks.get(&self.at[place]));
                work.extend(&edges[place]);
            }
        }
        found
    }
}

#[test]
fn all_paths_and_no_others_are_found() {
    let mut compared = 0;
    let mut some = [0; 2];
    for seed in 1..=40 {
        let subject = Subject::new(seed, Kind::Plain);
        let program = &subject.case.program;
        let Some(paths) = Paths::of(program, &subject.calls) else {
            continue;
        };
        for (&way, &(branch, side)) in &subject.ways {
            let places = paths.places(branch);
            // Nobody calls the function.
            if places.is_empty() {
                continue;
            }
            let block = program.block(program.stmt(branch).block);
            let to = program.block(block.successors[side as usize]).stmts.start;
            let taken = places.iter().flat_map(|&place| &paths.next[place]);
            let taken = taken.copied().filter(|&next| paths.at[next] == StmtId(to));
            let after = paths.marks(taken.collect(), &paths.next, &subject.marks);
            let before = paths.marks(places, &paths.previous, &subject.marks);
            let text = &subject.case.text;
            assert_eq!(
                subject.after(way),
                after,
                "after way {way} of seed {seed}\n{text}"
            );
            assert_eq!(
                subject.before(way),
                before,
                "before way {way} of seed {seed}\n{text}"
            );
            compared += 1;
            for (some, found) in some.iter_mut().zip([after, before]) {
                *some += usize::from(found.len() < subject.marks.len());
            }
        }
    }
    // Or else this shows nothing.
    assert!(
        compared > 200 && some.iter().all(|&some| some > 50),
        "{compared} {some:?}"
    );
}

#[test]
fn runs_do_nothing_that_was_ruled_out() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut checked = 0;
    for seed in 1..=40 {
        let subject = Subject::new(seed, Kind::Wild);
        let text = &subject.case.text;
        let source = dir.path().join("wild.c");
        let binary = dir.path().join("wild");
        std::fs::write(&source, text).expect("can be written");
        let mut clang = Command::new("clang-19");
        clang.arg("-w").arg(&source).arg("-o").arg(&binary);
        assert!(clang.status().expect("clang runs").success(), "{text}");
        for input in 0..10 {
            let output = Command::new(&binary)
                .arg((seed * 100 + input).to_string())
                .output();
            let output = output.expect("it runs");
            assert!(
                output.status.code().is_some(),
                "{:?}\n{text}",
                output.status
            );
            let log = String::from_utf8_lossy(&output.stdout);
            let log: Vec<(&str, usize)> = log
                .lines()
                .filter_map(|line| Some((line.get(..1)?, line.get(1..)?.parse().ok()?)))
                .collect();
            checked += check_log(&subject, &log);
        }
    }
    // Or else this shows nothing; it was 483 when this was written.
    assert!(checked > 300, "{checked}");
}

/// Checks for each way that a run took what came before and what came after. For how many of them
/// something was ruled out.
fn check_log(subject: &Subject, log: &[(&str, usize)]) -> usize {
    let marks = |part: &[(&str, usize)]| -> BTreeSet<usize> {
        let marks = part.iter().filter(|(kind, _)| *kind == "m");
        marks.map(|&(_, mark)| mark).collect()
    };
    let (mut first, mut last) = (BTreeMap::new(), BTreeMap::new());
    for (time, (_, way)) in log.iter().enumerate().filter(|(_, (kind, _))| *kind == "w") {
        first.entry(*way).or_insert(time);
        last.insert(*way, time);
    }
    let text = &subject.case.text;
    let mut limited = 0;
    for (&way, &time) in first
        .iter()
        .filter(|(way, _)| subject.ways.contains_key(way))
    {
        let (after, before) = (subject.after(way), subject.before(way));
        let seen = marks(&log[time..]);
        assert!(seen.is_subset(&after), "after way {way}: {seen:?}\n{text}");
        let seen = marks(&log[..last[&way]]);
        assert!(
            seen.is_subset(&before),
            "before way {way}: {seen:?}\n{text}"
        );
        let all = subject.marks.len();
        limited += usize::from(after.len() < all || before.len() < all);
    }
    limited
}
