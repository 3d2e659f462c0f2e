//! The steps from bitcode to executable.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use beagle_llvm::{Context, Editor, Effort, Machine, Module};
use beagle_trace::event::{MODEL_SITES, Site};
use serde::{Deserialize, Serialize};

use crate::classify::{Functions, MAIN, Target};
use crate::emit::Shared;
use crate::helpers::Helpers;
use crate::symbols::Outside;
use crate::table::Table;
use crate::{Error, Ids, Link, assets, function, internal, link, number, replace, sober};

/// How fast the instrumented program is to be, and how long that may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimise {
    /// Helpers are inlined, and hardly anything else: for looking at the code.
    None,
    /// Optimised a little, with machine code made the quick way: ready in half the time, and up to
    /// five times slower where it computes much.
    Less,
    /// As usual.
    #[default]
    Default,
}

/// How to instrument.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much work goes into faster code.
    pub optimise: Optimise,
    /// Keep the instrumented module, before optimisation, in this file.
    pub keep_bitcode: Option<PathBuf>,
}

/// What makes the code small at little cost: machine code for what the optimiser can drop takes longer
/// than to drop it. Helpers only become simple when they are optimised right after they are inlined.
const QUICK: &str = "function(lower-expect,simplifycfg,sroa,early-cse),ipsccp,\
     cgscc(inline<only-mandatory>,inline,function(sroa,early-cse<memssa>,simplifycfg,\
     instcombine<max-iterations=1;no-verify-fixpoint>,simplifycfg)),globaldce";

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading, numbering, linking models, and moving variables to registers.
    pub prepare: Duration,
    /// Adding shadows.
    pub shadows: Duration,
    /// Optimising.
    pub optimise: Duration,
    /// Making machine code.
    pub code: Duration,
    /// Linking.
    pub link: Duration,
}

/// An instrumented program.
#[derive(Debug, Serialize, Deserialize)]
pub struct Instrumented {
    /// The executable.
    #[serde(skip)]
    pub program: PathBuf,
    /// libc functions of which the program uses Beagle's.
    pub replaced: Vec<String>,
    /// Functions that it calls but nothing is known of.
    pub unknown: Vec<String>,
    /// Where the time went.
    #[serde(skip)]
    pub times: Times,
    /// The first site of each function of the models, in order, and its name.
    models: Vec<(Site, String)>,
}

impl Instrumented {
    /// What is known about the program besides where it is, to keep it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// A program that was kept, with what [`to_json`](Self::to_json) said about it.
    pub fn from_json(json: &[u8], program: PathBuf) -> Option<Self> {
        let known: Self = serde_json::from_slice(json).ok()?;
        Some(Self { program, ..known })
    }

    /// The libc function to whose model a site belongs.
    pub fn model(&self, site: Site) -> Option<&str> {
        if site < MODEL_SITES {
            return None;
        }
        let after = self.models.partition_point(|(first, _)| *first <= site);
        let (_, name) = self.models.get(after.checked_sub(1)?)?;
        Some(name)
    }
}

/// Makes an executable that records what it does with its input.
pub fn instrument(
    bitcode: &Path,
    ids: &Ids,
    link: &Link,
    output: &Path,
    options: &Options,
) -> Result<Instrumented, Error> {
    let mut times = Times::default();
    let start = Instant::now();
    let table = Table::parse(assets::FUNCTIONS);
    let mut context = Context::new();
    let mut module = loaded(&mut context, bitcode)?;
    number::program(&mut module, ids)?;
    let cxx = module.edit(|editor| rename_main(editor, MAIN).map(|()| is_cxx(editor)))?;
    module.strip_debug();
    let mut models = Vec::new();
    module.link(assets::MODELS, |module| {
        models = number::models(module);
        module.strip_debug();
    })?;
    let (replaced, split) = module.edit(|editor| {
        let replaced = replace::functions(editor, &table);
        sober::module(editor);
        (replaced, has_invokes(editor))
    });
    let passes = match split {
        // Results of invokes need a block that only they lead to.
        true => {
            "globaldce,function(lower-constant-intrinsics,mem2reg,sroa<preserve-cfg>,break-crit-edges)"
        }
        false => "globaldce,function(lower-constant-intrinsics,mem2reg,sroa<preserve-cfg>)",
    };
    module.run_passes(passes, None)?;
    module.link(assets::INLINE, |_| {})?;
    module.link(assets::COMPOSE, |_| {})?;
    times.prepare = start.elapsed();

    let start = Instant::now();
    let outside = Outside::of(link);
    let unknown = module.edit(|editor| shadows(editor, &outside, &table))?;
    if let Some(path) = &options.keep_bitcode {
        module.write_bitcode(path)?;
    }
    module.verify()?;
    module.edit(|editor| {
        // What the runtime calls or looks at.
        let mut needed = Outside::default();
        needed.bytes(assets::RUNTIME);
        needed.names.extend(outside.names.iter().cloned());
        needed.names.insert("main".to_owned());
        internal::hide(editor, &needed.names, outside.everything);
    });
    times.shadows = start.elapsed();

    let start = Instant::now();
    let (passes, effort) = match options.optimise {
        Optimise::None => ("always-inline,globaldce", Effort::None),
        Optimise::Less => (QUICK, Effort::None),
        Optimise::Default => ("default<O2>", Effort::Default),
    };
    module.set_flag("PIC Level", 2);
    module.set_flag("PIE Level", 2);
    let machine = Machine::new(&module, effort)?;
    module.run_passes(passes, Some(&machine))?;
    times.optimise = start.elapsed();

    let start = Instant::now();
    let file = |cause| Error::File {
        what: "write to",
        path: std::env::temp_dir(),
        cause,
    };
    let scratch = tempfile::tempdir().map_err(file)?;
    let object = scratch.path().join("program.o");
    module.emit_object(&machine, &object)?;
    times.code = start.elapsed();

    let start = Instant::now();
    let output = std::path::absolute(output).map_err(file)?;
    link::executable(&object, link, cxx, scratch.path(), &output)?;
    times.link = start.elapsed();
    Ok(Instrumented {
        program: output,
        replaced: replaced.into_iter().collect(),
        unknown,
        times,
        models,
    })
}

/// A program that can be instrumented here.
pub fn loaded<'c>(context: &'c mut Context, bitcode: &Path) -> Result<Module<'c>, Error> {
    let module = Module::load(context, bitcode)?;
    let triple = module.triple();
    match triple.starts_with("x86_64-") && triple.contains("linux") {
        true => Ok(module),
        false => Err(Error::OtherMachine(triple)),
    }
}

/// The runtime has the `main` that the system calls; the program's gets another name.
pub fn rename_main(editor: &Editor<'_>, name: &str) -> Result<(), Error> {
    let main = editor
        .function("main")
        .filter(|main| !main.is_declaration())
        .ok_or(Error::NoMain)?;
    editor.rename(main.value(), name);
    Ok(())
}

/// Whether the program was written in C++.
pub fn is_cxx(editor: &Editor<'_>) -> bool {
    editor.functions().into_iter().any(|function| {
        let name = function.value().name();
        function.is_declaration() && (name.starts_with("_Z") || name.starts_with("__gxx_"))
    })
}

/// Whether calls of the program may end by an exception.
pub fn has_invokes(editor: &Editor<'_>) -> bool {
    editor.functions().into_iter().any(|function| {
        function
            .blocks()
            .into_iter()
            .filter_map(|block| block.terminator())
            .any(|last| last.opcode() == beagle_llvm::Opcode::LLVMInvoke)
    })
}

/// Adds shadows to all functions of the program and its models. Returns the names of the functions
/// that nothing is known of.
fn shadows<'m>(
    editor: &Editor<'m>,
    outside: &Outside,
    table: &Table,
) -> Result<Vec<String>, Error> {
    list_globals(editor);
    let helpers = Helpers::find(editor)?;
    let functions = Functions::of(editor, outside, table);
    let shared = Shared::new(editor, helpers);
    let mut unknown = std::collections::BTreeSet::new();
    for this in editor.functions() {
        let Some(known) = functions.known(this) else {
            continue;
        };
        sober::undefined_is_zero(editor, this);
        for block in this.blocks() {
            for instruction in block.instructions() {
                if instruction.callee().is_some()
                    && let Target::Unknown(name) = functions.target(instruction)
                {
                    unknown.insert(name);
                }
            }
        }
        function::instrument(&shared, &functions, this, known);
    }
    Ok(unknown.into_iter().collect())
}

/// Tells the runtime where the variables of the program are.
fn list_globals(editor: &Editor<'_>) {
    let long = editor.int(64);
    let entry = editor.structure(&[editor.pointer(), long]);
    let mut entries = Vec::new();
    for global in editor.globals() {
        let name = global.value().name();
        let size = editor.size_of(global.content_type());
        let own = name.starts_with("llvm.") || name.starts_with("bg_");
        if global.initializer().is_none() || global.is_thread_local() || own || size == 0 {
            continue;
        }
        // Sections such as `.preinit_array` are arrays of what is in them.
        if editor
            .section(global)
            .is_some_and(|section| section.ends_with("init_array"))
        {
            continue;
        }
        entries.push(editor.const_struct(&[global.value(), editor.const_int(long, size)]));
    }
    let count = editor.const_int(long, entries.len() as u64);
    let list = editor.const_array(entry, &entries);
    for (name, content) in [("bg_globals", list), ("bg_globals_count", count)] {
        if let Some(declared) = editor.global(name) {
            let defined = editor.add_global("", content, true);
            editor.replace_uses(declared.value(), defined.value());
            editor.rename(declared.value(), "");
            editor.rename(defined.value(), name);
        } else {
            editor.add_global(name, content, true);
        }
    }
}
