//! Puts functions that know about shadows in the place of libc's.

use std::collections::BTreeSet;

use beagle_llvm::{Editor, Function, Visibility};

use crate::number::function_number;
use crate::table::Table;

/// Functions of models start with this.
const MODEL: &str = "bg_m_";
/// What is kept of the attributes of a declaration that is replaced.
const KEPT: &[&str] = &["noreturn", "nounwind", "returns_twice", "cold"];

/// Every use of the declaration of a function in the table becomes one of what stands for it. Returns
/// the names that were replaced.
pub fn functions<'m>(editor: &Editor<'m>, table: &Table) -> BTreeSet<String> {
    let mut replaced = BTreeSet::new();
    for function in editor.functions() {
        // A program that defines the function means its own.
        if !function.is_declaration() || function.is_intrinsic() {
            continue;
        }
        let name = function.value().name();
        let Some(&symbol) = table.symbols.get(&*name) else {
            continue;
        };
        let users = function.value().users();
        if users.is_empty() {
            continue;
        }
        let substitute = editor.function(symbol).unwrap_or_else(|| {
            let substitute = editor.declare(symbol, function.function_type());
            for attribute in KEPT {
                if function.has_attribute(attribute) {
                    editor.add_attribute(substitute, attribute);
                }
            }
            substitute
        });
        replace(editor, function, substitute);
        replaced.insert(name);
    }
    for function in editor.functions() {
        // So that those that nothing uses can be dropped.
        if function.value().name().starts_with(MODEL) && function_number(function).is_some() {
            editor.set_visibility(function.value(), Visibility::Module);
        }
    }
    replaced
}

/// A model that calls the function by its own name means the real one.
fn replace<'m>(editor: &Editor<'m>, function: Function<'m>, substitute: Function<'m>) {
    let inside = |user: beagle_llvm::Value<'m>| {
        let user = user.as_instruction()?;
        (user.function()? == substitute).then_some(user)
    };
    let own: Vec<_> = function
        .value()
        .users()
        .into_iter()
        .filter_map(inside)
        .collect();
    editor.replace_uses(function.value(), substitute.value());
    for user in own {
        for (index, operand) in (0..).zip(user.operands()) {
            if operand == substitute.value() {
                editor.set_operand(user, index, function.value());
            }
        }
    }
}
