//! Aligns two versions of a function: which roots and local variables correspond, and which
//! roots were edited.
//!
//! Roots are aligned twice, as sequences. The first time all locals of a type look alike; the
//! roots that align then vote for which local became which, so that a renamed variable is
//! recognised by how it is used. The second time a root must name the same variables. What is left
//! in the gaps is paired up by roughly what it does. At the end every pair that counts as the same
//! is checked: results it uses, sizes, and where control goes next must correspond. Nothing is
//! called unchanged that fails this check, however the alignment came about.

use std::ops::Range;

use beagle_program::{Op, StmtId};
use rustc_hash::FxHashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::hunks::TextDiff;
use crate::shape::{Root, Shape, Way};
use crate::token::{Side, Token, token_of};

/// What became of a root in the other version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It is there, unchanged.
    Same(usize),
    /// It is there, but does something else.
    Edited(usize),
    /// It is not there.
    Gone,
}

impl Match {
    pub(crate) fn other(self) -> Option<usize> {
        match self {
            Match::Same(other) | Match::Edited(other) => Some(other),
            Match::Gone => None,
        }
    }
}

/// How two versions of a function correspond.
pub(crate) struct Alignment {
    /// For each old root.
    pub(crate) old: Vec<Match>,
    /// For each new root.
    pub(crate) new: Vec<Match>,
    /// For each old local its number in new.
    pub(crate) locals: Vec<Option<u32>>,
    /// Written jumps (`break`, `continue`, `goto`) that lead elsewhere, by version.
    pub(crate) old_jumps: Vec<StmtId>,
    /// See `old_jumps`.
    pub(crate) new_jumps: Vec<StmtId>,
    /// Locals (old, new) whose declared type differs.
    pub(crate) redeclared: Vec<(u32, u32)>,
}

impl Alignment {
    /// Whether the two versions mean the same.
    pub(crate) fn is_identical(&self) -> bool {
        let same = |all: &[Match]| all.iter().all(|m| matches!(m, Match::Same(_)));
        same(&self.old)
            && same(&self.new)
            && self.old_jumps.is_empty()
            && self.new_jumps.is_empty()
            && self.redeclared.is_empty()
    }
}

/// One version of a function.
type Version<'s, 'a> = (&'s Side<'a>, &'s Shape);

pub(crate) fn align(
    (old_side, old): Version,
    (new_side, new): Version,
    text: &TextDiff,
) -> Alignment {
    let anchors = Anchors {
        old: anchors(old_side, old, |file, line| text.kept_line(file, line)),
        new: anchors(new_side, new, |file, line| text.unchanged_line(file, line)),
    };
    let locals = match_locals(old, new, &anchors);
    let mut alignment = align_roots(old, new, locals, &anchors);
    Checker {
        old_side,
        old,
        new_side,
        new,
    }
    .check(&mut alignment);
    alignment
}

/// For each root the line of new that it stands on, if that line is in both versions. Among equally
/// good alignments the one is wanted that agrees with the textual difference.
struct Anchors {
    old: Vec<Option<Token>>,
    new: Vec<Option<Token>>,
}

fn anchors<'t>(
    side: &Side,
    shape: &Shape,
    in_both: impl Fn(&str, u32) -> Option<(&'t str, u32)>,
) -> Vec<Option<Token>> {
    let anchor = |root: &Root| {
        let place = side.program.stmt(root.stmt).place?;
        let line = in_both(side.program.file(place.file), place.line)?;
        Some(token_of(line))
    };
    shape.roots.iter().map(anchor).collect()
}

/// Aligns by key, first what stands on lines that both versions have, then the rest between.
fn align_keys(old: &[Token], new: &[Token], anchors: &Anchors) -> Vec<(usize, usize)> {
    let anchored = |keys: &[Token], anchors: &[Option<Token>], side: &str| -> Vec<Token> {
        let keys = keys.iter().zip(anchors).enumerate();
        keys.map(|(i, (key, anchor))| match anchor {
            Some(anchor) => token_of((key, anchor)),
            // Equal to nothing.
            None => token_of((side, i)),
        })
        .collect()
    };
    let fixed = equal_pairs(
        &anchored(old, &anchors.old, "old"),
        &anchored(new, &anchors.new, "new"),
    );
    let mut pairs = fixed.clone();
    for (a, b) in gaps(&fixed, old.len(), new.len()) {
        let between = equal_pairs(&old[a.clone()], &new[b.clone()]);
        pairs.extend(between.into_iter().map(|(i, j)| (a.start + i, b.start + j)));
    }
    pairs.sort();
    pairs
}

/// What lies between pairs that are in order, on both sides.
fn gaps(
    pairs: &[(usize, usize)],
    old_len: usize,
    new_len: usize,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    for &(to_old, to_new) in pairs.iter().chain([&(old_len, new_len)]) {
        if from_old < to_old && from_new < to_new {
            gaps.push((from_old..to_old, from_new..to_new));
        }
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    gaps
}

/// Lets the roots that align vote for which local corresponds to which.
fn match_locals(old: &Shape, new: &Shape, anchors: &Anchors) -> Vec<Option<u32>> {
    let tokens = |shape: &Shape| -> Vec<Token> { shape.roots.iter().map(|r| r.token).collect() };
    let mut scores: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (i, j) in align_keys(&tokens(old), &tokens(new), anchors) {
        for (&a, &b) in old.roots[i].locals.iter().zip(&new.roots[j].locals) {
            *scores.entry((a, b)).or_default() += 2;
        }
    }
    // A name is worth one and a half votes: it decides ties, but not against evident use.
    let mut names: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (local, number) in new.locals.iter().zip(0..) {
        if let Some(name) = &local.name {
            names.entry(name).or_default().push(number);
        }
    }
    for (local, a) in old.locals.iter().zip(0..) {
        let same_name = local.name.as_deref().and_then(|name| names.get(name));
        for &b in same_name.into_iter().flatten() {
            *scores.entry((a, b)).or_default() += 3;
        }
    }
    let mut ranked: Vec<_> = scores.into_iter().collect();
    ranked.sort_by_key(|&((a, b), score)| (std::cmp::Reverse(score), a.abs_diff(b), a, b));
    let mut matched = vec![None; old.locals.len()];
    let mut taken = vec![false; new.locals.len()];
    for ((a, b), _) in ranked {
        if matched[a as usize].is_none() && !taken[b as usize] {
            matched[a as usize] = Some(b);
            taken[b as usize] = true;
        }
    }
    matched
}

/// The positions that a sequence alignment finds equal.
fn equal_pairs(old: &[Token], new: &[Token]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        if let DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            pairs.extend((0..len).map(|i| (old_index + i, new_index + i)));
        }
    }
    pairs
}

fn align_roots(old: &Shape, new: &Shape, locals: Vec<Option<u32>>, anchors: &Anchors) -> Alignment {
    let mut alignment = Alignment {
        old: vec![Match::Gone; old.roots.len()],
        new: vec![Match::Gone; new.roots.len()],
        locals,
        old_jumps: Vec::new(),
        new_jumps: Vec::new(),
        redeclared: Vec::new(),
    };
    // Locals by their number in new; those that are gone get numbers that new does not have.
    let named = |root: &Root| -> Token {
        let locals: Vec<_> = root
            .locals
            .iter()
            .map(|&local| alignment.locals[local as usize].unwrap_or(u32::MAX - local))
            .collect();
        token_of((root.token, locals))
    };
    let old_keys: Vec<_> = old.roots.iter().map(named).collect();
    let new_keys: Vec<_> = new
        .roots
        .iter()
        .map(|root| token_of((root.token, &root.locals)))
        .collect();
    let pairs = align_keys(&old_keys, &new_keys, anchors);
    for &(i, j) in &pairs {
        alignment.old[i] = Match::Same(j);
        alignment.new[j] = Match::Same(i);
    }
    for (a, b) in gaps(&pairs, old.roots.len(), new.roots.len()) {
        let coarse = |roots: &[Root]| -> Vec<Token> { roots.iter().map(|r| r.coarse).collect() };
        let edited = equal_pairs(
            &coarse(&old.roots[a.clone()]),
            &coarse(&new.roots[b.clone()]),
        );
        for (i, j) in edited {
            edit(&mut alignment, a.start + i, b.start + j);
        }
    }
    alignment
}

/// Checks what the sequences cannot show.
struct Checker<'s, 'a> {
    old_side: &'s Side<'a>,
    old: &'s Shape,
    new_side: &'s Side<'a>,
    new: &'s Shape,
}

/// Where a way leads, in the numbering of new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    End,
    /// Nowhere: the way goes round in circles.
    Endless,
    /// With the value that a phi there takes for this way.
    Root(usize, Option<usize>),
    /// Into added or deleted code that branches; it is reported itself.
    Unclear,
}

impl Checker<'_, '_> {
    fn check(&self, alignment: &mut Alignment) {
        for i in 0..self.old.roots.len() {
            let Match::Same(j) = alignment.old[i] else {
                continue;
            };
            let (a, b) = (&self.old.roots[i], &self.new.roots[j]);
            if !self.same_results(alignment, a, b) || !self.same_sizes(a, b) {
                edit(alignment, i, j);
            }
        }
        for i in 0..self.old.roots.len() {
            if let Some(j) = alignment.old[i].other() {
                self.check_ways(alignment, i, j);
            }
        }
        self.check_entry(alignment);
        self.check_locals(alignment);
    }

    fn same_results(&self, alignment: &Alignment, a: &Root, b: &Root) -> bool {
        a.results.len() == b.results.len()
            && a.results.iter().zip(&b.results).all(|(x, y)| {
                let old = self.old.position[x];
                alignment.old[old].other() == Some(self.new.position[y])
            })
    }

    fn same_sizes(&self, a: &Root, b: &Root) -> bool {
        a.sizes.len() == b.sizes.len()
            && a.sizes
                .iter()
                .zip(&b.sizes)
                .all(|(&x, &y)| self.old_side.same_size(x, self.new_side, y))
    }

    fn check_ways(&self, alignment: &mut Alignment, i: usize, j: usize) {
        let (a, b) = (&self.old.roots[i].ways, &self.new.roots[j].ways);
        if a.len() != b.len() || self.are_exchanged(alignment, a, b) {
            edit(alignment, i, j);
            return;
        }
        for (x, y) in a.iter().zip(b) {
            if !self.same_goal(alignment, x, y) && !self.blame_jumps(alignment, x, y) {
                edit(alignment, i, j);
            }
        }
    }

    /// Whether ways lead to the same goals, but not in the same order, as when a condition was
    /// negated: then no jump on the way is to blame.
    fn are_exchanged(&self, alignment: &Alignment, a: &[Way], b: &[Way]) -> bool {
        let old: Vec<_> = a.iter().map(|x| self.old_goal(alignment, x)).collect();
        let mut new: Vec<_> = b.iter().map(|y| self.new_goal(alignment, y)).collect();
        if old == new || old.contains(&Goal::Unclear) {
            return false;
        }
        for goal in &old {
            match new.iter().position(|other| other == goal) {
                Some(at) => new.swap_remove(at),
                None => return false,
            };
        }
        true
    }

    fn check_entry(&self, alignment: &mut Alignment) {
        let (old, new) = (&self.old.entry, &self.new.entry);
        if !self.same_goal(alignment, old, new)
            && !self.blame_jumps(alignment, old, new)
            && let (Some(i), Some(j)) = (self.old.entry.to, self.new.entry.to)
        {
            // Nothing else stands before the first root that could be blamed.
            part(&mut alignment.old, &mut alignment.new, i);
            part(&mut alignment.new, &mut alignment.old, j);
        }
    }

    fn same_goal(&self, alignment: &Alignment, x: &Way, y: &Way) -> bool {
        let old = self.old_goal(alignment, x);
        let new = self.new_goal(alignment, y);
        old == new || old == Goal::Unclear || new == Goal::Unclear
    }

    fn old_goal(&self, alignment: &Alignment, way: &Way) -> Goal {
        goal(self.old, &alignment.old, way, |_, other| other)
    }

    fn new_goal(&self, alignment: &Alignment, way: &Way) -> Goal {
        goal(self.new, &alignment.new, way, |root, _| root)
    }

    /// Marks the jumps that a programmer wrote on two ways that differ.
    fn blame_jumps(&self, alignment: &mut Alignment, x: &Way, y: &Way) -> bool {
        let old = x
            .jumps
            .iter()
            .find(|&&jump| is_written(self.old_side, jump));
        let new = y
            .jumps
            .iter()
            .find(|&&jump| is_written(self.new_side, jump));
        alignment.old_jumps.extend(old);
        alignment.new_jumps.extend(new);
        old.is_some() || new.is_some()
    }

    fn check_locals(&self, alignment: &mut Alignment) {
        for (a, matched) in (0..).zip(&alignment.locals) {
            if let Some(b) = *matched {
                let declared = self.old.locals[a as usize].declared;
                if declared != self.new.locals[b as usize].declared {
                    alignment.redeclared.push((a, b));
                }
            }
        }
    }
}

fn edit(alignment: &mut Alignment, i: usize, j: usize) {
    alignment.old[i] = Match::Edited(j);
    alignment.new[j] = Match::Edited(i);
}

/// Takes a root and its partner apart.
fn part(matches: &mut [Match], others: &mut [Match], root: usize) {
    if let Some(other) = matches[root].other() {
        others[other] = Match::Gone;
    }
    matches[root] = Match::Gone;
}

/// Follows a way over added or deleted straight-line code to what both versions have.
fn goal(
    shape: &Shape,
    matches: &[Match],
    way: &Way,
    in_new: impl Fn(usize, usize) -> usize,
) -> Goal {
    let mut current = way;
    // Deleted code cannot loop without a branch, but an endless loop can be deleted.
    for _ in 0..=shape.roots.len() {
        let Some(root) = current.to else {
            return if current.endless {
                Goal::Endless
            } else {
                Goal::End
            };
        };
        match matches[root] {
            Match::Same(other) => return Goal::Root(in_new(root, other), current.incoming),
            // Its values need not be in the same order.
            Match::Edited(other) => return Goal::Root(in_new(root, other), None),
            Match::Gone => {}
        }
        match &shape.roots[root].ways[..] {
            [only] => current = only,
            _ => return Goal::Unclear,
        }
    }
    Goal::Unclear
}

/// Whether a jump was written (`break`, `continue`, `goto`), rather than made at the end of a
/// loop or branch.
fn is_written(side: &Side, jump: StmtId) -> bool {
    let program = side.program;
    let Some(place) = program.stmt(jump).place else {
        return false;
    };
    let text = side.sources.line(program.file(place.file), place.line);
    let text = text.unwrap_or_default();
    let start = (place.column as usize).saturating_sub(1);
    let written = text.get(start..).unwrap_or("");
    let words = ["break", "continue", "goto", "return"];
    // What clang makes up after a jump, as the way from one case into the next, often has the
    // place of the jump.
    let is_first = || {
        let all = program.function_stmts(program.function_of(jump));
        let mut before = all.take_while(|&stmt| stmt != jump);
        !before.any(|stmt| {
            program.stmt(stmt).op == Op::Jump && program.stmt(stmt).place == Some(place)
        })
    };
    words.iter().any(|word| written.starts_with(word)) && is_first()
}
