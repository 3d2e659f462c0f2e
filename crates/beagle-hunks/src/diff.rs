//! The difference of two trees, and old with a part of it applied.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::lines::{lines, spans};
use crate::tree::{File, Tree, is_source};

/// Numbers of hunks, from 1.
pub type Set = BTreeSet<usize>;

/// One hunk. The ranges are of line numbers from 0; an empty one says before which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The file it is in.
    pub file: PathBuf,
    /// The lines of old that it takes away.
    pub old: Range<usize>,
    /// The lines of new that it puts there.
    pub new: Range<usize>,
    /// Whether it is all of a file: one that only one version has, or that is no text.
    pub whole: bool,
}

/// The difference of two versions.
///
/// Hunks are numbered through all files, sources before others, each in the order of their paths.
#[derive(Debug, Clone)]
pub struct Diff {
    old: Tree,
    new: Tree,
    /// The hunks in order; the first one is number 1 to everybody else.
    pub hunks: Vec<Hunk>,
}

impl Diff {
    /// The difference of two versions.
    pub fn of(old: Tree, new: Tree) -> Self {
        let files: BTreeSet<&PathBuf> = old.keys().chain(new.keys()).collect();
        let (sources, others): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| is_source(file));
        let files = sources.into_iter().chain(others);
        let hunks = files.flat_map(|file| hunks(file, old.get(file), new.get(file)));
        let hunks = hunks.collect();
        Self { old, new, hunks }
    }

    /// The files of old.
    pub fn old_files(&self) -> &Tree {
        &self.old
    }

    /// The files of new.
    pub fn new_files(&self) -> &Tree {
        &self.new
    }

    /// The numbers of all hunks.
    pub fn all(&self) -> Set {
        (1..=self.hunks.len()).collect()
    }

    /// Old with only the hunks of these numbers applied.
    pub fn apply(&self, numbers: &Set) -> Tree {
        let mut result = self.old.clone();
        let chosen = (1..).zip(&self.hunks);
        let chosen = chosen.filter(|(number, _)| numbers.contains(number));
        let chosen: Vec<&Hunk> = chosen.map(|(_, hunk)| hunk).collect();
        for hunks in chosen.chunk_by(|a, b| a.file == b.file) {
            let Some(file) = hunks.first().map(|hunk| &hunk.file) else {
                continue;
            };
            match (self.old.get(file), self.new.get(file)) {
                (Some(old), Some(new)) if !hunks.iter().any(|hunk| hunk.whole) => {
                    let bytes = patched(&old.bytes, &new.bytes, hunks);
                    result.insert(file.clone(), File { bytes, ..*old });
                }
                (_, Some(new)) => {
                    result.insert(file.clone(), new.clone());
                }
                (_, None) => {
                    result.remove(file);
                }
            }
        }
        result
    }

    /// The lines that a hunk takes away, without their ends.
    pub fn old_lines(&self, hunk: &Hunk) -> Vec<String> {
        texts(self.old.get(&hunk.file), &hunk.old)
    }

    /// The lines that a hunk puts there, without their ends.
    pub fn new_lines(&self, hunk: &Hunk) -> Vec<String> {
        texts(self.new.get(&hunk.file), &hunk.new)
    }

    /// The name of the function that a hunk is in, as far as the text tells; what it defines
    /// itself does not count.
    pub fn function(&self, hunk: &Hunk) -> Option<String> {
        if hunk.whole || !is_source(&hunk.file) {
            return None;
        }
        let in_new = function_at(&self.new.get(&hunk.file)?.bytes, hunk.new.start);
        in_new.or_else(|| function_at(&self.old.get(&hunk.file)?.bytes, hunk.old.start))
    }
}

fn hunks(file: &Path, old: Option<&File>, new: Option<&File>) -> Vec<Hunk> {
    let hunk = |old, new, whole| Hunk {
        file: file.to_owned(),
        old,
        new,
        whole,
    };
    match (old, new) {
        (Some(old), Some(new)) if old == new => Vec::new(),
        (Some(old), Some(new)) if old.kind == new.kind && old.is_text() && new.is_text() => {
            let spans = spans(&lines(&old.bytes), &lines(&new.bytes)).into_iter();
            spans.map(|span| hunk(span.old, span.new, false)).collect()
        }
        (old, new) => {
            let count = |file: Option<&File>| {
                let text = file.filter(|file| file.is_text());
                text.map_or(0, |file| lines(&file.bytes).len())
            };
            vec![hunk(0..count(old), 0..count(new), true)]
        }
    }
}

fn patched(old: &[u8], new: &[u8], chosen: &[&Hunk]) -> Vec<u8> {
    let (old, new) = (lines(old), lines(new));
    let mut text: Vec<&[u8]> = Vec::new();
    let mut at = 0;
    for hunk in chosen {
        text.extend(&old[at..hunk.old.start]);
        text.extend(&new[hunk.new.clone()]);
        at = hunk.old.end;
    }
    text.extend(&old[at..]);
    text.concat()
}

fn texts(file: Option<&File>, range: &Range<usize>) -> Vec<String> {
    let Some(file) = file.filter(|file| file.is_text()) else {
        return Vec::new();
    };
    let lines = lines(&file.bytes);
    let lines = lines.get(range.clone()).unwrap_or_default().iter();
    let text = |line: &&[u8]| String::from_utf8_lossy(line).trim_end().to_owned();
    lines.map(text).collect()
}

/// The last line before `at` that looks like the head of a function, as `diff -p` does it: the
/// name before the first parenthesis of a line that starts with a word and is no declaration.
fn function_at(text: &[u8], at: usize) -> Option<String> {
    let lines = lines(text);
    for line in lines.get(..at)?.iter().rev() {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if line == "}" {
            return None;
        }
        let starts = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts || line.ends_with([';', ':']) {
            continue;
        }
        let (before, _) = line.split_once('(')?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = before.trim_end().rsplit(|c: char| !is_word(c)).next()?;
        return (!name.is_empty()).then(|| name.to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Kind;

    fn tree(files: &[(&str, &str)]) -> Tree {
        let files = files.iter();
        files
            .map(|(path, text)| (path.into(), File::plain(*text)))
            .collect()
    }

    fn diff(old: &str, new: &str) -> Diff {
        Diff::of(tree(&[("a.c", old)]), tree(&[("a.c", new)]))
    }

    fn applied(diff: &Diff, numbers: &[usize]) -> String {
        let tree = diff.apply(&numbers.iter().copied().collect());
        String::from_utf8(tree[Path::new("a.c")].bytes.clone()).unwrap()
    }

    #[test]
    fn any_subset_can_be_applied() {
        let diff = diff("a\nb\nc\nd\ne\n", "a\nB\nB\nc\nx\nd\n");
        assert_eq!(applied(&diff, &[]), "a\nb\nc\nd\ne\n");
        assert_eq!(applied(&diff, &[1]), "a\nB\nB\nc\nd\ne\n");
        assert_eq!(applied(&diff, &[2]), "a\nb\nc\nx\nd\ne\n");
        assert_eq!(applied(&diff, &[1, 3]), "a\nB\nB\nc\nd\n");
        assert_eq!(applied(&diff, &[1, 2, 3]), "a\nB\nB\nc\nx\nd\n");
    }

    #[test]
    fn a_missing_newline_at_the_end_can_be_applied() {
        assert_eq!(applied(&diff("a\nb", "a\nb\n"), &[1]), "a\nb\n");
    }

    #[test]
    fn hunks_are_numbered_through_all_files_sources_first() {
        let old = tree(&[("b.c", "1\n"), ("Makefile", "1\n"), ("a/x.c", "1\n")]);
        let new = tree(&[("b.c", "2\n"), ("Makefile", "2\n"), ("a/x.c", "2\n")]);
        let diff = Diff::of(old, new);
        let files = diff.hunks.iter().map(|hunk| hunk.file.to_str().unwrap());
        assert_eq!(files.collect::<Vec<_>>(), ["a/x.c", "b.c", "Makefile"]);
        let mixed = diff.apply(&Set::from([2]));
        assert_eq!(mixed[Path::new("a/x.c")].bytes, b"1\n");
        assert_eq!(mixed[Path::new("b.c")].bytes, b"2\n");
    }

    #[test]
    fn a_file_of_one_version_is_one_hunk() {
        let (old, new) = (tree(&[("gone.h", "1\n2\n")]), tree(&[("more.h", "")]));
        let diff = Diff::of(old.clone(), new.clone());
        let ranges = diff.hunks.iter().map(|h| (h.old.clone(), h.new.clone()));
        assert_eq!(ranges.collect::<Vec<_>>(), [(0..2, 0..0), (0..0, 0..0)]);
        assert_eq!(diff.apply(&Set::new()), old);
        assert_eq!(diff.apply(&diff.all()), new);
    }

    #[test]
    fn what_is_no_text_is_one_hunk() {
        let file = |bytes: &[u8], kind| {
            let bytes = bytes.to_vec();
            Tree::from([("x".into(), File { bytes, kind })])
        };
        for (old, new) in [
            (file(b"a\0\nb\n", Kind::Plain), file(b"a\nB\n", Kind::Plain)),
            (
                file(b"a\nb\n", Kind::Plain),
                file(b"A\nb\n", Kind::Executable),
            ),
            (file(b"a", Kind::Link), file(b"b", Kind::Link)),
        ] {
            let diff = Diff::of(old, new.clone());
            assert_eq!(diff.hunks.len(), 1);
            assert!(diff.hunks[0].whole);
            assert_eq!(diff.apply(&diff.all()), new);
        }
    }

    #[test]
    fn the_function_is_found_by_its_head() {
        let text = "int x;\nstatic int\nf(int a)\n{\nlabel:\n  a = 1;\n}\nint g(void);\nint y;\n";
        let changed = text
            .replace("a = 1", "a = 2")
            .replace("int y", "long y")
            .replace("int x", "long x");
        let diff = diff(text, &changed);
        let names = diff.hunks.iter().map(|hunk| diff.function(hunk));
        let names: Vec<_> = names.collect();
        assert_eq!(names, [None, Some("f".to_owned()), None]);
        assert_eq!(diff.old_lines(&diff.hunks[1]), ["  a = 1;"]);
    }
}
