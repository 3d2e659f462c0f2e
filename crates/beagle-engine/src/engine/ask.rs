//! Asking a question: on both versions as one, on one version alone, or without what stands in the way.

use std::time::Duration;

use beagle_solver::{Answer, Budget, Core, Path, Pool, Solver, Unknown};
use beagle_trace::Input;

use super::Engine;
use crate::frontier::Chosen;
use crate::guess::Guess;
use crate::insert::Insert;
use crate::loosen::{self, Loose};
use crate::product::Product;
use crate::question::{Aim, From, Question};
use crate::resize::Resize;
use crate::strategy;
use crate::twin::Side;

/// The path of one version alone.
pub(super) struct Own {
    path: Path,
    /// How many conditions of the product's prefix are its own.
    prefix: Vec<usize>,
}

/// The time for a question the first time, and when it is put off.
const ROUNDS: [Duration; 3] = [
    Duration::from_millis(50),
    Duration::from_millis(300),
    Duration::from_millis(2000),
];

/// The time to find out what bytes would have to be.
const ATTEMPT: Duration = Duration::from_millis(5);

/// An argument of which nothing is known: a number and a word.
const NEW_ARGUMENT: &[u8] = b"1";

/// What making a conflict smaller costs.
const SHRINK_EFFORT: u64 = 5;

/// What a question without an answer costs, by how often it was put off.
const VAIN_EFFORT: [u64; ROUNDS.len()] = [10, 100, 1000];

impl Engine<'_> {
    /// Finds out what a question can be asked without.
    fn loosen(&mut self, chosen: Chosen) {
        let at = chosen.at;
        let Some(Some(record)) = self.records.get_mut(at.run as usize) else {
            return;
        };
        let question = record.product.questions[at.question as usize].clone();
        let tools = (&mut self.pool, &mut self.solver);
        let run = (&record.product, &record.input);
        let conflict = loosen::shrunk(tools, run, &question, self.options.deadline);
        self.frontier.spend(chosen, SHRINK_EFFORT);
        for question in loosen::loosened(&record.product, &question, &conflict) {
            record.product.questions.push(question);
            let product = &record.product;
            self.frontier.add_last(&self.scene, at.run, product);
        }
    }

    /// Asks a question; the input that it gives.
    pub(super) fn ask(&mut self, chosen: Chosen) -> Option<Input> {
        let at = chosen.at;
        let record = self.records.get_mut(at.run as usize)?.as_mut()?;
        let mut question = record.product.questions[at.question as usize].clone();
        if !question.conflict.is_empty() {
            self.loosen(chosen);
            return None;
        }
        let trier = self.frontier.trier(chosen.strategy);
        if let Some(guess) = &question.guess {
            self.scene.tried(trier, &record.product, &question);
            self.frontier.spend(chosen, 1);
            return guess.put(&record.input, &self.options.shape);
        }
        // None of the ways that were seen.
        if question.aim == Aim::Flip
            && !question.is_settled
            && let Some(held) = record.product.held.get(question.prefix)
            && held.is_open()
            && let Some(seen) = self
                .ways
                .get(&(record.product.hashes[question.prefix], held.site))
        {
            question.asked = seen.iter().map(|&way| self.pool.not(way)).collect();
        }
        self.scene.tried(trier, &record.product, &question);
        let budget = Budget {
            question: ROUNDS[(at.round as usize).min(ROUNDS.len() - 1)],
            deadline: Some(self.options.deadline),
        };
        self.solver.set_budget(budget);
        self.status.queries += 1;
        self.frontier.account(chosen.strategy).queries += 1;
        self.frontier.spend(chosen, 1);
        let (pool, solver) = (&mut self.pool, &mut self.solver);
        let product = &mut record.product;
        let mut answer = if question.without.is_empty() {
            solver.ask(pool, &mut product.path, question.prefix, &question.asked)
        } else {
            let mut loose = Loose::of(pool, product, &record.input, &question);
            loose.ask(pool, solver, &question.asked)
        };
        if let Answer::Unsatisfiable(core) = &answer
            && loosen::is_worth_it(product, &question, &core.path)
        {
            product.questions.push(Question {
                conflict: core.path.clone(),
                ..question.clone()
            });
            self.frontier.add_last(&self.scene, at.run, product);
        }
        let is_change = match question.aim {
            Aim::Output | Aim::Parting | Aim::Infection => true,
            Aim::Flip => {
                let held = product.held.get(question.prefix);
                question.is_settled || held.is_some_and(|held| held.alone)
            }
            Aim::Fault => false,
        };
        // Where nothing is known of parts there is no guess for what is not about a change.
        let is_new = || {
            let hindrance = strategy::hindrance(&self.scene.view(trier), product, &question);
            product.outline.is_some() && hindrance.is_some()
        };
        if question.without.is_empty()
            && matches!(answer, Answer::Unsatisfiable(_))
            && (is_change || is_new())
        {
            self.status.queries += 1;
            self.frontier.spend(chosen, 1);
            solver.set_budget(Budget {
                question: ATTEMPT,
                ..budget
            });
            let run = (&*product, &record.input);
            if let Some(guess) = alone((pool, solver), run, &question, is_change) {
                product.questions.push(Question {
                    is_settled: is_change,
                    guess: Some(guess),
                    ..question.clone()
                });
                self.frontier.add_last(&self.scene, at.run, product);
            }
            solver.set_budget(budget);
        }
        if question.without.is_empty()
            && let Answer::Unsatisfiable(core) = &answer
            && let Some(cost) = strategy::hindrance(&self.scene.view(trier), product, &question)
        {
            // What stands in the way of it may be turned around.
            for index in loosen::hindrances(product, &question, &core.path) {
                let prefix = product.questions[index].prefix;
                let known = product.hindrances.entry(prefix).or_insert(cost);
                *known = known.min(cost);
                (self.frontier).add_again(&self.scene, at.run, product, index);
            }
        }
        if question.without.is_empty()
            && let Answer::Unsatisfiable(core) = &answer
            && let From::One(side) = question.from
            && !is_own(&record.product, core, side, question.prefix)
        {
            // Only the other version stands in the way.
            let own = &mut record.own[side as usize];
            let own =
                own.get_or_insert_with(|| Own::of(pool, &record.product, &record.input, side));
            let prefix = own.prefix[question.prefix];
            self.status.queries += 1;
            answer = solver.ask(pool, &mut own.path, prefix, &question.asked);
        }
        match answer {
            Answer::Satisfiable(model) => {
                self.status.satisfiable += 1;
                self.frontier.account(chosen.strategy).answered += 1;
                match model.apply(pool, record.product.path.hint()) {
                    Ok(mut input) => {
                        fill(&mut input, record.input.arg_count());
                        self.options.shape.keep_to(&mut input);
                        Some(input)
                    }
                    Err(error) => {
                        self.status.lose(format!("input not made: {error}"), 1);
                        None
                    }
                }
            }
            Answer::Unsatisfiable(_) => {
                self.status.unsatisfiable += 1;
                None
            }
            Answer::Unknown(why) => {
                self.unanswered(chosen, &question, why);
                None
            }
        }
    }

    fn unanswered(&mut self, chosen: Chosen, question: &Question, why: Unknown) {
        let at = chosen.at;
        let vain = VAIN_EFFORT[(at.round as usize).min(ROUNDS.len() - 1)];
        self.frontier.spend(chosen, vain);
        if !question.without.is_empty() {
            // Whatever it is about was asked exactly, too.
            return;
        }
        if why == Unknown::Budget && (at.round as usize) + 1 < ROUNDS.len() {
            let Some(record) = &self.records[at.run as usize] else {
                return;
            };
            self.frontier.put_off(&self.scene, &record.product, chosen);
            return;
        }
        // What may not be, cannot be, whatever the solver says of it.
        if question.aim != Aim::Fault {
            self.status
                .lose(format!("question not answered: {}", why.text()), 1);
        }
    }
}

/// An input in which the bytes that a question is about are what they would have to be if nothing stood in the way: in a
/// part that is as much longer or shorter; or, where a change is, behind those that are there.
fn alone(
    (pool, solver): (&mut Pool, &mut Solver),
    (product, input): (&Product, &Input),
    question: &Question,
    is_change: bool,
) -> Option<Guess> {
    let mut nothing = Loose::only(pool, product, input, Vec::new());
    let answer = match nothing.ask(pool, solver, &question.asked) {
        Answer::Satisfiable(model) => model.apply(pool, product.path.hint()).ok()?,
        Answer::Unsatisfiable(_) | Answer::Unknown(_) => return None,
    };
    let parts = product.outline.as_ref();
    let resize = parts.and_then(|parts| Resize::of(input, &answer, parts));
    let insert = || Insert::of(input, &answer).filter(|_| is_change);
    let insert = || insert().map(|insert| Guess::Insert(insert.behind()));
    resize.map(Guess::Resize).or_else(insert)
}

impl Own {
    fn of(pool: &mut Pool, product: &Product, input: &Input, side: Side) -> Self {
        let held = product.held.iter().enumerate();
        let places = held.filter_map(|(index, held)| Some((held.place(side, index)?, index)));
        let mut places: Vec<_> = places.collect();
        places.sort_by_key(|(place, _)| place.order());
        let mut path = Path::new(pool, input.clone());
        for &(_, index) in &places {
            let condition = product.path.conditions()[index];
            path.push(pool, condition);
        }
        let before = |prefix| places.partition_point(|(place, _)| place.is_before(prefix));
        let prefix = (0..=product.held.len()).map(before).collect();
        Self { path, prefix }
    }
}

/// Gives arguments that were added something to begin with, where it does not matter: the run was without them, so
/// none of its conditions is about them. Empty ones are what most programs turn away.
fn fill(input: &mut Input, had: u32) {
    let count = input.arg_count() as usize;
    for added in input.sources[..count].iter_mut().skip(had as usize) {
        if added.bytes.is_empty() {
            added.bytes = NEW_ARGUMENT.to_vec();
        }
    }
}

/// Whether all conditions of a conflict are of one version, and it held them before what is asked.
fn is_own(product: &Product, core: &Core, side: Side, prefix: usize) -> bool {
    let mut conditions = core.path.iter();
    conditions.all(|&index| {
        let held = product.held.get(index);
        held.is_none_or(|held| {
            let place = held.place(side, index);
            place.is_some_and(|place| place.is_before(prefix))
        })
    })
}
