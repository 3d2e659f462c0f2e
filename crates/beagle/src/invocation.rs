//! How the program is run: from the words after `--` and the options to inputs to start from, and
//! what of them may vary.
//!
//! What the user writes is in [`template`]; docs/invocation.md is the manual.

mod rules;
mod seeds;
mod template;
mod whole;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use beagle_build::Config;
use beagle_solver::SourceKey;
use beagle_trace::{DEFAULT_PAD, Input, Source, SourceKind};

use crate::arguments::InvocationOptions;
use crate::failure::Failure;
use template::Part;

pub use rules::{Rule, Rules};

/// How the program is run.
#[derive(Debug)]
pub struct Invocation {
    /// Inputs to start from, the simplest first; at least one.
    pub seeds: Vec<Input>,
    /// What each of them is called.
    pub names: Vec<String>,
    /// How many of them, the first ones, the user has named. The others are findings of an earlier
    /// comparison and guesses.
    pub own: usize,
    /// How many are findings of an earlier comparison.
    pub findings: usize,
    /// Files that the user gave and no word names, as the program knows them.
    pub files: Vec<Vec<u8>>,
    /// What all inputs have to keep to.
    pub rules: Rules,
    /// The directory whose content is put where the program runs.
    pub fixture: Option<PathBuf>,
    /// Whether nothing was said about the input, so that the seeds are only guesses.
    pub auto: bool,
    /// Whether a directory of seeds was given.
    pub seeded: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Invocation {
    /// What the command line says, or where it says nothing, `beagle.toml`. Paths on the command
    /// line start from `here`. `name` is what the program is told to be called. What an earlier
    /// comparison of the same program left in `out` is a beginning, too.
    pub fn new(
        options: &InvocationOptions,
        config: &Config,
        here: &Path,
        name: &[u8],
        out: Option<&Path>,
    ) -> Result<Self, Failure> {
        let request = Request::new(options, config, here)?;
        let fixture = request.fixture.map(directory).transpose()?;
        let words = request.words.unwrap_or_default();
        let mut seeds = match &request.seeds {
            Some(dir) => seeds::read(dir)?,
            None => seeds::Seeds::default(),
        };
        let mut found = match out {
            Some(out) => seeds::findings(out),
            None => seeds::Seeds::default(),
        };
        found.whole.retain(|(_, input)| whole::is_of(input, name));
        let auto = words.is_empty()
            && request.stdin.is_none()
            && request.seeds.is_none()
            && request.files.is_empty();
        let mut shape = Shape {
            all: request.all,
            seed_name: format!("{}{}", seeds::FILE, seeds.ending),
            ..Shape::default()
        };
        shape.argument(&words)?;
        let mut files = Vec::new();
        for file in &request.files {
            files.push(shape.file(file.text.as_bytes(), file)?);
        }
        shape.environment(&request.env)?;
        let only_whole = words.is_empty()
            && request.stdin.is_none()
            && request.files.is_empty()
            && seeds.contents.is_empty()
            && !seeds.whole.is_empty();
        let mut inputs = match auto {
            true => {
                let made_up = seeds::made_up(name).into_iter();
                let made_up = made_up.map(|input| shape.with_environment(input));
                made_up.map(|input| (String::new(), input)).collect()
            }
            false if only_whole => Vec::new(),
            false => shape.inputs(name, request.stdin, seeds.contents),
        };
        for (_, input) in &inputs {
            input.encode().map_err(|error| {
                Failure::usage(error.to_string(), "take smaller files and shorter words")
            })?;
        }
        let rules = Rules {
            // Words that are given are all that there are.
            arguments: (!words.is_empty() && !request.all).then_some(words.len() as u32 + 1),
            sources: shape.rules.clone(),
        };
        let mut notes = std::mem::take(&mut seeds.notes);
        notes.append(&mut found.notes);
        let fitting = whole::Fitting {
            name,
            words: (!words.is_empty()).then_some(&shape.arguments[..]),
            variables: &shape.variables,
            rules: &rules,
        };
        let (mut given, omitted) = fitting.all(seeds.whole);
        if omitted > 0 {
            notes.push(format!("{omitted} seeds do not fit the words after `--`"));
        }
        inputs.append(&mut given);
        let own = match auto {
            true => 0,
            false => inputs.len(),
        };
        let (mut findings, _) = fitting.all(found.whole);
        let count = findings.len();
        inputs.append(&mut findings);
        // What tests do not try is what they miss.
        if only_whole {
            let guesses = seeds::made_up(name).into_iter();
            let guesses = guesses.map(|input| shape.with_environment(input));
            inputs.extend(guesses.map(|input| (String::new(), input)));
        }
        if inputs.is_empty() {
            return Err(Failure::usage(
                "none of the seeds fits the words after `--`",
                "leave the words out: then every word of a recorded input varies",
            ));
        }
        let (names, seeds) = inputs.into_iter().unzip();
        Ok(Self {
            seeds,
            names,
            own,
            findings: count,
            files,
            rules,
            fixture,
            auto,
            seeded: request.seeds.is_some(),
            notes,
        })
    }
}

/// A word and the directory from which paths in it start.
struct Word {
    text: OsString,
    base: PathBuf,
}

/// What is asked for, wherever it was written.
struct Request {
    words: Option<Vec<Word>>,
    all: bool,
    stdin: Option<Vec<u8>>,
    seeds: Option<PathBuf>,
    /// Files that may vary, besides those that words name.
    files: Vec<Word>,
    env: Vec<Word>,
    fixture: Option<PathBuf>,
}

impl Request {
    fn new(options: &InvocationOptions, config: &Config, here: &Path) -> Result<Self, Failure> {
        let home = &config.home;
        let path = |given: &Option<PathBuf>, kept: &Option<PathBuf>| {
            let given = given.as_ref().map(|path| here.join(path));
            given.or_else(|| kept.as_ref().map(|path| home.join(path)))
        };
        let word = |text: OsString, base: &Path| Word {
            text,
            base: base.to_owned(),
        };
        let words = match (&options.words[..], &config.args) {
            ([], None) => None,
            ([], Some(kept)) => Some(kept.iter().map(|text| word(text.into(), home)).collect()),
            (given, _) => Some(given.iter().map(|text| word(text.clone(), here)).collect()),
        };
        let env = match &options.env[..] {
            [] => {
                let kept = config.env.iter();
                let kept = kept.map(|(name, value)| format!("{name}={value}"));
                kept.map(|text| word(text.into(), home)).collect()
            }
            given => given.iter().map(|text| word(text.clone(), here)).collect(),
        };
        let files = match &options.file[..] {
            [] => (&config.files, home.as_path()),
            given => (&given.to_vec(), here),
        };
        let (paths, base) = files;
        let files = paths.iter().map(|path| word(path.into(), base)).collect();
        let stdin = match (&options.stdin, &options.stdin_text) {
            (Some(path), _) => Some(content(&here.join(path))?),
            (_, Some(text)) => Some(text.as_bytes().to_vec()),
            (None, None) => match (&config.stdin, &config.stdin_text) {
                (Some(_), Some(_)) => {
                    let cause = "beagle.toml: stdin and stdin_text are both given";
                    return Err(Failure::usage(cause, "keep one of them"));
                }
                (Some(path), None) => Some(content(&home.join(path))?),
                (None, text) => text.as_ref().map(|text| text.clone().into_bytes()),
            },
        };
        Ok(Self {
            words,
            all: options.all_args || config.all_args,
            stdin,
            seeds: path(&options.seeds, &config.seeds),
            files,
            env,
            fixture: path(&options.fixture, &config.fixture),
        })
    }
}

/// The shape that all inputs of an invocation have.
#[derive(Default)]
struct Shape {
    /// Whether every word may vary.
    all: bool,
    /// Arguments without the name of the program, and environment variables.
    arguments: Vec<Source>,
    variables: Vec<Source>,
    /// Files that may vary, by the name that the program knows, with where they come from.
    files: BTreeMap<Vec<u8>, (PathBuf, Vec<u8>)>,
    /// Whether a word names the file of a seed, and how that is called.
    wants_seed: bool,
    seed_name: String,
    rules: Vec<Rule>,
}

impl Shape {
    fn argument(&mut self, words: &[Word]) -> Result<(), Failure> {
        for (index, word) in words.iter().enumerate() {
            let parts = template::parse(word.text.as_bytes(), "word")?;
            let key = SourceKey::Argument(index as u32 + 1);
            let all = self.all;
            let source = self.source(key, parts, word, all)?;
            self.arguments.push(source);
        }
        Ok(())
    }

    fn environment(&mut self, variables: &[Word]) -> Result<(), Failure> {
        for word in variables {
            let text = word.text.as_bytes();
            let Some(equals) = text.iter().position(|&byte| byte == b'=') else {
                let cause = format!("--env {}: a variable has a value", word.text.display());
                return Err(Failure::usage(
                    cause,
                    "write --env NAME=VALUE or NAME={VALUE}",
                ));
            };
            let name = text[..equals].to_vec();
            if name.is_empty() || name.contains(&b'{') {
                let cause = format!("--env {}: a variable has a name", word.text.display());
                return Err(Failure::usage(
                    cause,
                    "only the value may vary: NAME={VALUE}",
                ));
            }
            let parts = template::parse(&text[equals + 1..], "value")?;
            let key = SourceKey::Environment(name);
            let source = self.source(key, parts, word, false)?;
            self.variables.retain(|other| other.name != source.name);
            self.variables.push(source);
        }
        Ok(())
    }

    /// What a word with these parts is at first. What of it has to stay becomes a rule.
    fn source(
        &mut self,
        key: SourceKey,
        parts: Vec<Part>,
        word: &Word,
        all: bool,
    ) -> Result<Source, Failure> {
        let (kind, name) = match &key {
            SourceKey::Environment(name) => (SourceKind::Environment, name.clone()),
            _ => (SourceKind::Argument, Vec::new()),
        };
        let mut bytes = Vec::new();
        let mut fixed = Vec::new();
        let (mut varies, mut names_file) = (false, false);
        // What may be added at the end.
        let mut room = Some(0);
        let count = parts.len();
        for (number, part) in parts.into_iter().enumerate() {
            let text = match part {
                Part::Fixed(text) => text,
                Part::File(path) => {
                    names_file = true;
                    self.file(&path, word)?
                }
                Part::Seed => {
                    (names_file, self.wants_seed) = (true, true);
                    self.seed_name.clone().into_bytes()
                }
                Part::Varying { seed, most } => {
                    if number + 1 == count {
                        room = most.map(|most| most - seed.len() as u32);
                    } else if most.is_some() || seed.is_empty() {
                        return Err(followed(word));
                    }
                    varies = true;
                    bytes.extend(seed);
                    continue;
                }
            };
            let start = bytes.len() as u32;
            fixed.extend((start..).zip(text.iter().copied()));
            bytes.extend(text);
        }
        let length = bytes.len() as u32;
        if all && !names_file {
            if !varies {
                room = None;
            }
            (varies, fixed) = (true, Vec::new());
        }
        let most = room.map(|room| length + room);
        if varies && (!fixed.is_empty() || most.is_some()) {
            self.rules.push(Rule {
                source: key,
                fixed,
                most,
            });
        }
        let pad = if varies {
            room.unwrap_or(DEFAULT_PAD)
        } else {
            0
        };
        Ok(Source {
            kind,
            name,
            bytes,
            symbolic: varies,
            pad,
        })
    }

    /// Notes a file that may vary; the result is its name for the program. It keeps its path if
    /// that means the same in another directory.
    fn file(&mut self, path: &[u8], word: &Word) -> Result<Vec<u8>, Failure> {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        let source = word.base.join(path);
        let mut name = match (inside(path), path.file_name()) {
            (true, _) => path.as_os_str(),
            (false, Some(name)) => name,
            (false, None) => path.as_os_str(),
        }
        .as_bytes()
        .to_vec();
        // Two files that would be called the same.
        while self
            .files
            .get(&name)
            .is_some_and(|(other, _)| *other != source)
            || name == self.seed_name.as_bytes()
        {
            name.splice(0..0, *b"other-");
        }
        if !self.files.contains_key(&name) {
            let content = content(&source)?;
            self.files.insert(name.clone(), (source, content));
        }
        Ok(name)
    }

    /// The inputs: one, or one for each seed.
    fn inputs(
        &self,
        name: &[u8],
        stdin: Option<Vec<u8>>,
        contents: Vec<(String, Vec<u8>)>,
    ) -> Vec<(String, Input)> {
        const GIVEN: &str = "the command line";
        let mut all: Vec<(String, Vec<u8>, Vec<u8>)> = Vec::new();
        let given = stdin.is_some();
        let stdin = stdin.unwrap_or_default();
        if self.wants_seed {
            let contents = contents.into_iter();
            all.extend(contents.map(|(name, content)| (name, stdin.clone(), content)));
            if all.is_empty() {
                all.push((GIVEN.to_owned(), stdin, Vec::new()));
            }
        } else {
            if given || contents.is_empty() {
                all.push((GIVEN.to_owned(), stdin, Vec::new()));
            }
            let contents = contents.into_iter();
            all.extend(contents.map(|(name, content)| (name, content, Vec::new())));
        }
        let inputs = all.into_iter().map(|(called, stdin, content)| {
            let mut input = Input::from_args(name, [""; 0]);
            input.sources.extend(self.arguments.iter().cloned());
            input = self.with_environment(input.with_stdin(stdin));
            for (name, (_, content)) in &self.files {
                input = input.with_file(name.clone(), content.clone());
            }
            if self.wants_seed {
                input = input.with_file(self.seed_name.clone(), content);
            }
            (called, input)
        });
        inputs.collect()
    }

    fn with_environment(&self, mut input: Input) -> Input {
        input.sources.extend(self.variables.iter().cloned());
        input
    }
}

/// A part that may vary, with text behind it that would move if it grew.
fn followed(word: &Word) -> Failure {
    Failure::usage(
        format!(
            "word `{}`: a part with text behind it keeps its length",
            word.text.display()
        ),
        "write {seed} with as many bytes as it should have, or take the rest into the braces",
    )
}

/// Whether a path means the same in the directory in which the program runs.
pub fn inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

fn content(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_dir() {
        let cause = format!("{} is a directory", path.display());
        return Err(Failure::usage(
            cause,
            "--seeds takes a directory of inputs, --fixture one of files",
        ));
    }
    fs_err::read(path).map_err(|error| Failure::usage(error.to_string(), "is the path right?"))
}

fn directory(path: PathBuf) -> Result<PathBuf, Failure> {
    match path.is_dir() {
        true => Ok(path),
        false => Err(Failure::usage(
            format!("--fixture {}: there is no such directory", path.display()),
            "its content is put where the program runs",
        )),
    }
}

#[cfg(test)]
mod tests;
