//! `beagle.toml`: how a project is built, which program comes out and how it is run.
//!
//! The file holds defaults for the command line and nothing else; merging the two is the
//! caller's business, since only the caller knows what the user wrote.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::BuildError;
use crate::error::Doing;

/// The keys of the file, in the order in which the manual shows them.
pub(crate) const KEYS: [&str; 14] = [
    "build",
    "program",
    "cflags",
    "ldflags",
    "function",
    "args",
    "all_args",
    "stdin",
    "stdin_text",
    "seeds",
    "files",
    "env",
    "fixture",
    "normalise",
];

/// What `beagle.toml` says; everything is optional.
///
/// How the program is run has no part in how it is built, so those keys are not written out again:
/// what is written is the key of a build in the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The shell command that builds the program, run in the version's tree.
    /// Default: guessed from the build system that is there.
    pub build: Option<String>,
    /// The program, relative to the tree. Default: the only program that the build makes.
    pub program: Option<PathBuf>,
    /// Flags for the compiler: given to it for single files, exported as `CFLAGS` for builds.
    /// A string of shell words or a list. Default: none.
    #[serde(deserialize_with = "words")]
    pub cflags: Vec<String>,
    /// Flags for the linker: put last for single files, exported as `LDFLAGS` for builds.
    /// A string of shell words or a list. Default: none.
    #[serde(deserialize_with = "words")]
    pub ldflags: Vec<String>,
    /// A function to call instead of `main`, with values from standard input. Only for single
    /// files. Default: none.
    pub function: Option<String>,
    /// The words of the program's command line, `{…}` where they may vary. Default: several
    /// shapes are tried.
    #[serde(skip_serializing)]
    pub args: Option<Vec<String>>,
    /// Whether all words may vary. Default: no.
    #[serde(skip_serializing)]
    pub all_args: bool,
    /// The file that standard input starts from. Default: none.
    #[serde(skip_serializing)]
    pub stdin: Option<PathBuf>,
    /// The text that standard input starts from. Default: none.
    #[serde(skip_serializing)]
    pub stdin_text: Option<String>,
    /// A directory of files to start from. Default: none.
    #[serde(skip_serializing)]
    pub seeds: Option<PathBuf>,
    /// Files that are there when the program runs, and vary. Default: those that `args` name.
    #[serde(skip_serializing)]
    pub files: Vec<PathBuf>,
    /// Environment variables, `{…}` where they may vary. Default: none.
    #[serde(skip_serializing)]
    pub env: BTreeMap<String, String>,
    /// A directory that is copied to where the program runs. Default: none.
    #[serde(skip_serializing)]
    pub fixture: Option<PathBuf>,
    /// What does not count as a difference: `PATTERN=REPLACEMENT`. Default: none.
    #[serde(skip_serializing)]
    pub normalise: Vec<String>,
    /// Where the file is; the paths above start from there.
    #[serde(skip)]
    pub home: PathBuf,
}

impl Config {
    /// The name of the file.
    pub const FILE: &str = "beagle.toml";

    /// Reads `beagle.toml` in this directory; without one, everything has its default.
    pub fn load(dir: &Path) -> Result<Self, BuildError> {
        let path = dir.join(Self::FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Self {
                home: dir.to_owned(),
                ..Self::parse(&text, &path)?
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).doing(|| format!("read {}", path.display())),
        }
    }

    /// Reads the text of a `beagle.toml`; `path` is only for messages.
    pub fn parse(text: &str, path: &Path) -> Result<Self, BuildError> {
        toml::from_str(text).map_err(|error| {
            let before = error
                .span()
                .map_or("", |span| text.get(..span.start).unwrap_or(text));
            BuildError::Config {
                path: path.to_owned(),
                line: before.matches('\n').count() + 1,
                message: error.message().replace('\n', " "),
            }
        })
    }
}

/// Accepts `"-O2 -g"` as well as `["-O2", "-g"]`.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Words;
    impl<'de> Visitor<'de> for Words {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a string of shell words or a list of strings")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
            shell_words::split(text).map_err(E::custom)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut words = Vec::new();
            while let Some(word) = seq.next_element()? {
                words.push(word);
            }
            Ok(words)
        }
    }
    deserializer
        .deserialize_any(Words)
        .map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, BuildError> {
        Config::parse(text, Path::new("beagle.toml"))
    }

    #[test]
    fn flags_may_be_words_or_a_list() {
        let config = parse("cflags = \"-O2 -DX='a b'\"\nldflags = [\"-lm\"]").unwrap();
        assert_eq!(config.cflags, ["-O2", "-DX=a b"]);
        assert_eq!(config.ldflags, ["-lm"]);
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_known_keys() {
        let error = parse("build = \"make\"\nprogam = \"x\"\n").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("beagle.toml:2: unknown field `progam`"),
            "{text}"
        );
        assert_eq!(
            error.hint().unwrap(),
            "the keys are build, program, cflags, ldflags, function, args, all_args, stdin, \
             stdin_text, seeds, files, env, fixture, normalise"
        );
        assert_eq!(error.exit_code(), 2);
        assert!(!text.contains('\n'));
    }

    #[test]
    fn unbalanced_quotes_and_wrong_types_are_errors_on_their_line() {
        assert!(
            parse("cflags = \"'\"")
                .unwrap_err()
                .to_string()
                .contains("beagle.toml:1")
        );
        assert!(
            parse("\ncflags = 3")
                .unwrap_err()
                .to_string()
                .contains("beagle.toml:2")
        );
    }

    #[test]
    fn how_it_is_run_is_no_part_of_the_key_of_a_build() {
        let run = "args = ['-f{1}', '@{data}']\nall_args = true\nstdin = 'in'\nseeds = 'corpus'\n\
            fixture = 'tree'\nfiles = ['f']\nnormalise = ['a=b']\n[env]\nHOME = '{x}'\n";
        let config = parse(run).unwrap();
        assert_eq!(config.args.as_deref().unwrap(), ["-f{1}", "@{data}"]);
        assert_eq!(config.env["HOME"], "{x}");
        let key = |config: &Config| serde_json::to_string(config).unwrap();
        assert_eq!(key(&config), key(&Config::default()));
    }

    #[test]
    fn every_key_is_listed() {
        for key in KEYS {
            let text = parse(&format!("{key} = 1.5")).unwrap_err().to_string();
            assert!(!text.contains("unknown field"), "{text}");
        }
        let listed = parse("x = 1").unwrap_err().to_string();
        assert_eq!(
            listed.matches('`').count(),
            2 * (KEYS.len() + 1),
            "{listed}"
        );
    }

    #[test]
    fn the_file_remembers_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(Config::FILE), "stdin = 'in'").unwrap();
        assert_eq!(Config::load(dir.path()).unwrap().home, dir.path());
    }

    #[test]
    fn a_directory_without_the_file_has_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Config::load(dir.path()).unwrap(), Config::default());
    }
}
