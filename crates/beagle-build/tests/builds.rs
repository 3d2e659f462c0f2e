//! `build`: files, directories, revisions and working trees, and the cache.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::time::SystemTime;

use beagle_build::{Cache, Config, Progress, VersionSpec, build};
use common::{BEAGLE, Scratch, assert_has, defined_in, disassemble, relink};

const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";
/// Compiles `main.c` and counts how often it was called, in a file outside of the tree.
const MAKEFILE: &str = "prog: main.c\n\techo run >> $(COUNTER)\n\t$(CC) -O2 main.c -o prog\n";

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("beagle.toml")).unwrap()
}

fn output_of(program: &Path) -> String {
    let output = std::process::Command::new(program).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with two commits, tagged `v1` and `v2`.
fn repository() -> Scratch {
    let dir = Scratch::with(&[
        ("r/main.c", HELLO),
        ("r/Makefile", MAKEFILE),
        ("r/.gitignore", "prog\n"),
    ]);
    let git = "git -c user.name=x -c user.email=x@example.org";
    dir.sh(&format!(
        "cd r && git init -q && git add . && {git} commit -qm one && git tag v1"
    ));
    dir.write("r/main.c", &HELLO.replace("hello", "bye"));
    dir.sh(&format!("cd r && {git} commit -qam two && git tag v2"));
    dir
}

fn counting(dir: &Scratch) -> Config {
    config(&format!(
        "build = 'make CC=\"$CC\" COUNTER={}'",
        dir.path("counter").display()
    ))
}

fn runs(dir: &Scratch) -> usize {
    std::fs::read_to_string(dir.path("counter"))
        .unwrap_or_default()
        .lines()
        .count()
}

#[test]
fn single_files_need_no_configuration() {
    let header = "#define TEXT \"hello\"\n";
    let dir = Scratch::with(&[
        (
            "sub/old.c",
            &HELLO
                .replace("\"hello\"", "TEXT")
                .replace("int main", "#include <text.h>\nint main"),
        ),
        ("sub/text.h", header),
    ]);
    let built = dir.build("sub/old.c", &Config::default()).unwrap();
    assert_eq!(
        (built.label.as_str(), built.from_cache),
        ("sub/old.c", false)
    );
    assert_eq!(output_of(&built.program), "hello\n");
    assert_has(&defined_in(&built), &["main"]);
    assert_eq!(built.tree, dir.path("sub"));
    let text = disassemble(&std::fs::read(&built.bitcode).unwrap());
    assert!(
        text.contains("!DIFile(filename: \"./old.c\", directory: \".\""),
        "{text}"
    );
    // Nothing is compiled twice, but everything that is included counts.
    assert!(
        dir.build("sub/old.c", &Config::default())
            .unwrap()
            .from_cache
    );
    dir.write("sub/text.h", "#define TEXT \"bye\"\n");
    let built = dir.build("sub/old.c", &Config::default()).unwrap();
    assert!(!built.from_cache);
    assert_eq!(output_of(&built.program), "bye\n");
    assert_eq!(std::fs::read_dir(dir.path("sub")).unwrap().count(), 2);
}

#[test]
fn flags_reach_the_compiler_and_the_linker() {
    let source =
        "#include <math.h>\nint main(int argc, char **argv) { return (int) cbrt(argc * N) - 2; }\n";
    let dir = Scratch::with(&[("m.c", source)]);
    let built = dir
        .build("m.c", &config("cflags = '-DN=8 -O1'\nldflags = '-lm'"))
        .unwrap();
    assert!(
        std::process::Command::new(&built.program)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(built.link_args.last().unwrap(), "-lm");
    assert!(
        dir.build("m.c", &config("cflags = '-DN=8 -O1'\nldflags = ['-lm']"))
            .unwrap()
            .from_cache
    );
    assert!(
        !dir.build("m.c", &config("cflags = '-DN=27 -O1'\nldflags = '-lm'"))
            .unwrap()
            .from_cache
    );
}

#[test]
fn old_dialects_compile() {
    let old = "#include <stdio.h>\nfoo(a, b) int a; char *b; { bar(a); return; }\nstatic x;\n\
               main() { char *p = 3; foo(1, 2); if (x) return; printf(\"hi\\n\"); exit(0); }\nbar(n) { return n; }\n";
    let restrict = "main() { int restrict = 0; return restrict; }\n";
    let inline = "inline int f(int x) { return x; }\nint main(void) { return f(0); }\n";
    let dir = Scratch::with(&[
        ("old.c", old),
        ("restrict.c", restrict),
        ("inline.c", inline),
    ]);
    let built = dir.build("old.c", &Config::default()).unwrap();
    assert_has(&defined_in(&built), &["main", "foo", "bar", "x"]);
    assert_eq!(output_of(&built.program), "hi\n");
    dir.build("restrict.c", &Config::default()).unwrap();
    dir.build("inline.c", &Config::default()).unwrap();
}

#[test]
fn old_dialects_compile_in_a_tree_too() {
    let dir = Scratch::with(&[
        ("d/main.c", "main() { return foo(); }\n"),
        ("d/foo.c", "foo() { return 0; }\n"),
        ("d/Makefile", "prog: main.o foo.o\n\t$(CC) -o $@ $^\n"),
    ]);
    let spec = VersionSpec::parse("d", &dir.path(".")).unwrap();
    let mut notes = Vec::new();
    let mut progress = |step| {
        if let Progress::Note { text, .. } = step {
            notes.push(text);
        }
    };
    let built = build(&spec, &Config::default(), &dir.cache(), &mut progress).unwrap();
    assert_has(&defined_in(&built), &["main", "foo"]);
    assert_eq!(notes.len(), 1);
}

#[test]
fn directories_are_copied_and_stay_as_they_are() {
    let dir = Scratch::with(&[
        ("d/main.c", HELLO),
        ("d/Makefile", MAKEFILE),
        ("d/.git", "not really"),
    ]);
    dir.sh("cd d && ln -s main.c link.c && chmod 444 main.c");
    let before = dir.sh("cd d && find . -printf '%p %T@ %m\\n' | sort");
    let built = dir.build("d", &counting(&dir)).unwrap();
    assert_eq!(
        (built.label.as_str(), output_of(&built.program).as_str()),
        ("d", "hello\n")
    );
    assert_eq!(
        dir.sh("cd d && find . -printf '%p %T@ %m\\n' | sort"),
        before
    );
    assert!(!built.tree.join(".git").exists());
    // The key is the content, wherever it is.
    dir.sh("cp -r d e");
    assert!(dir.build("e", &counting(&dir)).unwrap().from_cache);
    assert_eq!(runs(&dir), 1);
    // The cache may even be inside of the directory.
    dir.build_in(
        "d",
        "..",
        &config("build = 'cd d && make CC=\"$CC\" COUNTER=/dev/null'\nprogram = 'd/prog'"),
    )
    .unwrap();
}

#[test]
fn revisions_are_built_without_touching_the_repository() {
    let dir = repository();
    dir.write("r/main.c", "changed and broken");
    dir.write("r/untracked", "");
    let look = "cd r && export GIT_OPTIONAL_LOCKS=0; git status --porcelain && git worktree list && find . -printf '%p %T@ %m\\n' | sort";
    let before = dir.sh(look);
    let old = dir.build_in("r", "v1", &counting(&dir)).unwrap();
    let new = dir.build_in("r", "HEAD", &counting(&dir)).unwrap();
    assert_eq!(dir.sh(look), before);
    assert_eq!(
        (output_of(&old.program), output_of(&new.program)),
        ("hello\n".into(), "bye\n".into())
    );
    assert!(
        old.label.starts_with("v1 (") && old.label.len() == "v1 (1234567)".len(),
        "{}",
        old.label
    );
    assert_eq!(runs(&dir), 2);
    // The same tree by another name, from a subdirectory, does no compiling.
    dir.sh("mkdir r/sub");
    let again = dir.build_in("r/sub", "v2", &counting(&dir)).unwrap();
    assert!(again.from_cache);
    assert_eq!(again.bitcode, new.bitcode);
    assert_eq!(runs(&dir), 2);
}

#[test]
fn the_working_tree_is_what_is_there_now() {
    let dir = repository();
    dir.write(
        "r/main.c",
        &HELLO
            .replace("hello", "now")
            .replace("#include <stdio.h>", "#include \"new.h\""),
    );
    dir.write("r/new.h", "#include <stdio.h>\n");
    dir.write("r/prog", "ignored");
    let before =
        dir.sh("cd r && export GIT_OPTIONAL_LOCKS=0; git status --porcelain --ignored && find . -printf '%p %T@\\n' | sort");
    let built = dir.build_in("r", ".", &counting(&dir)).unwrap();
    assert_eq!(
        (built.label.as_str(), output_of(&built.program).as_str()),
        ("working tree", "now\n")
    );
    assert_eq!(
        dir.sh("cd r && export GIT_OPTIONAL_LOCKS=0; git status --porcelain --ignored && find . -printf '%p %T@\\n' | sort"),
        before
    );
    // Deleted files are gone, and the root of a repository is its working tree.
    dir.sh("cd r && mv main.c other.c && sed -i s/main.c/other.c/g Makefile");
    let built = dir.build("r", &counting(&dir)).unwrap();
    assert!(!built.from_cache && !built.tree.join("main.c").exists());
}

#[test]
fn the_cache_may_be_in_the_working_tree() {
    let dir = repository();
    let spec = VersionSpec::parse(".", &dir.path("r")).unwrap();
    let cache = Cache::at(&dir.path("r/cache"), Path::new(BEAGLE)).unwrap();
    let built = [(); 2].map(|()| build(&spec, &counting(&dir), &cache, &mut |_| {}).unwrap());
    assert!(built[1].from_cache);
    assert!(!built[0].tree.join("cache").exists());
}

#[test]
fn submodules_that_are_there_are_used_and_others_are_named() {
    let dir = repository();
    let git = "git -c user.name=x -c user.email=x@example.org -c protocol.file.allow=always";
    dir.sh("mkdir lib && cd lib && git init -q && echo '#define TEXT \"module\"' > text.h && git add .");
    dir.sh(&format!(
        "cd lib && {git} commit -qm one && cd ../r && {git} submodule --quiet add ../lib lib"
    ));
    dir.write(
        "r/main.c",
        &HELLO
            .replace("\"hello\"", "TEXT")
            .replace("int main", "#include \"lib/text.h\"\nint main"),
    );
    dir.sh(&format!("cd r && git add . && {git} commit -qm three"));
    let built = dir.build_in("r", "HEAD", &counting(&dir)).unwrap();
    assert_eq!(output_of(&built.program), "module\n");
    dir.sh("git clone -q r clone");
    let error = dir.build_in("clone", "HEAD", &counting(&dir)).unwrap_err();
    assert!(
        error
            .hint()
            .unwrap()
            .contains("the submodule `lib` is empty"),
        "{error}"
    );
}

#[test]
fn two_versions_can_be_built_at_once() {
    let dir = repository();
    let config = counting(&dir);
    let build = |rev: &'static str| dir.build_in("r", rev, &config).unwrap();
    std::thread::scope(|scope| {
        let builds = ["v1", "v2", "v1", "v2"].map(|rev| scope.spawn(move || build(rev)));
        let built = builds.map(|build| build.join().unwrap());
        assert_eq!(built[0].program, built[2].program);
        assert_eq!(built[1].program, built[3].program);
    });
    assert_eq!(runs(&dir), 2);
}

#[test]
fn failed_and_interrupted_builds_leave_nothing() {
    let dir = Scratch::with(&[("d/main.c", HELLO), ("d/Makefile", MAKEFILE)]);
    let failing = config("build = 'touch rest; test -e /nowhere'\nprogram = 'prog'");
    dir.build("d", &failing).unwrap_err();
    dir.build("d", &failing).unwrap_err();
    let built = dir.build("d", &counting(&dir)).unwrap();
    // As if it had been interrupted before the end.
    let entry = built.bitcode.parent().unwrap();
    std::fs::remove_file(entry.join("built.json")).unwrap();
    std::fs::write(entry.join("tree/main.c"), "half").unwrap();
    let built = dir.build("d", &counting(&dir)).unwrap();
    assert!(!built.from_cache);
    assert_eq!(output_of(&built.program), "hello\n");
}

#[test]
fn dates_and_places_are_the_same_in_all_versions() {
    let source = "#include <stdio.h>\nint main(void) { puts(__DATE__ __FILE__); return 0; }\n";
    let dir = Scratch::with(&[
        ("a/main.c", source),
        ("a/Makefile", "prog:\n\t$(CC) -g $(CURDIR)/main.c -o prog\n"),
    ]);
    dir.sh("cp -r a b && echo >> b/Makefile");
    let [a, b] = ["a", "b"].map(|name| dir.build(name, &Config::default()).unwrap());
    assert_ne!(a.program, b.program);
    assert_eq!(output_of(&a.program), "Jan  1 2000main.c\n");
    assert_eq!(output_of(&b.program), output_of(&a.program));
    assert_eq!(
        std::fs::read(a.bitcode).unwrap(),
        std::fs::read(b.bitcode).unwrap()
    );
}

#[test]
fn files_of_a_revision_have_one_time() {
    let dir = repository();
    let built = dir.build_in("r", "v1", &counting(&dir)).unwrap();
    let time = |name: &str| {
        built
            .tree
            .join(name)
            .metadata()
            .unwrap()
            .modified()
            .unwrap()
    };
    assert_eq!(time("main.c"), time("Makefile"));
    assert!(time("main.c") < SystemTime::now());
}

#[test]
fn a_directory_with_one_c_file_is_like_the_file() {
    let dir = Scratch::with(&[("d/prog.c", HELLO)]);
    let built = dir.build("d", &Config::default()).unwrap();
    assert_eq!(output_of(&built.program), "hello\n");
    assert!(dir.build("d", &Config::default()).unwrap().from_cache);
}

#[test]
fn parts_without_bitcode_are_linked_natively_again() {
    let dir = Scratch::with(&[
        (
            "d/main.c",
            "int one(void), two(void);\nint main(void) { return one() + two() - 3; }\n",
        ),
        (
            "d/one.S",
            "#define ONE one\n.globl ONE\nONE: mov $1, %eax\nret\n",
        ),
        ("d/two.s", ".globl two\ntwo: mov $2, %eax\nret\n"),
    ]);
    let command = "$CC -c two.s && $CC main.c one.S two.o -o prog";
    let built = dir
        .build("d", &config(&format!("build = '{command}'")))
        .unwrap();
    let missing: Vec<_> = built.missing.iter().map(ToString::to_string).collect();
    assert_eq!(
        missing,
        ["one.S: one.S is assembler", "two.o: two.s is assembler"]
    );
    assert!(
        std::process::Command::new(relink(&built))
            .status()
            .unwrap()
            .success()
    );
    // Also when they are in a library of the project.
    dir.write("d/one.c", "#include <math.h>\nint two(void);\nint half(double x) { return two() + cbrt(x); }\nint one(void) { return half(-1); }\n");
    let command = "$CC -fPIC -c two.s one.c && $CC -shared one.o two.o -lm -o libone.so && $CC main.c ./libone.so -o prog";
    let built = dir
        .build("d", &config(&format!("build = '{command}'")))
        .unwrap();
    assert_has(&defined_in(&built), &["main", "one", "half"]);
    assert_eq!(built.missing.len(), 1);
    assert!(
        std::process::Command::new(relink(&built))
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn variables_for_the_build_are_set() {
    let dir = Scratch::with(&[("d/main.c", HELLO)]);
    let command = "test -x $CC && test -x $CXX && test -x $LD && $AR --version >/dev/null && $RANLIB --version >/dev/null \
                   && $NM --version >/dev/null && $CC $CFLAGS main.c $LDFLAGS -o prog";
    let built = dir
        .build(
            "d",
            &config(&format!(
                "build = '{command}'\ncflags = '-O2'\nldflags = '-lm'"
            )),
        )
        .unwrap();
    assert_has(&defined_in(&built), &["main"]);
    assert_eq!(built.link_args, ["-O2", "-lm"]);
    assert!(
        std::fs::read_to_string(built.log)
            .unwrap()
            .starts_with("$ test -x")
    );
}
