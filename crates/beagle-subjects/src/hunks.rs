//! The textual difference of two versions as numbered hunks, any of which can be applied alone.
//!
//! A hunk is what `diff -U0` prints under one `@@`: a run of removed lines, of added lines, or of
//! both, between lines that are the same. Hunks of a directory are numbered through all its
//! files, in the order of their paths; a file that only one version has is a single hunk.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::error::Result;
use crate::subject::{Source, Version};

/// The texts of a version by path; a version that is a single file has it under [`SINGLE`].
pub type Texts = BTreeMap<PathBuf, String>;

/// The name under which the text of a single file is kept: old and new need not be called alike.
pub const SINGLE: &str = "program.c";

/// One hunk. The ranges are of line numbers from 0; an empty one says before which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The file it is in.
    pub file: PathBuf,
    /// The lines of old that it takes away.
    pub old: Range<usize>,
    /// The lines of new that it puts there.
    pub new: Range<usize>,
}

/// The difference of two versions.
#[derive(Debug, Clone)]
pub struct Diff {
    old: Texts,
    new: Texts,
    /// The hunks in order; the first one is number 1 to everybody else.
    pub hunks: Vec<Hunk>,
}

impl Diff {
    /// The difference of two versions on disk.
    pub fn between(old: &Version, new: &Version) -> Result<Self> {
        Ok(Self::of(texts(old)?, texts(new)?))
    }

    /// The difference of two sets of texts.
    pub fn of(old: Texts, new: Texts) -> Self {
        let files: BTreeSet<&PathBuf> = old.keys().chain(new.keys()).collect();
        let hunks = files
            .into_iter()
            .flat_map(|file| hunks(file, old.get(file), new.get(file)));
        let hunks = hunks.collect();
        Self { old, new, hunks }
    }

    /// The texts of old with only the hunks of these numbers (from 1) applied.
    pub fn apply(&self, numbers: &BTreeSet<usize>) -> Texts {
        let files: BTreeSet<&PathBuf> = self.old.keys().chain(self.new.keys()).collect();
        let mut result = Texts::new();
        for file in files {
            let chosen: Vec<&Hunk> = (1..)
                .zip(&self.hunks)
                .filter(|(number, hunk)| hunk.file == *file && numbers.contains(number))
                .map(|(_, hunk)| hunk)
                .collect();
            let text = match (self.old.get(file), self.new.get(file)) {
                (Some(old), Some(new)) => patched(old, new, &chosen),
                // A file of one version only: the hunk, if chosen, makes or removes it.
                (Some(_), None) if !chosen.is_empty() => continue,
                (None, Some(_)) if chosen.is_empty() => continue,
                (Some(only), None) | (None, Some(only)) => only.clone(),
                (None, None) => unreachable!("the file is from one of the two"),
            };
            result.insert(file.clone(), text);
        }
        result
    }
}

/// The texts of a version.
pub fn texts(version: &Version) -> Result<Texts> {
    let mut texts = Texts::new();
    match &version.source {
        Source::File(path) => {
            texts.insert(SINGLE.into(), fs_err::read_to_string(path)?);
        }
        Source::Directory { path, .. } => collect(path, Path::new(""), &mut texts)?,
    }
    Ok(texts)
}

fn collect(root: &Path, below: &Path, texts: &mut Texts) -> Result<()> {
    for entry in fs_err::read_dir(root.join(below))? {
        let entry = entry?;
        let file = below.join(entry.file_name());
        if entry.path().is_dir() {
            collect(root, &file, texts)?;
        } else {
            texts.insert(file, fs_err::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// Writes texts into `dir` as a version of the same form as `like`.
pub fn write(texts: &Texts, like: &Version, dir: &Path) -> Result<Version> {
    for (file, text) in texts {
        let path = dir.join(file);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(path, text)?;
    }
    Ok(match like.source {
        Source::File(_) => like.with_path(dir.join(SINGLE)),
        Source::Directory { .. } => like.with_path(dir),
    })
}

/// The lines with their ends, so that a missing newline at the end is a difference.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn hunks(file: &Path, old: Option<&String>, new: Option<&String>) -> Vec<Hunk> {
    let hunk = |old, new| Hunk {
        file: file.to_owned(),
        old,
        new,
    };
    let count = |text: Option<&String>| text.map_or(0, |text| lines(text).len());
    let (Some(old), Some(new)) = (old, new) else {
        return vec![hunk(0..count(old), 0..count(new))];
    };
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &lines(old), &lines(new)) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        match hunks.last_mut() {
            // A removal and an addition at one place are one hunk.
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => hunks.push(hunk(old, new)),
        }
    }
    hunks
}

fn patched(old: &str, new: &str, chosen: &[&Hunk]) -> String {
    let (old, new) = (lines(old), lines(new));
    let mut text = String::new();
    let mut at = 0;
    for hunk in chosen {
        text.extend(old[at..hunk.old.start].iter().copied());
        text.extend(new[hunk.new.clone()].iter().copied());
        at = hunk.old.end;
    }
    text.extend(old[at..].iter().copied());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(text: &str) -> Texts {
        Texts::from([(SINGLE.into(), text.into())])
    }

    fn diff(old: &str, new: &str) -> Diff {
        Diff::of(single(old), single(new))
    }

    fn ranges(diff: &Diff) -> Vec<(Range<usize>, Range<usize>)> {
        diff.hunks
            .iter()
            .map(|hunk| (hunk.old.clone(), hunk.new.clone()))
            .collect()
    }

    fn applied(diff: &Diff, numbers: &[usize]) -> String {
        diff.apply(&numbers.iter().copied().collect())[Path::new(SINGLE)].clone()
    }

    #[test]
    fn a_replaced_an_added_and_a_removed_run_are_three_hunks() {
        let diff = diff("a\nb\nc\nd\ne\n", "a\nB\nB\nc\nx\nd\n");
        assert_eq!(ranges(&diff), [(1..2, 1..3), (3..3, 4..5), (4..5, 6..6)]);
    }

    #[test]
    fn changes_on_adjacent_lines_are_one_hunk() {
        assert_eq!(ranges(&diff("a\nb\nc\n", "A\nB\nc\n")), [(0..2, 0..2)]);
    }

    #[test]
    fn equal_texts_have_no_hunk() {
        assert!(diff("a\n", "a\n").hunks.is_empty());
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
    fn a_missing_newline_at_the_end_is_a_difference() {
        let diff = diff("a\nb", "a\nb\n");
        assert_eq!(ranges(&diff), [(1..2, 1..2)]);
        assert_eq!(applied(&diff, &[1]), "a\nb\n");
    }

    #[test]
    fn hunks_are_numbered_through_all_files_in_path_order() {
        let old = Texts::from([("b.c".into(), "1\n".into()), ("a/x.c".into(), "1\n".into())]);
        let new = Texts::from([("b.c".into(), "2\n".into()), ("a/x.c".into(), "2\n".into())]);
        let diff = Diff::of(old, new);
        let files: Vec<_> = diff.hunks.iter().map(|hunk| hunk.file.as_path()).collect();
        assert_eq!(files, [Path::new("a/x.c"), Path::new("b.c")]);
        let mixed = diff.apply(&BTreeSet::from([2]));
        assert_eq!(
            (&*mixed[Path::new("a/x.c")], &*mixed[Path::new("b.c")]),
            ("1\n", "2\n")
        );
    }

    #[test]
    fn a_file_of_one_version_is_one_hunk() {
        let old = Texts::from([("gone.h".into(), "1\n2\n".into())]);
        let new = Texts::from([("more.h".into(), String::new())]);
        let diff = Diff::of(old.clone(), new.clone());
        assert_eq!(ranges(&diff), [(0..2, 0..0), (0..0, 0..0)]);
        assert_eq!(diff.apply(&BTreeSet::new()), old);
        assert_eq!(diff.apply(&BTreeSet::from([1, 2])), new);
    }
}
