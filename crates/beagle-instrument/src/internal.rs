//! Hides what only the program itself uses, so that the optimiser can inline and drop it.

use beagle_llvm::{Editor, Linkage, Value, Visibility};
use rustc_hash::FxHashSet;

/// Makes every definition private to the module but those in `kept`.
pub fn hide(editor: &Editor<'_>, kept: &FxHashSet<String>, everything_kept: bool) {
    let is_kept = |value: Value<'_>| {
        let name = value.name();
        // Lists such as `llvm.used` and `llvm.global_ctors` mean something to LLVM.
        name.starts_with("llvm.")
            || kept.contains(&name)
            || (everything_kept && !name.starts_with("bg_") && !name.starts_with("bgi_"))
    };
    for function in editor.functions() {
        let visible = matches!(function.linkage(), Linkage::External | Linkage::Weak);
        if visible
            && !function.is_declaration()
            && !editor.is_only_for_optimiser(function)
            && !is_kept(function.value())
        {
            editor.set_visibility(function.value(), Visibility::Module);
        }
    }
    for global in editor.globals() {
        let visible = matches!(global.linkage(), Linkage::External | Linkage::Weak);
        if visible && global.initializer().is_some() && !is_kept(global.value()) {
            editor.set_visibility(global.value(), Visibility::Module);
        }
    }
}
