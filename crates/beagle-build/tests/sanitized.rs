//! `build_sanitized`: the same build, with sanitizers.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use beagle_build::{BuildError, Config, Leash, Progress, VersionSpec, build_sanitized, carried};
use common::Scratch;

/// Reads one past a buffer, or overflows, or goes well.
const FAULTY: &str = r#"
#include <limits.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    char *text = malloc(4);
    text[0] = 1;
    if (argc == 2) return text[3 + argc - 1] == 77;
    if (argc == 3) return (INT_MAX - 2 + argc) == 5;
    free(text);
    return 0;
}
"#;

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("beagle.toml")).unwrap()
}

fn sanitized(dir: &Scratch, text: &str, config: &Config) -> Result<(PathBuf, bool), BuildError> {
    let spec = VersionSpec::parse(text, &dir.path("."))?;
    let mut cached = false;
    let program = build_sanitized(&spec, config, &dir.cache(), None, &mut |step| {
        cached |= matches!(step, Progress::Cached { .. });
    })?;
    Ok((program, cached))
}

fn run(program: &Path, args: &[&str]) -> Output {
    let options = "detect_leaks=0";
    let mut command = Command::new(program);
    let command = command.args(args).env("ASAN_OPTIONS", options);
    command.output().unwrap()
}

fn assert_finds_faults(program: &Path) {
    assert!(run(program, &[]).status.success());
    let overflow = run(program, &["x"]);
    let text = String::from_utf8_lossy(&overflow.stderr).into_owned();
    assert!(text.contains("heap-buffer-overflow"), "{text}");
    // The report names the line, so there is debug information.
    assert!(text.contains("main.c:7"), "{text}");
    let undefined = run(program, &["x", "y"]);
    let text = String::from_utf8_lossy(&undefined.stderr).into_owned();
    assert!(text.contains("signed integer overflow"), "{text}");
    assert!(!undefined.status.success());
}

#[test]
fn a_single_file_gets_both_sanitizers_and_is_built_once() {
    let dir = Scratch::with(&[("main.c", FAULTY)]);
    let config = config("cflags = '-O1'");
    let (program, cached) = sanitized(&dir, "main.c", &config).unwrap();
    assert!(!cached);
    assert_finds_faults(&program);
    // Nobody pays for bitcode that nobody reads.
    assert!(carried(&program, None).unwrap().bitcode.is_none());
    let plain = dir.build("main.c", &config).unwrap();
    assert!(!plain.from_cache);
    assert_ne!(plain.program, program);
    assert!(carried(&plain.program, None).unwrap().bitcode.is_some());
    assert_eq!(sanitized(&dir, "main.c", &config).unwrap(), (program, true));
    assert!(dir.build("main.c", &config).unwrap().from_cache);
}

#[test]
fn a_build_compiles_and_links_with_sanitizers() {
    let makefile = "prog: main.o other.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n";
    let dir = Scratch::with(&[
        ("p/main.c", FAULTY),
        ("p/other.c", "int other;\n"),
        ("p/Makefile", makefile),
    ]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert!(program.ends_with("tree/prog"), "{}", program.display());
    assert_finds_faults(&program);
}

#[test]
fn a_stripped_program_is_found_too() {
    let makefile = "prog: main.c\n\t$(CC) main.c -o prog\n\tstrip prog\n";
    let dir = Scratch::with(&[("p/main.c", FAULTY), ("p/Makefile", makefile)]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert!(program.ends_with("tree/prog"), "{}", program.display());
}

#[test]
fn programs_that_run_during_the_build_may_leak_and_checks_find_what_they_always_find() {
    // The check overflows on purpose, as configure scripts do to see what happens.
    let check = "#include <limits.h>\nint main(int c, char **v) { return INT_MAX + c > 0; }\n";
    let generator = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) { char *volatile p = malloc(9); p = 0; puts(\"#define OK 1\"); return 0; }\n";
    let makefile = "prog: main.c gen.c\n\
        \t$(CC) -fwrapv conftest.c -o conftest && ./conftest\n\
        \trm conftest\n\
        \t$(CC) gen.c -o gen && ./gen > gen.h\n\
        \trm gen\n\
        \t$(CC) -include gen.h main.c -o prog\n";
    let dir = Scratch::with(&[
        ("p/main.c", FAULTY),
        ("p/conftest.c", check),
        ("p/gen.c", generator),
        ("p/Makefile", makefile),
    ]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert_finds_faults(&program);
}

#[test]
fn what_only_the_own_linker_understands_is_linked_by_it() {
    let dir = Scratch::with(&[("main.c", FAULTY)]);
    let config = config("ldflags = '-Wl,--no-print-map-discarded'");
    let (program, _) = sanitized(&dir, "main.c", &config).unwrap();
    assert_finds_faults(&program);
}

#[test]
fn what_cannot_be_sanitized_is_an_error_and_leaves_the_plain_build_alone() {
    let dir = Scratch::with(&[("main.c", FAULTY)]);
    let config = config("ldflags = '-static'");
    let error = sanitized(&dir, "main.c", &config).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("main.c with sanitizers does not build: "),
        "{text}"
    );
    assert!(dir.build("main.c", &config).is_ok());
}

/// Whether it was made from what the plain build left, without building the project again.
fn is_made_again(program: &Path) -> bool {
    program.parent().is_some_and(|dir| dir.ends_with("again"))
}

/// Builds plainly, then with sanitizers.
fn after_plain(dir: &Scratch, config: &Config) -> PathBuf {
    dir.build("p", config).unwrap();
    sanitized(dir, "p", config).unwrap().0
}

#[test]
fn what_was_built_is_not_built_again_but_only_compiled() {
    // Sources of its own, members of an archive, one below with the same name, a generated header, a
    // partial link, a test that fails with sanitizers, and an archive with more than is needed.
    let makefile = "\
all: prog check
config.h:
\techo '#define SIZE 4' > config.h
main.o: main.c config.h
\t$(CC) -MD -MF main.d -Werror -O2 -DNAME='\"a b\"' -c -o main.o main.c
sub/main.o: sub/main.c
\tcd sub && $(CC) -c main.c
parts.o: one.c two.c
\t$(CC) -c one.c two.c
\t$(LD) -r -o parts.o one.o two.o
lib.a: sub/main.o unused.o
\t$(AR) rc lib.a sub/main.o unused.o
prog: main.o lib.a parts.o
\t$(CC) -o prog main.o direct.c lib.a parts.o
\trm -f sub/main.o lib.a
check: prog
\t$(CC) leak.c -o leak && ./leak
";
    let main = FAULTY
        .replace(
            "#include <limits.h>",
            "#include \"config.h\"\n#include <limits.h>",
        )
        .replace(
            "char *text = malloc(4)",
            "char *text = malloc(SIZE + part() + direct() + one() + two())",
        )
        .replace(
            "int main",
            "int part(void), direct(void), one(void), two(void); int main",
        );
    let dir = Scratch::with(&[
        ("p/main.c", &main),
        ("p/sub/main.c", "int part(void) { return 0; }\n"),
        (
            "p/unused.c",
            "int nowhere(void); int unused(void) { return nowhere(); }\n",
        ),
        ("p/direct.c", "int direct(void) { return 0; }\n"),
        ("p/one.c", "int one(void) { return 0; }\n"),
        ("p/two.c", "int two(void) { return 0; }\n"),
        (
            "p/leak.c",
            "#include <stdlib.h>\nint main(int c, char **v) { char *t = malloc(1); return t[c] == 77; }\n",
        ),
        ("p/Makefile", makefile),
    ]);
    let program = after_plain(&dir, &config("program = 'prog'"));
    assert!(is_made_again(&program), "{}", program.display());
    assert!(run(&program, &[]).status.success());
    let overflow = run(&program, &["x"]);
    let text = String::from_utf8_lossy(&overflow.stderr).into_owned();
    assert!(text.contains("heap-buffer-overflow"), "{text}");
    assert!(text.contains(" main.c:8"), "{text}");
    let plain = dir.build("p", &config("program = 'prog'")).unwrap();
    assert!(plain.from_cache);
}

#[test]
fn where_a_source_is_no_longer_what_it_was_everything_is_built_again() {
    let makefile = "prog: main.c\n\t$(CC) -c main.c -o main.o\n\t$(CC) main.o -o prog\n";
    let gone = "\techo 'int main(void) { return 5; }' > main.c\n";
    for (more, again) in [("", true), (gone, false)] {
        let dir = Scratch::with(&[
            ("p/main.c", FAULTY),
            ("p/Makefile", &format!("{makefile}{more}")),
        ]);
        let program = after_plain(&dir, &Config::default());
        assert_eq!(is_made_again(&program), again, "{}", program.display());
        assert_finds_faults(&program);
    }
}

#[test]
fn where_parts_are_not_known_everything_is_built_again() {
    // Members with one name, of which only the linker knows which it took; and a source from a pipe.
    let members = "prog: main.c\n\t$(CC) -c other.c -o x.o && mkdir -p d && $(CC) -c main.c -o d/x.o\n\
        \t$(AR) qc l.a x.o d/x.o && $(CC) -o prog l.a\n";
    let pipe = "prog: main.c\n\tcat main.c | $(CC) -x c -c - -o main.o\n\t$(CC) main.o -o prog\n";
    for makefile in [members, pipe] {
        let dir = Scratch::with(&[
            ("p/main.c", FAULTY),
            ("p/other.c", "int other;\n"),
            ("p/Makefile", makefile),
        ]);
        let program = after_plain(&dir, &Config::default());
        assert!(!is_made_again(&program), "{}", program.display());
        assert!(!run(&program, &["x"]).status.success());
    }
}

#[test]
fn a_build_in_the_background_ends_with_all_that_it_started() {
    let makefile = "prog: main.c\n\t(echo start > started; sleep 600; echo end > ended) & \
        while sleep 0.05; do date > going; done\n";
    let dir = Scratch::with(&[("p/main.c", FAULTY), ("p/Makefile", makefile)]);
    let spec = VersionSpec::parse("p", &dir.path(".")).unwrap();
    let (cache, leash) = (dir.cache(), Leash::default());
    std::thread::scope(|scope| {
        let build = scope.spawn(|| {
            build_sanitized(&spec, &Config::default(), &cache, Some(&leash), &mut |_| {})
        });
        let builds = dir.path(".cache/builds");
        let find = |name: &str| {
            let entries = std::fs::read_dir(&builds).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.path().join("tree").join(name))
                .find(|path| path.exists())
        };
        let going = loop {
            if let Some(going) = find("going") {
                break going;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        leash.pull();
        assert!(build.join().unwrap().is_err());
        // Nothing writes there any more.
        std::fs::remove_file(&going).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert!(!going.exists());
        // Nor does anything start any more.
        let error = build_sanitized(&spec, &Config::default(), &cache, Some(&leash), &mut |_| {});
        assert!(error.is_err());
        assert!(find("going").is_none());
    });
}
