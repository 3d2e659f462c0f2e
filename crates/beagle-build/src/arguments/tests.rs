//! Tests of how command lines are taken apart.

use super::*;
use crate::options::bitcode_compile;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

fn plan(line: &str) -> Plan {
    Plan::of_compiler(&words(line))
}

/// The stage, the output and the inputs of a command line.
fn check(line: &str, stage: Stage, output: Option<&str>, inputs: &[&str]) {
    let plan = plan(line);
    let found: Vec<_> = plan
        .inputs()
        .map(|input| input.path.to_str().unwrap())
        .collect();
    assert_eq!(plan.stage, stage, "{line}");
    assert_eq!(plan.output.as_deref(), output.map(Path::new), "{line}");
    assert_eq!(found, inputs, "{line}");
}

#[test]
fn stages_are_told_apart() {
    use Stage::{Compile, Link, Other};
    check("-c a.c", Compile, None, &["a.c"]);
    check("-c a.c b.c", Compile, None, &["a.c", "b.c"]);
    check("a.c -o a", Link, Some("a"), &["a.c"]);
    check("a.o -oa -lm", Link, Some("a"), &["a.o"]);
    check("-o a a.o libx.a", Link, Some("a"), &["a.o", "libx.a"]);
    for ask in [
        "-E",
        "-S",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-###",
        "--version",
        "-print-prog-name=ld",
        "-dumpmachine",
    ] {
        check(&format!("-c a.c {ask}"), Other, None, &["a.c"]);
    }
    check("-v", Other, None, &[]);
    check("-lm -o x", Other, Some("x"), &[]);
    check("-c x.o", Other, None, &["x.o"]);
    check(
        "-x c-header a.h -o a.h.gch",
        Other,
        Some("a.h.gch"),
        &["a.h"],
    );
    check("a.h", Other, None, &["a.h"]);
    check(
        "-MD -MF a.d -MT a.o -c a.c -o a.o",
        Compile,
        Some("a.o"),
        &["a.c"],
    );
}

#[test]
fn values_are_not_inputs() {
    check(
        "-I dir -include x.h -D A=b.c -Xclang y.c -Xlinker z.o -T s.ld -u main -c a.c",
        Stage::Compile,
        None,
        &["a.c"],
    );
    check(
        "-Wl,-rpath,dir -Wl,--version-script,v.map a.o",
        Stage::Link,
        None,
        &["a.o"],
    );
    check("-o x -- -odd.c", Stage::Link, Some("x"), &["-odd.c"]);
}

#[test]
fn languages_follow_the_name_or_the_option() {
    let language = |line: &str| plan(line).inputs().last().unwrap().language;
    assert_eq!(language("a.c"), Language::Source { cpp: true });
    assert_eq!(language("a.i"), Language::Source { cpp: false });
    assert_eq!(language("a.S"), Language::Assembler { cpp: true });
    assert_eq!(language("a.s"), Language::Assembler { cpp: false });
    assert_eq!(language("a.f90"), Language::Foreign);
    assert_eq!(language("lib.so.1"), Language::Object);
    assert_eq!(language("-x c -"), Language::Source { cpp: true });
    assert_eq!(
        language("-xassembler-with-cpp a.c"),
        Language::Assembler { cpp: true }
    );
    assert_eq!(language("-x c a.y -x none b.o"), Language::Object);
}

#[test]
fn words_for_the_linker_are_seen() {
    let plan = plan("-Wl,--start-group,-lfoo,-Lbar a.o -Xlinker -r");
    let expected = [
        Arg::Linker("--start-group".into()),
        Arg::Library("foo".into()),
        Arg::SearchDir("bar".into()),
        Arg::Input(Input::object("a.o".into())),
        Arg::Linker("-r".into()),
    ];
    assert_eq!(plan.args, expected);
    assert!(plan.is_partial() && !plan.is_shared());
}

#[test]
fn a_linker_line_has_inputs_and_values() {
    let plan = Plan::of_linker(&words("-r -o x.o a.o -m elf_x86_64 -T s.ld b.o -L dir -lc"));
    assert_eq!((plan.stage, plan.is_partial()), (Stage::Link, true));
    let inputs: Vec<_> = plan
        .inputs()
        .map(|input| input.path.to_str().unwrap())
        .collect();
    assert_eq!(inputs, ["a.o", "b.o"]);
    assert_eq!(plan.output.as_deref(), Some(Path::new("x.o")));
    assert_eq!(Plan::of_linker(&words("--version")).stage, Stage::Other);
    assert_eq!(Plan::of_linker(&words("a.o -shared")).stage, Stage::Link);
}

/// What is left of the user's options when bitcode is made.
fn kept(line: &str) -> Vec<String> {
    let plan = plan(&format!("{line} -c a.c"));
    let input = plan.inputs().last().unwrap();
    let args = bitcode_compile(&plan, input, OsStr::new("OUT"));
    let args: Vec<_> = args
        .iter()
        .map(|arg| arg.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(args.last().unwrap(), "a.c");
    let end = args
        .iter()
        .position(|arg| arg == "-Wno-error=implicit-int")
        .unwrap();
    args[..end].to_vec()
}

#[test]
fn options_that_change_meaning_are_kept_for_bitcode() {
    let line = "-std=c99 -DX=1 -I dir -m32 -fwrapv -pthread -fno-builtin -funsigned-char -Wno-implicit-int";
    assert_eq!(kept(line), line.split(' ').collect::<Vec<_>>());
    assert_eq!(kept("-Ofast"), ["-ffast-math"]);
}

#[test]
fn options_that_do_not_are_dropped() {
    for line in [
        "-O2 -Os -Og -g3 -ggdb -gsplit-dwarf",
        "-flto -flto=thin -ffat-lto-objects",
        "-D_FORTIFY_SOURCE=2 -Wp,-D_FORTIFY_SOURCE=3 -U_FORTIFY_SOURCE",
        "-fsanitize=address -fno-sanitize-recover=all -fprofile-arcs -ftest-coverage --coverage",
        "-MD -MF x.d -MT x.o -MP -Wp,-MD,x.d",
        "-Wall -Werror -Werror=format -pedantic-errors -save-temps=obj -v -pg",
        "-D _FORTIFY_SOURCE=2 -Wl,-z,now -L dir -lm -Wa,--noexecstack",
    ] {
        assert_eq!(kept(line), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn forced_languages_are_given_again() {
    let plan = plan("-c -x c -o x.o -");
    let input = plan.inputs().last().unwrap();
    assert!(input.is_stdin());
    let args = bitcode_compile(&plan, input, OsStr::new("OUT"));
    assert_eq!(args[args.len() - 5..], ["-o", "OUT", "-x", "c", "-"]);
}

#[test]
fn the_default_object_is_in_the_current_directory() {
    assert_eq!(
        plan("-c src/a.b.c")
            .inputs()
            .last()
            .unwrap()
            .default_object(),
        Path::new("a.b.o")
    );
}
