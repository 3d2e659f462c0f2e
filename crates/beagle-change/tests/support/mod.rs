//! What the tests of this crate share: building C texts, comparing them, and showing what came
//! out as text, so that tests say what they expect without naming the interface.

// Each test program uses another part of this.
#![allow(dead_code, reason = "shared by several test programs")]

pub mod locals;
pub mod order;
pub mod reflow;
pub mod subjects;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::{LazyLock, Mutex};

use beagle_change::{Change, Comparison, Kind, Line, SourceTree, Subject, compare};
use beagle_program::Program;
use tempfile::TempDir;

/// The file that a snippet without a name goes into.
pub const MAIN: &str = "main.c";

/// Texts by the path of their file.
pub type Texts = Vec<(String, String)>;

/// A program that was built from texts.
pub struct Built {
    pub program: Program,
    pub sources: SourceTree,
    /// Holds the texts for as long as they are needed.
    _dir: TempDir,
}

/// Builds a program as Beagle does: at `-O0`, with debug information, all files in one module.
/// The error is what the compiler says.
pub fn build(texts: &Texts) -> Result<Built, String> {
    let dir = tempfile::tempdir().map_err(|cause| cause.to_string())?;
    let mut objects = Vec::new();
    for (name, text) in texts {
        let path = dir.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|cause| cause.to_string())?;
        }
        std::fs::write(&path, text).map_err(|cause| cause.to_string())?;
    }
    for (name, text) in texts.iter().filter(|(name, _)| name.ends_with(".c")) {
        let headers: Vec<_> = texts
            .iter()
            .filter(|(name, _)| name.ends_with(".h"))
            .collect();
        let key = (name.clone(), text.clone(), format!("{headers:?}"));
        let object = format!("{name}.bc");
        let path = dir.path().join(&object);
        let known = COMPILED
            .lock()
            .expect("no test panics here")
            .get(&key)
            .cloned();
        match known {
            Some(bytes) => std::fs::write(&path, bytes).map_err(|cause| cause.to_string())?,
            None => {
                compile(dir.path(), name, &object)?;
                let bytes = std::fs::read(&path).map_err(|cause| cause.to_string())?;
                let mut compiled = COMPILED.lock().expect("no test panics here");
                compiled.insert(key, bytes);
            }
        }
        objects.push(object);
    }
    let module = match &objects[..] {
        [only] => only.clone(),
        _ => {
            let mut link = Command::new("llvm-link-19");
            link.args(&objects).args(["-o", "program.bc"]);
            run(&mut link, dir.path())?;
            "program.bc".to_owned()
        }
    };
    let program = Program::load(&dir.path().join(module)).map_err(|cause| cause.to_string())?;
    Ok(Built {
        program,
        sources: SourceTree::new(dir.path()),
        _dir: dir,
    })
}

/// Bitcode by name, text and headers: most versions of a subject have most files in common.
static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);

type Compiled = HashMap<(String, String, String), Vec<u8>>;

fn compile(dir: &Path, name: &str, object: &str) -> Result<(), String> {
    let map = format!("-ffile-prefix-map={}=.", dir.display());
    let mut command = Command::new("clang-19");
    command.args(["-O0", "-g", "-w", "-std=gnu11", "-emit-llvm", "-c"]);
    command.args(["-Xclang", "-disable-O0-optnone", "-I."]);
    // For csmith, whose headers are not installed with it.
    command.arg("-Wno-implicit-function-declaration");
    command.args([&map, "-o", object, name]);
    run(&mut command, dir)
}

fn run(command: &mut Command, dir: &Path) -> Result<(), String> {
    let output = command
        .current_dir(dir)
        .output()
        .map_err(|cause| format!("{command:?}: {cause}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Splits a text at lines of the form `//- name.c` into files; a text without them is one file.
pub fn files(text: &str) -> Texts {
    let mut texts: Texts = Vec::new();
    for line in text.lines() {
        match line.trim_start().strip_prefix("//- ") {
            Some(name) => texts.push((name.trim().to_owned(), String::new())),
            None => {
                if texts.is_empty() {
                    texts.push((MAIN.to_owned(), String::new()));
                }
                let last = texts.len() - 1;
                texts[last].1 += line;
                texts[last].1 += "\n";
            }
        }
    }
    texts
}

/// Compares two built programs.
pub fn comparison(old: &Built, new: &Built) -> Comparison {
    compare(&old.program, &old.sources, &new.program, &new.sources)
}

/// The changes in a compact form, one per line: `modified f: -3 +3,4`.
pub fn shown(old: &Built, new: &Built, comparison: &Comparison) -> String {
    let mut text = String::new();
    for change in &comparison.changes {
        let kind = match change.kind() {
            Kind::Added => "added",
            Kind::Deleted => "deleted",
            Kind::Modified => "modified",
        };
        let name = name(&old.program, &new.program, change);
        let _ = write!(text, "{kind} {name}:");
        for (sign, lines) in [('-', &change.old_lines), ('+', &change.new_lines)] {
            if !lines.is_empty() {
                let _ = write!(text, " {sign}{}", numbers(lines));
            }
        }
        text += "\n";
    }
    text
}

/// What a change is part of; `old->new` if it has another name in new.
pub fn name(old: &Program, new: &Program, change: &Change) -> String {
    let (a, b) = match change.subject {
        Subject::Function(pair) => (
            pair.old.map(|id| old.function(id).name.clone()),
            pair.new.map(|id| new.function(id).name.clone()),
        ),
        Subject::Global(pair) => (
            pair.old.map(|id| old.global(id).name.clone()),
            pair.new.map(|id| new.global(id).name.clone()),
        ),
        Subject::Assembler => return "asm".to_owned(),
    };
    match (a, b) {
        (Some(a), Some(b)) if a != b => format!("{a}->{b}"),
        (a, b) => b.or(a).unwrap_or_default(),
    }
}

/// Line numbers, runs as `3-5`, with the file where it is not the usual one.
fn numbers(lines: &[Line]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let first = &lines[at];
        let run = (at..lines.len())
            .take_while(|&i| {
                lines[i].file == first.file && lines[i].line == first.line + (i - at) as u32
            })
            .count();
        let file = match &first.file[..] {
            MAIN => String::new(),
            file => format!("{file}:"),
        };
        let last = first.line + run as u32 - 1;
        parts.push(match run {
            1 => format!("{file}{}", first.line),
            _ => format!("{file}{}-{last}", first.line),
        });
        at += run;
    }
    parts.join(",")
}

/// The names of all that changed.
pub fn changed_names(old: &Built, new: &Built, comparison: &Comparison) -> BTreeSet<String> {
    let changes = comparison.changes.iter();
    changes
        .map(|change| name(&old.program, &new.program, change))
        .collect()
}

/// Says what is wrong if two programs that mean the same do not compare as the same: there must
/// be no change, and every statement and block must have a partner.
pub fn expect_same(old: &Built, new: &Built) -> Result<(), String> {
    let comparison = comparison(old, new);
    if !comparison.changes.is_empty() {
        let mut text = shown(old, new, &comparison);
        for change in comparison.changes.iter().take(5) {
            for (sign, lines) in [('-', &change.old_lines), ('+', &change.new_lines)] {
                for line in lines.iter().take(10) {
                    let shown: String = line.text.chars().take(200).collect();
                    let _ = writeln!(text, "{sign}{}: {shown}", line.line);
                }
            }
        }
        return Err(text);
    }
    let kinds = [
        ("statement", &comparison.stmts),
        ("block", &comparison.blocks),
    ];
    for (what, numbering) in kinds {
        for (version, numbers) in [("old", &numbering.old), ("new", &numbering.new)] {
            let alone = numbers.iter().filter(|&&n| n >= numbering.shared).count();
            if alone > 0 {
                return Err(format!("{alone} {what}s of {version} have no partner"));
            }
        }
    }
    Ok(())
}
