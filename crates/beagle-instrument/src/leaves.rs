//! The scalars that a value is made of: each has a shadow of its own.

use beagle_llvm::{Editor, FloatKind, Type, TypeKind};

/// More than this are not followed.
const MAX_LEAVES: usize = 128;
/// The widest integer that is followed.
const MAX_WIDTH: u32 = 128;

/// One scalar of a value.
#[derive(Clone)]
pub struct Leaf {
    /// Width in bits; 0 if it is not followed.
    pub width: u32,
    /// Where it lies in memory, in bytes.
    pub offset: u64,
    /// How many bytes it takes there.
    pub bytes: u32,
    /// How to get to it.
    pub path: Vec<Step>,
}

/// One step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a structure or array.
    Part(u32),
    /// Into a vector.
    Lane(u32),
}

/// The width of a scalar whose values are followed.
pub fn width(ty: Type<'_>) -> Option<u32> {
    match ty.kind() {
        TypeKind::Int(width) if width <= MAX_WIDTH => Some(width),
        TypeKind::Pointer => Some(64),
        TypeKind::Float(FloatKind::Float) => Some(32),
        TypeKind::Float(FloatKind::Double) => Some(64),
        _ => None,
    }
}

/// How many scalars a type is made of; `None` if it is no value, or there are too many.
pub fn count(ty: Type<'_>) -> Option<usize> {
    let count = match ty.kind() {
        TypeKind::Int(_) | TypeKind::Pointer | TypeKind::Float(_) => 1,
        TypeKind::Array(n, element) => usize::try_from(n).ok()?.checked_mul(count(element)?)?,
        TypeKind::Vector(n, element) => (n as usize).checked_mul(count(element)?)?,
        TypeKind::Struct(_, fields) => fields
            .into_iter()
            .try_fold(0, |sum, field| Some(sum + count(field)?))?,
        TypeKind::Void | TypeKind::Function(..) | TypeKind::Other => return None,
    };
    (count <= MAX_LEAVES).then_some(count)
}

/// The scalars of a type, in order; none if it is no value, or there are too many.
pub fn leaves<'m>(editor: &Editor<'m>, ty: Type<'m>) -> Vec<Leaf> {
    let mut found = Vec::new();
    if count(ty).is_some() {
        collect(editor, ty, 0, &mut Vec::new(), &mut found);
    }
    found
}

fn collect<'m>(
    editor: &Editor<'m>,
    ty: Type<'m>,
    offset: u64,
    path: &mut Vec<Step>,
    found: &mut Vec<Leaf>,
) {
    let mut inside = |ty, offset, step| {
        path.push(step);
        collect(editor, ty, offset, path, found);
        path.pop();
    };
    match ty.kind() {
        TypeKind::Struct(_, fields) => {
            for (number, field) in (0..).zip(fields) {
                inside(
                    field,
                    offset + editor.field_offset(ty, number),
                    Step::Part(number),
                );
            }
        }
        TypeKind::Array(count, element) => {
            for number in 0..count {
                let offset = offset + number * editor.size_of(element);
                inside(element, offset, Step::Part(number as u32));
            }
        }
        TypeKind::Vector(count, element) => {
            for number in 0..count {
                let offset = offset + u64::from(number) * editor.store_size_of(element);
                inside(element, offset, Step::Lane(number));
            }
        }
        _ => found.push(Leaf {
            width: width(ty).unwrap_or(0),
            offset,
            bytes: editor.store_size_of(ty) as u32,
            path: path.clone(),
        }),
    }
}

/// Whether the scalars lie in memory where [`Leaf::offset`] says. Vectors of bits are packed.
pub fn is_in_bytes(ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Vector(_, element) => match element.kind() {
            TypeKind::Int(width) => matches!(width, 8 | 16 | 32 | 64 | 128),
            _ => true,
        },
        TypeKind::Array(_, element) => is_in_bytes(element),
        TypeKind::Struct(_, fields) => fields.into_iter().all(is_in_bytes),
        _ => true,
    }
}
