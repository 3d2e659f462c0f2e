//! What the versions write, by where it goes and in which order of bytes, whatever statement
//! writes it.

use std::collections::BTreeMap;

use beagle_solver::{Expr, Importer, Pool};
use beagle_trace::op::Op;
use beagle_trace::{Blob, Channel, Event, Trace};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The file at this path.
    File(Vec<u8>),
}

/// All that was written to one destination.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The parts that depend on the input, in order.
    pub parts: Vec<Part>,
    /// Where each output starts, and the word of the trace at which its event does.
    pub starts: Vec<(usize, usize)>,
}

impl Stream {
    /// The word of the trace at which the output is that wrote the byte at a position.
    pub fn writer(&self, position: usize) -> Option<usize> {
        let after = self.starts.partition_point(|(start, _)| *start <= position);
        let (_, word) = *self.starts.get(after.checked_sub(1)?)?;
        (position < self.bytes.len()).then_some(word)
    }
}

/// A part of a stream that depends on the input.
#[derive(Clone, Debug)]
pub struct Part {
    /// Where it starts.
    pub position: usize,
    /// How many bytes it has.
    pub length: usize,
    /// The value: its bytes, the lowest first, or what the conversion makes of it.
    pub expr: Expr,
    /// The number in the pool of the conversion of `printf`.
    pub conversion: Option<u32>,
    /// The word of the trace at which the output starts.
    pub word: usize,
}

/// The streams of a run.
#[derive(Debug, Default)]
pub struct Streams {
    /// By where they go.
    pub all: BTreeMap<Destination, Stream>,
    /// Parts that depend on the input in a way that could not be read.
    pub lost: usize,
}

/// Reads what a run wrote.
pub fn streams(pool: &mut Pool, importer: &mut Importer<'_>, trace: &Trace<'_>) -> Streams {
    let Streams { mut all, mut lost } = Streams::default();
    let mut events = trace.events();
    loop {
        let word = events.position();
        let Some(event) = events.next() else { break };
        let Event::Output {
            channel,
            bytes,
            pieces,
            ..
        } = event
        else {
            continue;
        };
        let destination = match channel {
            Channel::Stdout => Destination::Stdout,
            Channel::Stderr => Destination::Stderr,
            Channel::File(blob) => match trace.blob(blob) {
                Some(Blob::Path(path)) => Destination::File(path.to_vec()),
                _ => {
                    lost += 1;
                    continue;
                }
            },
        };
        let stream = all.entry(destination).or_default();
        let start = stream.bytes.len();
        stream.bytes.extend_from_slice(bytes);
        if !bytes.is_empty() {
            stream.starts.push((start, word));
        }
        for piece in pieces {
            let Some(expr) = importer.expr(pool, piece.node) else {
                lost += 1;
                continue;
            };
            let conversion = match piece.conversion.map(|blob| trace.blob(blob)) {
                None => None,
                Some(Some(Blob::Conversion(text))) => Some(pool.add_conversion(text)),
                Some(_) => {
                    lost += 1;
                    continue;
                }
            };
            stream.parts.push(Part {
                position: start + piece.position as usize,
                length: piece.length as usize,
                expr,
                conversion,
                word,
            });
        }
    }
    Streams { all, lost }
}

/// The words of both traces at which the first outputs start that differ, of any destination.
pub fn first_difference(old: &Streams, new: &Streams) -> [Option<usize>; 2] {
    let none = Stream::default();
    let mut first = [None; 2];
    let destinations = old.all.keys().chain(new.all.keys());
    for destination in destinations {
        let a = old.all.get(destination).unwrap_or(&none);
        let b = new.all.get(destination).unwrap_or(&none);
        if a.bytes == b.bytes {
            continue;
        }
        let same = a.bytes.iter().zip(&b.bytes);
        let same = same.take_while(|(x, y)| x == y).count();
        for (first, stream) in first.iter_mut().zip([a, b]) {
            let word = stream.writer(same);
            *first = word.into_iter().chain(*first).min();
        }
    }
    first
}

/// That a part of what is written could differ.
#[derive(Clone, Debug)]
pub struct Disparity {
    /// Holds for inputs on which it differs.
    pub expr: Expr,
    /// The word of old's trace at which the output starts, if old's value depends on the input.
    pub old: Option<usize>,
    /// Likewise for new.
    pub new: Option<usize>,
}

/// What of two streams could differ on other inputs, while the bytes are the same now.
pub fn disparities(pool: &mut Pool, old: &Stream, new: &Stream) -> Vec<Disparity> {
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let (a, b) = (old.parts.get(i), new.parts.get(j));
        match (a, b) {
            (None, None) => break,
            (Some(a), Some(b)) if a.position == b.position && a.length == b.length => {
                found.extend(of_both(pool, a, b));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), Some(b)) if overlap(a, b) => {
                // Cut differently: byte by byte over the longer of them.
                let end = (a.position + a.length).max(b.position + b.length);
                let start = a.position.min(b.position);
                for at in start..end {
                    let left = byte(pool, old, i, at);
                    let right = byte(pool, new, j, at);
                    if let (Some(left), Some(right)) = (left, right)
                        && left != right
                    {
                        let expr = pool.ne(left, right);
                        found.push(disparity(expr, Some(a), Some(b)));
                    }
                }
                let past = |parts: &[Part], mut at: usize| {
                    while parts.get(at).is_some_and(|part| part.position < end) {
                        at += 1;
                    }
                    at
                };
                (i, j) = (past(&old.parts, i), past(&new.parts, j));
            }
            (Some(a), b) if b.is_none_or(|b| a.position < b.position) => {
                found.extend(of_one(pool, a, &new.bytes).map(|e| disparity(e, Some(a), None)));
                i += 1;
            }
            (_, Some(b)) => {
                found.extend(of_one(pool, b, &old.bytes).map(|e| disparity(e, None, Some(b))));
                j += 1;
            }
            (Some(_), None) => break,
        }
    }
    found.retain(|disparity| pool.value(disparity.expr).is_none());
    found
}

fn disparity(expr: Expr, old: Option<&Part>, new: Option<&Part>) -> Disparity {
    Disparity {
        expr,
        old: old.map(|part| part.word),
        new: new.map(|part| part.word),
    }
}

fn overlap(a: &Part, b: &Part) -> bool {
    a.position < b.position + b.length && b.position < a.position + a.length
}

fn of_both(pool: &mut Pool, a: &Part, b: &Part) -> Option<Disparity> {
    let same_text = a.conversion == b.conversion;
    if same_text && a.expr == b.expr {
        return None;
    }
    let expr = if same_text && pool.width(a.expr) == pool.width(b.expr) {
        pool.ne(a.expr, b.expr)
    } else {
        let (x, y) = (part_length(pool, a), part_length(pool, b));
        let mut any = pool.ne(x, y);
        for at in 0..a.length {
            let (x, y) = (part_byte(pool, a, at)?, part_byte(pool, b, at)?);
            let differs = pool.ne(x, y);
            any = pool.op(Op::Or, 1, &[any, differs]);
        }
        any
    };
    Some(disparity(expr, Some(a), Some(b)))
}

/// That a part is not what the other version writes there for every input.
fn of_one(pool: &mut Pool, part: &Part, other: &[u8]) -> Option<Expr> {
    let length = part_length(pool, part);
    let now = pool.constant(32, part.length as u128);
    let mut any = pool.ne(length, now);
    for at in 0..part.length {
        let is = part_byte(pool, part, at)?;
        let constant = pool.constant(8, (*other.get(part.position + at)?).into());
        let differs = pool.ne(is, constant);
        any = pool.op(Op::Or, 1, &[any, differs]);
    }
    Some(any)
}

/// The byte of a stream at a position, from the parts beginning with `first`.
fn byte(pool: &mut Pool, stream: &Stream, first: usize, at: usize) -> Option<Expr> {
    for part in &stream.parts[first..] {
        if part.position > at {
            break;
        }
        if at < part.position + part.length {
            return part_byte(pool, part, at - part.position);
        }
    }
    let value = *stream.bytes.get(at)?;
    Some(pool.constant(8, value.into()))
}

/// How many bytes a part has.
fn part_length(pool: &mut Pool, part: &Part) -> Expr {
    match part.conversion {
        Some(conversion) => pool.rendered_length(part.expr, conversion),
        None => pool.constant(32, part.length as u128),
    }
}

fn part_byte(pool: &mut Pool, part: &Part, at: usize) -> Option<Expr> {
    match part.conversion {
        Some(conversion) => Some(pool.rendered(part.expr, conversion, at as u32)),
        None => {
            let low = u16::try_from(at * 8).ok()?;
            (low + 8 <= pool.width(part.expr)).then(|| pool.extract(part.expr, low, 8))
        }
    }
}
