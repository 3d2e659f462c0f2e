//! From the bitcode of a program to the program of the fast lane: native code with a counter for each
//! block, which runs again and again inside one process.
//!
//! It is linked statically with libc and with the runtime of the lane (`beagle-runtime/c/lane`), which
//! saves all memory before `main` and puts it back after each run. What the program compares with is
//! noted when the runtime is asked to. Otherwise the code does what the native program does, also where
//! C leaves that open, just as a traced program does.

use std::path::{Path, PathBuf};

use beagle_llvm::{Binary, IntPredicate};
use beagle_llvm::{
    Block, Cast, Constant, Context, Editor, Effort, Function, Instruction, Machine, Opcode,
    TypeKind, Value, ValueKind,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::number::SITE;
use crate::pipeline::{has_invokes, is_cxx, loaded, rename_main};
use crate::symbols::Outside;
use crate::{Error, Ids, Link, assets, internal, link, number, sober};

const MAIN: &str = "bg_lane_main";
const COUNTERS: &str = "bg_lane_counters";
const COUNT: &str = "bg_lane_count";

/// The program of the fast lane.
#[derive(Debug, Serialize, Deserialize)]
pub struct Lane {
    /// The executable.
    #[serde(skip)]
    pub program: PathBuf,
    /// What each counter counts.
    pub blocks: Vec<LaneBlock>,
}

/// A block that is counted: one of the program, or one on the way from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LaneBlock {
    /// The number of the last statement of the block that it is or leads to.
    pub last: Option<u32>,
    /// On a way between two blocks: the number of the last statement of the one that it comes from.
    pub from: Option<u32>,
}

impl Lane {
    /// What is known about the program besides where it is, to keep it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A program that was kept, with what [`to_json`](Self::to_json) said about it.
    pub fn from_json(json: &[u8], program: PathBuf) -> Option<Self> {
        let known: Self = serde_json::from_slice(json).ok()?;
        Some(Self { program, ..known })
    }
}

/// Makes the program of the fast lane.
pub fn lane(bitcode: &Path, ids: &Ids, link: &Link, output: &Path) -> Result<Lane, Error> {
    let mut context = Context::new();
    let mut module = loaded(&mut context, bitcode)?;
    number::program(&mut module, ids)?;
    let (cxx, split) = module.edit(|editor| {
        rename_main(editor, MAIN)?;
        sober::module(editor);
        Ok::<_, Error>((is_cxx(editor), has_invokes(editor)))
    })?;
    module.strip_debug();
    let passes =
        "globaldce,function(lower-constant-intrinsics,mem2reg,sroa<preserve-cfg>,break-crit-edges)";
    module.run_passes(passes, None)?;
    let outside = Outside::of(link);
    let blocks = module.edit(|editor| {
        let blocks = count_blocks(editor);
        // Where blocks may have several ways in by an exception, a call could be in the way.
        if !split {
            note_compares(editor);
        }
        blocks
    });
    module.verify()?;
    module.edit(|editor| {
        let mut needed = Outside::default();
        needed.bytes(assets::LANE);
        needed.names.extend(outside.names.iter().cloned());
        internal::hide(editor, &needed.names, outside.everything);
    });
    let machine = Machine::new(&module, Effort::Default)?;
    // Most of a run is libc; more effort would only make the first one wait.
    module.run_passes("default<O1>", Some(&machine))?;
    let file = |cause| Error::File {
        what: "write to",
        path: std::env::temp_dir(),
        cause,
    };
    let scratch = tempfile::tempdir().map_err(file)?;
    let object = scratch.path().join("program.o");
    module.emit_object(&machine, &object)?;
    let output = std::path::absolute(output).map_err(file)?;
    link::lane(&object, link, cxx, scratch.path(), &output)?;
    Ok(Lane {
        program: output,
        blocks,
    })
}

/// Adds a counter to each block.
///
/// ```text
/// before:  block:            after:  block:
///            ...                       %n = load i8, counters + i
///                                      %m = add %n, 1
///                                      %z = zext (icmp eq %m, 0)
///                                      store i8 (add %m, %z), counters + i
///                                      ...
/// ```
///
/// A counter never goes back to 0: what was executed shows.
fn count_blocks(editor: &Editor<'_>) -> Vec<LaneBlock> {
    let resolvers = editor.resolvers();
    let mut all = Vec::new();
    for function in editor.functions() {
        let bare = resolvers.contains(&function.value()) || function.has_attribute("naked");
        if function.is_declaration() || bare || number::function_number(function).is_none() {
            continue;
        }
        let known = describe(editor, function);
        for (block, known) in function.blocks().into_iter().zip(known) {
            if let Some(place) = first_place(block) {
                all.push((place, known));
            }
        }
    }
    let byte = editor.int(8);
    let zeros = editor.zero(editor.array(byte, (all.len() as u64).max(1)));
    let counters = editor.add_global(COUNTERS, zeros, false).value();
    let count = editor.const_int(editor.int(64), all.len() as u64);
    editor.add_global(COUNT, count, true);
    let builder = editor.builder();
    let one = editor.const_int(byte, 1);
    for (index, (place, _)) in all.iter().enumerate() {
        let address = match index {
            0 => counters,
            _ => editor.const_offset(counters, index as u64),
        };
        builder.before(*place);
        let more = builder.binary(Binary::Add, builder.load(byte, address, 1), one);
        let wrapped = builder.compare(IntPredicate::LLVMIntEQ, more, editor.zero(byte));
        let wrapped = builder.cast(Cast::ZExt, wrapped, byte);
        let more = builder.binary(Binary::Add, more, wrapped);
        builder.store(more, address, 1);
    }
    all.into_iter().map(|(_, known)| known).collect()
}

/// What each block of a function is. Passes made blocks of their own between those of the program.
fn describe<'m>(editor: &Editor<'m>, function: Function<'m>) -> Vec<LaneBlock> {
    let blocks = function.blocks();
    let own = |block: Block<'m>| {
        let site = editor.number(block.terminator()?, SITE)?;
        site.checked_sub(1)
    };
    let mut before: FxHashMap<Block<'m>, Block<'m>> = FxHashMap::default();
    for &block in &blocks {
        for next in block
            .terminator()
            .into_iter()
            .flat_map(|it| it.successors())
        {
            before.insert(next, block);
        }
    }
    let describe = |&block: &Block<'m>| match own(block) {
        Some(last) => LaneBlock {
            last: Some(last),
            from: None,
        },
        None => {
            let next = block
                .terminator()
                .and_then(|it| it.successors().first().copied());
            LaneBlock {
                last: next.and_then(own),
                from: before.get(&block).copied().and_then(own),
            }
        }
    };
    blocks.iter().map(describe).collect()
}

/// Where code of ours can stand that comes first in the block.
fn first_place(block: Block<'_>) -> Option<Instruction<'_>> {
    use Opcode::*;
    let first = block.instructions().find(|it| {
        !matches!(it.opcode(), LLVMPHI | LLVMLandingPad | LLVMAlloca) && !it.is_debug()
    })?;
    match first.opcode() {
        LLVMCleanupPad | LLVMCatchPad | LLVMCatchSwitch => None,
        _ => Some(first),
    }
}

/// Lets the runtime know what numbers and texts are compared with.
fn note_compares<'m>(editor: &Editor<'m>) {
    let (long, word, pointer) = (editor.int(64), editor.int(32), editor.pointer());
    let declare = |name: &str, parameters: &[_]| {
        editor.declare(name, editor.function_type(editor.void(), parameters))
    };
    let numbers = declare("bg_lane_compare", &[long, long, word]);
    let texts = declare("bg_lane_texts", &[pointer, pointer]);
    let bytes = declare("bg_lane_bytes", &[pointer, pointer, long]);
    let builder = editor.builder();
    for function in editor.functions() {
        if function.is_declaration() || number::function_number(function).is_none() {
            continue;
        }
        let all = function.blocks();
        let all = all.into_iter().flat_map(|it| it.instructions());
        for instruction in all.collect::<Vec<_>>() {
            builder.before(instruction);
            match instruction.opcode() {
                Opcode::LLVMICmp => {
                    let [a, b] = instruction.operands()[..] else {
                        continue;
                    };
                    if let Some(width) = width_of_interest(a, b) {
                        let a = builder.cast(Cast::ZExt, a, long);
                        let b = builder.cast(Cast::ZExt, b, long);
                        let size = editor.const_int(word, u64::from(width / 8));
                        builder.call(numbers, &[a, b, size]);
                    }
                }
                Opcode::LLVMSwitch => {
                    let operands = instruction.operands();
                    let Some(&value) = operands.first() else {
                        continue;
                    };
                    for &case in &operands[1..] {
                        if matches!(case.kind(), ValueKind::Constant(Constant::Int(width, number))
                            if (16..=64).contains(&width) && number > 255)
                            && let Some(width) = width_of_interest(value, case)
                        {
                            let a = builder.cast(Cast::ZExt, value, long);
                            let b = builder.cast(Cast::ZExt, case, long);
                            let size = editor.const_int(word, u64::from(width / 8));
                            builder.call(numbers, &[a, b, size]);
                        }
                    }
                }
                Opcode::LLVMCall => {
                    let name = instruction.called_function().map(|it| it.value().name());
                    let is_pointer = |value: &Value<'_>| value.ty() == pointer;
                    match (name.as_deref(), &instruction.arguments()[..]) {
                        (Some("strcmp" | "strcasecmp" | "strstr"), &[a, b])
                            if is_pointer(&a) && is_pointer(&b) =>
                        {
                            builder.call(texts, &[a, b]);
                        }
                        (Some("strncmp" | "strncasecmp" | "memcmp" | "bcmp"), &[a, b, n])
                            if is_pointer(&a) && is_pointer(&b) && n.ty() == long =>
                        {
                            builder.call(bytes, &[a, b, n]);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}

/// The width of a comparison that chance hardly gets right. Single characters it does.
fn width_of_interest(a: Value<'_>, b: Value<'_>) -> Option<u32> {
    let TypeKind::Int(width @ (16 | 32 | 64)) = a.ty().kind() else {
        return None;
    };
    let is_narrow = |value: Value<'_>| {
        let Some(made) = value.as_instruction() else {
            return false;
        };
        let extended = matches!(made.opcode(), Opcode::LLVMZExt | Opcode::LLVMSExt);
        let from = made.operand(0).map(|it| it.ty().kind());
        extended && matches!(from, Some(TypeKind::Int(..=8)))
    };
    let both = a.is_constant() && b.is_constant();
    (!both && !is_narrow(a) && !is_narrow(b)).then_some(width)
}
