//! What else could have found a difference: random inputs, and AFL++ as differential fuzzer. Both
//! drive a program that holds both versions (`driver.c`).

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use beagle_subjects::{Input, Source, Version};

/// The program that runs both versions.
const DRIVER: &str = include_str!("driver.c");

/// Its compiler for random runs.
const CLANG: &str = "clang-19";

/// Its compiler for AFL++.
const AFL_CLANG: &str = "afl-clang-fast";

/// An input that a rival says tells the versions apart.
pub struct Caught {
    /// The input.
    pub input: Input,
    /// How long it took, building apart.
    pub seconds: f64,
}

/// Two versions and the input to start from.
pub struct Rivals<'a> {
    old: &'a Version,
    new: &'a Version,
    seed: &'a Input,
    dir: &'a Path,
}

impl<'a> Rivals<'a> {
    /// Prepares them in a directory of their own.
    pub fn new(
        old: &'a Version,
        new: &'a Version,
        seed: &'a Input,
        dir: &'a Path,
    ) -> Result<Self, String> {
        let rivals = Self {
            old,
            new,
            seed,
            dir,
        };
        let run = dir.join("run");
        io(fs_err::create_dir_all(&run))?;
        for (name, content) in &seed.files {
            io(fs_err::write(run.join(name), content))?;
        }
        io(fs_err::create_dir_all(dir.join("seeds")))?;
        io(fs_err::write(dir.join("seeds/seed"), rivals.encoded()))?;
        io(fs_err::write(dir.join("driver.c"), DRIVER))?;
        io(fs_err::write(dir.join("shape.h"), rivals.shape()))?;
        Ok(rivals)
    }

    /// Tries so many random inputs.
    pub fn random(&self, runs: u64) -> Result<Option<Caught>, String> {
        let driver = self.driver(CLANG, &["-static"])?;
        let found = self.dir.join("random");
        let start = Instant::now();
        let mut command = Command::new(driver);
        command.arg(self.dir.join("seeds/seed"));
        command.arg(runs.to_string()).arg(&found);
        command
            .current_dir(self.dir.join("run"))
            .stdin(Stdio::null());
        let output = io(command.output())?;
        match output.status.code() {
            Some(0) => Ok(None),
            Some(1) => Ok(Some(Caught {
                input: self.decoded(&io(fs_err::read(found))?),
                seconds: start.elapsed().as_secs_f64(),
            })),
            _ => Err(format!("random runs: {}", said(&output.stderr))),
        }
    }

    /// Fuzzes for so many seconds.
    pub fn afl(&self, seconds: u64) -> Result<Option<Caught>, String> {
        let driver = self.driver(AFL_CLANG, &[])?;
        let out = self.dir.join("afl");
        let start = Instant::now();
        let mut command = Command::new("afl-fuzz");
        command.arg("-V").arg(seconds.to_string());
        command.arg("-i").arg(self.dir.join("seeds"));
        command
            .arg("-o")
            .arg(&out)
            .args(["-m", "none", "-t", "8000", "--"]);
        command.arg(driver).arg("@@");
        for name in [
            "AFL_BENCH_UNTIL_CRASH",
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
            "AFL_NO_AFFINITY",
            "AFL_NO_UI",
            "AFL_SKIP_CPUFREQ",
        ] {
            command.env(name, "1");
        }
        command
            .current_dir(self.dir.join("run"))
            .stdin(Stdio::null());
        let output = io(command.output())?;
        let elapsed = start.elapsed().as_secs_f64();
        // A seed that already tells them apart is refused, as it makes the driver abort.
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains("results in a crash") {
            return Ok(Some(Caught {
                input: self.seed.clone(),
                seconds: elapsed,
            }));
        }
        let crashes = out.join("default/crashes");
        let Ok(crashes) = fs_err::read_dir(crashes) else {
            let said = (said(&output.stdout), said(&output.stderr));
            return Err(format!("afl-fuzz: {}\n{}", said.0, said.1));
        };
        let mut inputs: Vec<PathBuf> = crashes
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.to_string_lossy().contains("/id:"))
            .collect();
        inputs.sort();
        match inputs.first() {
            Some(path) => Ok(Some(Caught {
                input: self.decoded(&io(fs_err::read(path))?),
                seconds: elapsed,
            })),
            None => Ok(None),
        }
    }

    /// Both versions and what runs them, in one program.
    fn driver(&self, compiler: &str, flags: &[&str]) -> Result<PathBuf, String> {
        let old = self.object(compiler, self.old, "old")?;
        let new = self.object(compiler, self.new, "new")?;
        let program = self.dir.join(format!("driver-{compiler}"));
        let mut command = Command::new(compiler);
        command.args(["-O1", "-w"]).args(flags).arg("-o");
        command.arg(&program).arg(self.dir.join("driver.c"));
        command.args([old, new]).args(&self.new.ldflags).arg("-lm");
        succeed(&mut command)?;
        Ok(program)
    }

    /// A version as one object, of which nothing can be seen but its `main`, by another name.
    fn object(&self, compiler: &str, version: &Version, name: &str) -> Result<PathBuf, String> {
        let sources = match &version.source {
            Source::File(path) => vec![path.clone()],
            Source::Directory { path, .. } => {
                let entries = io(fs_err::read_dir(path))?;
                let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
                files
                    .filter(|file| file.extension().is_some_and(|extension| extension == "c"))
                    .collect()
            }
        };
        let mut objects = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let object = self.dir.join(format!("{name}-{at}.o"));
            let mut command = Command::new(compiler);
            command.args(["-O1", "-std=gnu11", "-w", "-c", "-o"]);
            succeed(command.arg(&object).arg(source))?;
            objects.push(object);
        }
        let joined = self.dir.join(format!("{name}.o"));
        succeed(
            Command::new("ld")
                .arg("-r")
                .arg("-o")
                .arg(&joined)
                .args(objects),
        )?;
        let main = format!("{name}_main");
        let mut command = Command::new("objcopy");
        command.arg("--redefine-sym").arg(format!("main={main}"));
        command.arg("--keep-global-symbol").arg(main);
        succeed(command.arg(&joined))?;
        Ok(joined)
    }

    fn is_file(&self, word: &OsString) -> bool {
        word.to_str()
            .is_some_and(|name| self.seed.files.contains_key(name))
    }

    /// The files that vary: those that are named on the command line.
    fn files(&self) -> impl Iterator<Item = &String> {
        let files = self.seed.files.keys();
        files.filter(|name| self.seed.args.iter().any(|word| word == name.as_str()))
    }

    /// What the driver has to know, in C.
    fn shape(&self) -> String {
        let mut text = String::from("static const char *const words[] = {");
        for word in &self.seed.args {
            let _ = match self.is_file(word) {
                true => write!(text, "{word:?}, "),
                false => write!(text, "0, "),
            };
        }
        text.push_str("END};\nstatic const char *const files[] = {");
        for name in self.files() {
            let _ = write!(text, "{name:?}, ");
        }
        text.push_str("END};\n");
        text
    }

    /// The seed as the driver reads it.
    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in self.seed.args.iter().filter(|word| !self.is_file(word)) {
            bytes.extend(word.clone().into_vec());
            bytes.push(0);
        }
        for name in self.files() {
            let content = &self.seed.files[name];
            bytes.extend(
                u16::try_from(content.len())
                    .unwrap_or(u16::MAX)
                    .to_le_bytes(),
            );
            bytes.extend(content);
        }
        bytes.extend(&self.seed.stdin);
        bytes
    }

    /// An input from what the driver reads, as `decode` there.
    fn decoded(&self, mut bytes: &[u8]) -> Input {
        let mut input = self.seed.clone();
        for word in input.args.iter_mut().filter(|word| !self.is_file(word)) {
            let end = bytes.iter().position(|&byte| byte == 0);
            let length = end.unwrap_or(bytes.len());
            *word = OsString::from_vec(bytes[..length].to_vec());
            bytes = &bytes[(length + usize::from(end.is_some()))..];
        }
        for name in self.files() {
            let (wanted, rest) = match bytes {
                [low, high, rest @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), rest),
                _ => (0, &bytes[bytes.len()..]),
            };
            let (content, rest) = rest.split_at(wanted.min(rest.len()));
            input.files.insert(name.clone(), content.to_vec());
            bytes = rest;
        }
        input.stdin = bytes.to_vec();
        input
    }
}

fn io<T>(result: std::io::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {}", said(&output.stderr))),
    }
}

/// The end of what a program said.
fn said(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(600);
    String::from_utf8_lossy(&bytes[from..]).into_owned()
}
