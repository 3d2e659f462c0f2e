//! Single C files: compiled directly, with nothing to configure.
//!
//! The compiler runs where the user is, as if called by hand, so relative paths in the flags
//! mean what they seem to. The cache key is made from the preprocessed text, which covers all
//! that is included.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::build::{Progress, Task};
use crate::cache::{Entry, key};
use crate::error::Doing;
use crate::log::Failure;
use crate::process::Run;
use crate::{BuildError, compiler, harness, lenient, record, recorder, sanitize};

/// A file to compile.
pub(crate) struct Single<'a> {
    pub task: Task<'a>,
    pub file: &'a Path,
}

impl Single<'_> {
    /// Fails for files in which there cannot be a program.
    pub fn check(&self) -> Result<(), BuildError> {
        let text = fs_err::read(self.file).doing(|| "read the source".into())?;
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(BuildError::EmptyFile {
                path: self.file.to_owned(),
            });
        }
        if text.contains(&0) {
            return Err(BuildError::NotC {
                path: self.file.to_owned(),
            });
        }
        Ok(())
    }

    /// The key of everything that goes into the program.
    pub fn key(&self) -> Result<String, BuildError> {
        let run = Run::new(&self.task.tools.clang)
            .args(["-E", "-w"])
            .args(sanitize::flags(self.task.flavour))
            .args(self.compile_args()?);
        let result = run
            .args([self.prefix_map()])
            .capture()
            .doing(|| "run clang".into())?;
        // A file that cannot be preprocessed cannot be compiled, which is then reported.
        let mut parts = vec![result.stdout];
        parts.push(
            self.file
                .file_name()
                .unwrap_or_default()
                .as_encoded_bytes()
                .to_vec(),
        );
        parts.push(format!("{:?}", self.task.flavour).into_bytes());
        parts.push(format!("{:?}", self.task.config.function).into_bytes());
        parts.push(self.task.cache.identity().into_bytes());
        parts.push(self.task.tools.identity().into_bytes());
        for flag in self
            .task
            .config
            .cflags
            .iter()
            .chain(&self.task.config.ldflags)
        {
            parts.push(flag.as_bytes().to_vec());
            // Objects and libraries that are named count with their content.
            parts.push(std::fs::read(flag).unwrap_or_default());
        }
        if !self.task.config.ldflags.is_empty() {
            let dir = std::env::current_dir().unwrap_or_default();
            parts.push(dir.as_os_str().as_encoded_bytes().to_vec());
        }
        Ok(key(parts.iter().map(Vec::as_slice)))
    }

    /// Compiles and links it. Code that is too old for the default dialect is tried in the
    /// oldest one; the messages of the first try are the ones to show.
    pub fn compile(
        &self,
        entry: &Entry,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, BuildError> {
        let label = self.task.label.to_owned();
        let command = format!("beagle cc {}", self.file.display());
        progress(Progress::Building { label, command });
        let name = self.file.file_stem().unwrap_or_default();
        let program = entry.dir.join(name);
        let names_dialect = self
            .task
            .config
            .cflags
            .iter()
            .any(|flag| flag.starts_with("-std=") || flag == "-ansi");
        let error = match self.try_compile(entry, &program, None)? {
            None => return Ok(program),
            Some(failure) => failure,
        };
        let first_log = fs_err::read(&entry.log).doing(|| "read the log".into())?;
        if !names_dialect
            && self
                .try_compile(entry, &program, Some("-std=gnu89"))?
                .is_none()
        {
            return Ok(program);
        }
        record::replace(&first_log, &entry.log).doing(|| "write the log".into())?;
        Err(error.into_error(self.task.label, None))
    }

    fn try_compile(
        &self,
        entry: &Entry,
        program: &Path,
        dialect: Option<&str>,
    ) -> Result<Option<Failure>, BuildError> {
        let mut args = vec![OsString::from("cc")];
        args.extend(dialect.map(OsString::from));
        // The directory in which the compiler runs must not show in the debug information.
        args.push("-fdebug-compilation-dir=.".into());
        args.extend(self.program_args()?);
        args.extend(["-o".into(), program.into()]);
        args.extend(self.task.config.ldflags.iter().map(OsString::from));
        let command = args
            .iter()
            .map(|arg| arg.to_string_lossy())
            .collect::<Vec<_>>();
        let command = shell_words::join(command);
        let mut log = fs_err::File::create(&entry.log).doing(|| "write the log".into())?;
        writeln!(log, "$ beagle {command}").doing(|| "write the log".into())?;
        let run = Run::new(&self.task.cache.beagle)
            .args(&args)
            .env(lenient::LENIENT, "1");
        let run = run
            .env(compiler::TREE, self.directory())
            .env("SOURCE_DATE_EPOCH", crate::checkout::EPOCH.to_string());
        let run = run.without_env(&[record::RECORD_DIR]);
        let run = sanitize::environment(run, self.task.flavour);
        let run = recorder::environment(run, &self.task, &entry.dir)?;
        let status = self.task.log(run, log.file());
        let status = status.doing(|| format!("run {}", self.task.cache.beagle.display()))?;
        if status.success() {
            return Ok(None);
        }
        Failure::read(&entry.log, &format!("beagle {command}")).map(Some)
    }

    /// The directory of the file.
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }

    /// The arguments that compile the file by itself.
    pub fn compile_args(&self) -> Result<Vec<OsString>, BuildError> {
        let mut args = self.options()?;
        args.push(self.file.into());
        Ok(args)
    }

    /// The arguments that make a program of it: with the driver of a fuzz target, or through the
    /// harness of a function.
    fn program_args(&self) -> Result<Vec<OsString>, BuildError> {
        let mut args = self.options()?;
        if let Some(function) = &self.task.config.function
            && let Some(harness) = harness::harness(self, function)?
        {
            // The harness goes on where the file ends.
            args.push("-Dmain=beagle_main_of_program".into());
            args.extend(["-include".into(), self.file.into(), harness.into()]);
            return Ok(args);
        }
        args.push(self.file.into());
        let text = fs_err::read(self.file).doing(|| "read the source".into())?;
        if harness::is_fuzz_target(&text) {
            args.push(self.task.cache.entries()?.join("driver.c").into());
        }
        Ok(args)
    }

    fn options(&self) -> Result<Vec<OsString>, BuildError> {
        let mut include = OsString::from("-I");
        include.push(self.directory());
        let mut args = vec![include];
        args.extend(self.task.config.cflags.iter().map(OsString::from));
        args.extend(["-idirafter".into(), self.task.cache.entries()?.into()]);
        Ok(args)
    }

    fn prefix_map(&self) -> OsString {
        let mut option = OsString::from("-ffile-prefix-map=");
        option.push(self.directory());
        option.push("=.");
        option
    }
}
