//! What the options of the compiler driver mean to Beagle.

use std::ffi::{OsStr, OsString};

use crate::arguments::{Arg, Input, Plan};
use crate::process::starts_with;

/// What a command line ends with; the greatest one wins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ends {
    #[default]
    Link,
    Compile,
    /// Preprocessed text, assembler, a question, …
    Asks,
}

/// Where an option makes the command end.
pub(crate) fn ends_early(word: &OsStr) -> Ends {
    const ASKS: [&str; 25] = [
        "-E",
        "-S",
        "-M",
        "-MM",
        "-fsyntax-only",
        "--version",
        "--help",
        "-help",
        "-###",
        "--analyze",
        "-emit-llvm",
        "-emit-ast",
        "-emit-pch",
        "--precompile",
        "-fdriver-only",
        "-verify-pch",
        "-module-file-info",
        "-cc1",
        "-cc1as",
        "--preprocess",
        "--assemble",
        "-extract-api",
        "-rewrite-objc",
        "--emit-static-lib",
        "--autocomplete",
    ];
    if word == "-c" || word == "--compile" {
        Ends::Compile
    } else if ASKS.iter().any(|ask| word == *ask)
        || ["-print-", "--print-", "-dump", "--help-", "--autocomplete="]
            .iter()
            .any(|ask| starts_with(word, ask))
            && word != "-dumpdir"
    {
        Ends::Asks
    } else {
        Ends::Link
    }
}

/// Whether the next word belongs to this option.
pub(crate) fn takes_value(word: &OsStr) -> bool {
    const VALUED: [&str; 62] = [
        "-A",
        "-B",
        "-D",
        "-F",
        "-G",
        "-I",
        "-MF",
        "-MJ",
        "-MQ",
        "-MT",
        "-T",
        "-Tbss",
        "-Tdata",
        "-Ttext",
        "-U",
        "-Xanalyzer",
        "-Xassembler",
        "-Xclang",
        "-Xpreprocessor",
        "-Xopenmp-target",
        "-Xarch_host",
        "-Xarch_device",
        "-arch",
        "-b",
        "-dependency-dot",
        "-dependency-file",
        "-dumpdir",
        "-e",
        "-framework",
        "-idirafter",
        "-iframework",
        "-imacros",
        "-imultilib",
        "-include",
        "-include-pch",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-isystem-after",
        "-ivfsoverlay",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-iwithsysroot",
        "-cxx-isystem",
        "-mllvm",
        "-mmlir",
        "-mthread-model",
        "-rpath",
        "-stdlib++-isystem",
        "-target",
        "-u",
        "-undefined",
        "-working-directory",
        "-z",
        "--param",
        "--sysroot",
        "--target-help",
        "--include-directory",
        "--define-macro",
        "--serialize-diagnostics",
        "--include",
    ];
    VALUED.iter().any(|name| word == *name)
}

/// Whether the option makes objects that are not machine code. Beagle brings its own bitcode,
/// and other tools of the build must be able to read the objects.
pub(crate) fn is_lto(word: &OsStr) -> bool {
    const FLAGS: [&str; 5] = [
        "-flto",
        "-ffat-lto-objects",
        "-fwhole-program-vtables",
        "-fvirtual-function-elimination",
        "-fsplit-lto-unit",
    ];
    FLAGS.iter().any(|flag| word == *flag)
        || starts_with(word, "-flto=")
        || starts_with(word, "-flto-")
}

/// Warnings that clang treats as errors, and that compilers of the time did not even warn about.
pub(crate) const OLD_DIALECT: [&str; 6] = [
    "implicit-int",
    "implicit-function-declaration",
    "int-conversion",
    "incompatible-function-pointer-types",
    "return-type",
    "return-mismatch",
];

/// The options that let old dialects compile.
pub(crate) fn accept_old_dialects() -> impl Iterator<Item = OsString> {
    OLD_DIALECT
        .iter()
        .map(|name| format!("-Wno-error={name}").into())
}

/// The arguments that compile one source to bitcode: the user's own, without those that change
/// how the code is optimised, checked, measured or reported but not what it means.
///
/// Without optimisation `__OPTIMIZE__` is not defined, which is why `_FORTIFY_SOURCE` has to go:
/// the headers of the C library want both. Code of the user that asks for `__OPTIMIZE__` is the
/// one thing whose bitcode can differ in meaning from the native code.
pub(crate) fn bitcode_compile(plan: &Plan, input: &Input, output: &OsStr) -> Vec<OsString> {
    let mut args = Vec::new();
    for arg in &plan.args {
        if let Arg::Option(words) = arg {
            match for_bitcode(words) {
                Keep::Yes => args.extend(words.iter().cloned()),
                Keep::No => {}
                Keep::Instead(word) => args.push(word.into()),
            }
        }
    }
    args.extend(accept_old_dialects());
    // A precompiled header was made with the user's -O, and clang would refuse it for that.
    // Warnings were already shown by the real compilation.
    let fixed = [
        "-O0",
        "-g",
        "-Xclang",
        "-disable-O0-optnone",
        "-Xclang",
        "-fno-validate-pch",
        "-U_FORTIFY_SOURCE",
        "-fno-discard-value-names",
        "-fno-lto",
        "-w",
        "-Qunused-arguments",
        "-emit-llvm",
        "-c",
        "-o",
    ];
    args.extend(fixed.map(OsString::from));
    args.push(output.to_owned());
    if let Some(language) = &input.forced {
        args.extend(["-x".into(), language.clone()]);
    }
    args.push(input.path.clone().into());
    args
}

/// The arguments that compile one source as the user does, but leave nothing else behind and say
/// nothing: dependency files and warnings were made already.
pub(crate) fn compile_again(plan: &Plan, input: &Input) -> Vec<OsString> {
    const DROPPED: [&str; 8] = [
        "-M",
        "-save-temps",
        "--save-temps",
        "-dependency-file",
        "-dependency-dot",
        "--serialize-diagnostics",
        "-fsave-optimization-record",
        "-foptimization-record",
    ];
    let is_kept = |words: &&Vec<OsString>| {
        let word = words[0].as_os_str();
        let is_dropped = |prefix: &str| starts_with(word, prefix);
        word != "-c"
            && word != "--compile"
            && !DROPPED.iter().any(|prefix| is_dropped(prefix))
            && !is_lto(word)
            && !starts_with(word, "-Wp,-M")
    };
    let options = plan.args.iter().filter_map(|arg| match arg {
        Arg::Option(words) => Some(words),
        _ => None,
    });
    let mut args: Vec<OsString> = options.filter(is_kept).flatten().cloned().collect();
    args.extend(["-w".into(), "-Qunused-arguments".into()]);
    if let Some(language) = &input.forced {
        args.extend(["-x".into(), language.clone()]);
    }
    args.push(input.path.clone().into());
    args
}

enum Keep {
    Yes,
    No,
    Instead(&'static str),
}

fn for_bitcode(words: &[OsString]) -> Keep {
    const EXACT: [&str; 12] = [
        "-c",
        "--compile",
        "-v",
        "-pg",
        "-p",
        "-s",
        "-coverage",
        "--coverage",
        "-ftest-coverage",
        "-pedantic-errors",
        "-Xassembler",
        "-fcolor-diagnostics",
    ];
    // Anything that begins with `-M` is about dependency files.
    const PREFIXES: [&str; 27] = [
        "-O",
        "-g",
        "-M",
        "-W",
        "-save-temps",
        "--save-temps",
        "-fsanitize",
        "-fno-sanitize",
        "-fprofile",
        "-fcs-profile",
        "-fcoverage",
        "-fmemory-profile",
        "-fauto-profile",
        "-fxray",
        "-ftime-",
        "-fproc-stat-report",
        "-fsave-optimization-record",
        "-foptimization-record",
        "-fembed-bitcode",
        "-fpass-plugin",
        "-fstack-usage",
        "-fdiagnostics-color",
        "-dependency-file",
        "-dependency-dot",
        "--serialize-diagnostics",
        "-fuse-ld",
        "--ld-path",
    ];
    const DESPITE: [&str; 3] = ["-Wno-", "-gcc-toolchain", "-Wp,"];
    let word = words[0].as_os_str();
    if word == "-Ofast" {
        // It is the only level that changes what the program computes.
        return Keep::Instead("-ffast-math");
    }
    let is_fortify = words
        .iter()
        .any(|word| word.to_string_lossy().contains("_FORTIFY_SOURCE"));
    let dropped = EXACT.iter().any(|name| word == *name)
        || PREFIXES.iter().any(|prefix| starts_with(word, prefix))
            && !DESPITE.iter().any(|prefix| starts_with(word, prefix));
    if dropped || is_lto(word) || is_fortify || starts_with(word, "-Wp,-M") {
        Keep::No
    } else {
        Keep::Yes
    }
}
