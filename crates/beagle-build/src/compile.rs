//! The compile step: the user's object, with bitcode inside.
//!
//! The real compiler runs exactly as asked. Beside it the source is compiled once more, to
//! bitcode without optimisation, and the bitcode is put into a section of the object that
//! linkers leave out. Linkers, archivers and all other tools see an ordinary object. If there
//! is no bitcode, the object gets a note that says why.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::arguments::{Input, Language};
use crate::compiler::Job;
use crate::embed;
use crate::options;
use crate::process::{Run, first_error};
use crate::record::{self, Missing, Reason};
use crate::unit::{self, Unit};

/// The bitcode of a source, or why there is none.
pub(crate) type Bitcode = Result<PathBuf, Reason>;

/// Compiles, and returns the exit code of the real compiler.
pub(crate) fn compile(job: &Job, scratch: &Path) -> io::Result<i32> {
    let (code, compiled) = beside(job, || bitcode_of_all(job, scratch))?;
    if code != 0 {
        return Ok(code);
    }
    for (input, bitcode) in job.plan.sources().zip(compiled) {
        let object = job
            .plan
            .output
            .clone()
            .unwrap_or_else(|| input.default_object());
        // Without bitcode the object is still good; the link will say what it lacks.
        if embed::is_elf(&object) {
            let _ = finish(&object, bitcode, Unit::of(job, input).as_ref());
        }
    }
    Ok(code)
}

/// Runs the real tool, and something else at the same time.
pub(crate) fn beside<T: Send>(job: &Job, other: impl FnOnce() -> T + Send) -> io::Result<(i32, T)> {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        let code = job.run_real_tool(&[], &[])?;
        let other = other
            .join()
            .map_err(|_| io::Error::other("making bitcode failed"))?;
        Ok((code, other))
    })
}

/// Compiles all sources to bitcode.
pub(crate) fn bitcode_of_all(job: &Job, scratch: &Path) -> Vec<Bitcode> {
    let sources = job.plan.sources().enumerate();
    sources
        .map(|(number, input)| bitcode(job, input, &module(scratch, number)))
        .collect()
}

/// Where the bitcode of a source goes.
pub(crate) fn module(scratch: &Path, number: usize) -> PathBuf {
    scratch.join(format!("{number}.o"))
}

/// Compiles one source to bitcode.
fn bitcode(job: &Job, input: &Input, output: &Path) -> Bitcode {
    let source = input.path.display().to_string();
    match input.language {
        Language::Source { .. } => {}
        Language::Assembler { .. } => return Err(Reason::Assembler { source }),
        Language::Header | Language::Foreign | Language::Object => {
            return Err(Reason::Unsupported { source });
        }
    }
    if !input.is_stdin() && !input.path.is_file() {
        // Pipes and the like have been read by the real compiler.
        return Err(Reason::Unsupported { source });
    }
    let failed = |message: String| Reason::CompileFailed {
        source: source.clone(),
        message,
    };
    let mut args = job.prefix_map();
    args.extend(options::bitcode_compile(
        &job.plan,
        input,
        output.as_os_str(),
    ));
    let input = input.is_stdin().then_some(job.stdin.as_deref()).flatten();
    let run = Run::new(&job.real)
        .many_args(&args)
        .and_then(|run| run.capture_with(input));
    let result = run.map_err(|error| failed(error.to_string()))?;
    if result.status.success() {
        Ok(output.to_owned())
    } else {
        Err(failed(first_error(&result.stderr)))
    }
}

/// Puts the bitcode, or the note, into the object.
fn finish(object: &Path, bitcode: Bitcode, unit: Option<&Unit>) -> io::Result<()> {
    match bitcode {
        Ok(module) => {
            let module = std::fs::read(module)?;
            let sections: [(&str, &[u8]); 2] = [
                (embed::OBJECT_BITCODE, &module),
                (embed::OBJECT_UNIT, &unit::note(unit)),
            ];
            embed::add(object, &sections)
        }
        Err(reason) => {
            let what = object.display().to_string();
            add_notes(object, &[Missing { what, reason }])
        }
    }
}

/// Puts notes into an object, instead of any that are there.
pub(crate) fn add_notes(object: &Path, missing: &[Missing]) -> io::Result<()> {
    let notes: Vec<u8> = missing.iter().flat_map(record::note).collect();
    embed::add(object, &[(embed::OBJECT_NOTE, &notes)])
}

/// The arguments for the real compiler, or `None` when it gets the user's own as they are.
pub(crate) fn without_lto(words: &[OsString]) -> Option<Vec<OsString>> {
    let has_lto = words.iter().any(|word| options::is_lto(word));
    // Control-flow integrity only exists together with link-time optimisation.
    let needs_lto = words
        .iter()
        .any(|word| word.to_string_lossy().starts_with("-fsanitize=cfi"));
    (has_lto && !needs_lto).then(|| {
        words
            .iter()
            .filter(|word| !options::is_lto(word))
            .cloned()
            .collect()
    })
}
