//! What else could have found a difference: random inputs, AFL++ and libFuzzer as differential
//! fuzzers. All drive a program that holds both versions (`driver.c`). Shared by the benchmarks.

pub mod paste;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use beagle_subjects::{Input, Source, Version};

/// The sources of the program that runs both versions.
const DRIVER: [(&str, &str); 3] = [
    ("driver.c", include_str!("driver.c")),
    ("inside.c", include_str!("inside.c")),
    ("inside.h", include_str!("inside.h")),
];

/// What versions call in the driver instead of libc, with `inside_` before it, so that they can be
/// run again and again in one process.
const INSIDE: [&str; 11] = [
    "abort", "calloc", "exit", "fclose", "fopen", "free", "getdelim", "getline", "malloc",
    "realloc", "strdup",
];

/// A sort of driver.
#[derive(Clone, Copy)]
struct Sort {
    name: &'static str,
    compiler: &'static str,
    /// For the versions.
    compile: &'static [&'static str],
    /// For the driver, which is linked at once.
    link: &'static [&'static str],
}

/// For random runs.
const RANDOM: Sort = Sort {
    name: "random",
    compiler: "clang-19",
    compile: &[],
    link: &["-static"],
};

/// For AFL++.
const AFL: Sort = Sort {
    name: "afl",
    compiler: "afl-clang-fast",
    compile: &[],
    link: &[],
};

/// For libFuzzer.
const LIBFUZZER: Sort = Sort {
    name: "libfuzzer",
    compiler: "clang-19",
    compile: &["-fsanitize=fuzzer-no-link"],
    link: &["-fsanitize=fuzzer", "-DLIBFUZZER"],
};

/// An input that a rival says tells the versions apart.
pub struct Caught {
    /// The input.
    pub input: Input,
    /// How long it took, building apart.
    pub seconds: f64,
}

/// What a rival did.
pub struct Outcome {
    /// How long it took to build it, in seconds.
    pub build: f64,
    /// What it found.
    pub caught: Option<Caught>,
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
        for (name, text) in DRIVER {
            io(fs_err::write(dir.join(name), text))?;
        }
        io(fs_err::write(dir.join("shape.h"), rivals.shape()))?;
        Ok(rivals)
    }

    /// Tries so many random inputs.
    pub fn random(&self, runs: u64) -> Result<Outcome, String> {
        let (driver, build) = self.driver(RANDOM)?;
        let found = self.dir.join("random");
        let start = Instant::now();
        let mut command = Command::new(driver);
        command.arg(self.dir.join("seeds/seed"));
        command.arg(runs.to_string()).arg(&found);
        command
            .current_dir(self.dir.join("run"))
            .stdin(Stdio::null());
        let output = io(command.output())?;
        let seconds = start.elapsed().as_secs_f64();
        let caught = match output.status.code() {
            Some(0) => None,
            Some(1) => Some(Caught {
                input: self.decoded(&io(fs_err::read(found))?),
                seconds,
            }),
            _ => {
                return Err(format!(
                    "random runs: {}, {}",
                    output.status,
                    said(&output.stderr)
                ));
            }
        };
        Ok(Outcome { build, caught })
    }

    /// Fuzzes for so many seconds.
    pub fn afl(&self, seconds: u64) -> Result<Outcome, String> {
        let (driver, build) = self.driver(AFL)?;
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
        let seconds = start.elapsed().as_secs_f64();
        // A seed that already tells them apart is refused, as it makes the driver abort.
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains("results in a crash") {
            let caught = Some(Caught {
                input: self.seed.clone(),
                seconds,
            });
            return Ok(Outcome { build, caught });
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
        let caught = match inputs.first() {
            Some(path) => Some(Caught {
                input: self.decoded(&io(fs_err::read(path))?),
                seconds,
            }),
            None => None,
        };
        Ok(Outcome { build, caught })
    }

    /// Fuzzes with libFuzzer for so many seconds, until it has an input that is `real`.
    pub fn libfuzzer(
        &self,
        seconds: u64,
        real: impl Fn(&Input) -> bool,
    ) -> Result<Outcome, String> {
        let (driver, build) = self.driver(LIBFUZZER)?;
        let found = self.dir.join("libfuzzer");
        let corpus = self.dir.join("corpus");
        io(fs_err::create_dir_all(&corpus))?;
        let start = Instant::now();
        let limit = Duration::from_secs(seconds);
        // Memory errors may end it early, with an input that shows no difference; it then goes on.
        for number in 1.. {
            let left = limit.saturating_sub(start.elapsed()).as_secs();
            if left == 0 {
                break;
            }
            let mut command = Command::new(&driver);
            command.arg(format!("-max_total_time={left}"));
            command.arg(format!("-seed={number}"));
            command.arg(format!("-exact_artifact_path={}", found.display()));
            command.args(["-detect_leaks=0", "-verbosity=0"]);
            // What it adds goes to the first.
            command.args([&corpus, &self.dir.join("seeds")]);
            command.current_dir(self.dir.join("run"));
            let output = io(command.stdin(Stdio::null()).output())?;
            if output.status.success() {
                break;
            }
            let Ok(bytes) = fs_err::read(&found) else {
                return Err(format!("libFuzzer: {}", said(&output.stderr)));
            };
            let seconds = start.elapsed().as_secs_f64();
            let input = self.decoded(&bytes);
            if real(&input) {
                let caught = Some(Caught { input, seconds });
                return Ok(Outcome { build, caught });
            }
            io(fs_err::remove_file(&found))?;
        }
        let caught = None;
        Ok(Outcome { build, caught })
    }

    /// Both versions and what runs them, in one program, and how long it took to build it.
    fn driver(&self, sort: Sort) -> Result<(PathBuf, f64), String> {
        let start = Instant::now();
        let old = self.object(sort, self.old, "old")?;
        let new = self.object(sort, self.new, "new")?;
        let program = self.dir.join(format!("driver-{}", sort.name));
        let mut command = Command::new(sort.compiler);
        command.args(["-O1", "-w"]).args(sort.link).arg("-o");
        command.arg(&program);
        command.args([self.dir.join("driver.c"), self.dir.join("inside.c")]);
        command.args([old, new]).args(&self.new.ldflags).arg("-lm");
        succeed(&mut command)?;
        Ok((program, start.elapsed().as_secs_f64()))
    }

    /// A version as one object, of which nothing can be seen but its `main`, by another name.
    fn object(&self, sort: Sort, version: &Version, name: &str) -> Result<PathBuf, String> {
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
            let object = self.dir.join(format!("{}-{name}-{at}.o", sort.name));
            let mut command = Command::new(sort.compiler);
            command.args(["-O1", "-std=gnu11", "-w", "-c"]);
            command.args(sort.compile).arg("-o");
            succeed(command.arg(&object).arg(source))?;
            objects.push(object);
        }
        let joined = self.dir.join(format!("{}-{name}.o", sort.name));
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
        for name in INSIDE {
            let names = format!("{name}=inside_{name}");
            command.arg("--redefine-sym").arg(names);
        }
        // Names by which the driver finds where they start and end.
        let sections = [
            format!(".data={name}_data"),
            format!(".bss={name}_bss,alloc,load,data,contents"),
        ];
        for section in sections {
            command.arg("--rename-section").arg(section);
        }
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
