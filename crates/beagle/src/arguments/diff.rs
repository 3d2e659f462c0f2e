//! `beagle diff` and `beagle replay`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use beagle_build::Config;
use clap::Args;

use super::values::{self, FailOn, Normalise, Strategy};
use super::{BuildOptions, Format, PairOptions};
use crate::failure::Failure;

/// What follows the options of `beagle diff --help`.
pub const DIFF_AFTER_HELP: &str = "\
Examples:
  beagle diff old.c new.c                 tries arguments and standard input by itself
  beagle diff v1.2 HEAD -- -f{1}          `-f` stays, what follows it varies
  beagle diff v1.2 HEAD -- sort @{a.csv}  the content of a file varies
  beagle diff HEAD . --stdin data.json    standard input varies, starting from that
  beagle diff HEAD . --seeds corpus -- @@ each file of a directory is an input to start from
  beagle diff v1.2 . --seeds seeds        what `beagle record --out seeds -- make check` left

Words after `--` are the program's command line:
  word       stays as it is
  {word}     varies, starting from `word`; {word:16} has at most 16 bytes, {} starts empty
  --k={v:8}  varies in part
  @{path}    the name of a file with that content, which varies
  @@         the name of a file with the content of each seed
  \\{ \\}      braces that are meant as such
Quote them for your shell. args, all_args, stdin, stdin_text, seeds, files, env, fixture and
normalise can stand in beagle.toml, too.

Every difference that is shown was seen on the real programs, built with your flags and run in a
directory of their own. Ctrl-C ends the search and reports what was found so far.

Exit status:
  0    no difference found
  1    differences (--fail-on changes what counts)
  2    usage or configuration is wrong
  3    a version could not be built
  4    with --strict: changed code was not reached, or runs were not repeatable
  70   an error in Beagle itself
  130  interrupted";

/// What follows the options of `beagle replay --help`.
pub const REPLAY_AFTER_HELP: &str = "\
Examples:
  beagle diff v1.2 HEAD --out tests      saves what it finds
  beagle replay tests .                  does the working tree do what old did?
  beagle replay tests/0001-output v1.2 . do these two versions still differ?

Exit status:
  0  no difference
  1  a difference is there
  2  usage or configuration is wrong
  3  a version could not be built";

/// `beagle diff`
#[derive(Debug, Args)]
pub struct DiffOptions {
    /// The two versions, and how to build them
    #[command(flatten)]
    pub pair: PairOptions,

    /// How the program is run
    #[command(flatten)]
    pub invocation: InvocationOptions,

    /// How long and how the search goes on
    #[command(flatten)]
    pub search: SearchOptions,

    /// How the programs are run and compared
    #[command(flatten)]
    pub judging: JudgingOptions,

    /// Save every difference as a test in this directory; `beagle replay` runs them again, and the
    /// next comparison starts from them
    #[arg(long, value_name = "DIR", help_heading = "Result")]
    pub out: Option<PathBuf>,

    /// Which differences make the exit status 1
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHAT",
        help_heading = "Result"
    )]
    pub fail_on: FailOn,

    /// Do not look for the hunks that make each difference
    #[arg(long, help_heading = "Result")]
    pub no_blame: bool,

    /// Explain every difference, not only regressions
    #[arg(long, help_heading = "Result", conflicts_with = "no_explain")]
    pub explain: bool,

    /// Do not explain differences
    #[arg(long, help_heading = "Result")]
    pub no_explain: bool,

    /// Exit with status 4 if changed code was not reached or runs were not repeatable
    #[arg(long, help_heading = "Result")]
    pub strict: bool,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t, help_heading = "Result")]
    pub format: Format,

    /// Print the time and memory of each phase to standard error
    #[arg(long, help_heading = "Result")]
    pub timings: bool,
}

/// How the program is run. What is not given is looked up in `beagle.toml`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct InvocationOptions {
    /// Standard input varies, starting from the content of this file
    #[arg(long, value_name = "FILE", conflicts_with = "stdin_text")]
    pub stdin: Option<PathBuf>,

    /// Standard input varies, starting from this text
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub stdin_text: Option<String>,

    /// Every word varies, as if it stood in braces
    #[arg(long)]
    pub all_args: bool,

    /// Start from each file in this directory, as standard input, or where a word has `@@`; and
    /// from what `beagle record` and `beagle diff --out` have put there
    #[arg(long, value_name = "DIR")]
    pub seeds: Option<PathBuf>,

    /// This file is there when the program runs, and its content varies; for files that no word names
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// Set an environment variable; its value varies if in braces
    #[arg(long, value_name = "NAME={VALUE}")]
    pub env: Vec<OsString>,

    /// Standard input and files that vary have at most so many bytes
    #[arg(long, value_name = "BYTES")]
    pub max_input: Option<u32>,

    /// Put a copy of what is in this directory where the program runs
    #[arg(long, value_name = "DIR")]
    pub fixture: Option<PathBuf>,

    /// The program's command line; `{…}` varies
    #[arg(last = true, value_name = "WORDS")]
    pub words: Vec<OsString>,
}

/// How long and how the search goes on.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct SearchOptions {
    /// Stop after this time: 30, 30s, 2m
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    pub timeout: Duration,

    /// Stop at the first confirmed difference
    #[arg(long)]
    pub first: bool,

    /// Stop after so many runs
    #[arg(long, value_name = "RUNS")]
    pub max_runs: Option<u64>,

    /// Stop after so many questions to the solver
    #[arg(long, value_name = "QUERIES")]
    pub max_queries: Option<u64>,

    /// Search only in these ways, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LIST",
        default_values_t = Strategy::DEFAULT, hide_default_value = true)]
    pub strategy: Vec<Strategy>,

    /// Let chance decide otherwise in the search: the same for the same number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub chance: u64,
}

/// How the programs are run and compared.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Comparison")]
pub struct JudgingOptions {
    /// A version that is known to be right: tells regressions from improvements
    #[arg(long, value_name = "VERSION")]
    pub golden: Option<String>,

    /// Stop a run of a program after this time
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = values::duration)]
    pub run_timeout: Duration,

    /// How much memory a program may use
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = values::size)]
    pub memory: u64,

    /// Read what matches a regular expression as its replacement before outputs are compared
    #[arg(long, value_name = "PATTERN=REPLACEMENT")]
    pub normalise: Vec<Normalise>,
}

impl JudgingOptions {
    /// What does not count as a difference: what is given here, or else what `beagle.toml` says.
    pub fn normalised(&self, config: &Config) -> Result<Vec<Normalise>, Failure> {
        if !self.normalise.is_empty() {
            return Ok(self.normalise.clone());
        }
        let kept = config.normalise.iter().map(|text| {
            text.parse().map_err(|hint: String| {
                Failure::usage(format!("beagle.toml: normalise `{text}` has no `=`"), hint)
            })
        });
        kept.collect()
    }
}

/// `beagle replay`
#[derive(Debug, Args)]
pub struct ReplayOptions {
    /// A directory in which `beagle diff --out` saved tests, or a single test
    #[arg(value_name = "DIR")]
    pub tests: PathBuf,

    /// The version to compare with what was saved of old, or two versions to compare
    #[arg(value_name = "VERSION", num_args = 1..=2, required = true)]
    pub versions: Vec<String>,

    /// How to build them
    #[command(flatten)]
    pub build: BuildOptions,

    /// How the programs are run and compared
    #[command(flatten)]
    pub judging: JudgingOptions,

    /// Text for people or JSON for machines
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use clap::{Command, FromArgMatches};

    use super::*;

    fn command() -> Command {
        DiffOptions::augment_args(Command::new("diff"))
    }

    fn parse(line: &str) -> Result<DiffOptions, String> {
        let words = shell_words::split(line).unwrap();
        let matches = command().try_get_matches_from(words);
        let matches = matches.map_err(|error| error.to_string())?;
        DiffOptions::from_arg_matches(&matches).map_err(|error| error.to_string())
    }

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
        ReplayOptions::augment_args(Command::new("replay")).debug_assert();
    }

    #[test]
    fn two_versions_are_enough() {
        let options = parse("diff a b").unwrap();
        assert_eq!(options.search.timeout, Duration::from_secs(60));
        assert_eq!(options.search.strategy, Strategy::DEFAULT);
        assert_eq!(options.fail_on, FailOn::Difference);
        assert!(options.invocation.words.is_empty());
        assert_eq!(options.judging.memory, 2 << 30);
    }

    #[test]
    fn words_after_the_dashes_belong_to_the_program() {
        let options = parse("diff a b --first -- --first -- '{x}'").unwrap();
        assert!(options.search.first);
        assert_eq!(options.invocation.words, ["--first", "--", "{x}"]);
        let raw = OsString::from_vec(vec![0xff]);
        let words = ["diff", "a", "b", "--"].map(OsString::from);
        let matches = command().get_matches_from(words.into_iter().chain([raw.clone()]));
        let options = DiffOptions::from_arg_matches(&matches).unwrap();
        assert_eq!(options.invocation.words, [raw]);
    }

    #[test]
    fn options_have_values_that_are_checked() {
        let options = parse(
            "diff a b --strategy shadow,reach --timeout 2m --fail-on regression --max-runs 9 \
             --env A={b} --env C=d --run-timeout 0.5 --memory 64M --normalise 'x+=y' --golden v0",
        )
        .unwrap();
        assert_eq!(options.search.strategy, [Strategy::Shadow, Strategy::Reach]);
        assert_eq!(options.search.timeout, Duration::from_secs(120));
        assert_eq!(options.fail_on, FailOn::Regression);
        assert_eq!(options.search.max_runs, Some(9));
        assert_eq!(options.invocation.env, ["A={b}", "C=d"]);
        assert_eq!(options.judging.run_timeout, Duration::from_millis(500));
        assert_eq!(options.judging.normalise[0].replacement, "y");
        for line in [
            "diff a",
            "diff a b c",
            "diff a b --strategy guess",
            "diff a b --timeout never",
            "diff a b --stdin x --stdin-text y",
            "diff a b --memory lots",
            "diff a b --normalise x",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_does_not_count_comes_from_the_command_line_or_the_file() {
        let config = |text: &str| Config {
            normalise: vec![text.to_owned()],
            ..Config::default()
        };
        let judging = parse("diff a b").unwrap().judging;
        let kept = judging.normalised(&config("x=y")).unwrap();
        assert_eq!(kept[0].to_string(), "x=y");
        let failure = judging.normalised(&config("x")).unwrap_err();
        assert_eq!(failure.to_string(), "beagle.toml: normalise `x` has no `=`");
        let judging = parse("diff a b --normalise a=b").unwrap().judging;
        assert_eq!(judging.normalised(&config("x")).unwrap()[0].pattern, "a");
    }

    #[test]
    fn replay_takes_one_version_or_two() {
        let parse = |line: &str| {
            let command = ReplayOptions::augment_args(Command::new("replay"));
            let matches = command.try_get_matches_from(shell_words::split(line).unwrap());
            matches.map(|matches| ReplayOptions::from_arg_matches(&matches).unwrap().versions)
        };
        assert_eq!(parse("replay tests .").unwrap(), ["."]);
        assert_eq!(parse("replay tests v1 v2").unwrap(), ["v1", "v2"]);
        assert!(parse("replay tests").is_err());
        assert!(parse("replay tests a b c").is_err());
    }

    #[test]
    fn help_fits_on_a_terminal() {
        let command = command().after_help(DIFF_AFTER_HELP).max_term_width(100);
        let help = command.term_width(100).render_help().to_string();
        insta::assert_snapshot!(help);
        assert!(help.lines().all(|line| line.chars().count() <= 100));
    }
}
