//! The link step: the user's program, with the bitcode of the whole program inside.
//!
//! The real link runs exactly as asked. Beside it lld links once more with the same arguments,
//! taking the bitcode out of the objects, and stops where the whole program is one module. lld
//! also lists what it took, down to the members of archives; whatever is in the list without
//! bitcode is missing. The project's own shared libraries carry their bitcode as well: for a
//! program they are added to a second run, where their definitions win over those that the
//! libraries offer.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::arguments::{Arg, Input};
use crate::compile::{Bitcode, add_notes, beside, bitcode_of_all, module};
use crate::compiler::{Job, Kind};
use crate::embed;
use crate::linkline::{self, Follow, Through};
use crate::process::{Run, first_error};
use crate::record::{Missing, RECORD_DIR, Reason, Record};
use crate::unit::{self, Unit};
use crate::{bitcode, lenient, trace};

/// Links, and returns the exit code of the real linker.
pub(crate) fn link(job: &Job, scratch: &Path) -> io::Result<i32> {
    let output = job.plan.linked();
    let (code, link) = beside(job, || {
        let compiled = bitcode_of_all(job, scratch);
        Link::new(job, &output, scratch, &compiled).started()
    })?;
    if code == 0 && embed::is_elf(&output) {
        // Without bitcode the program is still good, and Beagle will say what it lacks.
        let _ = if job.plan.is_partial() {
            link.partial()
        } else {
            link.whole()
        };
    }
    Ok(code)
}

struct Link<'a> {
    job: &'a Job,
    output: &'a Path,
    scratch: &'a Path,
    through: Through,
    /// The user's arguments, with sources replaced by their bitcode.
    args: Vec<Arg>,
    /// Sources without bitcode.
    missing: Vec<Missing>,
    /// What came of the link of the bitcode, if it was done already.
    linked: Option<Result<Vec<String>, String>>,
}

impl<'a> Link<'a> {
    fn new(job: &'a Job, output: &'a Path, scratch: &'a Path, compiled: &[Bitcode]) -> Self {
        let mut compiled = compiled.iter();
        let mut missing = Vec::new();
        let mut replace = |arg: &Arg| match arg {
            Arg::Input(input) if input.is_compiled() => match compiled.next()? {
                Ok(bitcode) => Some(Arg::Input(Input::object(bitcode.clone()))),
                Err(reason) => {
                    missing.push(Missing {
                        what: input.path.display().to_string(),
                        reason: reason.clone(),
                    });
                    None
                }
            },
            _ => Some(arg.clone()),
        };
        let args = job.plan.args.iter().filter_map(&mut replace).collect();
        let through = if job.kind == Kind::Ld {
            Through::Linker
        } else {
            Through::Driver
        };
        Self {
            job,
            output,
            scratch,
            through,
            args,
            missing,
            linked: None,
        }
    }

    /// Links the bitcode without waiting for the real link, if that is likely to succeed.
    fn started(mut self) -> Self {
        let plan = &self.job.plan;
        if !plan.is_partial() && self.missing.is_empty() && !lenient::tries_out(plan) {
            self.linked = Some(self.bitcode_link(&self.module(), &[]));
        }
        self
    }

    /// Where the bitcode of the whole program goes.
    fn module(&self) -> PathBuf {
        self.scratch.join("whole.bc")
    }

    /// A program or shared library.
    fn whole(mut self) -> io::Result<()> {
        let directory = std::env::current_dir()?;
        let mut record = Record::new(self.command(), directory.clone());
        record.missing = self.missing.clone();
        let module = self.module();
        let linked = self.linked.take();
        let linked = linked.unwrap_or_else(|| self.bitcode_link(&module, &[]));
        let loaded = match linked {
            Ok(loaded) => loaded,
            Err(message) => {
                let what = self.output.display().to_string();
                record.missing.push(Missing {
                    what,
                    reason: Reason::LinkFailed { message },
                });
                Vec::new()
            }
        };
        record.missing.extend(trace::missing(&loaded));
        record.libraries = trace::own_libraries(&loaded, self.output);
        let mut of_libraries = Vec::new();
        if !self.job.plan.is_shared() && !record.libraries.is_empty() {
            of_libraries = self.add_libraries(&module, &mut record)?;
        }
        let replaced = |arg: &Arg| is_replaced(arg, &record);
        let args = &self.job.plan.args;
        record.link_args = linkline::for_relink(args, &directory, self.through, replaced);
        record.link_args.extend(of_libraries);
        if record.missing.is_empty() && record.libraries.is_empty() {
            record.units = self.units(&loaded).unwrap_or_default();
        }
        self.embed(&record, module.exists().then_some(&module))
    }

    /// The sources of all that lld loaded; `None` if something cannot be compiled again.
    fn units(&self, loaded: &[String]) -> Option<Vec<Unit>> {
        let here = self.job.plan.sources();
        let here = here.map(|input| Unit::of(self.job, input));
        let mut units = here.collect::<Option<Vec<_>>>()?;
        let modules: Vec<_> = (0..units.len())
            .map(|it| module(self.scratch, it))
            .collect();
        let is_here = |line: &&String| modules.iter().any(|module| module == Path::new(line));
        let others = loaded.iter().filter(|line| !is_here(line));
        for of_object in trace::units(others) {
            units.extend(of_object?);
        }
        Some(units)
    }

    /// Links again, with the bitcode of the project's own libraries. Returns what they need
    /// in a later link that is not bitcode.
    fn add_libraries(&self, module: &Path, record: &mut Record) -> io::Result<Vec<String>> {
        let mut parts = Vec::new();
        let mut link_args = Vec::new();
        for library in trace::with_their_own(&record.libraries) {
            let Some(of_library) = embed::record(&library) else {
                continue;
            };
            record.missing.extend(of_library.missing);
            let Some(bitcode) = embed::section(&library, embed::PROGRAM_BITCODE) else {
                record.libraries.retain(|it| *it != library);
                continue;
            };
            link_args.extend(
                of_library
                    .link_args
                    .into_iter()
                    .filter(|arg| linkline::is_linked(arg)),
            );
            let part = self.scratch.join(format!("library{}.o", parts.len()));
            std::fs::write(&part, bitcode)?;
            parts.push(part);
            if !record.libraries.contains(&library) {
                record.libraries.push(library);
            }
        }
        record.missing.sort();
        record.missing.dedup();
        if let Err(message) = self.bitcode_link(module, &parts) {
            // The program still has its own bitcode, and the libraries stay what they are.
            let what = self.output.display().to_string();
            record.missing.push(Missing {
                what,
                reason: Reason::LinkFailed { message },
            });
            record.libraries.clear();
            link_args.clear();
        }
        Ok(link_args)
    }

    /// Makes the module, and returns what lld loaded for it.
    fn bitcode_link(&self, module: &Path, more: &[PathBuf]) -> Result<Vec<String>, String> {
        let first = self.try_bitcode_link(&self.args, Follow::Everything, module, more);
        first.or_else(|message| {
            // Something in the line that lld does not know, or objects that a linker merged
            // without our knowing; the first message is the one to show if nothing helps.
            let args = self.with_merged_objects_repaired();
            self.try_bitcode_link(&args, Follow::Inputs, module, more)
                .map_err(|_| self.other_llvm().unwrap_or(message))
        })
    }

    /// The first object with bitcode of another LLVM: lld only complains about what it finds
    /// there, without a name.
    fn other_llvm(&self) -> Option<String> {
        inputs(&self.args).find_map(|path| {
            let module = embed::section(path, embed::OBJECT_BITCODE)?;
            bitcode::check(path, &module)
                .err()
                .map(|error| error.to_string())
        })
    }

    fn try_bitcode_link(
        &self,
        args: &[Arg],
        follow: Follow,
        module: &Path,
        more: &[PathBuf],
    ) -> Result<Vec<String>, String> {
        const OPTIONS: [&str; 6] = [
            "--fat-lto-objects",
            "--lto-emit-llvm",
            "--lto-O0",
            "--allow-multiple-definition",
            "--unresolved-symbols=ignore-all",
            "--trace",
        ];
        let mut words = linkline::for_bitcode(args, follow, self.through);
        words.extend(more.iter().map(|part| part.clone().into()));
        let run = if self.through == Through::Linker {
            words.extend(OPTIONS.map(OsString::from));
            Run::new(&self.job.tools.lld)
        } else {
            words.extend(OPTIONS.map(|option| format!("-Wl,{option}").into()));
            let mut linker = OsString::from("--ld-path=");
            linker.push(&self.job.tools.lld);
            words.extend([linker, "-Qunused-arguments".into()]);
            Run::new(&self.job.real)
        };
        words.extend(["-o".into(), module.into()]);
        let result = run
            .many_args(&words)
            .and_then(|run| run.capture())
            .map_err(|error| error.to_string())?;
        if !result.status.success() {
            return Err(first_error(&result.stderr));
        }
        // Without any bitcode among the inputs, lld makes nothing.
        let listing = String::from_utf8_lossy(&result.stdout);
        Ok(listing.lines().map(str::to_owned).collect())
    }

    /// A linker that merges objects puts their bitcode one after the other, which lld cannot
    /// read. This makes one module of each such sequence.
    fn with_merged_objects_repaired(&self) -> Vec<Arg> {
        let mut number = 0;
        let mut repair = |path: &Path| -> Option<PathBuf> {
            let section = embed::section(path, embed::OBJECT_BITCODE)?;
            let parts = bitcode::split(&section).filter(|parts| parts.len() > 1)?;
            number += 1;
            let merged = self.scratch.join(format!("merged{number}.o"));
            self.merge(&parts, &[], &merged).ok()?;
            Some(merged)
        };
        let mut args = self.args.clone();
        for arg in &mut args {
            if let Arg::Input(input) = arg
                && let Some(merged) = repair(&input.path)
            {
                input.path = merged;
            }
        }
        args
    }

    /// A partial link: the object gets one module instead of a sequence of them.
    fn partial(self) -> io::Result<()> {
        let section = embed::section(self.output, embed::OBJECT_BITCODE).unwrap_or_default();
        let parts = bitcode::split(&section).unwrap_or_default();
        let (compiled, given): (Vec<_>, Vec<_>) =
            inputs(&self.args).partition(|path| path.starts_with(self.scratch));
        if parts.len() + compiled.len() > 0 {
            let merged = self.scratch.join("merged.bc");
            self.merge(&parts, &compiled, &merged)?;
            let mut sections = vec![(embed::OBJECT_BITCODE, std::fs::read(merged)?)];
            if !compiled.is_empty() {
                // Those of the parts come along by themselves, but these do not.
                sections.push((embed::OBJECT_UNIT, unit::note(None)));
            }
            let sections: Vec<_> = sections.iter().map(|(name, it)| (*name, &it[..])).collect();
            embed::add(self.output, &sections)?;
        }
        // Notes of the parts come along by themselves; these are the parts without one.
        let mut missing = self.missing.clone();
        for path in given {
            let contents = embed::contents(path, None).unwrap_or_default();
            if embed::is_elf(path) && !contents.bitcode && contents.notes.is_empty() {
                missing.push(Missing {
                    what: path.display().to_string(),
                    reason: Reason::Foreign,
                });
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        missing.extend(
            embed::contents(self.output, None)
                .into_iter()
                .flat_map(|contents| contents.notes),
        );
        add_notes(self.output, &missing)
    }

    /// Links modules to one.
    fn merge(&self, parts: &[&[u8]], files: &[&Path], output: &Path) -> io::Result<()> {
        let mut run = Run::new(&self.job.tools.llvm_link);
        for (number, part) in parts.iter().enumerate() {
            let path = output.with_extension(format!("part{number}"));
            std::fs::write(&path, part)?;
            run = run.args([path]);
        }
        let result = run.args(files).args([Path::new("-o"), output]).capture()?;
        if result.status.success() {
            Ok(())
        } else {
            Err(io::Error::other(first_error(&result.stderr)))
        }
    }

    fn embed(&self, record: &Record, module: Option<&PathBuf>) -> io::Result<()> {
        let json = record.to_json();
        let mut sections = vec![(embed::PROGRAM_RECORD, json.as_slice())];
        let bitcode = module.map(std::fs::read).transpose()?;
        sections.extend(
            bitcode
                .as_deref()
                .map(|content| (embed::PROGRAM_BITCODE, content)),
        );
        let embedded = embed::add(self.output, &sections);
        match std::env::var_os(RECORD_DIR).filter(|dir| !dir.is_empty()) {
            Some(dir) => record.keep(Path::new(&dir), self.output, module.map(PathBuf::as_path)),
            None => embedded,
        }
    }

    fn command(&self) -> Vec<String> {
        let words = [self.job.real.clone().into_os_string()];
        words
            .iter()
            .chain(&self.job.words)
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }
}

fn inputs(args: &[Arg]) -> impl Iterator<Item = &Path> {
    args.iter().filter_map(|arg| match arg {
        Arg::Input(input) => Some(input.path.as_path()),
        _ => None,
    })
}

/// Whether the whole-program bitcode stands for this argument in a later link.
fn is_replaced(arg: &Arg, record: &Record) -> bool {
    match arg {
        Arg::Input(input) if input.is_compiled() => {
            let what = input.path.display().to_string();
            !record.missing.iter().any(|missing| missing.what == what)
        }
        // Archives stay: members without bitcode are taken from them, the others are not.
        Arg::Input(input) => {
            embed::contents(&input.path, None)
                .is_some_and(|contents| contents.bitcode && contents.notes.is_empty())
                || record
                    .libraries
                    .iter()
                    .any(|library| same_file(library, &input.path))
        }
        Arg::Library(name) => {
            let is_it =
                |library: &PathBuf| linkline::library_name(library).is_some_and(|it| name == it);
            record.libraries.iter().any(is_it)
        }
        _ => false,
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize()
        .ok()
        .zip(b.canonicalize().ok())
        .is_some_and(|(a, b)| a == b)
}
