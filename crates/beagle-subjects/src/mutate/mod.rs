//! Versions made by machine: a program with one small change, of the sort people make by mistake.
//!
//! [`candidates`] parses C and lists every change that the operators know of; [`harvest`] takes
//! those of a [`Target`] (a file, or files of a directory), drops the ones that do not compile or
//! that the compiler cannot tell from the original, and picks a spread of the rest. The code is
//! parsed, never matched as text, but not preprocessed either: what a macro hides is not seen.
//!
//! Only code inside functions is changed. Whether a mutant behaves differently is not known.

mod check;
mod constants;
mod expressions;
mod harvest;
mod place;
mod spread;
mod statements;
mod target;
mod variables;

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tree_sitter::{Node, Parser};

use crate::error::{Error, Result};

pub use harvest::{Harvest, Options, harvest, numbered};
pub use spread::spread;
pub use target::Target;

/// One change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// Its name, the same whichever others are picked beside it.
    pub id: String,
    /// What was done.
    pub operator: Operator,
    /// What sort of code it was done to.
    pub class: Class,
    /// The file, as the target names it.
    pub file: PathBuf,
    /// The line of the change, from 1.
    pub line: usize,
    /// The column of the change in bytes, from 1.
    pub column: usize,
    /// The function that is changed.
    pub function: String,
    /// The text that goes.
    pub original: String,
    /// The text that comes in its place.
    pub replacement: String,
    /// Where in the file the original is, in bytes.
    #[serde(skip)]
    pub range: Range<usize>,
}

impl Mutant {
    /// The text of the whole file with this change.
    pub fn apply(&self, source: &str) -> String {
        let (before, after) = (&source[..self.range.start], &source[self.range.end..]);
        [before, &self.replacement, after].concat()
    }
}

/// What a change does. The order is the one in which changes of one place are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// `<` becomes `<=` or `>`, `==` becomes `!=`, and so on.
    Relational,
    /// `&&` becomes `||` and the other way round.
    Logical,
    /// The condition of an `if`, a loop or a `?:` is negated.
    NegatedCondition,
    /// `+` becomes `-`, `<<=` becomes `>>=`, `++` becomes `--`, and so on.
    Arithmetic,
    /// A constant becomes its neighbour, zero, or changes its sign.
    Constant,
    /// One side of `&&` or `||` is all that is left.
    DroppedClause,
    /// An assignment, a call, a `break` or a `continue` is gone.
    DroppedStatement,
    /// An `if` is gone, alone or with what it guards.
    DroppedGuard,
    /// An index is one too big or one too small.
    OffByOneIndex,
    /// Another variable of the same type is used.
    WrongVariable,
}

impl Operator {
    /// All operators, in order.
    pub const ALL: [Self; 10] = [
        Self::Relational,
        Self::Logical,
        Self::NegatedCondition,
        Self::Arithmetic,
        Self::Constant,
        Self::DroppedClause,
        Self::DroppedStatement,
        Self::DroppedGuard,
        Self::OffByOneIndex,
        Self::WrongVariable,
    ];

    /// Whether the change takes code away.
    fn drops_code(self) -> bool {
        matches!(
            self,
            Self::DroppedClause | Self::DroppedStatement | Self::DroppedGuard
        )
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Relational => "relational",
            Self::Logical => "logical",
            Self::NegatedCondition => "negated-condition",
            Self::Arithmetic => "arithmetic",
            Self::Constant => "constant",
            Self::DroppedClause => "dropped-clause",
            Self::DroppedStatement => "dropped-statement",
            Self::DroppedGuard => "dropped-guard",
            Self::OffByOneIndex => "off-by-one-index",
            Self::WrongVariable => "wrong-variable",
        })
    }
}

/// What sort of code a change is made to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Code that decides where to go on.
    Branch,
    /// Code that makes a value.
    Assignment,
    /// Code that is there no more.
    MissingCode,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Branch => "branch",
            Self::Assignment => "assignment",
            Self::MissingCode => "missing-code",
        })
    }
}

/// A change before it has a name and a place in words.
struct Edit {
    operator: Operator,
    range: Range<usize>,
    replacement: String,
}

/// What the operators append their changes to.
struct Edits<'s> {
    source: &'s str,
    edits: Vec<Edit>,
}

impl<'s> Edits<'s> {
    fn replace(&mut self, operator: Operator, node: Node<'_>, replacement: impl Into<String>) {
        let edit = Edit {
            operator,
            range: node.byte_range(),
            replacement: replacement.into(),
        };
        self.edits.push(edit);
    }

    fn text(&self, node: Node<'_>) -> &'s str {
        place::text(node, self.source)
    }
}

/// Every change of the file that the operators know of, in the order of the text. `file` is only
/// a name for it. The mutants have no ids yet, and may not compile.
pub fn candidates(file: &Path, source: &str) -> Result<Vec<Mutant>> {
    let mut parser = Parser::new();
    let tree = parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .ok()
        .and_then(|()| parser.parse(source, None))
        .ok_or_else(|| Error::invalid(file, "cannot be parsed as C"))?;
    let globals = variables::globals(tree.root_node(), source);
    let mut mutants = Vec::new();
    for function in place::functions(tree.root_node()) {
        let Some(body) = function.child_by_field_name("body") else {
            continue;
        };
        let mut edits = Edits {
            source,
            edits: Vec::new(),
        };
        place::visit(body, source, &mut |node| {
            expressions::edits(node, &mut edits);
            statements::edits(node, &mut edits);
        });
        variables::edits(function, &globals, &mut edits);
        let name = place::function_name(function, source);
        let within = |edit: Edit| mutant(edit, tree.root_node(), source, file, name);
        mutants.extend(edits.edits.into_iter().map(within));
    }
    sort(&mut mutants);
    Ok(mutants)
}

fn mutant(edit: Edit, root: Node<'_>, source: &str, file: &Path, function: &str) -> Mutant {
    let Edit {
        operator,
        range,
        replacement,
    } = edit;
    let node = root.descendant_for_byte_range(range.start, range.end);
    let in_condition = node.is_some_and(place::decides);
    let class = match (operator.drops_code(), in_condition) {
        (true, _) => Class::MissingCode,
        (false, true) => Class::Branch,
        (false, false) => Class::Assignment,
    };
    let before = &source[..range.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Mutant {
        id: String::new(),
        operator,
        class,
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: range.start - line_start + 1,
        function: function.to_owned(),
        original: source[range.clone()].to_owned(),
        replacement,
        range,
    }
}

/// Puts the mutants in the order of the text and keeps one of those that give the same text.
fn sort(mutants: &mut Vec<Mutant>) {
    mutants.sort_by(|a, b| {
        let key = |m: &Mutant| (m.range.start, m.range.end, m.operator);
        key(a)
            .cmp(&key(b))
            .then_with(|| a.replacement.cmp(&b.replacement))
    });
    let mut seen = std::collections::HashSet::new();
    mutants.retain(|mutant| seen.insert(essence(mutant)));
}

/// The change without what original and replacement have in common at both ends.
fn essence(mutant: &Mutant) -> (usize, String, String) {
    let (old, new) = (mutant.original.as_bytes(), mutant.replacement.as_bytes());
    let same = |(a, b): &(&u8, &u8)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(same)
        .count();
    let middle = |text: &[u8]| String::from_utf8_lossy(&text[..text.len() - tail]).into_owned();
    (mutant.range.start + head, middle(old), middle(new))
}

#[cfg(test)]
mod tests;
