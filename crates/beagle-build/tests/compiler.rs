//! `beagle cc` as a build calls it: what it makes, and that it changes nothing else.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use beagle_build::Config;
use common::{Scratch, disassemble};

const MAIN: (&str, &str) = (
    "main.c",
    "int twice(int);\nint main(int argc, char **argv) { return twice(argc); }\n",
);
const TWICE: (&str, &str) = ("twice.c", "int twice(int x) { return 2 * x; }\n");
const THRICE: (&str, &str) = ("thrice.c", "int thrice(int x) { return 3 * x; }\n");
const ASSEMBLER: (&str, &str) = (
    "nothing.s",
    ".globl nothing\nnothing: ret\n.section .note.GNU-stack,\"\",@progbits\n",
);

#[test]
fn compile_then_link() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("$CC -O2 -c main.c && $CC -O2 -c twice.c -o t.o && $CC main.o t.o -o p");
    dir.program("p").has(&["main", "twice"]);
    assert_eq!(dir.try_sh("./p").status.code(), Some(2));
}

#[test]
fn several_sources_and_one_step() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("$CC -c main.c twice.c && $CC main.o twice.o");
    dir.program("a.out").has(&["main", "twice"]);
    dir.sh("$CC -O2 -oq main.c twice.c -lm");
    dir.program("q").has(&["main", "twice"]);
}

#[test]
fn the_native_object_is_what_the_real_compiler_makes() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("$CC -O2 -g -c twice.c -o ours.o && clang-19 -O2 -g -c twice.c -o theirs.o");
    dir.sh("for f in ours theirs; do objcopy -O binary -j .text -j .data $f.o $f.bin; done; cmp ours.bin theirs.bin");
}

#[test]
fn bitcode_is_not_optimised_and_has_debug_information() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("$CC -O3 -flto -D_FORTIFY_SOURCE=2 -Werror -fsanitize=undefined main.c twice.c -o p");
    let program = dir.program("p");
    program.has(&["main", "twice"]);
    let text = disassemble(program.carried.bitcode.as_ref().unwrap());
    assert!(text.contains("alloca i32") && text.contains("!DILocalVariable"));
    assert!(!text.contains("optnone") && !text.contains("ubsan"));
    dir.sh("nm p | grep -q ubsan");
}

#[test]
fn archives_give_what_is_linked() {
    let dir = Scratch::with(&[MAIN, TWICE, THRICE, ASSEMBLER]);
    dir.sh("$CC -c main.c twice.c thrice.c nothing.s && ar rcs libx.a twice.o thrice.o nothing.o");
    dir.sh("$CC main.o -L. -lx -o p");
    let program = dir.program("p");
    // Members that are not linked are not missing.
    program.has(&["main", "twice"]);
    assert!(!program.defined().contains("thrice"));
    dir.sh("$CC main.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -o q");
    let program = dir.program("q");
    assert!(program.defined().contains("thrice"));
    assert_eq!(
        program.missing(),
        ["libx.a(nothing.o): nothing.s is assembler"]
    );
    dir.sh("ar rcsT thin.a twice.o thrice.o && $CC main.o thin.a -o r");
    dir.program("r").has(&["main", "twice"]);
}

#[test]
fn the_projects_own_shared_libraries_are_part_of_the_program() {
    let dir = Scratch::with(&[
        MAIN,
        (
            "twice.c",
            "int add(int, int); static int hidden(int x) { return add(x, x); } int twice(int x) { return hidden(x); }",
        ),
        ("add.c", "int add(int x, int y) { return x + y; }"),
        ("unused.c", "int unused(void) { return 0; }"),
    ]);
    dir.sh("mkdir lib; $CC -fPIC -shared add.c -Wl,-soname,libadd.so.1 -o lib/libadd.so.1; ln -s libadd.so.1 lib/libadd.so");
    dir.sh("$CC -fPIC -shared twice.c -Llib -ladd -Wl,-rpath,$PWD/lib -o lib/libtwice.so");
    dir.sh("$CC -fPIC -shared unused.c -o lib/libunused.so");
    dir.sh("$CC main.c -Llib -Wl,--as-needed -ltwice -lunused -Wl,-rpath-link,lib -Wl,-rpath,$PWD/lib -o p");
    let program = dir.program("p");
    program.has(&["main", "twice", "hidden", "add"]);
    assert!(!program.defined().contains("unused"));
    assert_eq!(dir.try_sh("./p").status.code(), Some(2));
    // The library's own bitcode has only the library.
    let library = dir.program("lib/libtwice.so");
    library.has(&["twice", "hidden"]);
    assert!(!library.defined().contains("add"));
    let link = &program.carried.record.link_args;
    assert!(!link.iter().any(|arg| arg == "-ltwice"), "{link:?}");
    assert!(link.iter().any(|arg| arg == "-lunused"), "{link:?}");
}

#[test]
fn response_files_are_seen_through() {
    let dir = Scratch::with(&[
        MAIN,
        TWICE,
        ("inner", "twice.c\n"),
        ("outer", "-O1 'main.c' @inner\n-o \"p q\""),
    ]);
    dir.sh("$CC @outer && $CC -flto @outer");
    dir.program("p q").has(&["main", "twice"]);
}

#[test]
fn very_long_command_lines_work() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    let many = "-DSOME_MACRO_WITH_A_LONG_NAME_TO_FILL_THE_COMMAND_LINE=1 ".repeat(6000);
    dir.write("args", &format!("{many} -flto main.c twice.c -o p"));
    dir.sh("$CC @args");
    dir.program("p").has(&["main", "twice"]);
}

#[test]
fn what_has_no_bitcode_is_listed_with_its_reason() {
    let dir = Scratch::with(&[MAIN, TWICE, ASSEMBLER]);
    dir.sh("$CC -c main.c nothing.s && gcc -c twice.c && $CC main.o nothing.o twice.o -o p");
    let program = dir.program("p");
    assert_eq!(
        program.missing(),
        [
            "nothing.o: nothing.s is assembler",
            "twice.o: was not compiled by beagle cc"
        ]
    );
    let link = &program.carried.record.link_args;
    let absolute = |name: &str| dir.path(name).display().to_string();
    assert_eq!(link, &[absolute("nothing.o"), absolute("twice.o")]);
    dir.sh("$CC main.c twice.c nothing.s -o q");
    assert_eq!(
        dir.program("q").missing(),
        ["nothing.s: nothing.s is assembler"]
    );
}

#[test]
fn a_source_that_fails_only_as_bitcode_is_listed() {
    let failing = "#ifndef __OPTIMIZE__\n#error only with optimisation\n#endif\nint twice(int x) { return 2 * x; }\n";
    let dir = Scratch::with(&[MAIN, ("twice.c", failing)]);
    dir.sh("$CC -O2 -c main.c twice.c && $CC main.o twice.o -o p");
    let missing = dir.program("p").missing();
    assert_eq!(
        missing,
        ["twice.o: no bitcode of twice.c: twice.c:2:2: error: only with optimisation"]
    );
    assert_eq!(dir.try_sh("./p").status.code(), Some(2));
}

#[test]
fn partial_links_carry_one_module() {
    let dir = Scratch::with(&[MAIN, TWICE, THRICE, ASSEMBLER]);
    dir.sh("$CC -c main.c twice.c thrice.c nothing.s");
    dir.sh("$LD -r main.o twice.o -o a.o && $CC a.o -o a && $CC -r main.o twice.c -o b.o && $CC b.o -o b");
    dir.sh("$CC -nostdlib -no-pie -Wl,-r main.o twice.o thrice.o -o c.o && ar rc libc1.a c.o && $CC libc1.a -o c");
    // Even when the linker was called behind our back.
    dir.sh("ld -r main.o twice.o -o d.o && $CC d.o -o d");
    for program in ["a", "b", "c", "d"] {
        dir.program(program).has(&["main", "twice"]);
    }
    dir.sh("$LD -r main.o twice.o nothing.o -o e.o && $CC e.o -o e");
    let program = dir.program("e");
    assert_eq!(program.missing(), ["e.o: nothing.s is assembler"]);
    common::assert_has(&program.defined(), &["main", "twice"]);
}

#[test]
fn the_linker_alone_makes_programs_too() {
    let dir = Scratch::with(&[("start.c", "void _start(void) { for (;;) ; }\n")]);
    dir.sh("$CC -ffreestanding -c start.c && $LD -static start.o -o p");
    dir.program("p").has(&["_start"]);
}

#[test]
fn standard_input_is_compiled_twice() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("cat main.c twice.c | $CC -x c - -o p && cat main.c | $CC -c -o main.o -xc /dev/stdin && $CC main.o twice.c -o q");
    dir.program("p").has(&["main", "twice"]);
    dir.program("q").has(&["main", "twice"]);
}

#[test]
fn odd_links_succeed() {
    let dir = Scratch::with(&[MAIN, TWICE, ("v.map", "{ global: twice; local: *; };")]);
    dir.sh("$CC -c -fPIC main.c twice.c");
    dir.sh("$CC -shared -Wl,--version-script=v.map -Wl,-soname,libt.so.1 twice.o -o libt.so");
    dir.program("libt.so").has(&["twice"]);
    for options in [
        "-static",
        "-no-pie",
        "-static-pie",
        "-Wl,--gc-sections -Wl,-Map=p.map -Wl,--as-needed",
        "-fuse-ld=gold",
        "-fuse-ld=bfd -Wl,--no-warn-search-mismatch",
        "-Wl,--start-group main.o -Wl,--end-group -Wl,-z,muldefs -s",
        "-save-temps -pthread -Wl,-O1,--sort-common,-z,relro,-z,now",
    ] {
        dir.sh(&format!(
            "rm -f p; $CC main.o twice.o {options} -o p; ! ./p"
        ));
        dir.program("p").has(&["main", "twice"]);
    }
}

#[test]
fn linker_scripts_that_lld_refuses_do_not_matter() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("ld --verbose | sed -n '/^=====/,/^=====/p' | grep -v ===== > s.ld");
    dir.sh("$CC -no-pie -Wl,-T,s.ld main.c twice.c -o p");
    dir.program("p").has(&["main", "twice"]);
}

#[test]
fn questions_and_other_outputs_are_passed_through() {
    let dir = Scratch::with(&[MAIN, TWICE, ("x.h", "int x;\n")]);
    for args in [
        "--version",
        "-dumpmachine",
        "-print-prog-name=ld",
        "-E main.c",
        "-S main.c -o -",
        "-M main.c",
        "-MM main.c",
        "-fsyntax-only main.c",
        "-c main.c -o /dev/null",
        "main.c twice.c -o /dev/null",
        "-x c-header x.h -o x.h.pch",
        "-S -emit-llvm main.c -o -",
        "-v",
        "-c nowhere.c",
        "-c",
        "main.c",
        "--bogus",
        "-### -c main.c",
    ] {
        let ours = dir.try_sh(&format!("BEAGLE_TREE=$PWD $CC {args}"));
        let theirs = dir.try_sh(&format!("clang-19 {args}"));
        assert_eq!(ours.status.code(), theirs.status.code(), "{args}");
        assert_eq!(ours.stdout, theirs.stdout, "{args}");
        // Names of temporary files are made up anew each time.
        if !args.contains("###") && args != "main.c" {
            let [ours, theirs] =
                [ours, theirs].map(|output| String::from_utf8(output.stderr).unwrap());
            assert_eq!(ours, theirs, "{args}");
        }
    }
    assert!(!dir.path("a.out").exists());
}

#[test]
fn dependency_files_are_the_users() {
    let dir = Scratch::with(&[MAIN]);
    dir.sh("$CC -MD -MF main.d -MT target -c main.c && $CC -Wp,-MD,other.d -c main.c");
    assert_eq!(
        std::fs::read_to_string(dir.path("main.d")).unwrap(),
        "target: main.c\n"
    );
    assert!(dir.path("other.d").exists());
}

#[test]
fn precompiled_headers_are_used() {
    let dir = Scratch::with(&[
        (
            "pre.h",
            "static inline int twice(int x) { return 2 * x; }\n",
        ),
        MAIN,
    ]);
    dir.write("main.c", "int main(void) { return twice(1); }\n");
    dir.sh("$CC -O2 -x c-header pre.h -o pre.h.gch && $CC -O2 -include pre.h main.c -o p");
    dir.program("p").has(&["main", "twice"]);
}

#[test]
fn cpp_is_compiled_too() {
    let dir = Scratch::with(&[
        TWICE,
        (
            "main.cpp",
            "extern \"C\" int twice(int);\nint main() { return twice(1); }\n",
        ),
    ]);
    dir.sh("$CC -c twice.c && $CXX main.cpp twice.o -o p");
    dir.program("p").has(&["main", "twice"]);
}

#[test]
fn stripped_programs_are_found_in_the_record_directory() {
    let dir = Scratch::with(&[MAIN, TWICE]);
    dir.sh("export BEAGLE_RECORD_DIR=$PWD/records; $CC main.c twice.c -o p && llvm-strip-19 p");
    assert!(beagle_build::carried(&dir.path("p"), None).is_none());
    let carried = beagle_build::carried(&dir.path("p"), Some(&dir.path("records"))).unwrap();
    common::Program::new(carried).has(&["main", "twice"]);
    // A copy carries its bitcode along.
    dir.sh("$CC main.c twice.c -o q && mkdir bin && install q bin/q && mv bin/q bin/r");
    dir.program("bin/r").has(&["main", "twice"]);
}

#[test]
fn the_place_of_the_tree_does_not_show() {
    let source = "#include <stdio.h>\nint main(void) { puts(__FILE__); return 0; }\n";
    let dir = Scratch::with(&[("sub/main.c", source)]);
    dir.sh("export BEAGLE_TREE=$PWD; cd sub; $CC -g $PWD/main.c -o p; $CC -g -c $PWD/main.c; $CC main.o -o q");
    assert_eq!(dir.sh("sub/p; sub/q"), "sub/main.c\nsub/main.c\n");
    let place = dir.path(".").display().to_string();
    let text = disassemble(dir.program("sub/q").carried.bitcode.as_ref().unwrap());
    assert!(
        text.contains("directory: \"./sub\"") && !text.contains(place.trim_end_matches("/.")),
        "{text}"
    );
}

#[test]
fn nothing_is_added_to_what_is_printed() {
    let dir = Scratch::with(&[
        ("main.c", "int main(void) { int unused; return 0; }\n"),
        ("a.s", ".globl a\na: ret\n"),
    ]);
    dir.sh("$CC -c main.c -o main.o");
    for args in [
        "-Wall -c main.c -o x.o",
        "-Wall main.c -o p",
        "main.o -o p",
        "-c a.s -o a.o",
        "-Wall -lm -c main.c -o x.o",
    ] {
        let ours = dir.try_sh(&format!("BEAGLE_TREE=$PWD $CC {args}"));
        let theirs = dir.try_sh(&format!("clang-19 {args}"));
        let [ours, theirs] = [ours, theirs].map(|output| String::from_utf8(output.stderr).unwrap());
        assert_eq!(ours, theirs, "{args}");
    }
}

#[test]
fn old_dialects_are_accepted_only_when_that_is_allowed() {
    let old = "foo(a, b) int a; char *b; { bar(a); return; }\nmain() { foo(1, 2); }\nbar(n) { return n; }\n";
    let dir = Scratch::with(&[("old.c", old), ("conftest.c", "main() { foo(); }\n")]);
    assert!(!dir.try_sh("$CC old.c -o p").status.success());
    dir.sh("BEAGLE_LENIENT=1 $CC old.c -o p");
    dir.program("p").has(&["main", "foo", "bar"]);
    // Checks of configure scripts get the same answer as without Beagle, and so does whoever
    // asks for errors.
    assert!(
        !dir.try_sh("BEAGLE_LENIENT=1 $CC -c conftest.c")
            .status
            .success()
    );
    assert!(
        !dir.try_sh("BEAGLE_LENIENT=1 $CC -Werror=implicit-int -c old.c")
            .status
            .success()
    );
}

#[test]
fn parallel_calls_do_not_disturb_each_other() {
    let dir = Scratch::with(&[(
        "Makefile",
        "all: $(patsubst %.c,%,$(wildcard *.c))\n%: %.c\n\t$(CC) -O1 $< -o $@\n",
    )]);
    for number in 0..12 {
        dir.write(
            &format!("p{number}.c"),
            &format!(
                "int f{number}(void) {{ return 0; }} int main(void) {{ return f{number}(); }}"
            ),
        );
    }
    dir.sh("make -j6 CC=\"$CC\"");
    for number in 0..12 {
        dir.program(&format!("p{number}"))
            .has(&["main", &format!("f{number}")]);
    }
}

#[test]
fn bitcode_of_another_llvm_is_named_when_the_link_fails() {
    let dir = Scratch::with(&[
        MAIN,
        TWICE,
        ("x.rs", "#[no_mangle] pub extern \"C\" fn zzz() {}\n"),
    ]);
    dir.sh("$CC -c main.c twice.c && rustc --edition 2021 --crate-type=lib --emit=llvm-bc x.rs -o x.bc");
    // An object with bitcode of a newer LLVM in it, as another compiler would make.
    dir.sh("llvm-objcopy-19 --remove-section .llvm.lto --add-section .llvm.lto=x.bc twice.o && $CC main.o twice.o -o p");
    let program = dir.program("p");
    assert!(program.carried.bitcode.is_none());
    let missing = program.missing().join("\n");
    assert!(
        missing.starts_with("p: `twice.o` holds bitcode of LLVM2"),
        "{missing}"
    );
}

#[test]
fn what_configure_scripts_try_out_gets_no_bitcode() {
    let dir = Scratch::with(&[("conftest.c", "int x;\n"), ("test.c", "int x;\n")]);
    let wrappers = dir.path(".cache/tools");
    dir.write("p/main.c", "int main(void) { return 0; }\n");
    let makefile = "prog: main.c\n\t$(CC) -c ../../../../conftest.c\n\t$(CC) -c ../../../../test.c\n\
        \tcp conftest.o test.o ../../../..\n\t$(CC) main.c -o prog\n";
    dir.write("p/Makefile", makefile);
    dir.build("p", &Config::default()).unwrap();
    assert!(wrappers.is_dir());
    dir.sh("$CC -c -o direct.o conftest.c");
    let has = |name: &str| {
        let sections = dir.sh(&format!("readelf -SW {name}"));
        [".llvm.lto", ".beagle.unit"].map(|section| sections.contains(section))
    };
    assert_eq!(has("test.o"), [true, true]);
    // By way of the scripts that builds call, and by the stand-in itself.
    assert_eq!(has("conftest.o"), [false, false]);
    assert_eq!(has("direct.o"), [false, false]);
}
