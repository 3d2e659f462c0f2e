//! Points-to against runs: each access to a global variable that a run makes is one that the
//! analysis allows.
//!
//! Programs of csmith are built so that every load and store reports its place and address.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use beagle_program::{Dependence, Object, Op, Operand};
use support::{Case, csmith, lift_with, run};
use tempfile::TempDir;

/// Writes where an access was made from and to, each pair once, and ends after some time: an
/// endless loop is no error here.
const TRACER: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#define SIZE (1 << 16)
static struct { uintptr_t from, to; } seen[SIZE];
static FILE *out; static long left = 200000;
static void note(uintptr_t from, uintptr_t to) {
    if (!out) { out = fopen("trace", "w"); alarm(5); }
    if (!left--) { fflush(out); _exit(0); }
    size_t at = (from * 31 + to * 17) % SIZE;
    if (seen[at].from == from && seen[at].to == to) return;
    seen[at].from = from; seen[at].to = to;
    fprintf(out, "%lx %lx\n", (long)from, (long)to);
    fflush(out);
}
#define NOTE(name) void __sanitizer_cov_##name(void *to) { \
    note((uintptr_t)__builtin_return_address(0) - 1, (uintptr_t)to); }
NOTE(load1) NOTE(load2) NOTE(load4) NOTE(load8) NOTE(load16)
NOTE(store1) NOTE(store2) NOTE(store4) NOTE(store8) NOTE(store16)
void __sanitizer_cov_trace_pc(void) {}
"#;

/// The accesses of a run, by line and column of the source, and the global that was touched.
fn trace(text: &str) -> BTreeSet<(u32, u32, String)> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("main.c"), text).expect("can be written");
    std::fs::write(dir.path().join("tracer.c"), TRACER).expect("can be written");
    let mut compile = Command::new("clang-19");
    compile.args(["-O0", "-g", "-w", "-c", "main.c"]);
    compile.arg("-fsanitize-coverage=trace-loads,trace-stores,trace-pc");
    run(&mut compile, dir.path());
    let mut link = Command::new("clang-19");
    run(
        link.args(["-O1", "-no-pie", "-w", "tracer.c", "main.o"]),
        dir.path(),
    );
    let program = dir.path().join("a.out");
    // Whatever way it ends: what it did until then counts.
    let _ = Command::new(program).current_dir(dir.path()).output();
    let text = std::fs::read_to_string(dir.path().join("trace")).unwrap_or_default();
    let globals = globals(&dir);
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let accesses: Vec<(u64, String)> = text
        .lines()
        .filter_map(|line| {
            let (from, to) = line.split_once(' ')?;
            let to = number(to)?;
            let (&start, (size, name)) = globals.range(..=to).next_back()?;
            (to < start + size).then(|| Some((number(from)?, name.clone())))?
        })
        .collect();
    let places = places(&dir, accesses.iter().map(|(from, _)| *from));
    let named = accesses.into_iter().filter_map(|(from, name)| {
        let &(line, column) = places.get(&from)?;
        Some((line, column, name))
    });
    named.collect()
}

/// The variables of a program by their address, with size and name.
fn globals(dir: &TempDir) -> BTreeMap<u64, (u64, String)> {
    let mut command = Command::new("llvm-nm-19");
    let output = command
        .args(["-S", "a.out"])
        .current_dir(dir.path())
        .output();
    let text = String::from_utf8(output.expect("llvm-nm runs").stdout).expect("text");
    let symbol = |line: &str| {
        let [address, size, kind, name] = line.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_data = "bBdD".contains(kind);
        is_data.then(|| Some((number(address)?, (number(size)?, name.to_owned()))))?
    };
    text.lines().filter_map(symbol).collect()
}

/// The places in the source of addresses of code.
fn places(dir: &TempDir, addresses: impl Iterator<Item = u64>) -> BTreeMap<u64, (u32, u32)> {
    let addresses: BTreeSet<_> = addresses.collect();
    let mut command = Command::new("llvm-symbolizer-19");
    command.args([
        "--obj=a.out",
        "--output-style=LLVM",
        "--functions=none",
        "--no-inlines",
    ]);
    command.args(addresses.iter().map(|address| format!("{address:#x}")));
    let output = command.current_dir(dir.path()).output();
    let text = String::from_utf8(output.expect("llvm-symbolizer runs").stdout).expect("text");
    let lines = text.lines().filter(|line| !line.is_empty());
    let place = |line: &str| {
        let mut parts = line.rsplitn(3, ':');
        let (column, line) = (parts.next()?, parts.next()?);
        Some((line.parse().ok()?, column.parse().ok()?))
    };
    let pairs = addresses.into_iter().zip(lines);
    pairs
        .filter_map(|(at, line)| Some((at, place(line)?)))
        .collect()
}

/// The globals that may be touched at each place, and the places where anything may be.
fn allowed(case: &Case) -> BTreeMap<(u32, u32), BTreeSet<String>> {
    let dependence = Dependence::of(&case.program);
    let points_to = dependence.points_to();
    let mut allowed: BTreeMap<(u32, u32), BTreeSet<String>> = BTreeMap::new();
    for (id, _) in case.program.functions() {
        for stmt in case.program.function_stmts(id) {
            let operands = case.program.operands(stmt);
            let address: Operand = match case.program.stmt(stmt).op {
                Op::Load { .. } => operands[0],
                Op::Store { .. } => operands[1],
                _ => continue,
            };
            let Some(place) = case.program.stmt(stmt).place else {
                continue;
            };
            let here = allowed.entry((place.line, place.column)).or_default();
            for cell in points_to.read(id, address, None) {
                let object = points_to.object(cell);
                if let Object::Global(id) = object {
                    here.insert(case.program.global(id).symbol.clone());
                }
                if object == Object::Outside {
                    here.insert("outside".to_owned());
                }
            }
        }
    }
    allowed
}

/// Returns how many accesses were compared.
fn check(seed: u32) -> usize {
    let text = csmith::text(seed);
    let case = lift_with("clang-19", "main.c", &[], &text);
    let allowed = allowed(&case);
    let trace = trace(&text);
    for (line, column, name) in &trace {
        let here = allowed.get(&(*line, *column));
        // Accesses made by `memcpy` are calls in the model.
        if let Some(here) = here {
            assert!(
                here.contains(name) || here.contains("outside"),
                "seed {seed}: {name} is touched at {line}:{column}, allowed {here:?}"
            );
        }
    }
    trace.len()
}

#[test]
fn accesses_of_runs_are_allowed() {
    let count: usize = (1..=14).map(check).sum();
    assert!(count > 500, "only {count} accesses were seen");
}
