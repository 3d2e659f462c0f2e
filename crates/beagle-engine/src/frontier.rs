//! The questions that were not asked yet, for each technique in its own order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::product::{Product, Stock};
use crate::question::{Aim, Question};
use crate::scene::{Scene, Trier};
use crate::strategy::{PRUNE, Strategy};

/// Where a question is: the run, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The number of the run.
    pub run: u32,
    /// The index of the question.
    pub question: u32,
    /// How often it was put off for want of time.
    pub round: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    cost: f32,
    order: u64,
    at: Reference,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The least cost is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .cost
            .total_cmp(&self.cost)
            .then_with(|| other.order.cmp(&self.order))
    }
}

/// What one technique did.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The technique.
    pub name: &'static str,
    /// Questions asked.
    pub queries: u64,
    /// Questions that had an input for an answer.
    pub answered: u64,
    /// Inputs among them that were new, and were run.
    pub inputs: u64,
    /// Inputs on which the traced versions differed.
    pub differences: u64,
    /// Questions that it kept from being asked.
    pub pruned: u64,
}

struct Queue {
    strategy: Box<dyn Strategy>,
    /// By [`Kind`]: else what would show a difference by itself would keep all else from being asked. And by
    /// [`Stock`]: others find many inputs, most of them full of what does not matter.
    heaps: [[BinaryHeap<Entry>; 2]; 3],
    /// What its questions cost, by [`Kind`], in units that do not depend on the machine.
    effort: [u64; 3],
    account: Account,
}

/// Questions of a kind compete with each other only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It would show a difference by itself.
    Direct,
    /// It leads elsewhere.
    Other,
    /// It is not asked on exactly what held: what comes of it is a guess.
    Loose,
}

impl Kind {
    fn of(product: &Product, at: Reference, cost: f32) -> Self {
        let question = &product.questions[at.question as usize];
        let shows = question.aim != Aim::Flip || is_back(product, at);
        match cost < DIRECT && shows {
            _ if question.is_loose() && !question.is_option() => Kind::Loose,
            true => Kind::Direct,
            false => Kind::Other,
        }
    }
}

/// Whether a question would bring a run back to where it was to go.
fn is_back(product: &Product, at: Reference) -> bool {
    let astray = product.astray.as_ref();
    astray.is_some_and(|astray| astray.back == Some(at.question as usize))
}

impl Queue {
    fn goes_alone(&self) -> bool {
        self.strategy.goes_alone()
    }

    /// How little a question promises, whatever makes it so.
    fn cost(&self, scene: &Scene<'_>, product: &Product, at: Reference) -> Option<f32> {
        let question = &product.questions[at.question as usize];
        if question.is_ahead && !self.strategy.looks_ahead() {
            return None;
        }
        let view = scene.view(self.strategy.trier());
        let mut cost = self.strategy.cost(&view, product, question)?;
        if self.strategy.knows_changes() {
            if is_back(product, at) {
                cost = cost.min(BACK);
            }
            if question.moves_bytes() && question.aim == Aim::Flip {
                cost = cost.min(if question.is_settled { BACK } else { INSERT });
            }
            let hindrance = product.hindrances.get(&question.prefix);
            if let Some(&hindrance) = hindrance
                && question.aim == Aim::Flip
                && !question.is_loose()
                && !question.is_settled
            {
                cost = cost.min(hindrance);
            }
        }
        // The runs that come of a long run are long.
        let bulk = (product.held.len() as f32 / SHORT).max(1.0).ln();
        Some(cost + bulk + 10.0 * at.round as f32)
    }
}

/// All questions that were not asked yet.
pub struct Frontier {
    queues: Vec<Queue>,
    /// Of leaving out what cannot make a difference, if that is wanted.
    prune: Option<Account>,
    pruned: FxHashSet<u64>,
    /// By others, and by whoever goes alone.
    asked: [FxHashSet<u64>; 2],
    /// How many there were, by [`Stock`]: what comes of others does not change the order of the rest.
    order: [u64; 2],
    /// Scatters their numbers.
    spread: u64,
    /// What all questions cost, by [`Kind`].
    effort: [u64; 3],
    /// How that is shared, by [`Kind`].
    shares: [Shares; 3],
}

/// What there was to start from gets so many times the effort of what others found, which is full of what does not
/// matter.
const OWN_SHARE: u64 = 2;

/// How effort is shared between what there was to start from and what others found.
#[derive(Clone, Copy, Debug, Default)]
struct Shares([u64; 2]);

impl Shares {
    /// Who has had nothing to ask until now has no claim to the time that the other used.
    fn enter(&mut self, stock: Stock) {
        let [own, offered] = self.0;
        self.0[stock as usize] = own.max(offered);
    }

    fn spend(&mut self, stock: Stock, effort: u64) {
        self.0[stock as usize] += match stock {
            Stock::Own => effort,
            Stock::Offered => OWN_SHARE * effort,
        };
    }

    /// Who had less than its share comes first.
    fn order(self) -> [Stock; 2] {
        let [own, offered] = self.0;
        match own <= offered {
            true => [Stock::Own, Stock::Offered],
            false => [Stock::Offered, Stock::Own],
        }
    }
}

/// A question that is to be asked, and whose idea it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The question.
    pub at: Reference,
    /// The index of the technique.
    pub strategy: usize,
    /// Its kind.
    pub kind: Kind,
    /// Where its run comes from.
    pub stock: Stock,
}

impl Frontier {
    /// For these techniques, and whether to leave out what cannot make a difference; `chance` decides between
    /// questions that promise the same.
    pub fn new(strategies: Vec<Box<dyn Strategy>>, prunes: bool, chance: u64) -> Self {
        let queues = strategies.into_iter().map(|strategy| Queue {
            account: Account {
                name: strategy.name(),
                ..Account::default()
            },
            heaps: Default::default(),
            effort: [0; 3],
            strategy,
        });
        Self {
            queues: queues.collect(),
            prune: prunes.then(|| Account {
                name: PRUNE,
                ..Account::default()
            }),
            pruned: FxHashSet::default(),
            asked: Default::default(),
            order: [0; 2],
            spread: SPREAD.0.wrapping_add(SPREAD.1.wrapping_mul(chance)),
            effort: [0; 3],
            shares: Default::default(),
        }
    }

    /// Adds the questions of a run.
    pub fn add(&mut self, scene: &Scene<'_>, run: u32, product: &Product) {
        for (index, question) in product.questions.iter().enumerate() {
            if let Some(prune) = &mut self.prune
                && scene.is_irrelevant(product, question)
            {
                // Many runs raise the same question.
                prune.pruned += u64::from(self.pruned.insert(key(product, question)));
                continue;
            }
            let at = Reference {
                run,
                question: index as u32,
                round: 0,
            };
            self.push(scene, product, at);
        }
    }

    /// Adds a question again, to be asked with more time.
    pub fn put_off(&mut self, scene: &Scene<'_>, product: &Product, chosen: Chosen) {
        let at = chosen.at;
        let question = &product.questions[at.question as usize];
        let alone = self.goes_alone(chosen.strategy);
        self.asked[usize::from(alone)].remove(&key(product, question));
        let round = at.round + 1;
        self.push_to(scene, product, Reference { round, ..at }, |queue| {
            queue.goes_alone() == alone
        });
    }

    /// What others asked need not be asked again by who goes alone, as that comes to all runs now.
    pub fn join_alone(&mut self) {
        let [others, alone] = &mut self.asked;
        alone.extend(others.iter());
    }

    /// Adds the questions of a run that was there before to those of who goes alone, who has come there, too.
    pub fn add_alone(&mut self, scene: &Scene<'_>, run: u32, product: &Product) {
        self.look_again(scene, run, product, Queue::goes_alone);
    }

    /// Adds the last question of a run, which was raised after all others.
    pub fn add_last(&mut self, scene: &Scene<'_>, run: u32, product: &Product) {
        if let Some(last) = product.questions.len().checked_sub(1) {
            self.add_again(scene, run, product, last);
        }
    }

    /// Adds a question of a run, which promises more than it did if it was there before.
    pub fn add_again(&mut self, scene: &Scene<'_>, run: u32, product: &Product, index: usize) {
        let at = Reference {
            run,
            question: index as u32,
            round: 0,
        };
        let key = key(product, &product.questions[index]);
        if !self.asked.iter().all(|asked| asked.contains(&key)) {
            self.push(scene, product, at);
        }
    }

    /// Lets one technique look again at the questions of a run, as it knows more now.
    pub fn reconsider(&mut self, scene: &Scene<'_>, run: u32, product: &Product, name: &str) {
        self.look_again(scene, run, product, |queue| queue.strategy.name() == name);
    }

    fn look_again(
        &mut self,
        scene: &Scene<'_>,
        run: u32,
        product: &Product,
        who: impl Fn(&Queue) -> bool,
    ) {
        for (index, question) in product.questions.iter().enumerate() {
            if self.prune.is_some() && scene.is_irrelevant(product, question) {
                continue;
            }
            let at = Reference {
                run,
                question: index as u32,
                round: 0,
            };
            self.push_to(scene, product, at, &who);
        }
    }

    fn push(&mut self, scene: &Scene<'_>, product: &Product, at: Reference) {
        self.push_to(scene, product, at, |_| true);
    }

    fn push_to(
        &mut self,
        scene: &Scene<'_>,
        product: &Product,
        at: Reference,
        who: impl Fn(&Queue) -> bool,
    ) {
        let stock = product.stock;
        for (kind, shares) in self.shares.iter_mut().enumerate() {
            let mut queues = self.queues.iter();
            if queues.all(|queue| queue.heaps[kind][stock as usize].is_empty()) {
                shares.enter(stock);
            }
        }
        // Among equals any may come first: those of one place would else come in the order of the
        // input.
        let number = &mut self.order[stock as usize];
        *number += 1;
        let order = number.wrapping_mul(self.spread).rotate_left(23);
        for queue in &mut self.queues {
            let is_others = stock == Stock::Own && product.alone.is_none();
            if !who(queue) || queue.goes_alone() && is_others {
                continue;
            }
            if let Some(cost) = queue.cost(scene, product, at) {
                let kind = Kind::of(product, at, cost);
                let heap = &mut queue.heaps[kind as usize][stock as usize];
                heap.push(Entry { cost, order, at });
            }
        }
    }

    /// The next question. `product` gives the runs that are still known. If what is asked exactly
    /// `suffices`, it ends with that.
    pub fn next<'p>(
        &mut self,
        scene: &Scene<'_>,
        suffices: bool,
        product: impl Fn(u32) -> Option<&'p Product>,
    ) -> Option<Chosen> {
        loop {
            let (strategy, kind, stock) = self.turn(suffices)?;
            let queue = &mut self.queues[strategy];
            let Some(entry) = queue.heaps[kind as usize][stock as usize].pop() else {
                continue;
            };
            let Some(run) = product(entry.at.run) else {
                continue;
            };
            let question = &run.questions[entry.at.question as usize];
            let asked = &mut self.asked[usize::from(queue.goes_alone())];
            let key = key(run, question);
            if asked.contains(&key) {
                continue;
            }
            // What happened since may have made it less promising.
            let Some(cost) = queue.cost(scene, run, entry.at) else {
                continue;
            };
            let now = Kind::of(run, entry.at, cost);
            let heap = &mut queue.heaps[now as usize][stock as usize];
            let next = heap.peek().map(|next| next.cost);
            let is_worse = cost > entry.cost + 0.01 && next.is_some_and(|next| cost > next);
            if now != kind || is_worse {
                heap.push(Entry { cost, ..entry });
                continue;
            }
            asked.insert(key);
            return Some(Chosen {
                at: entry.at,
                strategy,
                kind,
                stock,
            });
        }
    }

    /// Whose turn it is: of those that have a question of the kind whose turn it is, who did least. What
    /// would show a difference by itself comes first, but gets no more than its share; so do guesses. What
    /// others found and what comes of it gets no more than what was there to start from.
    fn turn(&self, suffices: bool) -> Option<(usize, Kind, Stock)> {
        let of = |kind: Kind, stock: Stock| {
            let queues = self.queues.iter().enumerate();
            let waiting =
                queues.filter(|(_, queue)| !queue.heaps[kind as usize][stock as usize].is_empty());
            let least = waiting.min_by_key(|(_, queue)| queue.effort[kind as usize]);
            Some((least?.0, kind, stock))
        };
        let least = |kind: Kind| {
            let stocks = self.shares[kind as usize].order();
            stocks.into_iter().find_map(|stock| of(kind, stock))
        };
        if let Some(alone) = self.turn_alone() {
            return Some(alone);
        }
        let [direct, other, loose] = self.effort;
        let exact = match direct <= HEAD_START + other {
            true => [Kind::Direct, Kind::Other],
            false => [Kind::Other, Kind::Direct],
        };
        let exact = exact.into_iter().find_map(least);
        if suffices && exact.is_none() {
            return None;
        }
        let guess = least(Kind::Loose);
        let part = if self.is_worth_it(guess) { 2 } else { 6 };
        match loose <= HEAD_START_OF_GUESSES + (direct + other) / part {
            true => guess.or(exact),
            false => exact.or(guess),
        }
    }

    /// Who goes alone has a share of everything, so that it takes not much longer than by itself to what others miss.
    fn turn_alone(&self) -> Option<(usize, Kind, Stock)> {
        let (kind, stock) = (Kind::Other, Stock::Own);
        let strategy = self.queues.iter().position(Queue::goes_alone)?;
        let queue = &self.queues[strategy];
        let others = self.effort.iter().sum::<u64>() - queue.effort.iter().sum::<u64>();
        let is_due = others > HEAD_START
            && queue.effort[kind as usize] * ALONE_PART < others - HEAD_START
            && !queue.heaps[kind as usize][stock as usize].is_empty();
        is_due.then_some((strategy, kind, stock))
    }

    /// Whether there is one that goes alone.
    pub fn has_alone(&self) -> bool {
        self.queues.iter().any(Queue::goes_alone)
    }

    /// Whether a technique goes by what came of its own answers alone.
    pub fn goes_alone(&self, strategy: usize) -> bool {
        self.queues[strategy].goes_alone()
    }

    /// Whether a guess promises about as much as what leads elsewhere for sure.
    fn is_worth_it(&self, guess: Option<(usize, Kind, Stock)>) -> bool {
        let cost = |(strategy, kind, stock): (usize, Kind, Stock)| {
            let heap = &self.queues[strategy].heaps[kind as usize][stock as usize];
            heap.peek().map(|entry| entry.cost)
        };
        let Some((strategy, _, stock)) = guess else {
            return false;
        };
        match (guess.and_then(cost), cost((strategy, Kind::Other, stock))) {
            (Some(guess), Some(sure)) => guess <= sure + MARGIN,
            _ => true,
        }
    }

    /// Counts what a question cost.
    pub fn spend(&mut self, chosen: Chosen, effort: u64) {
        let kind = chosen.kind as usize;
        self.queues[chosen.strategy].effort[kind] += effort;
        self.effort[kind] += effort;
        self.shares[kind].spend(chosen.stock, effort);
    }

    /// Counts how long a run was against where it comes from.
    pub fn spend_on_run(&mut self, chosen: Chosen, steps: usize) {
        let effort = steps as u64 / STEPS_PER_EFFORT;
        self.shares[chosen.kind as usize].spend(chosen.stock, effort);
    }

    /// Whether a technique wants to know how far it is to changes.
    pub fn measures(&self) -> bool {
        self.queues.iter().any(|queue| queue.strategy.measures())
    }

    /// Whose tries those of a technique are.
    pub fn trier(&self, strategy: usize) -> Trier {
        self.queues[strategy].strategy.trier()
    }

    /// The names of the techniques that ask.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.queues.iter().map(|queue| queue.strategy.name())
    }

    /// Counts what became of a question.
    pub fn account(&mut self, strategy: usize) -> &mut Account {
        &mut self.queues[strategy].account
    }

    /// What each technique did.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        let asking = self.queues.iter().map(|queue| &queue.account);
        asking.chain(&self.prune)
    }
}

/// What scatters numbers that follow each other, and how it changes with chance: it stays odd.
const SPREAD: (u64, u64) = (0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed02);

/// So much effort may go into questions that would show a difference by themselves before others
/// have their turn.
const HEAD_START: u64 = 100;

/// Whoever goes alone gets one part of so many of what all others do after that head start.
const ALONE_PART: u64 = 4;

/// And so much into guesses.
const HEAD_START_OF_GUESSES: u64 = 25;

/// A run of so many steps more costs as much as a question more.
const STEPS_PER_EFFORT: u64 = 2000;

/// A guess may promise so much less than what leads elsewhere for sure.
const MARGIN: f32 = 2.0;

/// Runs of no more conditions count as short.
const SHORT: f32 = 300.0;

/// The cost of a question that would bring a run back to where it was to go.
const BACK: f32 = 3.0;

/// The cost of having both what an answer put into an input and what it put that in the place of.
const INSERT: f32 = 11.0;

/// Questions that would show a difference by themselves compete with all others from this cost on.
const DIRECT: f32 = 10.0;

/// Equal for questions that are the same.
fn key(product: &Product, question: &Question) -> u64 {
    let mut hasher = FxHasher::default();
    product.hashes[question.prefix].hash(&mut hasher);
    question.asked.hash(&mut hasher);
    (question.aim == Aim::Fault).hash(&mut hasher);
    question.without.hash(&mut hasher);
    question.conflict.hash(&mut hasher);
    question.guess.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_gets_its_share_of_what_is_left() {
        let mut shares = Shares::default();
        shares.enter(Stock::Own);
        shares.spend(Stock::Own, 1000);
        shares.enter(Stock::Offered);
        let mut turns = [0; 2];
        for _ in 0..12 {
            let [first, _] = shares.order();
            turns[first as usize] += 1;
            shares.spend(first, 7);
        }
        assert_eq!(turns, [8, 4]);
    }
}
