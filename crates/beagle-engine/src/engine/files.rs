//! Files that programs look for and that are not there, and files that are there and that nobody reads.
//!
//! Which files there are is not varied: what a program would do with one more is not known.

use std::collections::BTreeSet;

use beagle_trace::layout::Loss;
use beagle_trace::op::Op;
use beagle_trace::{Event, Input, Lost, SourceKind, Trace};

use super::{Engine, Status};

/// So many names are kept of each kind.
const MOST_NAMES: usize = 64;

/// What is known of the files that runs asked for.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Those that are not there and that programs want to read, under names of their own.
    pub absent: BTreeSet<String>,
    /// The same, under names that the input gave.
    pub absent_by_name: BTreeSet<String>,
    /// Those of which [`Engine::expect_read`] was told and that no run has read.
    pub unread: BTreeSet<Vec<u8>>,
}

impl Engine<'_> {
    /// Files of which the user will want to know if no run reads them.
    pub fn expect_read(&mut self, names: impl IntoIterator<Item = Vec<u8>>) {
        self.status.files.unread.extend(names);
    }
}

impl Status {
    /// Notes what a run could not follow for one cause.
    pub(super) fn lose_as(&mut self, lost: &Lost) {
        let names = match lost.cause {
            Loss::Absent => &mut self.files.absent,
            Loss::AbsentByName => &mut self.files.absent_by_name,
            _ => return self.lose(lost.to_string(), lost.count.into()),
        };
        if let Some(name) = &lost.function
            && names.len() < MOST_NAMES
        {
            names.insert(name.clone());
        }
        // What the input names is there if the input has it.
        if lost.cause == Loss::Absent {
            self.lose(lost.to_string(), lost.count.into());
        }
    }
}

impl Files {
    /// Notes which files a run has read.
    pub(super) fn note_read(&mut self, input: &Input, trace: &Trace<'_>) {
        if self.unread.is_empty() {
            return;
        }
        let files = (0u32..).zip(&input.sources);
        let files = files.filter(|(_, source)| source.kind == SourceKind::File);
        for (at, file) in files {
            if self.unread.contains(&file.name) && is_read(trace, at) {
                self.unread.remove(&file.name);
            }
        }
    }
}

/// Whether a source was read, or anything depends on it: memory can be mapped to a file.
fn is_read(trace: &Trace<'_>, wanted: u32) -> bool {
    let mut nodes = trace.nodes().iter();
    let depends =
        nodes.any(|node| matches!(node.op(), Some(Op::Var | Op::Size)) && node.a == wanted);
    let mut events = trace.events();
    depends || events.any(|event| matches!(event, Event::Read { source, .. } if source == wanted))
}
