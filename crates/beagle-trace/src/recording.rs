//! A trace that owns what it shows: a copy of one that was read, or one made by hand for tests.

use crate::decode::{Channel, Piece};
use crate::event::{self, Site};
use crate::layout::LossSlot;
use crate::node::{Node, NodeId, mask};
use crate::op::Op;
use crate::trace::{Malformed, Parts, Phase, Stop, Trace};
use crate::{layout, wire};

/// The parts of a trace, owned.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The nodes by number; the one at index 0 does not count.
    pub nodes: Vec<Node>,
    /// The words of the events.
    pub events: Vec<u32>,
    /// The blobs, one after the other.
    pub blobs: Vec<u8>,
    /// How many blobs there are.
    pub blob_count: u32,
    /// What was written.
    pub outputs: Vec<u8>,
    /// Bytes of output that did not fit.
    pub output_lost: u64,
    /// One of the `PHASE_` numbers.
    pub phase: u32,
    /// One of the `STOP_` numbers.
    pub stop: u32,
    /// What the run could not follow.
    pub losses: Vec<LossSlot>,
}

impl Default for Recording {
    fn default() -> Self {
        Self::new()
    }
}

impl Recording {
    /// A trace of a run that came to its end and did nothing.
    pub fn new() -> Self {
        let nothing = Node {
            op: 0,
            flags: 0,
            width: 0,
            a: 0,
            b: 0,
            c: 0,
            value: [0; 2],
        };
        Self {
            nodes: vec![nothing],
            events: Vec::new(),
            blobs: Vec::new(),
            blob_count: 0,
            outputs: Vec::new(),
            output_lost: 0,
            phase: layout::PHASE_EXIT,
            stop: layout::STOP_NONE,
            losses: Vec::new(),
        }
    }

    /// A view of it.
    pub fn trace(&self) -> Result<Trace<'_>, Malformed> {
        Trace::new(Parts {
            nodes: &self.nodes,
            words: &self.events,
            blobs: &self.blobs,
            blob_count: self.blob_count,
            outputs: &self.outputs,
            output_lost: self.output_lost,
            phase: self.phase,
            stop: self.stop,
            losses: self.losses.clone(),
        })
    }

    /// Adds a node.
    pub fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    /// Adds a node made of an operator, a width, the fields `a`, `b`, `c` and a value.
    pub fn node(&mut self, op: Op, width: u16, fields: [u32; 3], value: u128) -> NodeId {
        let [a, b, c] = fields;
        self.push(Node {
            op: op as u8,
            flags: 0,
            width,
            a,
            b,
            c,
            value: [value as u64, (value >> 64) as u64],
        })
    }

    /// Adds a constant.
    pub fn constant(&mut self, width: u16, value: u128) -> NodeId {
        self.node(Op::Const, width, [0; 3], value & mask(width))
    }

    /// Adds a table, with the cells of its bytes unless there are none.
    pub fn push_table(&mut self, address: u64, bytes: &[u8], cells: &[u32]) -> u32 {
        self.blob(wire::BLOB_TABLE, address, bytes, cells)
    }

    /// Adds a conversion of `printf`.
    pub fn push_conversion(&mut self, text: &str) -> u32 {
        self.blob(wire::BLOB_CONVERSION, 0, text.as_bytes(), &[])
    }

    /// Adds a path.
    pub fn push_path(&mut self, path: &[u8]) -> u32 {
        self.blob(wire::BLOB_PATH, 0, path, &[])
    }

    fn blob(&mut self, kind: u32, address: u64, bytes: &[u8], cells: &[u32]) -> u32 {
        let start = self.blobs.len();
        let parts = size_of::<wire::BlobEntry>() + bytes.len().next_multiple_of(4);
        let size = (parts + cells.len() * 4).next_multiple_of(8);
        let words = [
            kind,
            bytes.len() as u32,
            u32::from(!cells.is_empty()),
            size as u32,
        ];
        self.blobs
            .extend(words.iter().flat_map(|w| w.to_le_bytes()));
        self.blobs.extend(address.to_le_bytes());
        self.blobs.extend(bytes);
        self.blobs.resize(start + parts, 0);
        self.blobs
            .extend(cells.iter().flat_map(|c| c.to_le_bytes()));
        self.blobs.resize(start + size, 0);
        self.blob_count += 1;
        self.blob_count
    }

    /// Adds a plain event: a kind and what is above it in the first word.
    pub fn word(&mut self, kind: u32, rest: u32) {
        self.events.push(event::word(kind, rest));
    }

    /// Adds a branch, symbolic if the node is not 0.
    pub fn branch(&mut self, site: Site, taken: bool, node: NodeId) {
        if node == 0 {
            self.word(event::BRANCH | u32::from(taken), site);
        } else {
            self.word(event::SYMBOLIC_BRANCH | u32::from(taken), site);
            self.events.push(node);
        }
    }

    /// Adds an extended event.
    pub fn extended(&mut self, kind: u32, words: &[u32]) {
        self.events.push(event::extended(kind, words.len() as u32));
        self.events.extend(words);
    }

    /// Adds an output and its bytes.
    pub fn output(&mut self, site: Site, channel: Channel, bytes: &[u8], pieces: &[Piece]) {
        let offset = self.outputs.len() as u64;
        self.outputs.extend(bytes);
        let mut words = vec![
            site,
            channel.number(),
            offset as u32,
            (offset >> 32) as u32,
            bytes.len() as u32,
        ];
        for piece in pieces {
            let conversion = piece.conversion.unwrap_or(0);
            words.extend([piece.position, piece.length, piece.node, conversion]);
        }
        self.extended(event::EXT_OUTPUT, &words);
    }
}

impl Trace<'_> {
    /// A copy that stays when the memory is used for the next run.
    pub fn to_recording(&self) -> Recording {
        let slots = self.losses().iter().map(|lost| {
            let mut name = [0; 56];
            let text = lost.function.as_deref().unwrap_or("").as_bytes();
            let length = text.len().min(name.len());
            name[..length].copy_from_slice(&text[..length]);
            LossSlot {
                cause: lost.cause as u32,
                count: lost.count,
                name,
            }
        });
        Recording {
            nodes: self.nodes().to_vec(),
            events: self.words().to_vec(),
            blobs: self.blob_bytes().to_vec(),
            blob_count: self.blob_count(),
            outputs: self.outputs().to_vec(),
            output_lost: self.output_lost(),
            phase: match self.phase() {
                Phase::None => layout::PHASE_NONE,
                Phase::Main => layout::PHASE_MAIN,
                Phase::Exit => layout::PHASE_EXIT,
            },
            stop: match self.stop() {
                None => layout::STOP_NONE,
                Some(Stop::Events) => layout::STOP_EVENTS,
                Some(Stop::Nodes) => layout::STOP_NODES,
                Some(Stop::Blobs) => layout::STOP_BLOBS,
                Some(Stop::Exec) => layout::STOP_EXEC,
                Some(Stop::Broken) => layout::STOP_BROKEN,
            },
            losses: slots.collect(),
        }
    }
}
