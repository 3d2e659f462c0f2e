//! From C to native and instrumented programs, for tests.
#![allow(dead_code, reason = "not every test uses everything")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use beagle_instrument::{Ids, Instrumented, Link, Options, instrument};
use beagle_program::Program;
use tempfile::TempDir;

/// A directory with what was made of some sources.
pub struct Made {
    pub dir: TempDir,
    pub bitcode: PathBuf,
    pub native: PathBuf,
    pub instrumented: PathBuf,
    pub result: Instrumented,
}

pub fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}");
    output
}

/// Compiles sources to the bitcode of a whole program, as `beagle-build` does.
pub fn bitcode(sources: &[PathBuf], flags: &[&str], dir: &Path) -> PathBuf {
    let mut modules = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let module = dir.join(format!("{number}.bc"));
        run(Command::new(compiler(source))
            .args(["-O0", "-g", "-Xclang", "-disable-O0-optnone", "-w"])
            .args(["-U_FORTIFY_SOURCE", "-emit-llvm", "-c"])
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&module));
        modules.push(module);
    }
    let whole = dir.join("whole.bc");
    run(Command::new("llvm-link-19")
        .args(&modules)
        .arg("-o")
        .arg(&whole));
    whole
}

pub fn compiler(source: &Path) -> &'static str {
    match source.extension().and_then(|e| e.to_str()) {
        Some("cpp") => "clang++-19",
        _ => "clang-19",
    }
}

/// Instruments with the program's own numbers.
pub fn instrumented(
    bitcode: &Path,
    link: &[&str],
    output: &Path,
    probes: &dyn Fn(u32) -> bool,
) -> Result<Instrumented, beagle_instrument::Error> {
    let program = Program::load(bitcode).unwrap();
    let stmts: Vec<u32> = (0..program.stmts.len() as u32).collect();
    let functions: Vec<u32> = (0..program.functions.len() as u32).collect();
    let ids = Ids {
        stmts: &stmts,
        functions: &functions,
        probes,
        watched: &[],
    };
    let args: Vec<String> = link.iter().map(|arg| (*arg).to_owned()).collect();
    let link = Link {
        args: &args,
        dir: bitcode.parent().unwrap(),
    };
    instrument(bitcode, &ids, &link, output, &Options::default())
}

/// Builds one source both ways.
pub fn make(source: &Path, flags: &[&str], link: &[&str]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let (native, output) = (dir.path().join("native"), dir.path().join("instrumented"));
    run(Command::new(compiler(source))
        .args(["-O0", "-w"])
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(&native)
        .args(link));
    let bitcode = bitcode(&[source.to_owned()], flags, dir.path());
    let result = instrumented(&bitcode, link, &output, &|_| true).unwrap();
    Made {
        bitcode,
        native,
        instrumented: output,
        result,
        dir,
    }
}

/// Builds a text both ways.
pub fn make_text(text: &str, flags: &[&str], link: &[&str]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source.c");
    std::fs::write(&source, text).unwrap();
    make(&source, flags, link)
}
