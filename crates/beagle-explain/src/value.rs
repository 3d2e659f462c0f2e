//! Values of variables as people write them.

use beagle_engine::Half;
use beagle_program::{Const, Operand, Type};
use beagle_trace::event::Site;

/// A value that a statement put somewhere.
pub fn shown(half: &Half<'_>, site: Option<Site>, value: u64) -> String {
    let program = half.program;
    let stmt = site.and_then(|site| half.stmt(site));
    let operand = stmt.and_then(|stmt| program.operands(stmt).first().copied());
    let ty = match operand {
        Some(Operand::Stmt(stmt)) => Some(program.ty(program.stmt(stmt).ty).clone()),
        Some(Operand::Const(id)) => match program.constant(id) {
            Const::Int { width, .. } => Some(Type::Int(*width)),
            Const::Float(text) if text.starts_with("float") => Some(Type::Float("float")),
            Const::Float(text) if text.starts_with("double") => Some(Type::Float("double")),
            _ => None,
        },
        _ => None,
    };
    match ty {
        Some(Type::Float("float")) => f32::from_bits(value as u32).to_string(),
        Some(Type::Float("double")) => f64::from_bits(value).to_string(),
        Some(Type::Int(width)) => number(value, width),
        _ => number(value, 64),
    }
}

/// With its sign, and as a character if it may be meant as one.
fn number(value: u64, width: u32) -> String {
    let unused = 64 - width.clamp(1, 64);
    let signed = (value << unused) as i64 >> unused;
    match u8::try_from(value) {
        Ok(byte) if width == 8 && (byte.is_ascii_graphic() || byte == b' ') => {
            format!("'{}' ({byte})", char::from(byte))
        }
        _ => signed.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_signs_and_characters_are_shown() {
        assert_eq!(number(0xffff_ffff, 32), "-1");
        assert_eq!(number(7, 32), "7");
        assert_eq!(number(b'a'.into(), 8), "'a' (97)");
        assert_eq!(number(10, 8), "10");
        assert_eq!(number(u64::MAX, 64), "-1");
    }
}
