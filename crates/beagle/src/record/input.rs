//! From a run of the program in a test-suite to an input that can be given to it anywhere.
//!
//! The program will run in a directory of its own. Files are put there under the path by which the
//! program knew them if that leads nowhere else; for others the words that name them are changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use beagle_build::{Invocation, Opened, Stdin, Suite};
use beagle_trace::{DEFAULT_PAD, Input, Source, SourceKind};

use crate::invocation::inside;

/// Contents beyond this are kept as they are: too many bytes that vary only cost time.
const MOST_VARYING: usize = 64 << 10;

/// Variables that the C library looks at by itself.
const KNOWN_TO_LIBC: [&str; 3] = ["LANG", "POSIXLY_CORRECT", "TZ"];

/// Where the suite ran.
pub struct Setting {
    tree: PathBuf,
    program: PathBuf,
    environment: BTreeMap<OsString, OsString>,
}

/// An input.
pub struct Made {
    /// The input.
    pub input: Input,
    /// Whether the program read a file that could not be put where it looks for it.
    pub lacks_file: bool,
}

impl Setting {
    /// That of a suite.
    pub fn of(suite: &Suite) -> Self {
        Self {
            tree: suite.tree.clone(),
            program: suite.program.clone(),
            environment: suite.environment.clone(),
        }
    }

    /// What the program is called.
    pub fn name(&self) -> &OsStr {
        self.program.file_name().unwrap_or("program".as_ref())
    }

    /// The input of a run, or why there is none.
    pub fn input(&self, run: &Invocation) -> Result<Made, &'static str> {
        let arguments = run.arguments.get(1..).unwrap_or_default();
        let mut words: Vec<Word> = arguments.iter().map(|word| self.word(word, run)).collect();
        let mut files: BTreeMap<Vec<u8>, &[u8]> = BTreeMap::new();
        let mut lacks_file = false;
        for file in &run.files {
            if !self.belongs(file, run, &words) {
                continue;
            }
            let Some(content) = &file.content else {
                return Err("a file is larger than 1 MiB, or there are more than 64");
            };
            match place(file, &mut words, &files) {
                Some(name) => {
                    files.insert(name, content);
                }
                None => lacks_file = true,
            }
        }
        let stdin = match &run.stdin {
            Stdin::Content(content) => &content[..],
            Stdin::Unread | Stdin::Device => &[],
            Stdin::TooLarge => return Err("standard input is larger than 1 MiB"),
        };
        let mut sources = vec![source(SourceKind::Argument, b"", self.name().as_bytes())];
        sources[0].symbolic = false;
        sources.extend(words.iter().map(Word::source));
        let variables = self.variables(run).into_iter();
        sources.extend(variables.map(|(name, value)| {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            source(SourceKind::Environment, name, value)
        }));
        sources.push(source(SourceKind::Stdin, b"", stdin));
        let files = files.into_iter();
        sources.extend(files.map(|(name, content)| source(SourceKind::File, &name, content)));
        let input = Input { sources };
        input.encode().map_err(|_| "it is too large")?;
        Ok(Made { input, lacks_file })
    }

    /// A word of the command line. Names of files in the tree, which is not there later, lead to
    /// the same place from the directory in which the program runs.
    fn word(&self, word: &OsStr, run: &Invocation) -> Word {
        let mut word = Word {
            text: word.as_bytes().to_vec(),
            names_file: false,
        };
        for root in [&run.directory, &self.tree] {
            let mut root = root.as_os_str().as_bytes().to_vec();
            root.push(b'/');
            if root.len() > 1
                && let Some(at) = find(&word.text, &root)
            {
                word.text.drain(at..at + root.len());
                word.names_file = true;
            }
        }
        word
    }

    /// Whether a file is part of the input: it lies where the suite works, or was named.
    fn belongs(&self, file: &Opened, run: &Invocation, words: &[Word]) -> bool {
        let given = file.given.as_os_str().as_bytes();
        let is_inside = |root: &Path| root.parent().is_some() && file.real.starts_with(root);
        let named = || words.iter().any(|word| word.text.ends_with(given));
        file.real != self.program && (is_inside(&self.tree) || is_inside(&run.directory) || named())
    }

    /// The variables that the suite set and the program or its C library looks at.
    fn variables(&self, run: &Invocation) -> BTreeMap<OsString, OsString> {
        let matters = |name: &OsString| {
            let text = name.to_string_lossy();
            let known = KNOWN_TO_LIBC.contains(&&*text) || text.starts_with("LC_");
            known || run.asked.contains(name)
        };
        let is_set = |(name, value): &&(OsString, OsString)| {
            self.environment.get(name) != Some(value) && matters(name)
        };
        run.environment.iter().filter(is_set).cloned().collect()
    }
}

/// A word of the command line.
struct Word {
    text: Vec<u8>,
    /// Whether it has to stay as it is.
    names_file: bool,
}

impl Word {
    fn source(&self) -> Source {
        Source {
            symbolic: !self.names_file,
            pad: if self.names_file { 0 } else { DEFAULT_PAD },
            ..source(SourceKind::Argument, b"", &self.text)
        }
    }
}

/// Finds a name for a file, and changes the words that name it if they have to.
fn place(file: &Opened, words: &mut [Word], others: &BTreeMap<Vec<u8>, &[u8]>) -> Option<Vec<u8>> {
    let given = file.given.as_os_str().as_bytes();
    let mut naming: BTreeSet<usize> = BTreeSet::new();
    for (at, word) in words.iter().enumerate() {
        // A text that is the end of another by chance, such as `a` of `data`, is no name.
        let before = word.text.strip_suffix(given);
        if before.is_some_and(|before| before.is_empty() || is_option(before)) {
            naming.insert(at);
        }
    }
    let name = if inside(&file.given) {
        plain(&file.given)
    } else {
        // The words may have been changed already: then they lead to a place of the same name.
        let known = words
            .iter()
            .find(|word| word.names_file && file.real.as_os_str().as_bytes().ends_with(&word.text));
        let known = known.map(|word| plain(Path::new(OsStr::from_bytes(&word.text))));
        if known.is_none() && naming.is_empty() {
            return None;
        }
        let last = file.given.file_name()?.as_bytes().to_vec();
        let mut name = known.unwrap_or(last);
        while others.contains_key(&name) {
            name.splice(0..0, *b"other-");
        }
        name
    };
    for at in naming {
        let word = &mut words[at];
        word.names_file = true;
        if !inside(&file.given) {
            word.text.truncate(word.text.len() - given.len());
            word.text.extend(&name);
        }
    }
    Some(name)
}

/// Whether a text in front of a path is an option: `-f`, `--file=`.
fn is_option(text: &[u8]) -> bool {
    text.ends_with(b"=") || (text.len() == 2 && text[0] == b'-')
}

/// A path without parts that mean nothing.
fn plain(path: &Path) -> Vec<u8> {
    let parts = path.components();
    let parts = parts.filter(|part| !matches!(part, Component::CurDir));
    let path: PathBuf = parts.collect();
    path.as_os_str().as_bytes().to_vec()
}

fn source(kind: SourceKind, name: &[u8], bytes: &[u8]) -> Source {
    Source {
        kind,
        name: name.to_vec(),
        bytes: bytes.to_vec(),
        symbolic: kind != SourceKind::Environment && bytes.len() <= MOST_VARYING,
        pad: 0,
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting {
            tree: "/c/tree".into(),
            program: "/c/tree/src/tool".into(),
            environment: BTreeMap::from([("SAME".into(), "1".into())]),
        }
    }

    fn run(words: &[&str]) -> Invocation {
        let arguments = ["tool"].iter().chain(words).map(OsString::from);
        Invocation {
            arguments: arguments.collect(),
            directory: "/c/tree/tests".into(),
            ..Invocation::default()
        }
    }

    fn opened(given: &str, real: &str) -> Opened {
        Opened {
            given: given.into(),
            real: real.into(),
            content: Some(b"text".to_vec()),
        }
    }

    /// Words, those that stay in brackets, and names of files.
    fn shown(run: &Invocation) -> (Vec<String>, Vec<String>) {
        let made = setting().input(run).unwrap();
        let of = |kind| {
            let sources = made.input.sources.iter().skip(1);
            sources.filter(move |source: &&Source| source.kind == kind)
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let words = of(SourceKind::Argument).map(|source| match source.symbolic {
            true => text(&source.bytes),
            false => format!("[{}]", text(&source.bytes)),
        });
        let words = words.collect();
        let files = of(SourceKind::File).map(|source| text(&source.name));
        (words, files.collect())
    }

    #[test]
    fn files_keep_their_paths_if_these_lead_nowhere_else() {
        let mut case = run(&["-v", "./data/a.txt", "-fb"]);
        case.files = vec![
            opened("./data/a.txt", "/c/tree/tests/data/a.txt"),
            opened("b", "/c/tree/tests/b"),
            opened("/etc/localtime", "/etc/localtime"),
        ];
        let (words, files) = shown(&case);
        assert_eq!(words, ["-v", "[./data/a.txt]", "[-fb]"]);
        assert_eq!(files, ["b", "data/a.txt"]);
    }

    #[test]
    fn words_follow_files_that_lie_elsewhere() {
        let mut case = run(&[
            "--in=../x/a.gz",
            "../y/a.gz",
            "/tmp/t1/in",
            "/c/tree/tests/out",
        ]);
        case.files = vec![
            opened("../x/a.gz", "/c/tree/x/a.gz"),
            opened("../y/a.gz", "/c/tree/y/a.gz"),
            opened("/tmp/t1/in", "/tmp/t1/in"),
        ];
        let (words, files) = shown(&case);
        assert_eq!(words, ["[--in=a.gz]", "[other-a.gz]", "[in]", "[out]"]);
        assert_eq!(files, ["a.gz", "in", "other-a.gz"]);
    }

    #[test]
    fn a_file_by_its_full_path_in_the_tree_is_found_again() {
        let mut case = run(&["/c/tree/data/a"]);
        case.files = vec![opened("/c/tree/data/a", "/c/tree/data/a")];
        let (words, files) = shown(&case);
        assert_eq!(words, ["[data/a]"]);
        assert_eq!(files, ["data/a"]);
    }

    #[test]
    fn a_file_that_no_word_names_is_missed() {
        let mut case = run(&["x"]);
        case.files = vec![opened("/c/tree/etc/conf", "/c/tree/etc/conf")];
        let made = setting().input(&case).unwrap();
        assert!(made.lacks_file);
        assert_eq!(made.input.sources.len(), 3);
    }

    #[test]
    fn only_variables_that_the_suite_set_and_the_program_wants_matter() {
        let mut case = run(&[]);
        let pairs = [("SAME", "1"), ("MODE", "x"), ("LC_TIME", "C"), ("PWD", "/")];
        case.environment = pairs
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        case.asked = ["SAME".into(), "MODE".into(), "OTHER".into()].into();
        let found = setting().variables(&case);
        let names: Vec<_> = found.keys().map(|name| name.to_string_lossy()).collect();
        assert_eq!(names, ["LC_TIME", "MODE"]);
    }

    #[test]
    fn what_is_too_large_is_no_input() {
        let mut case = run(&[]);
        case.stdin = Stdin::TooLarge;
        assert!(setting().input(&case).is_err());
        case.stdin = Stdin::Content(vec![b'x'; MOST_VARYING + 1]);
        let made = setting().input(&case).unwrap();
        assert!(!made.input.sources[1].symbolic);
    }
}
