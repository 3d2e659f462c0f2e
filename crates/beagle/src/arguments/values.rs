//! Values of options that are more than a word or a number.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

/// A way to look for differences. The names are what `--strategy` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Strategy {
    /// Get to the changed statements
    Reach,
    /// Make the versions put different values into variables
    Infect,
    /// Carry the effect of a change on to the output
    Propagate,
    /// Make the versions take different sides of a branch
    Shadow,
    /// Go where no run has been yet, wherever that is
    Cover,
    /// Do not go where nothing can differ
    Prune,
    /// Go through the changes in all orders in which they can act, if there are several
    Sequences,
    /// Try very many inputs in the fast lane, beside all the others
    Fuzz,
    /// The same for new alone, without old; only if asked for, to compare with
    Unguided,
    /// Get to each change by itself, whatever came before; only if asked for, to compare with
    Isolation,
}

impl Strategy {
    /// Those that are used if none is asked for.
    pub const DEFAULT: [Strategy; 8] = [
        Strategy::Reach,
        Strategy::Infect,
        Strategy::Propagate,
        Strategy::Shadow,
        Strategy::Cover,
        Strategy::Prune,
        Strategy::Sequences,
        Strategy::Fuzz,
    ];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Reach => "reach",
            Strategy::Infect => "infect",
            Strategy::Propagate => "propagate",
            Strategy::Shadow => "shadow",
            Strategy::Cover => "cover",
            Strategy::Prune => "prune",
            Strategy::Sequences => "sequences",
            Strategy::Fuzz => "fuzz",
            Strategy::Unguided => "unguided",
            Strategy::Isolation => "isolation",
        }
    }
}

/// Which differences make the command fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Any
    #[default]
    Difference,
    /// Those that are regressions
    Regression,
    /// None
    Never,
}

/// A time: `30`, `30s`, `500ms`, `2m`, `1h 30m`. A plain number is seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    let Some(duration) = parsed else {
        return Err("a time is written as 30, 30s or 2m".to_owned());
    };
    if duration.is_zero() {
        return Err("nothing can be done in no time".to_owned());
    }
    Ok(duration)
}

/// A size in bytes: `512M`, `2G`, `65536`.
pub fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err("units are K, M and G".to_owned()),
    };
    let number: Option<u64> = digits.trim_end().parse().ok();
    match number.and_then(|number| number.checked_mul(1 << unit)) {
        Some(0) | None => Err("a size is written as 512M or 2G".to_owned()),
        Some(size) => Ok(size),
    }
}

/// What in outputs does not count: what matches a pattern is read as its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normalise {
    /// A regular expression.
    pub pattern: String,
    /// What stands for it; `$1` is what the first group matched.
    pub replacement: String,
}

impl FromStr for Normalise {
    type Err = String;

    /// `PATTERN=REPLACEMENT`; in the pattern `\=` stands for `=`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut escaped = false;
        let equals = text.char_indices().find_map(|(at, c)| {
            let found = c == '=' && !escaped;
            escaped = c == '\\' && !escaped;
            found.then_some(at)
        });
        match equals {
            Some(0) | None => Err("write PATTERN=REPLACEMENT".to_owned()),
            Some(at) => Ok(Self {
                pattern: text[..at].to_owned(),
                replacement: text[at + 1..].to_owned(),
            }),
        }
    }
}

impl fmt::Display for Normalise {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}={}", self.pattern, self.replacement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_of_the_engine_can_be_chosen() {
        let names =
            |all: Vec<&'static str>| all.into_iter().collect::<std::collections::BTreeSet<_>>();
        // The fast lane works beside the engine.
        let ours = Strategy::value_variants().iter();
        let ours = ours.filter(|strategy| **strategy != Strategy::Fuzz);
        let ours = names(ours.map(|strategy| strategy.name()).collect());
        assert_eq!(ours, names(beagle_engine::STRATEGIES.to_vec()));
    }

    #[test]
    fn times_have_units_or_are_seconds() {
        for (text, millis) in [
            ("30", 30_000),
            ("0.5", 500),
            ("30s", 30_000),
            ("2m", 120_000),
            ("1h 30m", 5_400_000),
            ("500ms", 500),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "-1", "soon", "2 parsecs", "1e400", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_have_units_or_are_bytes() {
        assert_eq!(size("65536"), Ok(65_536));
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("2 GiB"), Ok(2 << 30));
        assert_eq!(size("4k"), Ok(4096));
        for text in ["", "0", "M", "1T", "-1", "99999999999G", "1.5G"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_does_not_count_is_a_pattern_and_a_replacement() {
        let parse = |text: &str| {
            text.parse::<Normalise>()
                .map(|n| (n.pattern, n.replacement))
        };
        let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        assert_eq!(parse(r"took \d+ ms=TIME"), pair(r"took \d+ ms", "TIME"));
        assert_eq!(parse(r"id\=\d+=id=N"), pair(r"id\=\d+", "id=N"));
        assert_eq!(parse(r"a\\=b"), pair(r"a\\", "b"));
        assert_eq!(parse("x="), pair("x", ""));
        assert!(parse("x").is_err() && parse("=x").is_err());
    }
}
