//! Response files: `@file` on a command line stands for the words in that file.
//!
//! The words are split as LLVM's drivers split them on Unix, which differs from a shell: a
//! backslash escapes inside single quotes too. A file that cannot be read stays as it is, so
//! that the compiler itself reports it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Deep enough for any real use; a file that names itself must end somewhere.
const DEPTH: usize = 16;

/// Replaces every `@file` by its words, recursively.
pub(crate) fn expand(args: &[OsString]) -> Vec<OsString> {
    let mut words = Vec::with_capacity(args.len());
    expand_into(args, DEPTH, &mut words);
    words
}

fn expand_into(args: &[OsString], depth: usize, words: &mut Vec<OsString>) {
    for arg in args {
        let file = arg.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        let text = file.and_then(|file| std::fs::read(Path::new(OsStr::from_bytes(file))).ok());
        match text {
            Some(text) => expand_into(&split(&text), depth - 1, words),
            None => words.push(arg.clone()),
        }
    }
}

/// Splits the text of a response file into words.
fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => match bytes.next() {
                // A line may be continued.
                Some(b'\n') if quote.is_none() => {}
                Some(next) => word.get_or_insert_default().push(next),
                None => word.get_or_insert_default().push(b'\\'),
            },
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b' ' | b'\t' | b'\n' | b'\r', None) => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// A word as a line of a response file.
pub(crate) fn quote(word: &OsStr) -> Vec<u8> {
    let mut line = vec![b'"'];
    for &byte in word.as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            line.push(b'\\');
        }
        line.push(byte);
    }
    line.extend(b"\"\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let words = split(text.as_bytes());
        words
            .into_iter()
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    #[test]
    fn words_are_split_as_the_driver_splits_them() {
        assert_eq!(words("a  b\n\tc"), ["a", "b", "c"]);
        assert_eq!(words(r#"-DX="a b" 'c d'"#), ["-DX=a b", "c d"]);
        assert_eq!(words(r"a\ b \\ c\"), ["a b", r"\", r"c\"]);
        assert_eq!(words("'' x"), ["", "x"]);
        assert_eq!(words("a\\\nb"), ["ab"]);
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        for word in ["", "a b", r#"q"u\o'te"#, "new\nline"] {
            assert_eq!(split(&quote(OsStr::new(word))), [OsString::from(word)]);
        }
    }

    #[test]
    fn files_nest_and_missing_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (outer, inner) = (dir.path().join("outer"), dir.path().join("inner"));
        std::fs::write(&outer, format!("-c @{} z.c", inner.display())).unwrap();
        std::fs::write(&inner, "x.c y.c").unwrap();
        let reference = OsString::from(format!("@{}", outer.display()));
        let args = [OsString::from("-O2"), reference, OsString::from("@nowhere")];
        assert_eq!(
            expand(&args),
            ["-O2", "-c", "x.c", "y.c", "z.c", "@nowhere"]
        );
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("loop");
        std::fs::write(&file, format!("a @{}", file.display())).unwrap();
        let args = [OsString::from(format!("@{}", file.display()))];
        assert_eq!(expand(&args).len(), DEPTH + 1);
    }
}
