//! Compares two programs: the heart of `beagle changes`, and the ground for everything else.

use std::ops::RangeInclusive;

use beagle_program::{FunctionId, GlobalId, Op, Operand, Program, StmtId};

use crate::align::{Alignment, Match, align};
use crate::hunks::{Hunk, TextDiff};
use crate::matching::{Pair, match_functions, match_globals};
use crate::numbering::{Numberer, Numbering};
use crate::shape::Shape;
use crate::source::SourceTree;
use crate::token::Side;

/// How two versions correspond, and what changed between them.
#[derive(Debug)]
pub struct Comparison {
    /// All functions of both versions.
    pub functions: Vec<Pair<FunctionId>>,
    /// All global variables of both versions, without literals.
    pub globals: Vec<Pair<GlobalId>>,
    /// One numbering for the statements of both versions.
    pub stmts: Numbering,
    /// One numbering for the blocks of both versions.
    pub blocks: Numbering,
    /// What changed in meaning, in the order of the new version's functions.
    pub changes: Vec<Change>,
    /// What changed in the text.
    pub hunks: Vec<Hunk>,
}

/// A maximal run of changed statements, or a changed variable.
#[derive(Debug)]
pub struct Change {
    /// What it is part of.
    pub subject: Subject,
    /// The statements that only old has, or has in another form.
    pub old: Vec<StmtId>,
    /// The statements that only new has, or has in another form.
    pub new: Vec<StmtId>,
    /// Where it stands in old.
    pub old_lines: Vec<Line>,
    /// Where it stands in new.
    pub new_lines: Vec<Line>,
    /// The hunks that it belongs to, as indices into [`Comparison::hunks`].
    pub hunks: Vec<usize>,
}

/// What a change is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A function that both versions have, or the whole of one that only one has.
    Function(Pair<FunctionId>),
    /// A global variable: its type or its initial value.
    Global(Pair<GlobalId>),
    /// Assembler text outside of functions.
    Assembler,
}

/// A line of source with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What stands there.
    pub text: String,
}

impl Change {
    /// Whether the change is in statements that only one version has.
    pub fn kind(&self) -> Kind {
        let (old, new) = match self.subject {
            Subject::Global(pair) => (pair.old.is_some(), pair.new.is_some()),
            Subject::Assembler => (true, true),
            Subject::Function(_) => (!self.old.is_empty(), !self.new.is_empty()),
        };
        match (old, new) {
            (false, _) => Kind::Added,
            (_, false) => Kind::Deleted,
            _ => Kind::Modified,
        }
    }
}

/// The three kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only new has it.
    Added,
    /// Only old has it.
    Deleted,
    /// Both have it, in different forms.
    Modified,
}

/// Compares two versions of a program.
pub fn compare(
    old: &Program,
    old_sources: &SourceTree,
    new: &Program,
    new_sources: &SourceTree,
) -> Comparison {
    let mut old_side = Side::new(old, old_sources);
    let mut new_side = Side::new(new, new_sources);
    Side::note_resized(&mut old_side, &mut new_side);
    let globals = match_globals(&mut old_side, &mut new_side);
    let functions = match_functions(&mut old_side, &mut new_side);
    let text = TextDiff::new(&old_side, &new_side);
    let mut collector = Collector {
        old: &old_side,
        new: &new_side,
        text: &text,
        changes: Vec::new(),
    };
    let mut numberer = Numberer::new(&old_side, &new_side);
    for &pair in &functions {
        let defined = |side: &Side, id: Option<FunctionId>| {
            id.filter(|&id| side.program.function(id).is_defined())
        };
        match (defined(&old_side, pair.old), defined(&new_side, pair.new)) {
            (Some(a), Some(b)) => {
                let a = Shape::of(&old_side, a);
                let b = Shape::of(&new_side, b);
                let alignment = align((&old_side, &a), (&new_side, &b), &text);
                numberer.add(&a, &b, &alignment);
                if !alignment.is_identical() {
                    collector.function(pair, &a, &b, &alignment);
                }
            }
            (None, None) => {}
            (a, b) => collector.whole_function(pair, a, b),
        }
    }
    for &pair in &globals {
        collector.global(pair);
    }
    if old.assembler != new.assembler {
        collector.push(Subject::Assembler, Vec::new(), Vec::new());
    }
    let mut changes = collector.changes;
    changes.sort_by_key(|change| position(change, &old_side, &new_side, &text));
    let (stmts, blocks) = numberer.finish();
    Comparison {
        functions,
        globals,
        stmts,
        blocks,
        changes,
        hunks: text.hunks,
    }
}

/// Where the subject of a change stands, so that changes come in the order of the source. Within
/// a function they are in order already.
fn position(change: &Change, old: &Side, new: &Side, text: &TextDiff) -> (String, u32) {
    let place = |side: &Side, function: Option<FunctionId>, global: Option<GlobalId>| {
        let (file, line) = match (function, global) {
            (Some(id), _) => (
                side.program.function(id).file,
                side.program.function(id).line,
            ),
            (_, Some(id)) => (side.program.global(id).file, side.program.global(id).line),
            _ => return None,
        };
        Some((side.program.file(file?).to_owned(), line))
    };
    let (function, global) = match change.subject {
        Subject::Function(pair) => (Some(pair), None),
        Subject::Global(pair) => (None, Some(pair)),
        Subject::Assembler => (None, None),
    };
    let in_new = place(
        new,
        function.and_then(|p| p.new),
        global.and_then(|p| p.new),
    );
    in_new.unwrap_or_else(|| {
        let in_old = place(
            old,
            function.and_then(|p| p.old),
            global.and_then(|p| p.old),
        );
        let (file, line) = in_old.unwrap_or_default();
        let file = text.new_file(&file).unwrap_or(&file).to_owned();
        (file, line)
    })
}

/// Turns alignments into changes.
struct Collector<'s, 'a> {
    old: &'s Side<'a>,
    new: &'s Side<'a>,
    text: &'s TextDiff,
    changes: Vec<Change>,
}

impl Collector<'_, '_> {
    /// Cuts the changed roots of a function into runs.
    fn function(&mut self, pair: Pair<FunctionId>, a: &Shape, b: &Shape, alignment: &Alignment) {
        let subject = Subject::Function(pair);
        let (mut old, mut new) = (Vec::new(), Vec::new());
        let (mut i, mut j) = (0, 0);
        loop {
            match (alignment.old.get(i), alignment.new.get(j)) {
                (Some(Match::Gone), _) => {
                    old.push(a.roots[i].stmt);
                    i += 1;
                }
                (_, Some(Match::Gone)) => {
                    new.push(b.roots[j].stmt);
                    j += 1;
                }
                (Some(Match::Edited(_)), Some(Match::Edited(_))) => {
                    old.push(a.roots[i].stmt);
                    new.push(b.roots[j].stmt);
                    (i, j) = (i + 1, j + 1);
                }
                (Some(_), Some(_)) => {
                    self.run(subject, &mut old, &mut new);
                    (i, j) = (i + 1, j + 1);
                }
                _ => break,
            }
        }
        self.run(subject, &mut old, &mut new);
        let mut jumps = (alignment.old_jumps.clone(), alignment.new_jumps.clone());
        jumps.0.dedup();
        jumps.1.dedup();
        self.run(subject, &mut jumps.0, &mut jumps.1);
        for &(x, y) in &alignment.redeclared {
            let old = self.old.program.function(a.function).locals[x as usize].alloca;
            let new = self.new.program.function(b.function).locals[y as usize].alloca;
            self.push(subject, vec![old], vec![new]);
        }
    }

    fn run(&mut self, subject: Subject, old: &mut Vec<StmtId>, new: &mut Vec<StmtId>) {
        if !old.is_empty() || !new.is_empty() {
            self.push(subject, std::mem::take(old), std::mem::take(new));
        }
    }

    /// A function that only one version has.
    fn whole_function(
        &mut self,
        pair: Pair<FunctionId>,
        old: Option<FunctionId>,
        new: Option<FunctionId>,
    ) {
        let roots = |side: &Side, id: Option<FunctionId>| -> Vec<StmtId> {
            let shape = id.map(|id| Shape::of(side, id));
            let roots = shape.iter().flat_map(|shape| &shape.roots);
            roots.map(|root| root.stmt).collect()
        };
        let (old, new) = (roots(self.old, old), roots(self.new, new));
        let kept = |line: &Line| self.text.kept_line(&line.file, line.line).is_some();
        let unchanged = |line: &Line| self.text.unchanged_line(&line.file, line.line).is_some();
        // Clang leaves out a static function that nobody calls. What changed is the last call.
        let is_unused = pair.old.is_none() || pair.new.is_none();
        let is_written =
            lines(self.old, &old).iter().all(kept) && lines(self.new, &new).iter().all(unchanged);
        if is_unused && is_written {
            return;
        }
        self.push(Subject::Function(pair), old, new);
    }

    fn global(&mut self, pair: Pair<GlobalId>) {
        let content = |side: &Side, id: Option<GlobalId>| {
            let global = side.program.global(id?);
            let initial = global.initial?;
            Some((
                side.declared_type(global.ty),
                side.initial(global.ty, initial),
            ))
        };
        let (old, new) = (content(self.old, pair.old), content(self.new, pair.new));
        if old != new {
            self.push(Subject::Global(pair), Vec::new(), Vec::new());
        }
    }

    /// The hunks that a change belongs to: those that hold its lines, or lines further down in its
    /// statements; if there is none, those that define what its text uses, as when a macro or a
    /// type changed; if there is none, those in its function, since a `switch` changes with its
    /// cases and the use of a variable with its declaration.
    fn hunks_of(
        &self,
        subject: Subject,
        (old, old_lines): (&[StmtId], &[Line]),
        (new, new_lines): (&[StmtId], &[Line]),
    ) -> Vec<usize> {
        let holding = self.text.hunks_holding(old_lines, new_lines);
        if !holding.is_empty() {
            return holding;
        }
        let old_rest = old.iter().flat_map(|&stmt| rest(self.old, stmt));
        let new_rest = new.iter().flat_map(|&stmt| rest(self.new, stmt));
        let holding = self
            .text
            .hunks_holding(&old_rest.collect::<Vec<_>>(), &new_rest.collect::<Vec<_>>());
        if !holding.is_empty() {
            return holding;
        }
        let statements = written(self.old, old).chain(written(self.new, new));
        let statements: Vec<_> = statements.collect();
        let lines = old_lines.iter().chain(new_lines).map(|line| &line.text);
        let texts = lines.chain(&statements).map(String::as_str);
        let defining = self.text.hunks_defining(texts);
        match subject {
            Subject::Function(pair) if defining.is_empty() => {
                let old = pair.old.and_then(|id| function_lines(self.old, id));
                let new = pair.new.and_then(|id| function_lines(self.new, id));
                self.text.hunks_within(old, new)
            }
            _ => defining,
        }
    }

    fn push(&mut self, subject: Subject, old: Vec<StmtId>, new: Vec<StmtId>) {
        let (mut old_lines, mut new_lines) = (lines(self.old, &old), lines(self.new, &new));
        if let Subject::Global(pair) = subject {
            old_lines.extend(
                pair.old
                    .into_iter()
                    .flat_map(|id| global_lines(self.old, id)),
            );
            new_lines.extend(
                pair.new
                    .into_iter()
                    .flat_map(|id| global_lines(self.new, id)),
            );
            // Of a long table only the lines that changed are of interest, if the cause is there.
            let (old, new) = (old_lines.len() > 1, new_lines.len() > 1);
            let text = self.text;
            let kept = |l: &Line| text.kept_line(&l.file, l.line).is_some();
            let unchanged = |l: &Line| text.unchanged_line(&l.file, l.line).is_some();
            if old && new && !(old_lines.iter().all(kept) && new_lines.iter().all(unchanged)) {
                old_lines.retain(|l| !kept(l));
                new_lines.retain(|l| !unchanged(l));
            }
        }
        let hunks = self.hunks_of(subject, (&old, &old_lines), (&new, &new_lines));
        self.changes.push(Change {
            subject,
            old,
            new,
            old_lines,
            new_lines,
            hunks,
        });
    }
}

fn line(side: &Side, file: beagle_program::FileId, line: u32) -> Line {
    let file = side.program.file(file);
    Line {
        file: file.to_owned(),
        line,
        text: side.sources.line(file, line).unwrap_or_default(),
    }
}

/// The lines of a variable's definition, to the semicolon that ends it.
fn global_lines(side: &Side, id: GlobalId) -> Vec<Line> {
    let global = side.program.global(id);
    let Some(file) = global.file.filter(|_| global.line > 0) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    let mut depth = 0;
    for number in global.line.. {
        let line = line(side, file, number);
        for c in line.text.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
        let text = line.text.clone();
        lines.push(line);
        // A brace in a string may mislead; the limit keeps that from swallowing the file.
        let ended = depth <= 0 && (text.contains(';') || text.is_empty());
        if ended || lines.len() > 2000 {
            break;
        }
    }
    lines
}

/// The texts of some statements, to their ends.
fn written<'s>(side: &'s Side, stmts: &'s [StmtId]) -> impl Iterator<Item = String> + 's {
    let written = stmts.iter().filter_map(|&stmt| side.written(stmt));
    written.map(|written| written.text)
}

/// The lines of a statement below the one that it is listed with.
fn rest(side: &Side, stmt: StmtId) -> Vec<Line> {
    let written = side.written(stmt).zip(side.program.stmt(stmt).place);
    let Some((written, place)) = written else {
        return Vec::new();
    };
    let lines = place.line + 1..=*written.lines.end();
    lines.map(|number| line(side, place.file, number)).collect()
}

/// The file of a function and its lines.
fn function_lines<'s>(side: &'s Side, id: FunctionId) -> Option<(&'s str, RangeInclusive<u32>)> {
    let function = side.program.function(id);
    let file = function.file?;
    let places = side.program.function_stmts(id);
    let places = places.filter_map(|stmt| side.program.stmt(stmt).place);
    let last = places.filter(|p| p.file == file).map(|p| p.line).max();
    Some((side.program.file(file), function.line..=last?))
}

/// The lines of some statements, each once, in order.
fn lines(side: &Side, stmts: &[StmtId]) -> Vec<Line> {
    let mut places: Vec<_> = stmts.iter().filter_map(|&stmt| place(side, stmt)).collect();
    places.sort();
    places.dedup();
    places
        .into_iter()
        .map(|(file, number)| line(side, file, number))
        .collect()
}

/// Where a statement stands. Declarations and parameters carry no place of their own but that of
/// the variable; what the compiler adds stands where its neighbours do.
fn place(side: &Side, stmt: StmtId) -> Option<(beagle_program::FileId, u32)> {
    if let Some(place) = side.program.stmt(stmt).place {
        return Some((place.file, place.line));
    }
    let function = side.program.function(side.program.function_of(stmt));
    let local = match side.program.stmt(stmt).op {
        Op::Alloca(_) => function.locals.iter().find(|local| local.alloca == stmt),
        Op::Store { .. } => match side.program.operands(stmt) {
            [_, Operand::Stmt(alloca)] => function.locals.iter().find(|l| l.alloca == *alloca),
            _ => None,
        },
        _ => None,
    };
    if let (Some(local), Some(file)) = (local.filter(|local| local.line > 0), function.file) {
        return Some((file, local.line));
    }
    let block = side.program.block(side.program.stmt(stmt).block);
    let after = (stmt.0..block.stmts.end).map(StmtId);
    let before = (block.stmts.start..stmt.0).rev().map(StmtId);
    // Where the parts of `a || b` meet there may be nothing with a place.
    let jumps = block.predecessors.iter().rev();
    let jumps = jumps.map(|&block| side.program.block(block).terminator());
    let near = after
        .chain(before)
        .chain(jumps)
        .find_map(|stmt| side.program.stmt(stmt).place);
    match near {
        Some(place) => Some((place.file, place.line)),
        None => (function.line > 0).then_some((function.file?, function.line)),
    }
}
