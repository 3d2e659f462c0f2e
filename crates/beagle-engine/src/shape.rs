//! Which inputs are wanted: what the user fixed stays as it is.

use beagle_solver::{Expr, Pool, SourceKey, VariableKind};
use beagle_trace::Input;
use beagle_trace::op::Op;

/// What holds for every input that is tried.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The number of arguments, the name of the program included, if it has to stay.
    pub arguments: Option<u32>,
    /// One for each source with bounds.
    pub bounds: Vec<Bounds>,
}

/// What holds for one source.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The source.
    pub source: SourceKey,
    /// Bytes that stay, by index.
    pub fixed: Vec<(u32, u8)>,
    /// How many bytes there are at most.
    pub most: Option<u32>,
}

impl Shape {
    /// The same as conditions. Those that do not hold for the input itself are left out.
    pub fn conditions(&self, pool: &mut Pool, input: &Input) -> Vec<Expr> {
        let mut all = Vec::new();
        for (at, bounds) in self.of_sources(input) {
            let source = pool.source(&bounds.source);
            // A string grows only by what the runtime is told of; see `keep_to`.
            if let Some(most) = bounds.most.filter(|_| !bounds.source.is_string())
                && input.size(at) <= most.into()
            {
                let size = pool.variable(VariableKind::Size(source));
                let most = pool.constant(64, most.into());
                all.push(pool.op(Op::Ule, 1, &[size, most]));
            }
            for &(index, value) in &bounds.fixed {
                if input.byte(at, index) == value {
                    let byte = pool.variable(VariableKind::Byte(source, index));
                    let value = pool.constant(8, value.into());
                    all.push(pool.eq(byte, value));
                }
            }
        }
        if self.arguments == Some(input.arg_count()) {
            let count = pool.variable(VariableKind::ArgCount);
            let now = pool.constant(32, input.arg_count().into());
            all.push(pool.eq(count, now));
        }
        all
    }

    /// Lets strings of an input grow up to their bounds, and no further.
    pub fn keep_to(&self, input: &mut Input) {
        let room: Vec<(u32, u32)> = self
            .of_sources(input)
            .filter(|(_, bounds)| bounds.source.is_string())
            .filter_map(|(at, bounds)| {
                let size = u32::try_from(input.size(at)).ok()?;
                Some((at, bounds.most?.saturating_sub(size)))
            })
            .collect();
        for (at, room) in room {
            input.sources[at as usize].pad = room;
        }
    }

    /// Whether so many bytes may come to a source, wherever.
    pub fn has_room(&self, source: &SourceKey, input: &Input, at: usize, more: usize) -> bool {
        let mut bounds = self.bounds.iter().filter(|bounds| bounds.source == *source);
        let size = input.sources[at].bytes.len() + more;
        bounds.all(|bounds| {
            bounds.fixed.is_empty() && bounds.most.is_none_or(|most| size <= most as usize)
        })
    }

    /// The sources of an input that have bounds.
    fn of_sources(&self, input: &Input) -> impl Iterator<Item = (u32, &Bounds)> {
        let keys = SourceKey::of_input(input);
        self.bounds.iter().filter_map(move |bounds| {
            let at = keys.iter().position(|key| *key == bounds.source)?;
            Some((at as u32, bounds))
        })
    }
}
