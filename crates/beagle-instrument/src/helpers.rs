//! The helpers of the runtime that instrumented code calls, and the slots between caller and callee.

use beagle_llvm::{Editor, Function, Type, Value};

use crate::Error;

/// Offsets in the slots of the thread; see `struct bg_slots` in the runtime's `inline.c`.
pub mod slot {
    /// The address of the function that is about to be called.
    pub const CALLEE: u64 = 0;
    /// The address of the function that returned.
    pub const RETURNER: u64 = 8;
    /// How many variadic arguments were passed.
    pub const VARIADIC_COUNT: u64 = 16;
    /// The site of the call.
    pub const SITE: u64 = 20;
    /// Shadows of arguments.
    pub const ARGUMENTS: u64 = 24;
    /// How many there can be.
    pub const MAX_ARGUMENTS: usize = 128;
    /// Shadows of results.
    pub const RESULTS: u64 = 536;
    /// How many there can be.
    pub const MAX_RESULTS: usize = 32;
    /// Shadows of variadic arguments.
    pub const VARIADIC: u64 = 664;
    /// How variadic arguments are passed.
    pub const VARIADIC_CLASS: u64 = 920;
    /// How many there can be.
    pub const MAX_VARIADIC: usize = 64;
    /// Where structures that are passed by value come from.
    pub const BYVAL: u64 = 984;
    /// How many there can be.
    pub const MAX_BYVAL: usize = 16;
    /// The variable.
    pub const NAME: &str = "bg_tls";
    /// The size of the memory in which a variadic function keeps its slots.
    pub const VARIADIC_BUFFER: u64 = 336;
}

/// Types of helpers: no value, a word of 32 bits, a long of 64 bits, a pointer.
#[derive(Clone, Copy)]
enum Kind {
    V,
    W,
    L,
    P,
}

macro_rules! helpers {
    ($($name:ident: $result:ident($($parameter:ident)*);)*) => {
        /// The helpers, by name.
        pub struct Helpers<'m> {
            /// The slots of the current thread.
            pub slots: Value<'m>,
            $(pub $name: Function<'m>,)*
        }

        impl<'m> Helpers<'m> {
            /// Finds the helpers in the module, which must have been linked in.
            pub fn find(editor: &Editor<'m>) -> Result<Self, Error> {
                let lacking = || Error::Helper(slot::NAME.to_owned());
                Ok(Helpers {
                    slots: editor.global(slot::NAME).ok_or_else(lacking)?.value(),
                    $($name: find(
                        editor,
                        stringify!($name),
                        Kind::$result,
                        &[$(Kind::$parameter),*],
                    )?,)*
                })
            }
        }
    };
}

helpers! {
    bg_bin: W(W W W L L L W);
    bg_un: W(W W L L);
    bg_select: W(W W W W W L L);
    bg_wide: W(W W W W P W);
    bg_load: W(P W W L);
    bg_load_wide: W(P W W P);
    bg_store: V(P W W);
    bg_clear: V(P L);
    bg_address: V(W P W W W);
    bg_copy: V(P P L W W W W);
    bg_fill: V(P W L W W W W);
    bg_divisor: V(W W);
    bg_branch: V(W W W);
    bg_switch: V(W W W);
    bg_enter: V(W);
    bg_leave: V(W);
    bg_unwound: V(W);
    bg_setjmp_returned: V(W W);
    bg_take: W(P);
    bg_va_save: V(P W);
    bg_va_start: V(P P);
    bg_byval: V(P W L W);
    bg_object: V(P L);
    bg_object_gone: V(P);
    bg_unknown: V(P W);
    bg_unknown_memory: V(P P);
    bg_lost: V(W P W);
    bg_exchange: V(W W);
    bgi_step: W(W W L L L W L W);
    bgi_pin: V(W W L);
    bgi_decide: V(W W W W W L L);
    bgi_access: W(W L P W W W);
}

fn find<'m>(
    editor: &Editor<'m>,
    name: &str,
    result: Kind,
    parameters: &[Kind],
) -> Result<Function<'m>, Error> {
    let ty = |kind: Kind| -> Type<'m> {
        match kind {
            Kind::V => editor.void(),
            Kind::W => editor.int(32),
            Kind::L => editor.int(64),
            Kind::P => editor.pointer(),
        }
    };
    let parameters: Vec<_> = parameters.iter().map(|&kind| ty(kind)).collect();
    let wanted = editor.function_type(ty(result), &parameters);
    editor
        .function(name)
        .filter(|function| function.function_type() == wanted && !function.is_declaration())
        .ok_or_else(|| Error::Helper(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use beagle_trace::op::Op;

    #[test]
    fn operators_have_the_same_numbers_in_c() {
        let source = include_str!("../c/compose.c");
        for (name, op) in [
            ("ADD", Op::Add),
            ("MUL", Op::Mul),
            ("EQ", Op::Eq),
            ("SEXT", Op::SExt),
        ] {
            let line = format!("{name} = {},", op as u8);
            assert!(source.contains(&line), "{line}");
        }
    }
}
