//! The textual difference: hunks of changed lines, as `diff` would show them.
//!
//! Hunks are what can be applied or left out when the cause of a difference is looked for, and what
//! people recognise. Statements are what runs. This module makes the former and ties the latter to
//! them.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use beagle_hunks::spans;
use rustc_hash::FxHashMap;

use crate::comparison::Line;
use crate::token::Side;

/// A run of changed lines in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The file in the old version.
    pub old_file: String,
    /// The file in the new version.
    pub new_file: String,
    /// The changed lines of old, from 1; empty if lines were only added, before `old.start`.
    pub old: Range<u32>,
    /// The changed lines of new, from 1; empty if lines were only deleted, before `new.start`.
    pub new: Range<u32>,
    /// The macros, types and other names outside of functions that its lines define or declare.
    pub defines: BTreeSet<String>,
}

/// The textual difference of two versions.
#[derive(Default)]
pub(crate) struct TextDiff {
    pub(crate) hunks: Vec<Hunk>,
    /// For the lines of old that new still has: where they are now. By file of old; the new file,
    /// and the new line by old line, 0 if changed.
    kept: FxHashMap<String, (String, Vec<u32>)>,
    /// The lines of new that old has, too, by file of new.
    unchanged: FxHashMap<String, Vec<bool>>,
}

impl TextDiff {
    pub(crate) fn new(old: &Side, new: &Side) -> Self {
        let mut diff = TextDiff::default();
        for (old_file, new_file) in paired_files(old, new) {
            // A file that one version does not have is as good as empty there.
            let a = old.sources.lines(&old_file).unwrap_or_default();
            let b = new.sources.lines(&new_file).unwrap_or_default();
            diff.file(old, (&old_file, &a), new, (&new_file, &b));
        }
        diff
    }

    fn add_hunk(&mut self, files: (&str, &str), old: Range<usize>, new: Range<usize>) -> &mut Hunk {
        self.hunks.push(Hunk {
            old_file: files.0.to_owned(),
            new_file: files.1.to_owned(),
            old: old.start as u32 + 1..old.end as u32 + 1,
            new: new.start as u32 + 1..new.end as u32 + 1,
            defines: BTreeSet::new(),
        });
        let last = self.hunks.len() - 1;
        &mut self.hunks[last]
    }

    fn file(
        &mut self,
        old: &Side,
        (old_file, a): (&str, &[String]),
        new: &Side,
        (new_file, b): (&str, &[String]),
    ) {
        let mut kept = vec![0; a.len() + 1];
        let mut unchanged = vec![false; b.len() + 1];
        let mut same = |old: Range<usize>, new: Range<usize>| {
            for (i, j) in old.zip(new) {
                kept[i + 1] = j as u32 + 1;
                unchanged[j + 1] = true;
            }
        };
        let mut defines = Vec::new();
        let (mut i, mut j) = (0, 0);
        for span in spans(a, b) {
            let (x, y) = (span.old, span.new);
            same(i..x.start, j..y.start);
            (i, j) = (x.end, y.end);
            // Finding the names costs more than the rest, and most changes lie in functions.
            if defines.is_empty() {
                defines = vec![
                    Definitions::new(old, old_file, a),
                    Definitions::new(new, new_file, b),
                ];
            }
            let mut names = defines[0].in_lines(x.clone());
            names.extend(defines[1].in_lines(y.clone()));
            self.add_hunk((old_file, new_file), x, y).defines = names;
        }
        same(i..a.len(), j..b.len());
        self.kept
            .insert(old_file.to_owned(), (new_file.to_owned(), kept));
        self.unchanged.insert(new_file.to_owned(), unchanged);
    }

    /// Where a line of old is in new, if its text is still there.
    pub(crate) fn kept_line(&self, file: &str, line: u32) -> Option<(&str, u32)> {
        let (new_file, lines) = self.kept.get(file)?;
        let line = *lines.get(line as usize)?;
        (line > 0).then_some((new_file, line))
    }

    /// What a file of old is called in new.
    pub(crate) fn new_file(&self, file: &str) -> Option<&str> {
        self.kept.get(file).map(|(new_file, _)| &new_file[..])
    }

    /// A line of new, if old has its text, too.
    pub(crate) fn unchanged_line(&self, file: &str, line: u32) -> Option<(&str, u32)> {
        let (file, lines) = self.unchanged.get_key_value(file)?;
        lines.get(line as usize)?.then_some((file, line))
    }

    /// The hunks, by number, that hold one of some lines.
    pub(crate) fn hunks_holding(&self, old: &[Line], new: &[Line]) -> Vec<usize> {
        let holds = |hunk: &Hunk| {
            let in_old = |at: &Line| at.file == hunk.old_file && hunk.old.contains(&at.line);
            let in_new = |at: &Line| at.file == hunk.new_file && hunk.new.contains(&at.line);
            old.iter().any(in_old) || new.iter().any(in_new)
        };
        let all = 0..self.hunks.len();
        all.filter(|&i| holds(&self.hunks[i])).collect()
    }

    /// The hunks, by number, that define a name that some texts use, as when a macro or a type
    /// changed.
    pub(crate) fn hunks_defining<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<usize> {
        let used: BTreeSet<_> = texts.flat_map(words).collect();
        let defines = |hunk: &Hunk| hunk.defines.iter().any(|name| used.contains(&name[..]));
        let all = 0..self.hunks.len();
        all.filter(|&i| defines(&self.hunks[i])).collect()
    }

    /// The hunks, by number, that touch some lines of a file of old or of new.
    pub(crate) fn hunks_within(
        &self,
        old: Option<(&str, RangeInclusive<u32>)>,
        new: Option<(&str, RangeInclusive<u32>)>,
    ) -> Vec<usize> {
        let within = |hunk: &Hunk| {
            let in_old = |(file, lines)| hunk.old_file == file && touches(&hunk.old, &lines);
            let in_new = |(file, lines)| hunk.new_file == file && touches(&hunk.new, &lines);
            old.clone().is_some_and(in_old) || new.clone().is_some_and(in_new)
        };
        let all = 0..self.hunks.len();
        all.filter(|&i| within(&self.hunks[i])).collect()
    }
}

/// Whether a hunk has lines within others, or adds some there.
fn touches(hunk: &Range<u32>, lines: &RangeInclusive<u32>) -> bool {
    hunk.start <= *lines.end() && hunk.end.max(hunk.start + 1) > *lines.start()
}

/// The files of the project, by what they are called in each version. Two versions that are one
/// file each belong together, whatever they are called.
fn paired_files(old: &Side, new: &Side) -> Vec<(String, String)> {
    let project = |side: &Side| -> BTreeSet<String> {
        let files = side.sources.project_files(&side.program.files);
        files.into_iter().collect()
    };
    let (old, new) = (project(old), project(new));
    let left = |a: &BTreeSet<String>, b: &BTreeSet<String>| -> Vec<String> {
        let left = a.difference(b).filter(|file| file.ends_with(".c"));
        left.cloned().collect()
    };
    let mut pairs = Vec::new();
    let mut renamed = BTreeSet::new();
    if let ([a], [b]) = (&left(&old, &new)[..], &left(&new, &old)[..]) {
        pairs.push((a.clone(), b.clone()));
        renamed.extend([a.clone(), b.clone()]);
    }
    let others = old.union(&new).filter(|file| !renamed.contains(*file));
    pairs.extend(others.map(|file| (file.clone(), file.clone())));
    pairs.sort();
    pairs
}

/// Finds the names that lines outside of functions define or declare: macros, constants, types.
struct Definitions {
    /// The functions of the file, as ranges of lines.
    functions: Vec<Range<u32>>,
    /// The lines without comments.
    code: Vec<String>,
}

impl Definitions {
    fn new(side: &Side, file: &str, lines: &[String]) -> Self {
        let program = side.program;
        let mut functions = Vec::new();
        for (id, function) in program.functions() {
            if function.file.is_none_or(|id| program.file(id) != file) {
                continue;
            }
            let lines_of = program.function_stmts(id).filter_map(|stmt| {
                let place = program.stmt(stmt).place?;
                (program.file(place.file) == file).then_some(place.line)
            });
            let last = lines_of.max().unwrap_or(function.line);
            functions.push(function.line..(last + 1).min(lines.len() as u32 + 1));
        }
        let code = without_comments(lines);
        Self { functions, code }
    }

    fn in_lines(&self, range: Range<usize>) -> BTreeSet<String> {
        let lines = &self.code;
        let mut names = BTreeSet::new();
        for index in range {
            if let Some(name) = macro_at(lines, index) {
                names.insert(name.to_owned());
            } else if !self
                .functions
                .iter()
                .any(|f| f.contains(&(index as u32 + 1)))
            {
                let words = words(&lines[index]).filter(|word| !is_keyword(word));
                names.extend(words.map(str::to_owned));
            }
        }
        names
    }
}

/// Lines without comments. A string that looks like one is taken for one: names in strings define
/// nothing.
fn without_comments(lines: &[String]) -> Vec<String> {
    let mut inside = false;
    let mut code = Vec::new();
    for line in lines {
        let mut kept = String::new();
        let mut rest = &line[..];
        while !rest.is_empty() {
            let end = if inside { "*/" } else { "/*" };
            let (before, after) = rest.split_once(end).unwrap_or((rest, ""));
            if !inside {
                let (before, comment) = before.split_once("//").unwrap_or((before, ""));
                kept += before;
                if !comment.is_empty() {
                    break;
                }
            }
            inside ^= rest.contains(end);
            rest = after;
        }
        code.push(kept);
    }
    code
}

/// The macro whose definition a line belongs to.
fn macro_at(lines: &[String], mut index: usize) -> Option<&str> {
    while index > 0 && lines[index - 1].ends_with('\\') {
        index -= 1;
    }
    let rest = lines.get(index)?.trim_start().strip_prefix('#')?;
    words(rest.trim_start().strip_prefix("define")?).next()
}

/// The identifiers of a line.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Words that say nothing about where a name comes from.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "if", "else", "for", "while", "do", "return", "switch", "case", "default", "break",
        "continue", "goto", "sizeof", "int", "char", "long", "short", "unsigned", "signed", "void",
        "float", "double", "static", "const", "struct", "union", "enum", "typedef", "extern",
        "define", "ifdef", "ifndef", "endif", "include", "inline", "volatile", "register", "bool",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_inside_a_long_macro_belongs_to_the_macro() {
        let text = "#define MAX(a, b) \\\n  ((a) > (b) \\\n  ? (a) : (b))\nint x;";
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        assert_eq!(macro_at(&lines, 2), Some("MAX"));
        assert_eq!(macro_at(&lines, 3), None);
    }

    #[test]
    fn comments_are_left_out() {
        let text = "int a; /* one */ int b; // two /*\nint c; /* three\nfour */ int d;\nint e;";
        let lines: Vec<_> = text.lines().map(str::to_owned).collect();
        let code = ["int a;  int b; ", "int c; ", " int d;", "int e;"];
        assert_eq!(without_comments(&lines), code);
    }
}
