//! Files that are no bitcode: an error that says so, and not a word on standard error.

mod support;

use std::path::Path;
use std::process::Command;

use beagle_program::Program;

/// With this set, the tests below load the file it names in a process of their own, so that what
/// LLVM writes to standard error can be seen.
const FILE: &str = "BEAGLE_TEST_LOAD";

#[test]
fn load_the_named_file() {
    if let Some(path) = std::env::var_os(FILE) {
        let error = Program::load(Path::new(&path)).expect_err("this is no bitcode");
        assert!(!error.to_string().is_empty());
        let text = format!("{error}\n{}", path.display());
        std::fs::write(Path::new(&path).with_extension("message"), text).expect("can be written");
    }
}

/// The message for a file of these bytes.
#[track_caller]
fn message(bytes: Option<&[u8]>) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("program.bc");
    if let Some(bytes) = bytes {
        std::fs::write(&path, bytes).expect("can be written");
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args(["--exact", "load_the_named_file", "--nocapture"]);
    let output = command
        .env(FILE, &path)
        .output()
        .expect("this program runs");
    let log = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}\n{shown}{log}", output.status);
    assert_eq!(log, "");
    let text = std::fs::read_to_string(path.with_extension("message"));
    let text = text.expect("the error was written down");
    assert!(text.contains("program.bc"), "{text}");
    text
}

fn good() -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("main.c"), "int main(void) { return 0; }").expect("written");
    let path = support::compile(&dir, "clang-19", "main.c", &[]);
    std::fs::read(path).expect("the compiler wrote it")
}

#[test]
fn a_missing_file_is_named() {
    assert!(message(None).contains("No such file"));
}

#[test]
fn a_directory_is_no_bitcode() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert!(Program::load(dir.path()).is_err());
}

#[test]
fn an_empty_file_is_no_bitcode() {
    message(Some(b""));
}

#[test]
fn a_text_file_is_no_bitcode() {
    message(Some(b"int main(void) { return 0; }\n"));
}

#[test]
fn a_truncated_file_is_an_error_wherever_it_ends() {
    let good = good();
    for part in [5, 17, 50, 75, 95, 99] {
        let end = good.len() * part / 100 / 4 * 4;
        message(Some(&good[..end]));
    }
    message(Some(&good[..good.len() / 2 + 1]));
}

#[test]
fn overwritten_bytes_are_an_error_or_harmless() {
    let good = good();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("program.bc");
    // Only that it comes back is checked: some bytes do not matter.
    for at in (8..good.len().min(400)).step_by(40) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).expect("can be written");
        let _ = Program::load(&path);
    }
}

#[test]
fn bitcode_of_a_later_version_is_an_error() {
    // The identification block holds the producer and then the number of the format, which is 0;
    // a later number means that this version cannot read it.
    let good = good();
    let mut found = 0;
    for bit in 8 * 8..8 * 64 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("program.bc");
        std::fs::write(&path, &bytes).expect("can be written");
        let error = Program::load(&path).err().map(|cause| cause.to_string());
        if error.is_some_and(|text| text.contains("epoch") || text.contains("Incompatible")) {
            found += 1;
            message(Some(&bytes));
            break;
        }
    }
    assert_eq!(found, 1, "no bit of the header is the number of the format");
}
