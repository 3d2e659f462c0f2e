//! One run of both versions, as a path of conditions with the questions that it raises.

mod held;
mod outcome;
mod ways;

use std::hash::{Hash, Hasher};
use std::time::Instant;

use beagle_program::FunctionId;
use beagle_solver::{ConditionKind, Expr, Path, Pool};
use beagle_trace::event::{MODEL_SITES, Site};
use beagle_trace::{AssumeReason, Input};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::affairs::Affairs;
use crate::astray::Astray;
use crate::closing::{Closing, OPEN};
use crate::guess::Guess;
use crate::question::{Aim, Edge, From, Question};
use crate::records::{Outline, Records};
use crate::steps::{Step, What};
use crate::streams;
use crate::traced::Traced;
use crate::trail::Visit;
use crate::twin::{Side, Twin};
use crate::walk::{Met, walk};
use crate::word::Word;

pub use held::Held;

/// That the effect of a change was seen at a place that both versions have.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The place.
    pub site: Site,
    /// The step of the product.
    pub step: usize,
    /// What was seen.
    pub seen: Seen,
}

/// In what the effect of a change was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A variable holds different values.
    Value,
    /// A condition differs, but both versions take the same side.
    Condition,
    /// The versions take different sides.
    Parting,
}

impl Effect {
    /// Whether the versions took different sides.
    pub fn is_parting(&self) -> bool {
        self.seen == Seen::Parting
    }
}

/// What was new in a run to those who do not know which changes were executed before, nor what variables held.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anytime {
    /// How many ways on it was the first to take.
    pub merit: usize,
    /// How many of these are in the program itself.
    pub news: usize,
}

/// One run of both versions.
pub struct Product {
    /// The conditions of both, in the order of the product.
    pub path: Path,
    /// What each condition of the path is.
    pub held: Vec<Held>,
    /// The step from which on each condition no longer decides what is executed.
    pub closed: Vec<usize>,
    /// A number for each prefix of the path: equal for equal conditions.
    pub hashes: Vec<u64>,
    /// The questions that the run raises.
    pub questions: Vec<Question>,
    /// The changes that were executed, with the step at which they first were.
    pub reached: FxHashMap<usize, usize>,
    /// The functions in which changed statements were executed, with the step at which one last was.
    pub visited: FxHashMap<(Side, FunctionId), usize>,
    /// The first step at which a change may have been executed: where the versions had last met
    /// before, as what each does alone is in no order. The greatest number if none was.
    pub changed_from: usize,
    /// Where the effect of changes was seen, in order.
    pub effects: Vec<Effect>,
    /// The steps of both versions in one order, until they were looked at.
    pub order: Vec<Met>,
    /// What the variables held that decide about changes.
    pub affairs: Affairs,
    /// The changes of the change sequence graph that were met, if there is one.
    pub trail: Vec<Visit>,
    /// The records of the input, if they are wanted and it has some.
    pub records: Option<Records>,
    /// Where they are.
    pub outline: Option<Outline>,
    /// How many ways on it was the first to take, and states of affairs it was the first in.
    pub merit: usize,
    /// How many of the ways on are in the program itself, not in models of libc functions.
    pub news: usize,
    /// The same to those who know less.
    pub anytime: Anytime,
    /// If it comes of inputs to start from by answers to `cover` alone: what was new to that.
    pub alone: Option<Anytime>,
    /// How many answers lie between its input and one to start from.
    pub generation: u32,
    /// The ways on that were taken.
    pub edges: FxHashSet<(Side, Edge)>,
    /// The branches that depend on the input, be it by a word that can be put there.
    pub free: FxHashSet<(Side, Site)>,
    /// Conditions that stand in the way of what is wanted, by index, with how little that promises.
    pub hindrances: FxHashMap<usize, f32>,
    /// Conditions and outputs that could not be brought into the pool.
    pub lost: usize,
    /// Whether there are ways on that are not asked for.
    pub cut: bool,
    /// Where the run was to go: see [`loosen`](crate::loosen).
    pub astray: Option<Astray>,
    /// Where it comes from in the end.
    pub stock: Stock,
    /// The number of the nearest run that it comes of, perhaps its own, in which new had nothing to complain about.
    pub sound: Option<u32>,
    /// Whether its input was a guess, and led to nothing new.
    pub is_vain_guess: bool,
}

/// Where a run comes from in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stock {
    /// From an input to start from, by questions.
    #[default]
    Own,
    /// From an input that others found.
    Offered,
}

/// What bounds a product.
#[derive(Clone, Copy, Debug, Default)]
pub struct Within<'a> {
    /// These hold for every input that is wanted.
    pub limits: &'a [Expr],
    /// The rest of a long run is left out then.
    pub deadline: Option<Instant>,
    /// Whether only what new does counts, as if old were not there: its conditions make the path, and the
    /// questions are about its ways on.
    pub new_alone: bool,
}

impl Product {
    /// Joins what the two versions left of a run.
    pub fn new(
        pool: &mut Pool,
        twin: &Twin<'_>,
        input: &Input,
        within: Within<'_>,
        (old, new): (&Traced, &Traced),
    ) -> Self {
        let order = walk(twin, &old.steps, &new.steps);
        let product = Self::of_walk(pool, twin, input, within, (old, new), &order);
        Self { order, ..product }
    }

    /// The same for traces that were walked.
    pub fn of_walk(
        pool: &mut Pool,
        twin: &Twin<'_>,
        input: &Input,
        within: Within<'_>,
        (old, new): (&Traced, &Traced),
        order: &[Met],
    ) -> Self {
        let mut builder = Builder {
            twin,
            old,
            new,
            product: Self {
                path: Path::new(pool, input.clone()),
                held: Vec::new(),
                closed: Vec::new(),
                hashes: vec![0],
                questions: Vec::new(),
                reached: FxHashMap::default(),
                visited: FxHashMap::default(),
                changed_from: usize::MAX,
                effects: Vec::new(),
                order: Vec::new(),
                affairs: Affairs::default(),
                trail: Vec::new(),
                records: None,
                outline: None,
                merit: 0,
                news: 0,
                anytime: Anytime::default(),
                alone: None,
                generation: 0,
                edges: FxHashSet::default(),
                free: FxHashSet::default(),
                hindrances: FxHashMap::default(),
                lost: [old, new]
                    .iter()
                    .map(|t| t.conditions.lost + t.streams.lost)
                    .sum(),
                cut: false,
                astray: None,
                stock: Stock::Own,
                sound: None,
                is_vain_guess: false,
            },
            pool,
            new_alone: within.new_alone,
            step: 0,
            alone: false,
            met: 0,
            context: 0,
            unfollowed: 0,
            level: 0,
            caller: 0,
            executed: 0,
            compared: 0,
            variables: FxHashMap::default(),
            stale: Vec::new(),
            infected: FxHashSet::default(),
            compared_words: Default::default(),
            unequal: FxHashSet::default(),
            settled: FxHashSet::default(),
            known: FxHashMap::default(),
            asked: FxHashMap::default(),
            ahead: FxHashSet::default(),
            closing: [Closing::new(&twin.old), Closing::new(&twin.new)],
            done: FxHashMap::default(),
        };
        for &limit in within.limits {
            let kind = ConditionKind::Assume {
                reason: AssumeReason::Size,
            };
            builder.hold(From::Both, 0, kind, limit);
        }
        builder.product.questions.clear();
        for &met in order {
            let is_late = |deadline| Instant::now() >= deadline;
            if builder.step % 256 == 255 && within.deadline.is_some_and(is_late) {
                builder.product.cut = true;
                break;
            }
            builder.alone = !matches!(met, Met::Both(..));
            builder.meet(met);
            builder.step += 1;
            if matches!(met, Met::Both(..)) {
                builder.met = builder.step;
            }
        }
        if within.new_alone {
            let questions = &mut builder.product.questions;
            questions.retain(|question| question.aim == Aim::Flip);
        } else {
            builder.outputs();
            builder.faults();
        }
        builder.settle();
        builder.product
    }
}

struct Builder<'a> {
    twin: &'a Twin<'a>,
    pool: &'a mut Pool,
    old: &'a Traced,
    new: &'a Traced,
    product: Product,
    /// See [`Within`].
    new_alone: bool,
    step: usize,
    /// Whether only one version took it.
    alone: bool,
    /// The step after the last that both took.
    met: usize,
    context: Site,
    /// The conditions after which no branch of the program came, from this index on.
    unfollowed: usize,
    /// Of the step that is looked at.
    level: u8,
    caller: u32,
    /// How often changes were executed.
    executed: u32,
    /// How often they had been when variables were last compared.
    compared: u32,
    /// What both versions last put into each variable that is compared.
    variables: FxHashMap<u32, [Option<Expr>; 2]>,
    /// Variables that were not compared since something was put there.
    stale: Vec<u32>,
    /// Variables that differ.
    infected: FxHashSet<u32>,
    /// The events at which each version compared words since the last branch.
    compared_words: [Vec<usize>; 2],
    /// What was compared before.
    unequal: FxHashSet<(Expr, Expr)>,
    /// What changes decided by conditions that were held already.
    settled: FxHashSet<(Site, Expr)>,
    /// The conditions that are held already.
    known: FxHashMap<Expr, usize>,
    /// The question that was the first to ask for a condition that decides.
    asked: FxHashMap<Expr, usize>,
    /// Where branches decided by conditions that were held already.
    ahead: FxHashSet<(Site, Expr)>,
    /// The branches that each version is in.
    closing: [Closing<'a>; 2],
    /// How many conditions were there when a version came to a word of its trace.
    done: FxHashMap<(Side, usize), (usize, usize)>,
}

impl Builder<'_> {
    fn traced(&self, side: Side) -> &Traced {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }

    fn meet(&mut self, met: Met) {
        match met {
            Met::Old(at) => self.alone(Side::Old, at as usize),
            Met::New(at) => self.alone(Side::New, at as usize),
            Met::Both(i, j) => self.together(i as usize, j as usize),
        }
    }

    /// Whether what is only from there does not count.
    fn ignores(&self, from: From) -> bool {
        self.new_alone && !from.includes(Side::New)
    }

    fn mark(&self) -> u8 {
        (u32::BITS - self.executed.leading_zeros()) as u8
    }

    fn edge(&self, site: Site, to: Option<u32>) -> Edge {
        let mark = self.mark();
        Edge {
            site,
            to,
            constant: None,
            mark,
            level: self.level,
            caller: self.caller,
        }
    }

    /// What tells a way from others of the same branch.
    fn constant(&self, expr: Expr) -> Option<u64> {
        self.pool.equals_constant(expr).map(|value| value as u64)
    }

    /// A question about what is done now.
    fn question(&self, aim: Aim, asked: Vec<Expr>, from: From, edge: Edge) -> Question {
        let place = (self.product.held.len(), self.step);
        Question::new(aim, place, asked, from, edge)
    }

    fn note(&mut self, side: Side, step: &Step) {
        if self.twin.half(side).stmt(step.site).is_some() {
            self.context = step.site;
            for held in &mut self.product.held[self.unfollowed..] {
                held.next = step.site;
            }
            self.unfollowed = self.product.held.len();
        }
        let to = match step.what {
            What::Branch(taken) => Some(u32::from(!taken)),
            What::Switch(case) => Some(case),
            _ => None,
        };
        if to.is_some() && !self.ignores(From::One(side)) {
            let condition = self.condition(side, step.word as usize);
            if condition.is_some() {
                self.product.free.insert((side, step.site));
            }
            let condition = condition.filter(|_| matches!(step.what, What::Branch(_)));
            let constant = condition.and_then(|(expr, _)| self.constant(expr));
            let edge = self.edge(step.site, to);
            let edge = Edge { constant, ..edge };
            self.product.edges.insert((side, edge));
        }
    }

    fn alone(&mut self, side: Side, at: usize) {
        let step = self.traced(side).steps[at];
        (self.level, self.caller) = (step.level, step.caller);
        let word = step.word as usize;
        let here = (self.product.held.len(), self.step);
        self.closing[side as usize].step(&step, self.step, &mut self.product.closed);
        match step.what {
            What::Enter | What::Leave => return,
            What::Statement => {
                let Some(stmt) = self.twin.half(side).stmt(step.site) else {
                    return;
                };
                self.executed += 1;
                let half = self.twin.half(side);
                let function = half.program.block(half.block(stmt)).function;
                self.product.visited.insert((side, function), self.step);
                self.product.changed_from = self.product.changed_from.min(self.met);
                for &change in self.twin.half(side).changes_of(stmt) {
                    self.product.reached.entry(change).or_insert(self.step);
                }
                return;
            }
            What::Value(place) => {
                if let Some(&value) = self.traced(side).values.get(&word) {
                    self.put(side, place, value);
                }
                return;
            }
            What::Compared => {
                self.compared_words[side as usize].push(word);
                return;
            }
            What::Output | What::Other | What::End => {
                self.done.insert((side, word), here);
            }
            _ => {}
        }
        self.note(side, &step);
        self.put_words(side, From::One(side), &step);
        if let Some((expr, kind)) = self.condition(side, word) {
            self.hold_at(side, From::One(side), &step, kind, expr);
        }
    }

    /// At a branch after a word was compared: asks for the other way on with the text in its place.
    fn put_words(&mut self, side: Side, from: From, step: &Step) {
        if !matches!(step.what, What::Branch(_) | What::Switch(_)) {
            return;
        }
        let mut events = std::mem::take(&mut self.compared_words[side as usize]);
        let is_own = step.site < MODEL_SITES && !self.ignores(from);
        if let What::Branch(taken) = step.what
            && is_own
        {
            // Of several the last is taken: of two names the one that is looked for, in most programs.
            let words = &self.traced(side).words;
            let last = events.iter().rev().find_map(|event| words.get(event));
            if let Some(word) = last.cloned() {
                self.put_word(from, step.site, taken, word);
            }
        }
        events.clear();
        self.compared_words[side as usize] = events;
    }

    fn put_word(&mut self, from: From, site: Site, taken: bool, word: Word) {
        // That another word is the text already does not make this one known to be it.
        let edge = Edge {
            constant: Some(word.text_number()),
            ..self.edge(site, Some(u32::from(taken)))
        };
        let sides = Side::BOTH.into_iter().filter(|&side| from.includes(side));
        self.product.free.extend(sides.map(|side| (side, site)));
        let question = self.question(Aim::Flip, Vec::new(), from, edge);
        self.product.questions.push(Question {
            guess: Some(Guess::Word(word)),
            ..question
        });
    }

    /// Something was put into a variable that is watched.
    fn put(&mut self, side: Side, place: u32, value: Expr) {
        if self.twin.is_compared(place) {
            let known = self.variables.entry(place).or_default();
            known[side as usize] = Some(value);
            self.stale.push(place);
        }
        if side == Side::New && self.twin.is_deciding(place) {
            let value = self.pool.value(value).map(|value| value as u64);
            self.product.affairs.put(self.step, place, value);
        }
    }

    fn condition(&self, side: Side, word: usize) -> Option<(Expr, ConditionKind)> {
        let traced = self.traced(side);
        let &index = traced.by_word.get(&word)?;
        let condition = &traced.conditions.list[index];
        Some((condition.expr, condition.kind.clone()))
    }

    fn together(&mut self, i: usize, j: usize) {
        let (a, b) = (self.old.steps[i], self.new.steps[j]);
        (self.level, self.caller) = (b.level, b.caller);
        for (side, step) in [(Side::Old, &a), (Side::New, &b)] {
            self.closing[side as usize].step(step, self.step, &mut self.product.closed);
        }
        self.compare_variables();
        let here = (self.product.held.len(), self.step);
        let words = (a.word as usize, b.word as usize);
        if a.what == What::End {
            self.done.insert((Side::Old, words.0), here);
            self.done.insert((Side::New, words.1), here);
        }
        if !matches!(a.what, What::Branch(_) | What::Switch(_)) {
            return;
        }
        self.note(Side::Old, &a);
        self.note(Side::New, &b);
        self.compared_words[Side::Old as usize].clear();
        self.put_words(Side::New, From::Both, &b);
        let old = self.condition(Side::Old, words.0);
        let new = self.condition(Side::New, words.1);
        let parted = a.what != b.what;
        let same = match (&old, &new) {
            (Some((x, _)), Some((y, _))) => x == y,
            (None, None) => true,
            _ => false,
        };
        if parted || !same {
            self.product.effects.push(Effect {
                site: a.site,
                step: self.step,
                seen: match parted {
                    true => Seen::Parting,
                    false => Seen::Condition,
                },
            });
        }
        match (old, new) {
            (Some((x, kind)), Some((y, _))) if x == y => {
                self.hold_at(Side::New, From::Both, &b, kind, x);
            }
            (old, new) => {
                if !parted {
                    self.partings(a.site, old.as_ref(), new.as_ref());
                }
                for (side, step, condition) in [(Side::Old, &a, old), (Side::New, &b, new)] {
                    if let Some((expr, kind)) = condition {
                        self.hold_at(side, From::One(side), step, kind, expr);
                    }
                }
            }
        }
    }

    /// Where both versions are again at the same place after a change was executed: what they have made
    /// of their variables.
    fn compare_variables(&mut self) {
        if self.compared == self.executed {
            return;
        }
        self.compared = self.executed;
        let mut stale = std::mem::take(&mut self.stale);
        stale.sort_unstable();
        stale.dedup();
        for place in stale {
            let Some([Some(old), Some(new)]) = self.variables.get(&place).copied() else {
                continue;
            };
            if old == new || !self.unequal.insert((old, new)) {
                continue;
            }
            let path = &mut self.product.path;
            let now = (path.value(self.pool, old), path.value(self.pool, new));
            let (Some(x), Some(y)) = now else { continue };
            let differs = self.pool.ne(old, new);
            if x != y {
                if self.twin.is_single(place) {
                    self.product.effects.push(Effect {
                        site: self.context,
                        step: self.step,
                        seen: Seen::Value,
                    });
                }
                // What comes after is explored for inputs for which this still differs, and for others.
                if self.infected.insert(place) && self.pool.value(differs).is_none() {
                    let kind = ConditionKind::Assume {
                        reason: AssumeReason::Value,
                    };
                    if !self.new_alone {
                        self.hold(From::Both, self.context, kind, differs);
                    }
                }
                continue;
            }
            let edge = self.edge(self.context, None);
            let question = self.question(Aim::Infection, vec![differs], From::Both, edge);
            self.product.questions.push(question);
        }
    }

    /// Asks that the versions take different sides of a branch that they take the same side of now.
    fn partings(
        &mut self,
        site: Site,
        old: Option<&(Expr, ConditionKind)>,
        new: Option<&(Expr, ConditionKind)>,
    ) {
        let edge = self.edge(site, None);
        let old = old.map(|&(expr, _)| expr);
        let new = new.map(|&(expr, _)| expr);
        for (one, other) in [(new, old), (old, new)] {
            let Some(one) = one else { continue };
            let mut asked = vec![self.pool.not(one)];
            asked.extend(other);
            let question = self.question(Aim::Parting, asked, From::Both, edge);
            self.product.questions.push(question);
        }
    }

    /// Adds the condition of a step of this version, and asks for the other ways on.
    fn hold_at(&mut self, side: Side, from: From, step: &Step, kind: ConditionKind, expr: Expr) {
        let index = self.product.held.len();
        self.hold(from, step.site, kind, expr);
        if let Some(held) = self.product.held.get(index)
            && held.taken().is_some()
            && !self.closing[side as usize].add(step, index)
        {
            self.product.closed[index] = self.step + 1;
        }
    }

    /// Adds a condition, and asks for the other ways on.
    fn hold(&mut self, from: From, site: Site, kind: ConditionKind, expr: Expr) {
        if self.ignores(from) {
            return;
        }
        let from = match self.new_alone {
            true => From::One(Side::New),
            false => from,
        };
        // What was held before needs no asking; perhaps the other version held it.
        if let Some(&index) = self.known.get(&expr) {
            self.ask_settled(from, site, &kind, expr);
            self.flips_ahead(from, site, &kind, expr);
            let now = self.product.held.len();
            let held: &mut Held = &mut self.product.held[index];
            if let From::One(before) = held.from
                && from.includes(before.other())
            {
                held.from = From::Both;
                held.joined = Some((before.other(), now));
                held.alone = false;
            }
            return;
        }
        self.flips(from, site, &kind, expr);
        self.known.insert(expr, self.product.held.len());
        self.product.path.push(self.pool, expr);
        let mut hasher = FxHasher::default();
        self.product.hashes.last().hash(&mut hasher);
        expr.hash(&mut hasher);
        self.product.hashes.push(hasher.finish());
        self.product.closed.push(OPEN);
        self.product.held.push(Held {
            from,
            site,
            kind,
            context: self.context,
            next: 0,
            alone: self.alone,
            joined: None,
        });
    }

    fn is_changed(&self, site: Site) -> bool {
        let mut halves = Side::BOTH.into_iter().map(|side| self.twin.half(side));
        halves.any(|half| {
            let stmt = half.stmt(site);
            stmt.is_some_and(|stmt| !half.changes_of(stmt).is_empty())
        })
    }

    /// Whose condition it is was perhaps found out after the question was made.
    fn settle(&mut self) {
        let Product {
            held, questions, ..
        } = &mut self.product;
        // Where the first condition is that only this version has.
        let guard = |side: Side| {
            let mut held = held.iter();
            held.position(|held| held.guards(side))
        };
        let guards = Side::BOTH.map(guard);
        questions.retain_mut(|question| {
            let Some(held) = held
                .get(question.prefix)
                .filter(|_| question.guess.is_none() && !question.is_settled)
            else {
                return true;
            };
            let is_access = matches!(held.kind, ConditionKind::Bounds { .. })
                && held.site == question.edge.site;
            match question.aim {
                Aim::Flip => question.from = held.from,
                // Both versions access the same; only a guard of old can make a difference.
                Aim::Fault if is_access && held.from == From::Both => {
                    question.from = From::One(Side::New);
                    let guard = guards[Side::Old as usize];
                    return guard.is_some_and(|guard| guard < question.prefix);
                }
                _ => {}
            }
            true
        });
    }
}
