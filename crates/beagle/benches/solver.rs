//! What the solver does with the questions of the subjects, and what Z3 alone would take:
//! `make bench-solver`.
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/executor/known.rs"]
mod known;
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/executor/questions.rs"]
mod questions;
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/executor/support.rs"]
mod support;

use std::time::{Duration, Instant};

use beagle_solver::{Answer, Budget, Layer, PlainZ3, Solver, Statistics};
use questions::{Recorded, record};
use rustix::time::{ClockId, clock_gettime};

/// Time for one question.
const LIMIT: Duration = Duration::from_secs(2);

/// Time for one question, for Z3. What takes it longer counts as answered by then.
const Z3_LIMIT: Duration = Duration::from_secs(1);

/// Once Z3 has taken so many seconds for questions of one subject, it is asked no more of them.
const Z3_SECONDS: f64 = 40.0;

/// Runs with more conditions are not for Z3: they take it all memory.
const Z3_CONDITIONS: usize = 5000;

/// The times of one question, in seconds.
struct Times {
    satisfiable: bool,
    beagle: f64,
    /// The processor's time of it, which other programs on the machine do not add to.
    processor: f64,
    /// The processor's time for those that Z3 was asked, too.
    incremental: Option<f64>,
    fresh: Option<f64>,
    /// Whether Z3 had no answer in its time.
    is_late: bool,
}

/// So many questions of each subject are for Z3, too.
const FOR_Z3: usize = 20;

fn main() {
    // More with QUESTIONS=n for each subject; without some layers with WITHOUT=search,sat; SLOW=1 lists
    // the questions over 1 ms.
    let most = std::env::var("QUESTIONS").ok();
    let most = most.and_then(|n| n.parse().ok()).unwrap_or(150);
    let without = std::env::var("WITHOUT").unwrap_or_default();
    let without: Vec<&str> = without.split(',').collect();
    let compare = std::env::var_os("NO_Z3").is_none();
    let mut statistics = Statistics::default();
    let subjects = beagle_subjects::subjects(&beagle_subjects::root()).expect("the subjects load");
    let only = std::env::var("SUBJECT").ok();
    let wanted = subjects
        .iter()
        .filter(|s| only.as_ref().is_none_or(|o| *o == s.name));
    let mut asked = Vec::new();
    for subject in wanted {
        let mut recorded = record(subject, most);
        let mut solver = Solver::new(Budget {
            question: LIMIT,
            deadline: None,
        });
        for layer in Layer::ALL {
            if without.contains(&layer.name()) {
                solver.disable(layer);
            }
        }
        let times = ask(&mut recorded, &mut solver);
        println!("{:<10} {}", subject.name, speed(&times));
        statistics.add(solver.statistics());
        asked.push((subject, recorded, times));
    }
    // Only now, so that it cannot make Beagle's answers slower by what it leaves behind.
    if compare {
        for (subject, recorded, times) in &mut asked {
            plain(recorded, times);
            println!("{:<10} {}", subject.name, against(times));
        }
    }
    let times: Vec<Times> = asked.into_iter().flat_map(|(_, _, times)| times).collect();
    println!("\n{statistics}");
    println!(
        "{} questions: {:.2}% under 1 ms ({:.2}% of the processor's time), {:.1} µs geometric mean, {:.1} µs mean",
        times.len(),
        under(times.iter().map(|t| t.beagle)),
        under(times.iter().map(|t| t.processor)),
        geometric(times.iter().map(|t| t.beagle)) * 1e6,
        mean(times.iter().map(|t| t.beagle)) * 1e6,
    );
    if compare {
        let asked = || times.iter().filter_map(|t| t.incremental);
        println!(
            "Z3 incremental on {} of them, at most {FOR_Z3} of a subject, {} s for each ({} late): {:.1} µs geometric mean, {:.1} µs mean: Beagle is {:.1}x faster (geometric mean)",
            asked().count(),
            Z3_LIMIT.as_secs(),
            times.iter().filter(|t| t.is_late).count(),
            geometric(asked()) * 1e6,
            mean(asked()) * 1e6,
            geometric(times.iter().filter_map(ratio)),
        );
        let fresh = times.iter().filter_map(|t| Some((t.fresh?, t.processor)));
        println!(
            "Z3 fresh (every 5th of these): {:.1} µs geometric mean: {:.1}x",
            geometric(fresh.clone().map(|(fresh, _)| fresh)) * 1e6,
            geometric(fresh.map(|(fresh, beagle)| fresh / beagle)),
        );
    }
}

/// How fast the questions of a subject were answered.
fn speed(times: &[Times]) -> String {
    format!(
        "{:>5} questions {:>6.2}% under 1 ms {:>8.1} µs geometric mean {:>8.1} µs mean {:>8.1} µs at 95%",
        times.len(),
        under(times.iter().map(|t| t.processor)),
        geometric(times.iter().map(|t| t.beagle)) * 1e6,
        mean(times.iter().map(|t| t.beagle)) * 1e6,
        quantile(times.iter().map(|t| t.beagle), 0.95) * 1e6,
    )
}

/// What Z3 took for some of the questions of a subject.
fn against(times: &[Times]) -> String {
    format!(
        "Z3 incremental on {:>2}: {:>9.1} µs mean, {:>2} late, {:>8.1}x",
        times.iter().filter_map(|t| t.incremental).count(),
        mean(times.iter().filter_map(|t| t.incremental)) * 1e6,
        times.iter().filter(|t| t.is_late).count(),
        geometric(times.iter().filter_map(ratio)),
    )
}

/// How many times longer Z3 took, if it was asked.
fn ratio(times: &Times) -> Option<f64> {
    Some(times.incremental? / times.processor)
}

/// Beagle's answers.
fn ask(recorded: &mut Recorded, solver: &mut Solver) -> Vec<Times> {
    let mut times = Vec::new();
    let slow = std::env::var_os("SLOW").is_some();
    let pool = &mut recorded.pool;
    for (number, asked) in recorded.paths.iter_mut().enumerate() {
        for &index in &asked.questions {
            let other = pool.not(asked.path.conditions()[index]);
            let before = solver.statistics().clone();
            let (start, processor) = (Instant::now(), processor_time());
            let answer = solver.ask(pool, &mut asked.path, index, &[other]);
            let beagle = start.elapsed().as_secs_f64();
            let processor = processor_time() - processor;
            if slow && processor >= 1e-3 {
                println!(
                    "  run {number}, condition {index}: {}, {:.1} ms{}",
                    outcome(&answer),
                    processor * 1e3,
                    by_layer(&before, solver.statistics())
                );
            }
            if let Answer::Unknown(why) = answer {
                println!("  not known: {} ({:.0} ms)", why.text(), beagle * 1e3);
            }
            times.push(Times {
                satisfiable: matches!(answer, Answer::Satisfiable(_)),
                beagle,
                processor,
                incremental: None,
                fresh: None,
                is_late: false,
            });
        }
    }
    times
}

/// The answer in a word or two.
fn outcome(answer: &Answer) -> String {
    match answer {
        Answer::Satisfiable(model) => format!("{} changes", model.changes.len()),
        Answer::Unsatisfiable(core) => format!("conflict of {}", core.path.len() + 1),
        Answer::Unknown(why) => why.text().to_owned(),
    }
}

/// What each layer took for one question.
fn by_layer(before: &Statistics, after: &Statistics) -> String {
    let one = |layer: Layer| {
        let (before, after) = (before.layer(layer), after.layer(layer));
        let answered =
            before.satisfiable + before.unsatisfiable < after.satisfiable + after.unsatisfiable;
        let time = (after.time - before.time).as_secs_f64() * 1e3;
        let mark = if answered { " (answer)" } else { "" };
        (time >= 0.1 || answered).then(|| format!(", {} {time:.1}{mark}", layer.name()))
    };
    Layer::ALL.into_iter().filter_map(one).collect()
}

/// The time that the processor spent on this thread, in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The share of times under a millisecond, in percent.
fn under(times: impl Iterator<Item = f64>) -> f64 {
    let (all, under) = times.fold((0, 0), |(all, under), time| {
        (all + 1, under + u32::from(time < 1e-3))
    });
    100.0 * f64::from(under) / f64::from(all.max(1))
}

/// Some of the same questions for Z3: the conditions of a run one after the other, the question on top.
fn plain(recorded: &mut Recorded, times: &mut [Times]) {
    let step = times.len().div_ceil(FOR_Z3).max(1);
    let mut spent = 0.0;
    let mut times = times.iter_mut().enumerate();
    let pool = &mut recorded.pool;
    for asked in &recorded.paths {
        let conditions = asked.path.conditions();
        if conditions.len() > Z3_CONDITIONS {
            times.by_ref().take(asked.questions.len()).for_each(drop);
            continue;
        }
        let mut z3 = PlainZ3::new(Z3_LIMIT);
        let known = z3.prepare(pool, conditions);
        let mut done = 0;
        // What it is given can be too much for it, too.
        let mut given_up = false;
        for &index in &asked.questions {
            let other = pool.not(conditions[index]);
            let Some((number, time)) = times.next() else {
                return;
            };
            let counts = number.is_multiple_of(step) && spent < Z3_SECONDS;
            // Questions that Z3 cannot be asked count as answered at the same speed.
            if !known || !z3.prepare(pool, &[other]) {
                time.incremental = counts.then_some(time.processor);
                continue;
            }
            if given_up {
                continue;
            }
            // What only earlier questions need is not timed.
            let start = processor_time();
            given_up = !z3.assert_all(&conditions[done..index]);
            done = index;
            if !counts {
                continue;
            }
            let answer = match given_up {
                true => None,
                false => z3.check(&[other]),
            };
            let taken = processor_time() - start;
            time.incremental = Some(taken);
            time.is_late = answer.is_none();
            spent += taken;
            assert!(
                !(time.satisfiable && answer == Some(false)),
                "Z3 finds no model"
            );
            if (number / step).is_multiple_of(5) && !given_up {
                let mut all = conditions[..index].to_vec();
                all.push(other);
                let start = processor_time();
                z3.check_alone(&all);
                time.fresh = Some(processor_time() - start);
            }
        }
    }
}

fn mean(times: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = times.collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

fn geometric(times: impl Iterator<Item = f64>) -> f64 {
    mean(times.map(f64::ln)).exp()
}

fn quantile(times: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut all: Vec<f64> = times.collect();
    all.sort_by(f64::total_cmp);
    let at = (all.len() as f64 * part) as usize;
    all.get(at).copied().unwrap_or(0.0)
}
