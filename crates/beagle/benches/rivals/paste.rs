//! Commands to paste into a shell: they repeat a search, or run a program on what was found.

use std::path::Path;
use std::process::Command;

use beagle_subjects::Input;

/// The file with standard input; not among the names that subjects use.
const STDIN: &str = "standard-input";

/// A command that is run in `dir`.
pub fn command(command: &Command, dir: &Path) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let dir = shell_words::join([dir.to_string_lossy()]);
    format!("cd {dir} && {}", shell_words::join(words))
}

/// Writes an input into `dir`; the command runs a program on it.
pub fn input(input: &Input, dir: &Path) -> std::io::Result<String> {
    fs_err::create_dir_all(dir)?;
    for (name, content) in &input.files {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, content)?;
    }
    fs_err::write(dir.join(STDIN), &input.stdin)?;
    let mut program = Command::new("PROGRAM");
    program.args(&input.args);
    Ok(format!("{} < {STDIN}", command(&program, dir)))
}
