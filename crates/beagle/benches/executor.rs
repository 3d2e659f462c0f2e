//! What tracing costs, as ratios of times taken in one run: `make bench-executor`.
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/executor/support.rs"]
mod support;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use beagle_trace::{Event, Input, Limits};
use support::{NAME, Traced, native};

/// Arithmetic and branches on a small array.
const TIGHT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static unsigned char composite[2000000];
static unsigned crc(unsigned c, unsigned char b) {
    c ^= b;
    for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    return c;
}
int main(int argc, char **argv) {
    int rounds = atoi(argv[1]), n = 2000000; unsigned c = ~0u, primes = 0;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < n; i++) composite[i] = 0;
        for (int i = 2; i < n; i++) if (!composite[i]) { primes++; for (long j = (long)i * i; j < n; j += i) composite[j] = 1; }
        for (int i = 0; i < n; i++) c = crc(c, composite[i]);
    }
    printf("%u %08x\n", primes, c);
    (void)argc;
    return 0;
}"#;

/// A chained hash table with many small allocations.
const POINTERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct entry { struct entry *next; unsigned long key, value; char name[24]; };
static struct entry *table[65536];
static unsigned long hash(unsigned long k) { k ^= k >> 33; k *= 0xff51afd7ed558ccdul; k ^= k >> 29; return k; }
static struct entry *find(unsigned long key) { struct entry *e = table[hash(key) & 65535]; while (e && e->key != key) e = e->next; return e; }
int main(int argc, char **argv) {
    unsigned long n = strtoul(argv[1], 0, 10), found = 0, sum = 0;
    for (unsigned long i = 0; i < n; i++) {
        unsigned long key = hash(i) % (n * 2);
        struct entry *e = find(key);
        if (!e) {
            e = malloc(sizeof *e); e->key = key; e->value = 0; memset(e->name, (int)(key % 26) + 'a', 23); e->name[23] = 0;
            e->next = table[hash(key) & 65535]; table[hash(key) & 65535] = e;
        } else found++;
        e->value += i;
        if (e->value % 7 == 0) { sum += (unsigned char)e->name[key % 23]; }
    }
    for (int i = 0; i < 65536; i++) while (table[i]) { struct entry *e = table[i]; table[i] = e->next; sum += e->value; free(e); }
    printf("%lu %lu\n", found, sum);
    (void)argc;
    return 0;
}"#;

/// Every byte of standard input goes into every value that follows.
const SYMBOLIC: &str = r#"
#include <stdio.h>
#include <unistd.h>
static unsigned char in[65536];
int main(void) {
    long n = read(0, in, sizeof in); unsigned a = 1, b = 0; unsigned long h = 5381;
    for (int r = 0; r < 8; r++)
        for (long i = 0; i < n; i++) { a += in[i]; b += a; h = h * 33 ^ (in[i] + b); if ((h & 255) == 17) b ^= 3; }
    printf("%u %u %lx\n", a, b, h);
    return 0;
}"#;

/// Parses a number and looks at a few bytes.
const SMALL: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n > 600) puts("large"); else if (n > 10) puts("small"); else puts("tiny");
    return n & 1;
}"#;

fn args(args: &[&str]) -> Input {
    let mut input = Input::from_args(NAME, args.iter().map(|a| a.as_bytes().to_vec()));
    for source in &mut input.sources {
        source.symbolic = false;
    }
    input.with_stdin("")
}

fn compile(text: &str, level: &str, dir: &Path) -> std::path::PathBuf {
    let (source, program) = (dir.join("bench.c"), dir.join(format!("bench{level}")));
    std::fs::write(&source, text).expect("source");
    let status = Command::new("clang-19")
        .args([level, "-w", "-o"])
        .args([&program, &source])
        .status();
    assert!(status.expect("clang runs").success());
    program
}

/// The least of five times.
fn least(mut run: impl FnMut() -> Duration) -> f64 {
    (0..5).map(|_| run().as_secs_f64()).fold(f64::MAX, f64::min)
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Nothing depends on the input: what the shadows cost.
fn concrete(name: &str, text: &str, argument: &str) {
    let dir = tempfile::tempdir().expect("temporary directory");
    let input = args(&[argument]);
    let o0 = compile(text, "-O0", dir.path());
    let o2 = compile(text, "-O2", dir.path());
    let t0 = least(|| timed(|| drop(native(&o0, &input))));
    let t2 = least(|| timed(|| drop(native(&o2, &input))));
    let mut traced = Traced::source(text);
    let limits = Limits {
        time: Duration::from_secs(120),
        ..Limits::default()
    };
    let mut events = 0;
    let t = least(|| {
        let run = traced.executor.run(&input, &limits).expect("runs");
        events = run.trace.as_ref().map_or(0, |t| t.words().len());
        run.time
    });
    println!(
        "{name:<24} -O0 {:>7.1} ms   -O2 {:>7.1} ms   traced {:>7.1} ms   {:>5.2}x of -O0   {:>5.2}x of -O2   {:.1} M words of events",
        t0 * 1e3,
        t2 * 1e3,
        t * 1e3,
        t / t0,
        t / t2,
        events as f64 / 1e6
    );
}

fn symbolic() {
    let mut traced = Traced::source(SYMBOLIC);
    let bytes: Vec<u8> = (0..65536u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let input = Input::from_args(NAME, Vec::<Vec<u8>>::new()).with_stdin(bytes);
    let mut figures = (0, 0, 0);
    let t = least(|| {
        let run = traced
            .executor
            .run(&input, &Limits::default())
            .expect("runs");
        let trace = run.trace.as_ref().expect("well-formed");
        let events = trace
            .events()
            .filter(|e| !matches!(e, Event::Read { .. }))
            .count();
        figures = (trace.nodes().len(), events, trace.words().len());
        run.time
    });
    let (nodes, events, words) = figures;
    println!(
        "{:<24} {:.1} M nodes in {:.0} ms: {:.1} M nodes/s; {:.1} MB of events and {:.1} MB of nodes per million events",
        "all input symbolic",
        nodes as f64 / 1e6,
        t * 1e3,
        nodes as f64 / 1e6 / t,
        words as f64 * 4.0 / events as f64,
        nodes as f64 * 32.0 / events as f64,
    );
}

fn server() {
    let mut traced = Traced::source(SMALL);
    let input = Input::from_args(NAME, ["612"]).with_stdin("");
    let runs = 2000;
    let time = timed(|| {
        for _ in 0..runs {
            drop(
                traced
                    .executor
                    .run(&input, &Limits::default())
                    .expect("runs"),
            );
        }
    });
    println!(
        "{:<24} {:.0} runs/s of a small program",
        "fork server",
        f64::from(runs) / time.as_secs_f64()
    );
}

fn main() {
    // `cargo test --all-targets` and `cargo bench` both call this.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    concrete("tight loops", TIGHT, "3");
    concrete("pointers", POINTERS, "600000");
    symbolic();
    server();
}
