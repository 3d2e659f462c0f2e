//! Programs that note how they are started and what they read: the same commands, with a recorder
//! linked in.
//!
//! The recorder (`c/recorder`) is an archive with one small object for each function of the C
//! library that reads, found by the linker's `--wrap`, and an object that notes arguments,
//! environment and directory before `main`. It does nothing unless its spool is there, which is
//! only while a test-suite runs. Being part of the program it is there however the program is
//! started: through a script of libtool, from a copy, statically linked, in an empty environment.
//!
//! There is no bitcode in such a build. Checks of configure scripts have no recorder.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::arguments::{Arg, Stage};
use crate::build::{Flavour, Task};
use crate::compiler::{Job, Kind};
use crate::error::Doing;
use crate::process::{Run, first_error};
use crate::record::{RECORD_DIR, Record};
use crate::tools::{LLVM_MAJOR, in_path};
use crate::{BuildError, Cache, Tools, embed, lenient};

/// The environment variables that ask for a recorder: where its parts are, and where it writes.
const RECORDER: &str = "BEAGLE_RECORDER";
const SPOOL: &str = "BEAGLE_SPOOL";

/// What the name of a program begins with, wherever it is in the file.
const MAGIC: &[u8] = b"beagle-recorder:";

const FUNCTIONS: &str = include_str!("../c/recorder/functions.txt");
const SOURCES: [(&str, &str); 4] = [
    ("recorder.h", include_str!("../c/recorder/recorder.h")),
    ("start.c", include_str!("../c/recorder/start.c")),
    ("hooks.c", include_str!("../c/recorder/hooks.c")),
    ("wrap.S", include_str!("../c/recorder/wrap.S")),
];
const ARCHIVE: &str = "recorder.a";

/// Functions that only programs use which share their C library: a static one calls them itself.
const SHARED_ONLY: [&str; 2] = ["__uflow", "__underflow"];

/// Where a build keeps what its programs note.
pub(crate) fn spool(entry: &Path) -> PathBuf {
    entry.join("spool")
}

/// Tells the stand-ins below a command to link the recorder in, if the build is one for that.
pub(crate) fn environment(run: Run, task: &Task, entry: &Path) -> Result<Run, BuildError> {
    let mut run = run.without_env(&[RECORDER, SPOOL]);
    for (name, value) in variables(task, entry)? {
        run = run.env(name, value);
    }
    Ok(run)
}

/// The variables for that.
pub(crate) fn variables(
    task: &Task,
    entry: &Path,
) -> Result<Vec<(&'static str, PathBuf)>, BuildError> {
    Ok(match task.flavour {
        Flavour::Recorded => vec![
            (RECORDER, provided(task.cache, task.tools)?),
            (SPOOL, spool(entry)),
        ],
        Flavour::Plain | Flavour::Native | Flavour::Sanitized => Vec::new(),
    })
}

/// Whether this process is part of a build with the recorder.
pub(crate) fn asked() -> bool {
    named(RECORDER).is_some() && named(SPOOL).is_some()
}

fn named(variable: &str) -> Option<PathBuf> {
    let value = std::env::var_os(variable)?;
    (!value.is_empty()).then(|| value.into())
}

/// The name under which a program notes its runs, if it has the recorder.
pub(crate) fn name_of(program: &Path) -> io::Result<Option<Vec<u8>>> {
    let bytes = fs_err::read(program)?;
    let start = bytes.windows(MAGIC.len()).position(|part| part == MAGIC);
    Ok(start.map(|start| {
        let name = bytes[start..].iter().copied();
        name.take_while(|&byte| byte != 0).collect()
    }))
}

/// The directory with the recorder's parts, made once.
fn provided(cache: &Cache, tools: &Tools) -> Result<PathBuf, BuildError> {
    let identity = tools.identity();
    let mut parts = vec![FUNCTIONS.as_bytes(), identity.as_bytes()];
    parts.extend(SOURCES.map(|(_, text)| text.as_bytes()));
    cache.keep("recorder", &parts, |dir| {
        make(dir, tools).doing(|| "make the recorder of test-suites".into())
    })
}

fn make(dir: &Path, tools: &Tools) -> io::Result<()> {
    for (name, text) in SOURCES {
        fs_err::write(dir.join(name), text)?;
    }
    let mut objects = vec![OsString::from("hooks.o")];
    compile(tools, dir, "hooks.c", &[], Path::new("hooks.o"))?;
    for (name, hook, which) in functions() {
        let object = format!("{name}.o");
        let defines = [
            format!("-DNAME={name}"),
            format!("-DHOOK={hook}"),
            format!("-DWHICH={which}"),
        ];
        compile(tools, dir, "wrap.S", &defines, Path::new(&object))?;
        objects.push(object.into());
    }
    let ar = in_path("ar").unwrap_or_else(|| format!("llvm-ar-{LLVM_MAJOR}").into());
    finish(Run::new(ar).args(["rcs", ARCHIVE]).args(objects).dir(dir))
}

/// The functions that are looked at: the name, what it is, and the argument that matters.
fn functions() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let lines = FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?, words.next()?, words.next()?))
    })
}

fn compile(
    tools: &Tools,
    dir: &Path,
    source: &str,
    defines: &[String],
    object: &Path,
) -> io::Result<()> {
    let run = Run::new(&tools.clang).args(["-O2", "-fPIC", "-w", "-c", source]);
    finish(run.args(defines).arg("-o", object).dir(dir))
}

fn finish(run: Run) -> io::Result<()> {
    let output = run.capture()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(first_error(&output.stderr))),
    }
}

/// Compiles, or links with the recorder. A program that cannot be linked so is linked without.
pub(crate) fn run(job: &Job, scratch: &Path) -> io::Result<i32> {
    let links = job.plan.stage == Stage::Link && job.kind != Kind::Ld && !job.plan.is_partial();
    if !links || lenient::tries_out(&job.plan) {
        return job.run_real_tool(&[], &[]);
    }
    let code = match Added::new(job, scratch) {
        Ok(added) => job.run_real_tool(&added.front, &added.back)?,
        Err(_) => 1,
    };
    let code = match code {
        0 => 0,
        _ => job.run_real_tool(&[], &[])?,
    };
    let output = job.plan.linked();
    if code == 0 && embed::is_elf(&output) {
        // Programs that a build made are told by their records from those that were there before.
        let record = Record::new(Vec::new(), std::env::current_dir().unwrap_or_default());
        let _ = embed::add(&output, &[(embed::PROGRAM_RECORD, &record.to_json())]);
        if let Some(dir) = named(RECORD_DIR) {
            let _ = record.keep(&dir, &output, None);
        }
    }
    Ok(code)
}

/// What is added to a link, before and after what the user wrote.
struct Added {
    front: Vec<OsString>,
    back: Vec<OsString>,
}

impl Added {
    fn new(job: &Job, scratch: &Path) -> io::Result<Self> {
        let has = |names: &[&str]| {
            let mut options = job.plan.args.iter();
            options.any(|arg| match arg {
                Arg::Option(words) => names.iter().any(|name| words[0] == *name),
                _ => false,
            })
        };
        let parts = named(RECORDER).unwrap_or_default();
        let is_static = has(&["-static", "-static-pie"]);
        let mut added = Self {
            front: Vec::new(),
            back: Vec::new(),
        };
        for (name, ..) in functions() {
            if !(is_static && SHARED_ONLY.contains(&name)) {
                linker(&mut added.front, format!("--wrap={name}"));
            }
        }
        // A library takes part in what the program notes.
        if !has(&["-shared"]) {
            linker(&mut added.front, start(job, &parts, scratch)?);
        }
        let archive = parts.join(ARCHIVE);
        if is_static {
            // The C library comes after the recorder and needs it, too. Only this linker gets
            // that right in an archive.
            added.back.push("-fuse-ld=bfd".into());
            linker(&mut added.back, "--start-group");
            linker(&mut added.back, archive);
            added.back.push("-lc".into());
            linker(&mut added.back, "--end-group");
        } else {
            linker(&mut added.back, archive);
        }
        Ok(added)
    }
}

/// A word for the linker, whatever is in it.
fn linker(words: &mut Vec<OsString>, word: impl Into<OsString>) {
    words.extend(["-Xlinker".into(), word.into()]);
}

/// The object that notes how this program was started.
fn start(job: &Job, parts: &Path, scratch: &Path) -> io::Result<PathBuf> {
    let program = std::env::current_dir()?.join(job.plan.linked());
    let spool = named(SPOOL).unwrap_or_default();
    let defines = [
        format!("-DNAME={}", literal(program.as_os_str())),
        format!("-DSPOOL={}", literal(spool.as_os_str())),
    ];
    let object = scratch.join("beagle-start.o");
    compile(&job.tools, parts, "start.c", &defines, &object)?;
    Ok(object)
}

/// A string in C.
fn literal(text: &OsStr) -> String {
    let mut literal = String::from("\"");
    for &byte in text.as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                literal.push(byte.into());
            }
            // Always three digits, so that the next character cannot become a part of it.
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_a_string_in_c() {
        assert_eq!(literal("/a b\"".as_ref()), r#""/a\040b\042""#);
        assert_eq!(literal("é1".as_ref()), r#""\303\2511""#);
    }

    #[test]
    fn every_function_has_a_hook() {
        let hooks = SOURCES[2].1;
        for (name, hook, which) in functions() {
            assert!(
                hooks.contains(&format!("void __beagle_recorder_{hook}(")),
                "{name}"
            );
            assert!(which.parse::<usize>().is_ok_and(|which| which < 6));
        }
        assert!(functions().count() > 50);
    }
}
