//! What does not count as a difference: paths of the executables, addresses, process numbers, the
//! current time, and what the user says.
//!
//! Only what is known to vary is replaced. A number that merely differs stays a difference; what varies
//! in other ways is found by repeating the run.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use crate::error::Error;
use crate::observation::Circumstances;
use crate::room::PREFIX;

/// The smallest process number that is taken for one; smaller ones are more likely to be something else.
const SMALLEST_PID: u32 = 1000;

/// What the user does not want to see as a difference.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    patterns: Vec<(Regex, Vec<u8>)>,
    paths: Vec<Vec<u8>>,
}

impl Rules {
    /// Replaces what the regular expression matches; `$1` in the replacement is its first group.
    pub fn replace(&mut self, pattern: &str, replacement: &str) -> Result<(), Error> {
        let regex = Regex::new(pattern).map_err(|source| Error::Pattern {
            pattern: pattern.to_owned(),
            source: Box::new(source),
        })?;
        self.patterns.push((regex, replacement.into()));
        Ok(())
    }

    /// Hides a path, such as the directory in which one of the versions was built.
    pub fn hide_path(&mut self, path: impl Into<Vec<u8>>) {
        let path = path.into();
        if !path.is_empty() && !self.paths.contains(&path) {
            self.paths.push(path);
            // The longest first: one may be part of another.
            self.paths.sort_by_key(|path| std::cmp::Reverse(path.len()));
        }
    }

    /// What a run wrote, without what varies.
    pub(crate) fn apply<'a>(&self, bytes: &'a [u8], run: &Circumstances) -> Cow<'a, [u8]> {
        let mut text = Cow::Borrowed(bytes);
        for (regex, replacement) in &self.patterns {
            replace(&mut text, regex, |found, out| {
                found.expand(replacement, out);
            });
        }
        for path in &self.paths {
            if let Cow::Owned(replaced) = without(&text, path) {
                text = Cow::Owned(replaced);
            }
        }
        if let Some(room) = ROOM.as_ref() {
            replace(&mut text, room, |_, out| out.extend(b"<directory>"));
        }
        if let Some(varying) = VARYING.as_ref() {
            replace(&mut text, varying, |found, out| vary(found, run, out));
        }
        text
    }
}

/// The private directory, of this session or of the one in which a test was saved.
static ROOM: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r#"(?-u)(?:/[^\s/:'"]+)*/{PREFIX}\w+"#)).ok());

/// Addresses as Linux gives them to programs, times of the day, numbers.
static VARYING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)\b(?:(0x[5-7][0-9a-f]{11})|([0-9]{2}:[0-9]{2}:[0-9]{2})|([0-9]{4,19}))\b")
        .ok()
});

fn vary(found: &Captures<'_>, run: &Circumstances, out: &mut Vec<u8>) {
    let (start, end) = run.clock;
    // A coarse clock may still show the second before.
    let mut now = start.saturating_sub(1)..=end;
    let word: &[u8] = if found.get(1).is_some() {
        b"<address>"
    } else if let Some(time) = found.get(2) {
        if now.any(|second| clock(second).as_bytes() == time.as_bytes()) {
            b"<time>"
        } else {
            time.as_bytes()
        }
    } else {
        let digits = &found[0];
        if run.pid >= SMALLEST_PID && digits == run.pid.to_string().as_bytes() {
            b"<pid>"
        } else if is_second(digits, &now) {
            b"<time>"
        } else {
            digits
        }
    };
    out.extend_from_slice(word);
}

/// The time of the day, in UTC as the programs see it.
fn clock(second: u64) -> String {
    let (hour, minute) = (second / 3600 % 24, second / 60 % 60);
    format!("{hour:02}:{minute:02}:{:02}", second % 60)
}

/// Whether it is one of these seconds since 1970, or a time in it as milli-, micro- or nanoseconds.
fn is_second(digits: &[u8], now: &std::ops::RangeInclusive<u64>) -> bool {
    if !matches!(digits.len(), 10 | 13 | 16 | 19) {
        return false;
    }
    let second = std::str::from_utf8(&digits[..10]).map(str::parse);
    matches!(second, Ok(Ok(second)) if now.contains(&second))
}

fn replace(text: &mut Cow<'_, [u8]>, regex: &Regex, with: impl Fn(&Captures<'_>, &mut Vec<u8>)) {
    let replaced = regex.replace_all(text, |found: &Captures<'_>| {
        let mut out = Vec::new();
        with(found, &mut out);
        out
    });
    if let Cow::Owned(replaced) = replaced {
        *text = Cow::Owned(replaced);
    }
}

/// The text with `<program>` instead of the path.
fn without<'a>(text: &'a [u8], path: &[u8]) -> Cow<'a, [u8]> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = find(rest, path) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"<program>");
        rest = &rest[at + path.len()..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(rules: &Rules, text: &str) -> String {
        let run = Circumstances {
            pid: 20_000,
            clock: (1_800_000_000, 1_800_000_001),
        };
        String::from_utf8(rules.apply(text.as_bytes(), &run).into_owned()).expect("text")
    }

    #[test]
    fn what_varies_is_replaced() {
        let rules = Rules::default();
        assert_eq!(applied(&rules, "p=0x7ffd12345678."), "p=<address>.");
        assert_eq!(applied(&rules, "pid 20000!"), "pid <pid>!");
        assert_eq!(applied(&rules, "at 1800000000"), "at <time>");
        assert_eq!(applied(&rules, "at 1800000001123"), "at <time>");
        assert_eq!(
            applied(&rules, "Fri Jan 15 08:00:01 2027"),
            "Fri Jan 15 <time> 2027"
        );
        let text = "cannot open '/some/where/beagle-native-a1B2c3/work/file'";
        assert_eq!(applied(&rules, text), "cannot open '<directory>/work/file'");
    }

    #[test]
    fn numbers_that_merely_look_alike_stay() {
        let rules = Rules::default();
        for text in [
            "0x1234",
            "0x7fffffffffffffff",
            "200001",
            "20001",
            "1800000005",
            "11:22:33",
            "a20000b",
            "18000000001",
        ] {
            assert_eq!(applied(&rules, text), text);
        }
    }

    #[test]
    fn users_patterns_and_paths_are_replaced() {
        let mut rules = Rules::default();
        rules
            .replace(r"version (\d)\.\d+", "version $1")
            .expect("a pattern");
        rules.hide_path("/a/prog");
        rules.hide_path("/a/prog.san");
        let text = "/a/prog: version 1.23, /a/prog.san";
        assert_eq!(applied(&rules, text), "<program>: version 1, <program>");
        let error = rules.replace("(", "").expect_err("no pattern");
        assert_eq!(
            error.to_string(),
            "the pattern `(` is not a regular expression"
        );
    }
}
