//! Which lines to read first, each with what speaks for it.
//!
//! A changed line that was executed and whose effect can be seen is normally the cause. Lines that did
//! not change are where its effect shows, and come after it.

use beagle_change::{Change, Hunk};
use beagle_engine::{Place, Side, Twin, What};
use beagle_program::StmtId;
use beagle_trace::event::Site;
use rustc_hash::FxHashMap;

use crate::alternates::Alternate;
use crate::observed::{Moment, Observed};
use crate::reach::Reach;
use crate::route::{self, Route};
use crate::{value, ways};

/// A line that may be the cause.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The version that the line is in.
    pub side: Side,
    /// The line.
    pub place: Place,
    /// The function that it is in.
    pub function: Option<String>,
    /// The hunk that it belongs to, as an index into the hunks of the comparison.
    pub hunk: Option<usize>,
    /// What speaks for it, and against it.
    pub evidence: Vec<Evidence>,
    /// What was found out about its hunk by building it alone.
    pub blame: Option<Blame>,
    /// How much speaks for it.
    pub score: i32,
    /// When it was first executed.
    moment: Moment,
}

/// Something that speaks for a line, or against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What it is.
    pub kind: Kind,
    /// In words.
    pub text: String,
}

/// What evidence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It changed, and was executed.
    Changed,
    /// Only old has it, and old executed it.
    Missing,
    /// The versions take different sides of a branch there.
    Parting,
    /// A variable gets different values there.
    Value,
    /// The last change before the versions are seen to differ.
    Nearest,
    /// What differs can depend on it, or cannot.
    Dependence,
    /// How the effect of a change gets there.
    Path,
    /// What is written differs there.
    Output,
    /// A version ended there.
    End,
    /// An alternate input is decided differently there.
    Alternate,
    /// Old with this hunk alone does what new does, or not.
    Blame,
}

impl Kind {
    /// As reports for machines have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Changed => "changed",
            Kind::Missing => "missing",
            Kind::Parting => "parting",
            Kind::Value => "value",
            Kind::Nearest => "nearest",
            Kind::Dependence => "dependence",
            Kind::Path => "path",
            Kind::Output => "output",
            Kind::End => "end",
            Kind::Alternate => "alternate",
            Kind::Blame => "blame",
        }
    }
}

/// What each kind of evidence counts. Only their order matters: a change with an effect of its own, any other change
/// that was executed, lines where the effect shows.
mod weight {
    pub const CHANGED: i32 = 40;
    pub const OWN_EFFECT: i32 = 30;
    pub const FIRST_EFFECT: i32 = 25;
    pub const NEAREST: i32 = 15;
    pub const UNREACHING: i32 = -35;
    pub const ELSEWHERE: i32 = -10;
    pub const LATE: i32 = -20;
    pub const PARTING: i32 = 12;
    pub const VALUE: i32 = 10;
    pub const OUTPUT: i32 = 6;
    pub const END: i32 = 8;
    pub const CULPRIT: i32 = 100;
    pub const NEEDED: i32 = 60;
    pub const ACQUITTED: i32 = -60;
    /// For the first branch of the best alternate.
    pub const ALTERNATE: i32 = 12;
}

/// Puts lines into an order.
pub struct Ranking<'a, 'p> {
    twin: &'a Twin<'p>,
    causes: FxHashMap<(Side, Place), Cause>,
}

impl<'a, 'p> Ranking<'a, 'p> {
    /// Nothing speaks for any line.
    pub fn new(twin: &'a Twin<'p>) -> Self {
        Self {
            twin,
            causes: FxHashMap::default(),
        }
    }

    /// The lines, those to read first first.
    pub fn finish(self) -> Vec<Cause> {
        let mut causes: Vec<Cause> = self.causes.into_values().collect();
        sort(&mut causes);
        causes
    }

    /// What the run itself shows.
    pub fn observe(&mut self, observed: &Observed) {
        self.changes(observed);
        self.effects(observed);
        let mut reach = Reach::new(self.twin);
        self.dependence(observed, &mut reach);
        for Route { place, text } in route::routes(self.twin, observed, &mut reach) {
            let cause = self.causes.get_mut(&place);
            let cause = cause.filter(|it| it.evidence.iter().all(|it| it.kind != Kind::Path));
            if let Some(cause) = cause {
                cause.add(Kind::Path, text, 0);
            }
        }
    }

    fn changes(&mut self, observed: &Observed) {
        // New first: what old has instead belongs to the same line.
        let mut executed: Vec<_> = observed.executed.iter().collect();
        executed.sort_by_key(|it| it.side == Side::Old);
        for it in executed {
            let half = self.twin.half(it.side);
            for &change in half.changes_of(it.stmt) {
                let change = &self.twin.comparison.changes[change];
                let is_missing = it.side == Side::Old;
                for (key, hunk) in lines(self.twin, it.side, it.stmt, change) {
                    let is_known = self.causes.contains_key(&key);
                    if is_missing && is_known {
                        continue;
                    }
                    let evidence = match (is_missing, key.0) {
                        (false, _) => (Kind::Changed, "changed, and executed".to_owned()),
                        (true, Side::Old) => (
                            Kind::Missing,
                            "only old has this line, and executes it".to_owned(),
                        ),
                        (true, Side::New) => (
                            Kind::Missing,
                            "changed, and old executes what is no longer here".to_owned(),
                        ),
                    };
                    let cause = self.cause(key, it.side, it.stmt);
                    cause.hunk = hunk;
                    cause.moment = cause.moment.min(it.moment);
                    if !is_known {
                        cause.add(evidence.0, evidence.1, weight::CHANGED);
                    }
                }
            }
        }
    }

    fn effects(&mut self, observed: &Observed) {
        let first = observed.first_effect();
        let bonus = |moment: Moment| match Some(moment) == first {
            true => weight::FIRST_EFFECT,
            false => 0,
        };
        for (index, parting) in observed.partings.iter().enumerate() {
            let text = ways::parted(self.twin, parting.site, parting.old, parting.new)
                .unwrap_or_else(|| "old and new take different sides".to_owned());
            let rank = weight::PARTING - index.min(8) as i32;
            self.effect(
                Side::New,
                parting.site,
                Kind::Parting,
                &text,
                rank,
                bonus(parting.moment),
            );
        }
        for (index, unequal) in observed.unequal.iter().enumerate() {
            let [old, new] = Side::BOTH.map(|side| {
                let value = unequal.values[side as usize];
                value::shown(self.twin.half(side), unequal.sites[side as usize], value)
            });
            let variable = self.twin.watched_name(unequal.place).unwrap_or("a value");
            let text = format!("`{variable}` is {old} in old and {new} in new");
            let rank = weight::VALUE - index.min(8) as i32;
            let is_changed = |side: Side| {
                let site = unequal.sites[side as usize];
                let stmt = site.and_then(|site| self.twin.half(side).stmt(site));
                stmt.is_some_and(|stmt| !self.twin.half(side).changes_of(stmt).is_empty())
            };
            let only_old = is_changed(Side::Old) && !is_changed(Side::New);
            let side = if only_old { Side::Old } else { Side::New };
            if let Some(site) = unequal.sites[side as usize] {
                self.effect(side, site, Kind::Value, &text, rank, bonus(unequal.moment));
            }
        }
        for unlike in &observed.unlike {
            let text = format!(
                "the first byte of {} that differs is written here",
                destination(&unlike.destination)
            );
            let (side, site) = match unlike.sites {
                [_, Some(site)] => (Side::New, site),
                [Some(site), None] => (Side::Old, site),
                [None, None] => continue,
            };
            let alone = observed.partings.is_empty() && observed.unequal.is_empty();
            let bonus = if alone { weight::FIRST_EFFECT } else { 0 };
            self.effect(side, site, Kind::Output, &text, weight::OUTPUT, bonus);
        }
        self.nearest(observed);
        // What only happens later has not caused it.
        if let Some(seen) = observed.first_seen() {
            for cause in self.causes.values_mut() {
                if cause.hunk.is_some() && cause.moment > seen && cause.moment < Moment::MAX {
                    let text = "first executed when the versions already differ";
                    cause.add(Kind::Nearest, text.to_owned(), weight::LATE);
                }
            }
        }
    }

    /// What was executed last before the versions were seen to differ. Code that is gone counts as a whole: what was
    /// guarded tells as much as the guard.
    fn nearest(&mut self, observed: &Observed) {
        let text = "the last change that is executed before the versions are seen to differ";
        let mut gone = Vec::new();
        for &(side, stmt) in &observed.nearest {
            self.at_change(side, stmt, |cause| {
                cause.add(Kind::Nearest, text.to_owned(), weight::NEAREST);
                if cause.is_gone() {
                    gone.extend(cause.hunk);
                }
            });
        }
        for cause in self.causes.values_mut() {
            let is_known = cause.evidence.iter().any(|it| it.kind == Kind::Nearest);
            if cause.is_gone() && !is_known && cause.hunk.is_some_and(|it| gone.contains(&it)) {
                cause.score += weight::NEAREST;
            }
        }
    }

    /// Adds an effect at a line; that of a change counts more.
    fn effect(&mut self, side: Side, site: Site, kind: Kind, text: &str, rank: i32, bonus: i32) {
        let Some(stmt) = self.twin.half(side).stmt(site) else {
            return;
        };
        let is_change = self.at_change(side, stmt, |cause| {
            let own = match cause.evidence.iter().any(|it| it.kind == kind) {
                true => 0,
                false => weight::OWN_EFFECT,
            };
            cause.add(kind, text.to_owned(), own + bonus);
        });
        if is_change {
            return;
        }
        if let Some(place) = self.twin.half(side).place(stmt) {
            let key = (side, place);
            let cause = self.cause(key, side, stmt);
            let known = cause.evidence.iter().any(|it| it.kind == kind);
            cause.add(kind, text.to_owned(), if known { 0 } else { rank });
        }
    }

    /// Does something with the lines of the changes that a statement belongs to; whether there are any.
    fn at_change(&mut self, side: Side, stmt: StmtId, mut with: impl FnMut(&mut Cause)) -> bool {
        let changes = self.twin.half(side).changes_of(stmt).to_vec();
        let mut is_change = false;
        for change in changes {
            let change = &self.twin.comparison.changes[change];
            for (key, hunk) in lines(self.twin, side, stmt, change) {
                let cause = self.cause(key, side, stmt);
                cause.hunk = cause.hunk.or(hunk);
                with(cause);
                is_change = true;
            }
        }
        is_change
    }

    /// Which of several changes can have had the effect that was first seen.
    fn dependence(&mut self, observed: &Observed, reach: &mut Reach<'_, '_>) {
        let changes: Vec<usize> = {
            let all = observed.executed.iter();
            let all = all.flat_map(|it| self.twin.half(it.side).changes_of(it.stmt));
            let mut all: Vec<usize> = all.copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        if changes.len() < 2 {
            return;
        }
        let (first, written) = (
            observed.first_sites(self.twin),
            observed.output_sites(self.twin),
        );
        for change in changes {
            let data = &self.twin.comparison.changes[change];
            let (text, count) = if reach.reaches(data, &written) == Some(false) {
                (
                    "what is written differently does not depend on it",
                    weight::UNREACHING,
                )
            } else if reach.reaches(data, &first) == Some(false) {
                (
                    "what first differs does not depend on it",
                    weight::ELSEWHERE,
                )
            } else {
                continue;
            };
            let mut done: Vec<(Side, Place)> = Vec::new();
            for (side, stmts) in [(Side::Old, &data.old), (Side::New, &data.new)] {
                for &stmt in stmts {
                    for (key, _) in lines(self.twin, side, stmt, data) {
                        if let Some(cause) = self.causes.get_mut(&key)
                            && !done.contains(&key)
                        {
                            cause.add(Kind::Dependence, text.to_owned(), count);
                            done.push(key);
                        }
                    }
                }
            }
        }
    }

    /// Where versions end that should not.
    pub fn ended(&mut self, side: Side, site: Option<Site>, text: &str) {
        if let Some(site) = site {
            self.effect(side, site, Kind::End, text, weight::END, 0);
        }
    }

    /// What alternate inputs tell, the best first. Unless they are all there is (`alone`), lines of old are
    /// shown where new has something in their place.
    pub fn alternates(&mut self, alternates: &[Alternate], alone: bool) {
        for (number, alternate) in alternates.iter().enumerate() {
            for (index, branch) in alternate.branches.iter().enumerate() {
                let text = match branch.explained {
                    What::Value(place) => format!(
                        "alternate input {} goes the same way with another value of `{}`",
                        number + 1,
                        self.twin.watched_name(place).unwrap_or("a variable")
                    ),
                    _ => {
                        let version = crate::alternates::name(alternate.side);
                        let number = number + 1;
                        match &branch.ways {
                            Some([way, other]) => {
                                format!(
                                    "{version} goes on {way}, with alternate input {number} {other}"
                                )
                            }
                            None => {
                                format!(
                                    "{version} takes another side with alternate input {number}"
                                )
                            }
                        }
                    }
                };
                let rank = weight::ALTERNATE / (1 + number as i32 + index as i32);
                let here = (alternate.side, branch.place.clone());
                let key = if alone {
                    here
                } else {
                    self.in_new(here, branch.site)
                };
                let function = function_at(self.twin, alternate.side, branch.site);
                let (side, place) = key.clone();
                let cause = self.causes.entry(key);
                let cause = cause.or_insert_with(|| Cause::new(side, place, function));
                let known = cause.evidence.iter().any(|it| it.kind == Kind::Alternate);
                match known {
                    true => cause.score += rank.max(1),
                    false => cause.add(Kind::Alternate, text, rank.max(1)),
                }
            }
        }
    }

    /// The line of new that stands for a line of old, if there is one.
    fn in_new(&self, (side, place): (Side, Place), site: Site) -> (Side, Place) {
        if side == Side::New {
            return (side, place);
        }
        if self.twin.is_shared(site)
            && let Some(there) = self.twin.new.stmt(site)
            && let Some(there) = self.twin.new.place(there)
        {
            return (Side::New, there);
        }
        let mut hunks = self.twin.comparison.hunks.iter();
        let hunk = hunks.find(|it| it.old_file == place.file && it.old.contains(&place.line));
        match hunk {
            Some(hunk) => on_page(side, &place, hunk),
            None => (side, place),
        }
    }

    fn cause(&mut self, key: (Side, Place), side: Side, stmt: StmtId) -> &mut Cause {
        let program = self.twin.half(side).program;
        let function = || Some(program.function(program.function_of(stmt)).name.clone());
        let (at, place) = key.clone();
        self.causes
            .entry(key)
            .or_insert_with(|| Cause::new(at, place, function()))
    }
}

/// The lines that a changed statement stands for, with their hunks: its own if that is in a hunk, else those that
/// changed.
pub fn lines(
    twin: &Twin<'_>,
    side: Side,
    stmt: StmtId,
    change: &Change,
) -> Vec<((Side, Place), Option<usize>)> {
    let half = twin.half(side);
    let own = half.place(stmt);
    let hunks: Vec<(usize, &Hunk)> = (change.hunks.iter())
        .filter_map(|&index| Some((index, twin.comparison.hunks.get(index)?)))
        .collect();
    let inside = |hunk: &Hunk, place: &Place| {
        let (file, lines) = match side {
            Side::Old => (&hunk.old_file, &hunk.old),
            Side::New => (&hunk.new_file, &hunk.new),
        };
        *file == place.file && lines.contains(&place.line)
    };
    let own_hunk = own.as_ref().and_then(|place| {
        let mut hunks = hunks.iter();
        hunks.find(|(_, hunk)| inside(hunk, place))
    });
    if let (Some(place), Some(&(index, hunk))) = (&own, own_hunk) {
        return vec![(on_page(side, place, hunk), Some(index))];
    }
    if hunks.is_empty() {
        return own.map(|place| ((side, place), None)).into_iter().collect();
    }
    let lines = hunks.into_iter().map(|(index, hunk)| {
        let key = match hunk.new.is_empty() {
            true => (Side::Old, place(&hunk.old_file, hunk.old.start)),
            false => (Side::New, place(&hunk.new_file, hunk.new.start)),
        };
        (key, Some(index))
    });
    lines.collect()
}

/// What becomes of the order when hunks were tried alone.
pub fn blame(causes: &mut [Cause], hunk: usize, verdict: Blame) {
    for cause in causes.iter_mut().filter(|it| it.hunk == Some(hunk)) {
        let (text, count) = match verdict {
            Blame::Culprit => (
                "old with this hunk alone does what new does",
                weight::CULPRIT,
            ),
            Blame::Needed => ("new without this hunk does what old does", weight::NEEDED),
            Blame::Acquitted => (
                "old with this hunk alone still does what old does",
                weight::ACQUITTED,
            ),
        };
        cause.blame = Some(verdict);
        cause.add(Kind::Blame, text.to_owned(), count);
    }
    sort(causes);
}

/// What was found out about a hunk by building it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// It alone makes the difference.
    Culprit,
    /// It takes it, but not alone.
    Needed,
    /// It alone changes nothing.
    Acquitted,
}

impl Cause {
    fn new(side: Side, place: Place, function: Option<String>) -> Self {
        Self {
            side,
            place,
            function,
            hunk: None,
            evidence: Vec::new(),
            blame: None,
            score: 0,
            moment: Moment::MAX,
        }
    }

    /// Whether only old has the line.
    fn is_gone(&self) -> bool {
        self.side == Side::Old && self.evidence.iter().any(|it| it.kind == Kind::Missing)
    }

    /// What comes first of lines for which as much speaks: of code that is gone its beginning, else what was
    /// executed last.
    fn turn(&self) -> (bool, Moment) {
        match self.moment {
            Moment::MAX => (true, 0),
            moment if self.is_gone() => (false, moment),
            moment => (false, Moment::MAX - moment),
        }
    }

    fn add(&mut self, kind: Kind, text: String, count: i32) {
        self.score += count;
        let evidence = Evidence { kind, text };
        if self.evidence.len() < MOST_EVIDENCE && !self.evidence.contains(&evidence) {
            self.evidence.push(evidence);
        }
    }
}

/// So much is kept of what speaks for a line.
const MOST_EVIDENCE: usize = 6;

fn sort(causes: &mut [Cause]) {
    causes.sort_by(|a, b| {
        let key = |it: &Cause| (-it.score, it.turn(), it.side == Side::Old);
        key(a).cmp(&key(b)).then_with(|| a.place.cmp(&b.place))
    });
}

fn place(file: &str, line: u32) -> Place {
    Place {
        file: file.to_owned(),
        line,
    }
}

/// Where a line of a hunk is shown: a line of old in new, if new has something in its place.
fn on_page(side: Side, at: &Place, hunk: &Hunk) -> (Side, Place) {
    if side == Side::New || hunk.new.is_empty() {
        return (side, at.clone());
    }
    let line = hunk.new.start + (at.line - hunk.old.start).min(hunk.new.end - hunk.new.start - 1);
    (Side::New, place(&hunk.new_file, line))
}

fn function_at(twin: &Twin<'_>, side: Side, site: Site) -> Option<String> {
    let half = twin.half(side);
    let stmt = half.stmt(site)?;
    let program = half.program;
    Some(program.function(program.function_of(stmt)).name.clone())
}

/// Where something is written, in words.
pub fn destination(destination: &beagle_engine::Destination) -> String {
    use beagle_engine::Destination as To;
    match destination {
        To::Stdout => "standard output".to_owned(),
        To::Stderr => "standard error".to_owned(),
        To::File(path) => format!("the file {}", path.escape_ascii()),
    }
}
