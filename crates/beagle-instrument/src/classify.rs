//! Who calls whom, and how shadows get there.

use beagle_llvm::{Constant, Editor, Function, Instruction, Linkage, Type, Value, ValueKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::number::function_number;
use crate::symbols::Outside;
use crate::table::Table;

/// The program's `main`, as the runtime calls it.
pub const MAIN: &str = "bg_user_main";

/// A function with instrumentation.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its number in events.
    pub number: u32,
    /// Only the program calls it, by name and with its own type: its callers always pass shadows.
    pub inner: bool,
}

/// What a call calls.
pub enum Target<'m> {
    /// A function that always gets shadows and always returns them.
    Inner,
    /// A function that may do so: its address. For functions of the runtime, the site is passed too.
    Outer(Value<'m>, bool),
    /// Something of LLVM's own.
    Intrinsic(String),
    /// Inline assembler.
    Assembler,
    /// A function of which nothing has to be counted.
    Plain,
    /// A function that nothing is known of.
    Unknown(String),
    /// A helper of the instrumentation.
    Helper,
}

/// All functions.
pub struct Functions<'m, 't> {
    known: FxHashMap<Value<'m>, Known>,
    table: &'t Table<'t>,
    substitutes: FxHashSet<&'t str>,
}

impl<'m, 't> Functions<'m, 't> {
    /// Looks at all functions of the module.
    pub fn of(editor: &Editor<'m>, outside: &Outside, table: &'t Table<'t>) -> Self {
        let resolvers: FxHashSet<_> = editor.resolvers().into_iter().collect();
        let mut known = FxHashMap::default();
        for function in editor.functions() {
            let Some(number) = function_number(function) else {
                continue;
            };
            // Resolvers run before there is shadow memory; naked functions have no room for more.
            if function.is_declaration()
                || editor.is_only_for_optimiser(function)
                || resolvers.contains(&function.value())
                || function.has_attribute("naked")
            {
                continue;
            }
            let inner = !is_visible(function, outside) && is_only_called(function);
            known.insert(function.value(), Known { number, inner });
        }
        let substitutes = table.symbols.values().copied().collect();
        Functions {
            known,
            table,
            substitutes,
        }
    }

    /// What is known of a function, if it has instrumentation.
    pub fn known(&self, function: Function<'m>) -> Option<Known> {
        self.known.get(&function.value()).copied()
    }

    /// What a call calls.
    pub fn target(&self, call: Instruction<'m>) -> Target<'m> {
        let Some(callee) = call.callee() else {
            return Target::Plain;
        };
        if callee.is_assembler() {
            return Target::Assembler;
        }
        let Some(function) = callee.as_function() else {
            return Target::Outer(callee, false);
        };
        if let Some(known) = self.known(function) {
            return match known.inner {
                true => Target::Inner,
                false => Target::Outer(callee, false),
            };
        }
        let name = callee.name();
        if function.is_intrinsic() {
            Target::Intrinsic(name)
        } else if self.substitutes.contains(&*name) {
            Target::Outer(callee, true)
        } else if name.starts_with("bg_") || name.starts_with("bgi_") {
            Target::Helper
        } else if self.table.plain.contains(&*name)
            || function.has_attribute("returns_twice")
            || !function.is_declaration()
        {
            Target::Plain
        } else {
            Target::Unknown(name)
        }
    }
}

fn is_visible(function: Function<'_>, outside: &Outside) -> bool {
    let name = function.value().name();
    matches!(function.linkage(), Linkage::External | Linkage::Weak)
        && (outside.everything || name == MAIN || outside.names.contains(&name))
}

/// Whether all uses are calls with the function's own type, and returns are its own.
fn is_only_called(function: Function<'_>) -> bool {
    let ty = function.function_type();
    function
        .value()
        .users()
        .into_iter()
        .all(|user| is_call(user, function, ty))
        && !function
            .blocks()
            .into_iter()
            .any(|block| block.instructions().any(Instruction::is_must_tail))
}

fn is_call<'m>(user: Value<'m>, function: Function<'m>, ty: Type<'m>) -> bool {
    match user.kind() {
        ValueKind::Instruction(call) => {
            call.called_function() == Some(function)
                && call.called_type() == Some(ty)
                && !call.arguments().contains(&function.value())
        }
        // The address of a label names the function, too.
        ValueKind::Constant(Constant::Label(..)) => true,
        _ => false,
    }
}
