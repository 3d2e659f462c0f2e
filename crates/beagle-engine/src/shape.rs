//! Which inputs are wanted: what the user fixed stays as it is.

use beagle_solver::{Expr, Pool, SourceKey, VariableKind};
use beagle_trace::Input;
use beagle_trace::op::Op;

/// What holds for every input that is tried.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The most bytes that a source may have.
    pub sizes: Vec<(SourceKey, u64)>,
    /// Bytes that have to stay as they are.
    pub fixed: Vec<(SourceKey, u32, u8)>,
    /// Whether the number of arguments has to stay.
    pub arguments_stay: bool,
}

impl Shape {
    /// The same as conditions. Those that do not hold for the input itself are left out.
    pub fn conditions(&self, pool: &mut Pool, input: &Input) -> Vec<Expr> {
        let keys = SourceKey::of_input(input);
        let number = |key: &SourceKey| keys.iter().position(|other| other == key);
        let mut all = Vec::new();
        for (key, most) in &self.sizes {
            let Some(at) = number(key) else { continue };
            if key.is_string() || input.size(at as u32) > *most {
                continue;
            }
            let source = pool.source(key);
            let size = pool.variable(VariableKind::Size(source));
            let most = pool.constant(64, (*most).into());
            all.push(pool.op(Op::Ule, 1, &[size, most]));
        }
        for (key, index, value) in &self.fixed {
            let Some(at) = number(key) else { continue };
            if input.byte(at as u32, *index) != *value {
                continue;
            }
            let source = pool.source(key);
            let byte = pool.variable(VariableKind::Byte(source, *index));
            let value = pool.constant(8, (*value).into());
            all.push(pool.eq(byte, value));
        }
        if self.arguments_stay {
            let count = pool.variable(VariableKind::ArgCount);
            let now = pool.constant(32, input.arg_count().into());
            all.push(pool.eq(count, now));
        }
        all
    }
}
