//! Which questions to ask first. Each technique judges the same questions by its own measure.
//!
//! A new technique is one more [`Strategy`] here and one line in [`named`].

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::product::{Held, Product};
use crate::question::{Aim, Edge, Question};
use crate::scene::{Trier, View};
use crate::sequences::{ASTRAY, FAMILIAR};
use crate::twin::Side;

/// A technique.
pub trait Strategy {
    /// The name by which it is switched on.
    fn name(&self) -> &'static str;

    /// How little a question promises: the least is asked first. `None` if it is of no interest.
    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32>;

    /// Whose tries in vain count for it.
    fn trier(&self) -> Trier {
        Trier::Anyone
    }

    /// Whether it wants to know how far it is to changes.
    fn measures(&self) -> bool {
        false
    }

    /// Whether it may profit from what is known of where the changes are.
    fn knows_changes(&self) -> bool {
        true
    }

    /// Whether it turns conditions around for what they decide later.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Whether it goes by what came of its own answers alone.
    fn goes_alone(&self) -> bool {
        false
    }

    /// Whether it may profit from what old does on the same input.
    fn knows_old(&self) -> bool {
        true
    }
}

/// The names of all techniques.
pub const NAMES: [&str; 9] = [
    "shadow",
    "infect",
    "propagate",
    "reach",
    "cover",
    SEQUENCES,
    "isolation",
    "unguided",
    PRUNE,
];

/// To go through the changes in all orders in which they can act. It needs the change sequence graph.
pub const SEQUENCES: &str = "sequences";

/// Not to ask for ways that provably make no difference. It asks nothing itself: see
/// [`Frontier`](crate::frontier::Frontier).
pub const PRUNE: &str = "prune";

/// The technique of this name that asks questions.
pub fn named(name: &str) -> Option<Box<dyn Strategy>> {
    Some(match name {
        "shadow" => Box::new(Shadow),
        "infect" => Box::new(Infect),
        "propagate" => Box::new(Propagate),
        "reach" => Box::new(Reach),
        "cover" => Box::new(Cover),
        SEQUENCES => Box::new(Sequences),
        "isolation" => Box::new(Isolation),
        "unguided" => Box::new(Unguided),
        _ => return None,
    })
}

/// What the condition that a question turns around is about.
fn held<'p>(product: &'p Product, question: &Question) -> Option<&'p Held> {
    product.held.get(question.prefix)
}

/// How often the same was tried in vain, so that nothing is tried over and over.
fn weariness(scene: &View<'_>, product: &Product, question: &Question) -> f32 {
    let vain = vain(scene, product, question.edge);
    if question.is_option() {
        // With one more of other options it is hardly less in vain.
        return OPTION * vain;
    }
    let now = scene.tries_now(product, question);
    vain.min(now.unwrap_or(u32::MAX) as f32).sqrt()
}

/// What is added for an option each time that it was given in vain.
const OPTION: f32 = 4.0;

fn vain(scene: &View<'_>, product: &Product, edge: Edge) -> f32 {
    let tries = scene.tries(product.stock, edge);
    tries.count.saturating_sub(tries.paid) as f32
}

/// Both versions as one: whatever makes them differ at once, then what lies behind a parting.
struct Shadow;

impl Strategy for Shadow {
    fn name(&self) -> &'static str {
        "shadow"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        let weariness = weariness(scene, product, question);
        match question.aim {
            Aim::Output => Some(weariness),
            Aim::Parting => Some(1.0 + weariness),
            Aim::Fault => Some(2.0 + weariness),
            Aim::Infection => None,
            Aim::Flip => {
                let parting = product.effects.iter().find(|effect| effect.is_parting());
                match parting.and_then(|parting| question.step.checked_sub(parting.step)) {
                    // Breadth first from where they part.
                    Some(behind) => Some(10.0 + weariness + (1.0 + behind as f32).ln() * 0.2),
                    None if question.is_settled => Some(ALONE + weariness),
                    None => is_alone(product, question).then_some(ALONE + weariness),
                }
            }
        }
    }
}

/// Whether only one version has come to what decides, although they have not parted: what it decides may be
/// decided otherwise in the other, as where a part of a condition was added or taken out.
fn is_alone(product: &Product, question: &Question) -> bool {
    let is_decision = |held: &Held| held.alone && held.taken().is_some();
    !question.is_loose() && held(product, question).is_some_and(is_decision)
}

/// The cost of turning around such a decision.
const ALONE: f32 = 4.0;

/// Makes the versions put different values into the variables that a change is about.
struct Infect;

impl Strategy for Infect {
    fn name(&self) -> &'static str {
        "infect"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        match question.aim {
            Aim::Infection => Some(1.5 + weariness(scene, product, question)),
            // What the change reads may be the same on this way, and another on another.
            Aim::Flip => {
                let context = held(product, question).map_or(0, |held| held.context);
                if question.is_option() {
                    return None;
                }
                let far = scene.to_feeding(question, context);
                let far = far.map_or(ASTRAY, |far| ASTRAY.min(far as f32));
                Some(toward(scene, product, question, 0.5 * far))
            }
            Aim::Output | Aim::Parting | Aim::Fault => None,
        }
    }
}

/// Pushes the effect of a change on from where it dies.
struct Propagate;

impl Strategy for Propagate {
    fn name(&self) -> &'static str {
        "propagate"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        let weariness = weariness(scene, product, question);
        match question.aim {
            Aim::Output => return Some(weariness),
            Aim::Parting => return Some(1.0 + weariness),
            Aim::Fault | Aim::Infection => return None,
            Aim::Flip => {}
        }
        let first = product.reached.values().min()?;
        let gap = match question.is_option() {
            true => 0.0,
            false => {
                // What follows the change can use what it made.
                question.step.checked_sub(*first)?;
                let leaf = product.effects.last().map_or(*first, |effect| effect.step);
                question.step.abs_diff(leaf) as f32
            }
        };
        let gap = (1.0 + gap).ln() * 0.3;
        let context = held(product, question).map_or(0, |held| held.context);
        let using = scene.to_using(question, context).unwrap_or(FAR).min(FAR);
        let gap = gap + 0.3 * using as f32;
        Some(14.0 + weariness + gap + novelty(scene, product, question) - promise(product))
    }
}

/// No use of what a change assigned is farther.
const FAR: u32 = 5;

/// Comes nearer to changes that were not executed yet.
struct Reach;

impl Strategy for Reach {
    fn name(&self) -> &'static str {
        "reach"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        if question.aim != Aim::Flip {
            return None;
        }
        let context = held(product, question).map_or(0, |held| held.context);
        let distance = scene.to_unreached(question, context)?;
        let ahead = ahead(question, distance)?;
        let weariness = weariness(scene, product, question);
        let novelty = novelty(scene, product, question) * 0.5;
        // All is new in a run on an input to start from.
        let promise = match product.generation {
            0 => promise(product).min(1.0),
            _ => promise(product),
        };
        Some(13.0 + ahead + 2.0 * distance as f32 + weariness + novelty - promise)
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn trier(&self) -> Trier {
        Trier::Reach
    }

    fn measures(&self) -> bool {
        true
    }
}

/// What is added where a condition is turned around for what it decides later; nothing if a change is not near there:
/// of such branches there are many, and most are not come to that way.
fn ahead(question: &Question, distance: u32) -> Option<f32> {
    match (question.is_ahead, distance) {
        (false, _) => Some(0.0),
        (true, 0..=1) => Some(AHEAD),
        (true, _) => None,
    }
}

/// There are other ways to change what is decided later, by which less is decided besides.
const AHEAD: f32 = 1.0;

/// Covers both versions as one, the new before the known, wherever that is: all others go where the changes
/// are, and again and again in other states of affairs. They can be wrong together about where that leads, so it goes
/// on as if they were not there.
struct Cover;

impl Strategy for Cover {
    fn name(&self) -> &'static str {
        "cover"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        elsewhere(scene, product, question)
    }

    fn knows_changes(&self) -> bool {
        false
    }

    fn trier(&self) -> Trier {
        Trier::Cover
    }

    fn goes_alone(&self) -> bool {
        true
    }
}

/// Goes through changes in every order in which they can come; after what a path has met, to what can come
/// next.
struct Sequences;

impl Strategy for Sequences {
    fn name(&self) -> &'static str {
        SEQUENCES
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        if question.aim != Aim::Flip {
            return None;
        }
        let sequences = scene.sequences.as_ref()?;
        let context = held(product, question).map_or(0, |held| held.context);
        if question.is_ahead {
            let distance = scene.to_unreached(question, context)?;
            let far = ahead(question, distance)? + distance as f32;
            return Some(toward(scene, product, question, far));
        }
        let far = match is_lucky(product, question) {
            true => LUCKY_FAR,
            false => sequences.cost(scene, product, question, context),
        };
        Some(toward(scene, product, question, far) + away(product))
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn measures(&self) -> bool {
        true
    }
}

/// Each change by itself, whatever was executed before: what going through them in order is measured
/// against.
struct Isolation;

impl Strategy for Isolation {
    fn name(&self) -> &'static str {
        "isolation"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        if question.aim != Aim::Flip || question.is_option() || question.is_settled {
            return None;
        }
        let context = held(product, question).map_or(0, |held| held.context);
        let far = match is_lucky(product, question) {
            true => LUCKY_FAR,
            false => {
                let (known, each) = FAMILIAR;
                let unreached = scene.to_unreached(question, context);
                let any = scene.to_any(question, context);
                let unreached = unreached.map(|far| far as f32);
                let any = any.map(|far| known + each * far as f32);
                let costs = unreached.into_iter().chain(any);
                costs.fold(ASTRAY, f32::min)
            }
        };
        Some(13.0 + far + anytime(scene, product, question) + away(product))
    }

    fn measures(&self) -> bool {
        true
    }
}

/// The cost of coming nearer to a target.
fn toward(scene: &View<'_>, product: &Product, question: &Question, far: f32) -> f32 {
    let weariness = weariness(scene, product, question) * 2.0;
    13.0 + far + weariness + novelty(scene, product, question) - promise(product)
}

/// Where all else is equal, inputs near to a given one come first: most answers spoil something for a program
/// that expects more of its input, and with it what changes did there in order.
fn away(product: &Product) -> f32 {
    AWAY * product.generation.min(MOST_AWAY) as f32
}

/// What is added for every answer between an input and a given one...
const AWAY: f32 = 0.02;
/// ...and for no more of them than this.
const MOST_AWAY: u32 = 20;

/// Some questions are asked earlier wherever they lead, as distances can be wrong. Always the same ones.
fn is_lucky(product: &Product, question: &Question) -> bool {
    let Edge { site, to, .. } = question.edge;
    let mut hasher = FxHasher::default();
    (product.hashes[question.prefix], site, to).hash(&mut hasher);
    hasher.finish().is_multiple_of(LUCKY)
}

/// One in so many.
const LUCKY: u64 = 16;

/// How far they count as from a target: there are always more of them, so they must not come before what
/// leads to one.
const LUCKY_FAR: f32 = 3.0;

/// Covers new as if nothing were known of the change, and old were only run on what comes of it, as tools do
/// that know one program at a time: what the other techniques are measured against.
struct Unguided;

impl Strategy for Unguided {
    fn name(&self) -> &'static str {
        "unguided"
    }

    fn cost(&self, scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
        elsewhere(scene, product, question)
    }

    fn knows_changes(&self) -> bool {
        false
    }

    fn knows_old(&self) -> bool {
        false
    }
}

/// The cost of going where no run has been, wherever that is.
fn elsewhere(scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
    // To ask without what stands in the way is part of reaching changes.
    let is_its_own = question.aim == Aim::Flip && !question.is_loose() && !question.is_settled;
    is_its_own.then(|| 20.0 + anytime(scene, product, question))
}

/// How well a way on is known to those who do not know what changes were executed before.
fn anytime(scene: &View<'_>, product: &Product, question: &Question) -> f32 {
    let edge = question.edge.anytime();
    let known = vain(scene, product, edge).sqrt() * 2.0 + newness(scene, product, question, edge);
    known - promised(product.news_to(scene.trier()).merit)
}

/// How little it promises to turn around what stands in the way of a question; `None` if the question is for
/// nothing that would be new.
pub fn hindrance(scene: &View<'_>, product: &Product, question: &Question) -> Option<f32> {
    let is_new = match question.aim {
        Aim::Flip => newness(scene, product, question, question.edge) == 0.0,
        Aim::Output | Aim::Parting | Aim::Infection => true,
        Aim::Fault => false,
    };
    is_new.then(|| HINDRANCE + vain(scene, product, question.edge).sqrt())
}

/// Turning around what stands in the way comes before what only leads elsewhere, for a while.
const HINDRANCE: f32 = 11.0;

/// A run that did something for the first time may be near to more of that.
fn promise(product: &Product) -> f32 {
    promised(product.merit)
}

fn promised(merit: usize) -> f32 {
    (1.0 + merit as f32).ln().min(3.0)
}

/// 0 for what no run has done yet, and for what led to something new each time, as the comparison with
/// each name in a list does.
fn novelty(scene: &View<'_>, product: &Product, question: &Question) -> f32 {
    let newness = newness(scene, product, question, question.edge);
    match scene.tries_now(product, question) {
        // Not in this state of affairs.
        Some(0) => newness - UNTRIED,
        _ => newness,
    }
}

/// What is taken off for what was not tried in a state of affairs.
const UNTRIED: f32 = 2.0;

fn newness(scene: &View<'_>, product: &Product, question: &Question, edge: Edge) -> f32 {
    let stock = product.stock;
    let sides = Side::BOTH.into_iter();
    let sides = sides.filter(|&side| question.from.includes(side));
    let counts = sides.map(|side| scene.coverage(stock, side, edge));
    match (edge.to, counts.min()) {
        (Some(_), Some(0)) => 0.0,
        (Some(_), Some(count)) => {
            let tries = scene.tries(stock, edge);
            let vain = 1.0 - tries.paid as f32 / tries.count.max(1) as f32;
            vain * (1.0 + (count as f32).ln() * 0.5)
        }
        _ => 1.0,
    }
}
