//! One word of a command line, as the user writes it: text that stays, and `{…}` that may vary.
//!
//! ```text
//! text       stays as it is
//! {seed}     may vary, starting from this text
//! {seed:16}  likewise, at most 16 bytes
//! @{path}    the name of a file with the content of that one, which may vary
//! @@         the name of a file with the content of each seed
//! ```
//!
//! A backslash before `{`, `}`, `@{` or `@@` makes them text. Anywhere else it is a backslash, so
//! that words without braces never need a second look.

use std::ops::Range;

use crate::failure::Failure;

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that stays.
    Fixed(Vec<u8>),
    /// What may vary.
    Varying {
        /// What it is at first.
        seed: Vec<u8>,
        /// How many bytes it may have.
        most: Option<u32>,
    },
    /// The name of a file whose content may vary; its content is at first that of this path.
    File(Vec<u8>),
    /// The name of a file with the content of a seed.
    Seed,
}

/// The parts of a word. `what` says in messages where the word stands.
pub fn parse(word: &[u8], what: &str) -> Result<Vec<Part>, Failure> {
    let mut reader = Reader {
        word,
        at: 0,
        what,
        parts: Vec::new(),
        text: Vec::new(),
    };
    if word.contains(&0) {
        return Err(reader.wrong("a word cannot hold a NUL byte", "leave it out"));
    }
    reader.read()?;
    Ok(reader.parts)
}

struct Reader<'a> {
    word: &'a [u8],
    at: usize,
    what: &'a str,
    parts: Vec<Part>,
    /// Fixed text that is not yet among the parts.
    text: Vec<u8>,
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), Failure> {
        while self.at < self.word.len() {
            if self.escaped() {
                continue;
            }
            let rest = &self.word[self.at..];
            if rest.starts_with(b"@@") {
                self.at += 2;
                self.push(Part::Seed);
            } else if rest.starts_with(b"@{") {
                self.at += 2;
                let path = self.braced()?;
                if path.is_empty() {
                    let hint = "name the file to start from, such as @{data.txt}";
                    return Err(self.wrong("`@{}` names no file", hint));
                }
                self.push(Part::File(path));
            } else if rest[0] == b'{' {
                self.at += 1;
                let content = self.braced()?;
                let part = self.varying(content)?;
                self.push(part);
            } else if rest[0] == b'}' {
                return Err(self.unbalanced("`}` without `{`"));
            } else {
                self.text.push(rest[0]);
                self.at += 1;
            }
        }
        self.flush();
        Ok(())
    }

    /// Takes backslashes in front of something special, and that if they make it text.
    fn escaped(&mut self) -> bool {
        let Some((run, special)) = backslashes(self.word, self.at) else {
            return false;
        };
        self.text.extend(std::iter::repeat_n(b'\\', run.len() / 2));
        self.at = run.end;
        if run.len() % 2 == 1 {
            self.text.push(special);
            self.at += 1;
        }
        true
    }

    /// What stands before the closing brace.
    fn braced(&mut self) -> Result<Vec<u8>, Failure> {
        let mut content = Vec::new();
        loop {
            if let Some((run, special)) = backslashes(self.word, self.at) {
                content.extend(std::iter::repeat_n(b'\\', run.len() / 2));
                self.at = run.end;
                if run.len() % 2 == 1 {
                    content.push(special);
                    self.at += 1;
                }
                continue;
            }
            let Some(&byte) = self.word.get(self.at) else {
                return Err(self.unbalanced("`{` without `}`"));
            };
            self.at += 1;
            match byte {
                b'}' => return Ok(content),
                b'{' => return Err(self.unbalanced("`{` inside of `{…}`")),
                byte => content.push(byte),
            }
        }
    }

    /// `seed` or `seed:most`. A colon that is followed by anything but a number belongs to the seed.
    fn varying(&self, content: Vec<u8>) -> Result<Part, Failure> {
        let colon = content.iter().rposition(|&byte| byte == b':');
        let number = colon.map(|colon| &content[colon + 1..]);
        let number = number.filter(|digits| {
            !digits.is_empty() && digits.iter().all(|digit| digit.is_ascii_digit())
        });
        let (Some(colon), Some(number)) = (colon, number) else {
            return Ok(Part::Varying {
                seed: content,
                most: None,
            });
        };
        let seed = content[..colon].to_vec();
        let number = String::from_utf8_lossy(number);
        let most = number.parse().ok().filter(|most| *most <= MOST);
        let Some(most) = most else {
            let cause = format!("a part of a word has at most {MOST} bytes");
            return Err(self.wrong(&cause, "large inputs go to --stdin or a file, @{path}"));
        };
        if most == 0 {
            let hint = "leave the part out, or give it room, such as {:8}";
            return Err(self.wrong("a part of at most 0 bytes cannot vary", hint));
        }
        if seed.len() > most as usize {
            let (seed, length) = (String::from_utf8_lossy(&seed), seed.len());
            let cause = format!("`{seed}` is longer than {most} bytes");
            let hint = format!(
                "write {{{seed}:{length}}}, or {{{seed}:{most}:{}}} if the colon is part of the text",
                length + 1 + number.len()
            );
            return Err(self.wrong(&cause, &hint));
        }
        Ok(Part::Varying {
            seed,
            most: Some(most),
        })
    }

    fn push(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Part::Fixed(std::mem::take(&mut self.text)));
        }
    }

    fn unbalanced(&self, cause: &str) -> Failure {
        self.wrong(
            cause,
            "`{…}` marks what may vary; write \\{ and \\} for braces that are meant as such",
        )
    }

    fn wrong(&self, cause: &str, hint: &str) -> Failure {
        let word = String::from_utf8_lossy(self.word);
        Failure::usage(format!("{} `{word}`: {cause}", self.what), hint)
    }
}

/// Longer words are refused by the system anyway.
const MOST: u32 = 100_000;

/// Backslashes here that stand in front of something special, and the first byte of that.
fn backslashes(word: &[u8], at: usize) -> Option<(Range<usize>, u8)> {
    let count = word[at..].iter().take_while(|&&byte| byte == b'\\').count();
    let rest = &word[at + count..];
    let special = match rest {
        [byte @ (b'{' | b'}'), ..] => *byte,
        [b'@', b'@' | b'{', ..] => b'@',
        _ => return None,
    };
    (count > 0).then_some((at..at + count, special))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed(text: &str) -> Part {
        Part::Fixed(text.into())
    }

    fn varying(seed: &str, most: Option<u32>) -> Part {
        Part::Varying {
            seed: seed.into(),
            most,
        }
    }

    fn check(word: &str, parts: &[Part]) {
        assert_eq!(parse(word.as_bytes(), "word").unwrap(), parts, "{word}");
    }

    fn refused(word: &str) -> String {
        let failure = parse(word.as_bytes(), "word").unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        format!("{failure}; {}", failure.hint())
    }

    #[test]
    fn words_have_parts_that_stay_and_parts_that_vary() {
        check("plain", &[fixed("plain")]);
        check("", &[]);
        check("{}", &[varying("", None)]);
        check("{:4}", &[varying("", Some(4))]);
        check("{word}", &[varying("word", None)]);
        check("{word:16}", &[varying("word", Some(16))]);
        check("--name={x:8}", &[fixed("--name="), varying("x", Some(8))]);
        check(
            "{a}-{b}",
            &[varying("a", None), fixed("-"), varying("b", None)],
        );
        check("@{a/b.txt}", &[Part::File(b"a/b.txt".to_vec())]);
        check("-f@{x}", &[fixed("-f"), Part::File(b"x".to_vec())]);
        check("--in=@@", &[fixed("--in="), Part::Seed]);
        check("me@home", &[fixed("me@home")]);
    }

    #[test]
    fn a_colon_is_text_unless_a_number_follows() {
        check("{a:b}", &[varying("a:b", None)]);
        check("{a:}", &[varying("a:", None)]);
        check("{12:30}", &[varying("12", Some(30))]);
        check("{12:30:8}", &[varying("12:30", Some(8))]);
        check("@{a:1}", &[Part::File(b"a:1".to_vec())]);
    }

    #[test]
    fn backslashes_matter_only_in_front_of_what_is_special() {
        check(r"\{print\}", &[fixed("{print}")]);
        check(r"a\nb\\c\", &[fixed(r"a\nb\\c\")]);
        check(r"\\{x}", &[fixed(r"\"), varying("x", None)]);
        check(r"{\{a\}:9}", &[varying("{a}", Some(9))]);
        check(r"{a\\}", &[varying(r"a\", None)]);
        check(r"\@@", &[fixed("@@")]);
        check(r"me\@{x}", &[fixed("me@"), varying("x", None)]);
        check(r"me\@home", &[fixed(r"me\@home")]);
    }

    #[test]
    fn words_need_not_be_text() {
        let parts = parse(b"\xff{\xfe:2}", "word").unwrap();
        let part = Part::Varying {
            seed: vec![0xfe],
            most: Some(2),
        };
        assert_eq!(parts, [Part::Fixed(vec![0xff]), part]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_way_out() {
        insta::assert_snapshot!(
            [
                "{a",
                "a}",
                "{a{b}}",
                "@{a",
                "@{}",
                "{x:0}",
                "{abc:2}",
                "{x:4294967296}",
                "a\0b"
            ]
            .map(refused)
            .join("\n")
        );
    }
}
