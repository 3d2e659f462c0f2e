//! Looks through the memory of a trace before anyone relies on it.
//!
//! After this every operand is an earlier node of the right width, every event names nodes and blobs
//! that exist and are of the right kind.

use crate::blob::{Blob, Blobs};
use crate::conversion::Conversion;
use crate::decode::{Channel, Event, Events, Piece};
use crate::node::{Node, NodeId, mask};
use crate::op::{Arity, Op};
use crate::trace::{Malformed, Place};

/// The greatest width of a value in bits.
const MAX_WIDTH: u16 = 128;

/// Checks that all nodes are well typed.
pub(crate) fn nodes(nodes: &[Node], blobs: &Blobs<'_>) -> Result<(), Malformed> {
    for (id, node) in nodes.iter().enumerate().skip(1) {
        check_node(node, &nodes[..id], blobs).map_err(|problem| Malformed {
            place: Place::Node(id as NodeId),
            problem,
        })?;
    }
    Ok(())
}

fn check_node(node: &Node, earlier: &[Node], blobs: &Blobs<'_>) -> Result<(), &'static str> {
    let op = node.op().ok_or("there is no such operator")?;
    let width = node.width;
    ensure(
        (1..=MAX_WIDTH).contains(&width),
        "its width is not between 1 and 128",
    )?;
    ensure(
        node.value() & !mask(width) == 0,
        "its value is wider than it is",
    )?;
    let operand = |id: NodeId| match id {
        0 => Err("an operand is missing"),
        _ => earlier
            .get(id as usize)
            .map(|node| node.width)
            .ok_or("an operand is not an earlier node"),
    };
    let (a, b, c) = match op.arity() {
        Arity::Leaf => (0, 0, 0),
        Arity::One => (operand(node.a)?, 0, 0),
        Arity::Two => (operand(node.a)?, operand(node.b)?, 0),
        Arity::Three => (operand(node.a)?, operand(node.b)?, operand(node.c)?),
    };
    let typed = match op {
        Op::Const => true,
        Op::Var => width == 8,
        Op::Size => width == 64,
        Op::ArgCount => width == 32,
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::UDiv
        | Op::SDiv
        | Op::URem
        | Op::SRem
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Shl
        | Op::LShr
        | Op::AShr => a == width && b == width,
        Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle => width == 1 && a == b,
        Op::ZExt | Op::SExt => a < width,
        Op::Extract => node.c < 128 && u32::from(width) + node.c <= u32::from(a),
        Op::Concat => a + b == width,
        Op::Ite => a == 1 && b == width && c == width,
        Op::Ctpop | Op::Ctlz | Op::Cttz | Op::Bitreverse => a == width,
        Op::Bswap => a == width && width.is_multiple_of(16),
        Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FRem
        | Op::FMin
        | Op::FMax
        | Op::FCopysign => is_float(width) && a == width && b == width,
        Op::FNeg
        | Op::FAbs
        | Op::FSqrt
        | Op::FFloor
        | Op::FCeil
        | Op::FTrunc
        | Op::FRound
        | Op::FRint => is_float(width) && a == width,
        Op::FCmp => width == 1 && is_float(a) && a == b && node.c < 16,
        Op::FpToSi | Op::FpToUi => is_float(a),
        Op::SiToFp | Op::UiToFp => is_float(width),
        Op::FpCast => is_float(width) && is_float(a) && a != width,
        Op::Lookup => a == 64 && width.is_multiple_of(8),
        Op::RenderByte => width == 8,
        Op::RenderLen => width == 32,
    };
    ensure(typed, "its width does not fit its operator and operands")?;
    match op {
        Op::Lookup => {
            let last = blobs
                .table_depends_on(node.b)
                .ok_or("it looks something up in what is not a table")?;
            ensure(
                (last as usize) < earlier.len(),
                "its table depends on a later node",
            )
        }
        Op::RenderByte | Op::RenderLen => conversion(blobs, node.b, a),
        _ => Ok(()),
    }
}

fn conversion(blobs: &Blobs<'_>, number: u32, width: u16) -> Result<(), &'static str> {
    let text = match blobs.get(number) {
        Some(Blob::Conversion(text)) => text,
        _ => return Err("its conversion is not there"),
    };
    let conversion = Conversion::parse(text).ok_or("its conversion cannot be understood")?;
    ensure(
        conversion.takes(width),
        "its conversion does not take a value of that width",
    )
}

fn is_float(width: u16) -> bool {
    width == 32 || width == 64
}

fn ensure(holds: bool, problem: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(problem) }
}

/// Where the events end.
pub(crate) struct End {
    pub words: usize,
    /// The process ended while it wrote an event.
    pub truncated: bool,
}

/// Finds the end of the events, and checks what they refer to. `outputs` is the number of bytes of
/// output, if none are missing.
pub(crate) fn events(
    words: &[u32],
    nodes: &[Node],
    blobs: &Blobs<'_>,
    outputs: Option<usize>,
) -> Result<End, Malformed> {
    let mut events = Events::new(words, &[]);
    loop {
        let start = events.position();
        let problem = match events.next() {
            Some(event) => match check_event(&event, nodes, blobs).and_then(|()| match outputs {
                Some(size) => check_range(&words[start..events.position()], &event, size),
                None => Ok(()),
            }) {
                Ok(()) => continue,
                Err(problem) => problem,
            },
            None if words.get(start).is_none_or(|&word| word == 0) => {
                let (words, truncated) = (start, false);
                return Ok(End { words, truncated });
            }
            None => "it cannot be understood",
        };
        // A process can be killed between the words of an event, whichever it writes first. Nothing
        // follows such an event.
        let next = start + nominal_length(&words[start..]);
        if words.get(next).is_none_or(|&word| word == 0) {
            let (words, truncated) = (start, true);
            return Ok(End { words, truncated });
        }
        return Err(Malformed {
            place: Place::Event(start),
            problem,
        });
    }
}

/// How many words the event has, by its first ones.
pub(crate) fn nominal_length(words: &[u32]) -> usize {
    let first = words.first().copied().unwrap_or(0);
    match first & 7 {
        crate::event::EXTENDED => 1 + (first >> 8) as usize,
        crate::event::SWITCH => 2 + (words.get(1).copied().unwrap_or(0) & 1) as usize,
        crate::event::SYMBOLIC_BRANCH | 3 => 2,
        _ => 1,
    }
}

#[inline]
fn check_event(event: &Event<'_>, nodes: &[Node], blobs: &Blobs<'_>) -> Result<(), &'static str> {
    let node = |id: NodeId| match nodes.get(id as usize) {
        Some(node) if id != 0 => Ok(node.width),
        _ => Err("it names no node"),
    };
    let condition = |id: NodeId| ensure(node(id)? == 1, "its condition has more than one bit");
    match event {
        Event::Branch { node: Some(id), .. } | Event::Assume { node: id, .. } => condition(*id),
        Event::Switch { node: Some(id), .. }
        | Event::Check { node: id, .. }
        | Event::End { node: Some(id), .. } => node(*id).map(drop),
        Event::Value { node: Some(id), .. } => {
            ensure(node(*id)? == 64, "its value has not 64 bits")
        }
        Event::Compared { first, last, .. } => {
            let bytes = node(*first)? == 8 && node(*last)? == 8;
            ensure(bytes, "it compares what is no bytes")
        }
        Event::Bounds { address, .. } => {
            ensure(node(*address)? == 64, "its address has not 64 bits")
        }
        Event::Output {
            channel,
            length,
            pieces,
            ..
        } => {
            if let Channel::File(number) = channel {
                let path = matches!(blobs.get(*number), Some(Blob::Path(_)));
                ensure(path, "its path is not there")?;
            }
            pieces
                .clone()
                .try_for_each(|piece| check_piece(&piece, node(piece.node)?, *length, blobs))
        }
        _ => Ok(()),
    }
}

fn check_piece(
    piece: &Piece,
    width: u16,
    length: u32,
    blobs: &Blobs<'_>,
) -> Result<(), &'static str> {
    let end = piece.position.checked_add(piece.length);
    ensure(
        end.is_some_and(|end| end <= length),
        "a piece reaches outside of it",
    )?;
    match piece.conversion {
        Some(number) => conversion(blobs, number, width),
        None => ensure(
            piece.length <= u32::from(width.div_ceil(8)),
            "a piece is longer than its node",
        ),
    }
}

/// Checks that the bytes of an output are there.
fn check_range(words: &[u32], event: &Event<'_>, size: usize) -> Result<(), &'static str> {
    if let (Event::Output { .. }, &[_, _, _, low, high, length, ..]) = (event, words) {
        let start = u64::from(low) | u64::from(high) << 32;
        let end = start.checked_add(u64::from(length));
        return ensure(
            end.is_some_and(|end| end <= size as u64),
            "its bytes are not there",
        );
    }
    Ok(())
}
