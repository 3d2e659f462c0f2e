//! Compiles what goes into every instrumented program: the runtime, the helpers that are inlined,
//! and the models of libc functions.
//!
//! The runtime is compiled by `rustc` directly and not as a dependency: it is a static library without
//! the standard library, optimised in every profile, and Cargo cannot hand one over as bytes.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() {
    if let Err(error) = run() {
        // Cargo shows what a failed build script writes here.
        println!("cargo::error={error}");
        std::process::exit(1);
    }
}

fn variable(name: &str) -> Result<String> {
    env::var(name).map_err(|error| format!("{name}: {error}").into())
}

fn run() -> Result<()> {
    let (arch, system) = (
        variable("CARGO_CFG_TARGET_ARCH")?,
        variable("CARGO_CFG_TARGET_OS")?,
    );
    if (&*arch, &*system) != ("x86_64", "linux") {
        return Err(format!(
            "beagle-instrument works on x86_64 Linux only: shadow memory is laid out for it \
             (target: {arch} {system})"
        )
        .into());
    }
    if variable("HOST")? != variable("TARGET")? {
        return Err(
            "beagle-instrument cannot be cross-compiled: it compiles the runtime for the \
                    machine it is built on"
                .into(),
        );
    }
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let crates = own.parent().ok_or("no directory above the crate")?;
    let (trace, runtime) = (crates.join("beagle-trace"), crates.join("beagle-runtime"));
    let out = PathBuf::from(variable("OUT_DIR")?);
    for watched in [
        trace.join("src"),
        runtime.join("src"),
        runtime.join("c"),
        runtime.join("functions.txt"),
        own.join("c"),
    ] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    println!("cargo::rerun-if-changed=build.rs");

    compile_runtime(&trace, &runtime, &out)?;
    let helpers: &[&str] = &["-O2", "-Xclang", "-disable-llvm-passes"];
    compile_all(helpers, &runtime.join("c"), &out, "inline.bc")?;
    clang(helpers, &own.join("c/compose.c"), &out.join("compose.bc"))?;
    // The control flow of models is that of the source, as for programs. Only the names of their
    // files are of interest later.
    let models: &[&str] = &[
        "-O0",
        "-Xclang",
        "-disable-O0-optnone",
        "-gline-tables-only",
    ];
    compile_all(models, &runtime.join("c/models"), &out, "models.bc")?;
    compile_lane(&runtime.join("c/lane"), &out)?;
    std::fs::copy(runtime.join("functions.txt"), out.join("functions.txt"))
        .map_err(|error| format!("{}/functions.txt: {error}", runtime.display()))?;
    Ok(())
}

/// The static library with the Rust part of the runtime.
fn compile_runtime(trace: &Path, runtime: &Path, out: &Path) -> Result<()> {
    let rustc = variable("RUSTC")?;
    let common = |name: &str, kind: &str| {
        let mut command = Command::new(&rustc);
        command.args(["--crate-name", name, "--crate-type", kind]);
        command.args(["--edition", "2024", "--cap-lints", "allow"]);
        command.args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=3",
            "-C",
            "relocation-model=pic",
        ]);
        command.args(["-C", "codegen-units=1"]);
        command
    };
    let format = out.join("libbeagle_trace.rlib");
    let mut command = common("beagle_trace", "rlib");
    command.arg(trace.join("src/lib.rs")).arg("-o").arg(&format);
    succeed(&mut command, "rustc")?;
    let mut command = common("beagle_runtime", "staticlib");
    command.args(["-C", "lto=fat", "--cfg", "beagle_inside"]);
    command.arg(runtime.join("src/lib.rs"));
    let mut name = std::ffi::OsString::from("beagle_trace=");
    name.push(&format);
    command.arg("--extern").arg(name);
    let archive = out.join("runtime.a");
    command.arg("-o").arg(&archive);
    succeed(&mut command, "rustc")?;
    drop_builtins(&archive)
}

/// Takes Rust's support routines out of the archive: libgcc has the few that are needed, and these
/// ask for parts of the standard library.
fn drop_builtins(archive: &Path) -> Result<()> {
    let mut list = Command::new(tool("llvm-ar"));
    let output = list
        .arg("t")
        .arg(archive)
        .output()
        .map_err(|error| format!("cannot run llvm-ar-19 (see README.md): {error}"))?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let builtins = names
        .lines()
        .filter(|name| name.starts_with("compiler_builtins-"));
    let mut delete = Command::new(tool("llvm-ar"));
    delete.arg("d").arg(archive).args(builtins);
    succeed(&mut delete, "llvm-ar-19")
}

/// All C files of a directory in one module.
fn compile_all(options: &[&str], directory: &Path, out: &Path, name: &str) -> Result<()> {
    let mut sources: Vec<_> = std::fs::read_dir(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension() == Some(OsStr::new("c")))
        .collect();
    sources.sort();
    let mut modules = Vec::new();
    for source in &sources {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let module = out.join(format!("{stem}-{name}"));
        clang(options, source, &module)?;
        modules.push(module);
    }
    let mut command = Command::new(tool("llvm-link"));
    command.args(&modules).arg("-o").arg(out.join(name));
    succeed(&mut command, "llvm-link-19")
}

/// The runtime of the fast lane, one object file. It lives beside libc, so nothing in it may turn into
/// calls of what the program could define itself.
fn compile_lane(directory: &Path, out: &Path) -> Result<()> {
    let options: &[&str] = &["-O2", "-fno-builtin", "-fno-strict-aliasing"];
    compile_all(options, directory, out, "lane.bc")?;
    let mut command = Command::new(tool("clang"));
    command.args(["-O2", "-c", "-w", "-fno-pie"]);
    command.arg(out.join("lane.bc"));
    command.arg("-o").arg(out.join("lane.o"));
    succeed(&mut command, "clang-19")
}

fn clang(options: &[&str], source: &Path, output: &Path) -> Result<()> {
    let mut command = Command::new(tool("clang"));
    command.args(options).args(["-emit-llvm", "-c", "-w"]);
    command.args(["-fPIE", "-U_FORTIFY_SOURCE", "-fno-stack-protector"]);
    command.arg(source).arg("-o").arg(output);
    succeed(&mut command, "clang-19")
}

/// `NAME-19` from the path, or where Debian puts it.
fn tool(name: &str) -> PathBuf {
    let own = PathBuf::from(format!("/usr/lib/llvm-19/bin/{name}"));
    if own.exists() {
        own
    } else {
        PathBuf::from(format!("{name}-19"))
    }
}

fn succeed(command: &mut Command, name: &str) -> Result<()> {
    let output = command.output().map_err(|error| {
        format!(
            "cannot run {name}, which is needed to compile the runtime (see README.md): {error}"
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // One line each: that is all that Cargo's directives can hold.
    for line in text.lines().take(60) {
        println!("cargo::warning={line}");
    }
    Err(format!("{name} failed, see the warnings: {command:?}").into())
}
