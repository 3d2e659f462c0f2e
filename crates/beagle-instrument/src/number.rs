//! Numbers for statements and functions, kept in the module itself while passes run over it.
//!
//! A statement's site is a remark on its instruction, a function's number is an attribute: both
//! survive linking, and what is made of them by later passes has none.

use std::path::Path;

use beagle_llvm::{Cast, Editor, FloatKind, Function, Instruction, Module, Opcode, TypeKind};
use beagle_trace::event::{ADDRESS, MODEL_SITES, Site};

use crate::{Error, Ids};

/// The remark on instructions.
pub const SITE: &str = "beagle.site";
/// The attribute of functions of the program and of models.
pub const FUNCTION: &str = "beagle-function";
/// The helper that records that a statement was executed.
const STATEMENT: &str = "bg_statement";
/// The helper that records what is put into a variable.
pub const WATCH: &str = "bg_watch";
/// Functions of models are numbered from here on.
const MODEL_FUNCTIONS: u32 = 1 << 27;

/// Numbers the program as the caller says, and adds the probes: later, statements that only move
/// local variables are no longer there.
pub fn program(module: &mut Module, ids: &Ids) -> Result<(), Error> {
    module.edit(|editor| {
        let functions = editor.functions();
        if functions.len() != ids.functions.len() {
            return Err(Error::Ids {
                what: "functions",
                given: ids.functions.len(),
                found: functions.len(),
            });
        }
        let mut next = 0usize;
        // These run before the runtime does, or have no room for more.
        let resolvers = editor.resolvers();
        let is_bare = |function: Function<'_>| {
            resolvers.contains(&function.value()) || function.has_attribute("naked")
        };
        let mut probed = Vec::new();
        let mut watched = Vec::new();
        for (function, number) in functions.iter().zip(ids.functions) {
            if function.is_declaration() {
                continue;
            }
            // Functions that only one numbering knows may have no number.
            editor.add_text_attribute(*function, FUNCTION, &number.wrapping_add(1).to_string());
            let bare = is_bare(*function);
            for instruction in instructions(*function) {
                if let Some(number) = ids.stmts.get(next) {
                    editor.set_number(instruction, SITE, number.wrapping_add(1));
                    if !bare && (ids.probes)(next as u32) {
                        probed.push((instruction, number.wrapping_add(1)));
                    }
                    if let Some(&place) =
                        ids.watched.get(next).filter(|&&place| !bare && place != 0)
                    {
                        watched.push((instruction, number.wrapping_add(1), place));
                    }
                }
                next += 1;
            }
        }
        if next != ids.stmts.len() {
            return Err(Error::Ids {
                what: "statements",
                given: ids.stmts.len(),
                found: next,
            });
        }
        probe(editor, &probed);
        watch(editor, &watched);
        Ok(())
    })
}

/// Numbers the models, the same way in every program; gives the first site of each, with its name.
pub fn models(module: &mut Module) -> Vec<(Site, String)> {
    module.edit(|editor| {
        let mut named = Vec::new();
        let mut next = MODEL_SITES;
        let mut number = MODEL_FUNCTIONS;
        for function in editor.functions() {
            if function.is_declaration() {
                continue;
            }
            editor.add_text_attribute(function, FUNCTION, &number.to_string());
            number += 1;
            named.push((next, model_name(function)));
            for instruction in instructions(function) {
                editor.set_number(instruction, SITE, next);
                next += 1;
            }
        }
        named
    })
}

/// The libc function that a function models; a part of one has the name of its file.
fn model_name(function: Function<'_>) -> String {
    let name = function.value().name();
    if let Some(name) = name.strip_prefix("bg_m_") {
        return name.to_owned();
    }
    let file = function
        .subprogram()
        .and_then(|subprogram| subprogram.file());
    file.and_then(|(_, file)| Some(Path::new(&file).file_stem()?.to_str()?.to_owned()))
        .unwrap_or(name)
}

/// The instructions of a function that count as statements, in order.
fn instructions<'m>(function: Function<'m>) -> Vec<Instruction<'m>> {
    function
        .blocks()
        .into_iter()
        .flat_map(|block| block.instructions())
        .filter(|instruction| !instruction.is_debug())
        .collect()
}

fn probe<'m>(editor: &Editor<'m>, probed: &[(Instruction<'m>, u32)]) {
    if probed.is_empty() {
        return;
    }
    let word = editor.int(32);
    let helper = editor
        .function(STATEMENT)
        .unwrap_or_else(|| editor.declare(STATEMENT, editor.function_type(editor.void(), &[word])));
    let builder = editor.builder();
    for &(instruction, site) in probed {
        let Some(place) = place(instruction) else {
            continue;
        };
        builder.before(place);
        builder.call(helper, &[editor.const_int(word, site.into())]);
    }
}

/// Hands the values of stores and returns to the helper; the last argument is for the shadow.
fn watch<'m>(editor: &Editor<'m>, watched: &[(Instruction<'m>, u32, u32)]) {
    if watched.is_empty() {
        return;
    }
    let (word, long) = (editor.int(32), editor.int(64));
    let ty = editor.function_type(editor.void(), &[word, word, long, word]);
    let helper = editor.function(WATCH);
    let helper = helper.unwrap_or_else(|| editor.declare(WATCH, ty));
    let builder = editor.builder();
    for &(instruction, site, number) in watched {
        let (Some(value), Some(place)) = (instruction.operand(0), place(instruction)) else {
            continue;
        };
        builder.before(place);
        let bits = match value.ty().kind() {
            TypeKind::Int(64) => value,
            TypeKind::Int(width) if width < 64 => builder.cast(Cast::ZExt, value, long),
            TypeKind::Float(FloatKind::Double) => builder.cast(Cast::Bits, value, long),
            TypeKind::Float(FloatKind::Float) => {
                let bits = builder.cast(Cast::Bits, value, word);
                builder.cast(Cast::ZExt, bits, long)
            }
            TypeKind::Pointer => builder.cast(Cast::PointerToInt, value, long),
            _ => continue,
        };
        let is_address = matches!(value.ty().kind(), TypeKind::Pointer);
        let number = number | if is_address { ADDRESS } else { 0 };
        let [site, number] = [site, number].map(|it| editor.const_int(word, it.into()));
        builder.call(helper, &[site, number, bits, editor.zero(word)]);
    }
}

/// Where a call can stand that comes before the instruction.
fn place<'m>(instruction: Instruction<'m>) -> Option<Instruction<'m>> {
    use Opcode::*;
    let block = instruction.block()?;
    match instruction.opcode() {
        // Local variables are made before anything else in the function.
        LLVMPHI | LLVMLandingPad | LLVMAlloca => block.instructions().find(|other| {
            !matches!(other.opcode(), LLVMPHI | LLVMLandingPad | LLVMAlloca) && !other.is_debug()
        }),
        LLVMCleanupPad | LLVMCatchPad | LLVMCatchSwitch => None,
        // Nothing may stand between such a call and the return after it.
        LLVMRet => {
            let tail = block.instructions().find(|other| other.is_must_tail());
            Some(tail.unwrap_or(instruction))
        }
        _ => Some(instruction),
    }
}

/// The site of an instruction; what has none because a pass made it has that of the next which does.
pub fn site<'m>(editor: &Editor<'m>, instruction: Instruction<'m>) -> u32 {
    let mut at = Some(instruction);
    while let Some(instruction) = at {
        if let Some(site) = editor.number(instruction, SITE) {
            return site;
        }
        at = instruction.next();
    }
    0
}

/// The number of a function, if it is one of the program or of a model.
pub fn function_number(function: Function<'_>) -> Option<u32> {
    function.text_attribute(FUNCTION)?.parse().ok()
}
