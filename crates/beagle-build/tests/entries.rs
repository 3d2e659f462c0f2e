//! Programs without a `main` of their own: fuzz targets, and single functions.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use beagle_build::{BuildError, Config, VersionSpec, build_sanitized};
use common::{Scratch, assert_has, defined_in};

fn run(program: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that crashes early need not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn printed(program: &Path, input: &[u8]) -> String {
    let output = run(program, &[], input);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn function(name: &str) -> Config {
    Config {
        function: Some(name.into()),
        ..Config::default()
    }
}

const TARGET: &str = r#"
#include <beagle.h>
#include <stdint.h>
static int ready;
int LLVMFuzzerInitialize(int *argc, char ***argv) { ready = 1; return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!ready) return 99;
    if (size == 0) return -1;
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += data[i];
    beagle_observe(&sum, 1);
    beagle_observe(data, size);
    return data[0] == 'x' ? data[size] : 0;
}
"#;

#[test]
fn a_file_with_a_fuzz_target_just_works() {
    let dir = Scratch::with(&[("t.c", TARGET), ("input", "ab")]);
    let built = dir.build("t.c", &Config::default()).unwrap();
    assert_eq!(printed(&built.program, b""), "return -1\n");
    let text = "observed 06\nobserved 01020003 00\nreturn 0\n";
    assert_eq!(printed(&built.program, &[1, 2, 0, 3, 0]), text);
    let file = dir.path("input");
    let output = run(&built.program, &[file.to_str().unwrap()], b"");
    assert_eq!(output.stdout, b"observed c3\nobserved 6162\nreturn 0\n");
    assert_has(&defined_in(&built), &["LLVMFuzzerTestOneInput", "main"]);
    assert!(dir.build("t.c", &Config::default()).unwrap().from_cache);
}

#[test]
fn reading_past_the_input_of_a_fuzz_target_is_found() {
    let dir = Scratch::with(&[("t.c", TARGET)]);
    let spec = VersionSpec::parse("t.c", &dir.path(".")).unwrap();
    let program =
        build_sanitized(&spec, &Config::default(), &dir.cache(), None, &mut |_| {}).unwrap();
    let output = run(&program, &[], b"x");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("heap-buffer-overflow"), "{text}");
    assert!(run(&program, &[], b"y").status.success());
}

#[test]
fn a_main_beside_a_fuzz_target_stays_the_start() {
    let main = "int main(void) { puts(\"own\"); return 0; }\n";
    let dir = Scratch::with(&[("t.c", &format!("#include <stdio.h>\n{TARGET}{main}"))]);
    let built = dir.build("t.c", &Config::default()).unwrap();
    assert_eq!(printed(&built.program, b""), "own\n");
    let again = common::relink(&built);
    assert_eq!(printed(&again, b""), "own\n");
}

#[test]
fn builds_link_fuzz_targets_as_for_oss_fuzz() {
    let makefile = "fuzz: t.o\n\t$(CC) t.o -o fuzz $(LIB_FUZZING_ENGINE)\n";
    let dir = Scratch::with(&[("p/t.c", TARGET), ("p/Makefile", makefile)]);
    let built = dir.build("p", &Config::default()).unwrap();
    assert!(built.missing.is_empty(), "{:?}", built.missing);
    let text = "observed 01\nobserved 01\nreturn 0\n";
    assert_eq!(printed(&built.program, &[1]), text);
    assert_has(&defined_in(&built), &["LLVMFuzzerTestOneInput", "main"]);
}

const FUNCTIONS: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef struct { int x; unsigned char tag[2]; double d; } point;
struct pair { short a, b; };
enum kind { NONE, SOME };
typedef unsigned long word;
static long add(int a, word b, enum kind k) { return a + (long)b + k; }
static int length(const char *text) { return (int)strlen(text); }
double half(float f, _Bool yes) { return yes ? f / 2 : f; }
struct pair swap(struct pair p) { return (struct pair){p.b, p.a}; }
static void sum(const uint8_t *data, size_t size, uint64_t *out, point *p) {
    *out = 0;
    for (size_t i = 0; i < size; i++) *out += data[i];
    p->x++;
}
void upper(char *text) { for (; *text; text++) if (*text >= 'a' && *text <= 'z') *text -= 32; }
void reverse(short *all, int count) {
    for (int i = 0; i < count / 2; i++) {
        short t = all[i]; all[i] = all[count - 1 - i]; all[count - 1 - i] = t;
    }
}
int nth(const char *text, int n) { return strlen(text) == 3 && n == 5 ? 0 : 1; }
const char *name(unsigned char c) { return c ? "set" : NULL; }
static int past(const uint8_t *data, size_t size) { return size ? data[size] : 0; }
int call(int (*f)(void)) { return f(); }
struct list { struct list *next; };
int walk(struct list *l) { return l != 0; }
int main(int argc, char **argv) { return (int)add(argc, 2, SOME) + past(0, 0); }
"#;

/// What calling a function of the file above prints.
fn called(dir: &Scratch, name: &str, input: &[u8]) -> String {
    let built = dir.build("f.c", &function(name)).unwrap();
    let mut input = input.to_vec();
    input.resize(input.len().max(200), 0);
    printed(&built.program, &input)
}

#[test]
fn a_function_gets_its_values_from_the_input_and_its_effects_are_shown() {
    let dir = Scratch::with(&[("f.c", FUNCTIONS)]);
    let mut input = (-5i32).to_le_bytes().to_vec();
    input.extend(7u64.to_le_bytes());
    input.extend(1i32.to_le_bytes());
    assert_eq!(called(&dir, "add", &input), "return = 3\n");
    assert_eq!(called(&dir, "length", b"four\0more"), "return = 4\n");
    assert_eq!(called(&dir, "length", &[b'x'; 99]), "return = 31\n");
    let mut input = 3.0f32.to_le_bytes().to_vec();
    input.push(255);
    assert_eq!(called(&dir, "half", &input), "return = 1.5\n");
    let text = called(&dir, "swap", &[1, 0, 2, 0]);
    assert!(text.contains("a = 2") && text.contains("b = 1"), "{text}");
    // One byte of length, 32 of content, then the out-parameters.
    let mut input = vec![3, 10, 20, 30];
    input.resize(33 + 8, 0);
    input.extend(41i32.to_le_bytes());
    let text = called(&dir, "sum", &input);
    assert!(text.starts_with("returned\n*out = 60\n"), "{text}");
    assert!(text.contains("x = 42"), "{text}");
    assert_eq!(called(&dir, "upper", b"aBc"), "returned\ntext = \"ABC\"\n");
    let text = "returned\nall[] = 3\nall[] = 2\nall[] = -1\n";
    assert_eq!(called(&dir, "reverse", &[3, 255, 255, 2, 0, 3, 0]), text);
    assert_eq!(called(&dir, "name", b"\0"), "return = null\n");
    assert_eq!(called(&dir, "name", b"x"), "return = \"set\"\n");
    let input = [&b"abc"[..], &[0; 29], &[5, 0, 0, 0]].concat();
    assert_eq!(called(&dir, "nth", &input), "return = 0\n");
}

#[test]
fn an_input_that_is_too_short_is_said_to_be_so() {
    let dir = Scratch::with(&[("f.c", FUNCTIONS)]);
    let built = dir.build("f.c", &function("add")).unwrap();
    let text = printed(&built.program, &[0; 15]);
    assert_eq!(text, "the input is shorter than 16 bytes\n");
    assert_eq!(printed(&built.program, &[0; 16]), "return = 0\n");
}

#[test]
fn the_buffer_of_a_function_has_just_the_length_that_it_is_told() {
    let dir = Scratch::with(&[("f.c", FUNCTIONS)]);
    let spec = VersionSpec::parse("f.c", &dir.path(".")).unwrap();
    let config = function("past");
    let program = build_sanitized(&spec, &config, &dir.cache(), None, &mut |_| {}).unwrap();
    let output = run(&program, &[], &[4; 33]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("heap-buffer-overflow"), "{text}");
}

#[test]
fn the_harness_is_the_same_for_both_versions() {
    let new = FUNCTIONS.replace("a + (long)b", "a - (long)b");
    let dir = Scratch::with(&[("f.c", FUNCTIONS), ("new.c", &new)]);
    dir.build("f.c", &function("add")).unwrap();
    dir.build("new.c", &function("add")).unwrap();
    let written = std::fs::read_dir(dir.cache().root.join("tools/harness"));
    assert_eq!(written.unwrap().count(), 1);
    // The program itself is still another build.
    assert!(!dir.build("f.c", &Config::default()).unwrap().from_cache);
}

#[test]
fn functions_that_cannot_be_called_are_said_to_be_so() {
    let dir = Scratch::with(&[
        ("f.c", FUNCTIONS),
        ("bad.c", "int f(int x) { return y; }\n"),
        ("p/main.c", FUNCTIONS),
    ]);
    let failure = |file: &str, name: &str| dir.build(file, &function(name)).unwrap_err();
    let error = failure("f.c", "ad");
    assert_eq!(error.to_string(), "f.c: there is no function `ad`");
    assert!(error.hint().unwrap().starts_with("it has add, call, half"));
    assert_eq!(error.exit_code(), 2);
    for (name, what) in [
        ("call", "`int (*)(void)` for `f`"),
        ("walk", "`struct list *` for `l`"),
        ("main", "where the program starts"),
    ] {
        let text = failure("f.c", name).to_string();
        assert!(text.contains(what), "{text}");
    }
    assert!(matches!(failure("bad.c", "f"), BuildError::Failed(_)));
    assert!(matches!(failure("p", "add"), BuildError::NoHarness { .. }));
}
