//! Ways of control that are neither edges nor calls and returns of the program itself.
//!
//! What is assumed of code outside of the program: it calls only functions that it was handed, and
//! it jumps only to where a jump was set. When it may call them is known for the functions listed
//! in `externals`; code that is not listed there may call what it was handed by name at any time.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::{CallGraph, mentioned};
use crate::model::*;

/// What is special about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// Control may go to where a long jump was set.
    pub(super) jumps: bool,
    /// A long jump may lead here.
    pub(super) is_landing: bool,
    /// From here on there may be two that run what follows.
    pub(super) forks: bool,
    /// The program may be started once more.
    pub(super) runs_again: bool,
    /// The callees are called by code outside of the program, perhaps again and again.
    pub(super) calls_back: bool,
}

/// The irregular ways of a program.
#[derive(Debug)]
pub(super) struct Irregular {
    kinds: FxHashMap<StmtId, Kinds>,
    /// Functions that assembler code may call, besides those of the call graph.
    more_callees: FxHashMap<StmtId, Vec<FunctionId>>,
    any_time: FxHashSet<FunctionId>,
    main: Option<FunctionId>,
    live: Vec<bool>,
}

/// Functions that switch to where another of them was called.
const SWITCHES: [&str; 3] = ["getcontext", "setcontext", "swapcontext"];

/// Functions after which what follows may run twice.
const FORKS: [&str; 7] = [
    "fork", "vfork", "_Fork", "clone", "forkpty", "daemon", "syscall",
];

/// Functions that may start the program itself once more.
const STARTS: [&str; 14] = [
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execveat",
    "execvp",
    "execvpe",
    "fexecve",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "syscall",
    "system",
];

/// Functions that others know by name and may call at any time.
const REPLACED: [&str; 10] = [
    "aligned_alloc",
    "calloc",
    "free",
    "malloc",
    "memalign",
    "posix_memalign",
    "pvalloc",
    "realloc",
    "reallocarray",
    "valloc",
];

/// Functions that have what they are handed, in whatever way, called later.
const KEEPERS: [&str; 20] = [
    "__cxa_atexit",
    "aio_fsync",
    "aio_read",
    "aio_write",
    "at_quick_exit",
    "bsd_signal",
    "fopencookie",
    "getaddrinfo_a",
    "lio_listio",
    "makecontext",
    "mq_notify",
    "pthread_atfork",
    "pthread_create",
    "pthread_key_create",
    "register_printf_function",
    "register_printf_specifier",
    "sigset",
    "sysv_signal",
    "thrd_create",
    "timer_create",
];

impl Irregular {
    pub(super) fn of(program: &Program, calls: &CallGraph) -> Self {
        let main = program.functions().find(|(_, f)| f.symbol == "main");
        let main = main.filter(|(_, f)| f.is_defined()).map(|(id, _)| id);
        let mut irregular = Self {
            kinds: FxHashMap::default(),
            more_callees: FxHashMap::default(),
            any_time: FxHashSet::default(),
            main,
            live: Vec::new(),
        };
        irregular.find_assembler(program);
        irregular.find_kinds(program, calls);
        irregular.any_time.extend(calls.run_later(program));
        irregular.find_unseen_callers(program);
        irregular
            .any_time
            .retain(|&id| program.function(id).is_defined());
        irregular.find_live(program, calls);
        irregular
    }

    pub(super) fn kinds(&self, call: StmtId) -> Kinds {
        self.kinds.get(&call).copied().unwrap_or_default()
    }

    /// The functions that a call may enter.
    pub(super) fn callees<'a>(
        &'a self,
        calls: &'a CallGraph,
        call: StmtId,
    ) -> impl Iterator<Item = FunctionId> + 'a {
        let more = self.more_callees.get(&call).into_iter().flatten();
        calls.callees(call).iter().chain(more).copied()
    }

    /// Whether other statements of the block may run more or less often than this call.
    pub(super) fn ends_stretch(&self, program: &Program, calls: &CallGraph, call: StmtId) -> bool {
        let is_defined = |id: FunctionId| program.function(id).is_defined();
        self.kinds.contains_key(&call)
            || calls.call_may_exit(call)
            || self.callees(calls, call).any(is_defined)
    }

    /// What may run at any time.
    pub(super) fn any_time(&self) -> impl Iterator<Item = FunctionId> + '_ {
        self.any_time.iter().copied()
    }

    /// Where the program starts.
    pub(super) fn main(&self) -> Option<FunctionId> {
        self.main
    }

    /// Whether a function can run at all.
    pub(super) fn is_live(&self, function: FunctionId) -> bool {
        self.live[function.index()]
    }

    /// Whether nothing is known of who calls a function. That goes for those that nobody seems to
    /// call, too: should that be wrong, it costs nothing.
    pub(super) fn is_called_from_anywhere(&self, function: FunctionId) -> bool {
        self.main.is_none() || !self.is_live(function) || self.any_time.contains(&function)
    }

    fn find_kinds(&mut self, program: &Program, calls: &CallGraph) {
        let externals: Vec<_> = calls.external_callees().collect();
        for &(call, callee) in &externals {
            let function = program.function(callee);
            let symbol = &*function.symbol;
            let Some(effects) = calls.effects(callee) else {
                continue;
            };
            let switches = SWITCHES.contains(&symbol);
            let kinds = self.kinds.entry(call).or_default();
            kinds.jumps |= switches || effects.writes.states.contains(&"jump");
            kinds.is_landing |=
                switches || function.returns_twice || effects.reads.states.contains(&"jump");
            kinds.forks |= FORKS.contains(&symbol);
            kinds.runs_again |= STARTS.contains(&symbol);
            kinds.calls_back |= effects.is_unknown || !effects.callbacks.is_empty();
            if KEEPERS.contains(&symbol) {
                self.any_time.extend(calls.callees(call));
            } else if effects.is_unknown && !function.is_intrinsic {
                let named = program.arguments(call).iter();
                self.any_time
                    .extend(named.filter_map(|argument| match argument {
                        Operand::Function(id) => Some(*id),
                        _ => None,
                    }));
            }
        }
        // Code of which nothing is known may jump, if a jump was ever set.
        if self.kinds.values().any(|kinds| kinds.is_landing) {
            for &(call, callee) in &externals {
                let is_unknown = calls.effects(callee).is_some_and(|e| e.is_unknown);
                let kinds = self.kinds.entry(call).or_default();
                kinds.jumps |= is_unknown && !program.function(callee).is_intrinsic;
            }
        }
        // Most calls of external functions call nothing back, and are nothing special.
        let is_defined = |id: FunctionId| program.function(id).is_defined();
        let calls_back = |call: StmtId| self.callees(calls, call).any(is_defined);
        let is_plain = |call: StmtId, kinds: Kinds| {
            let calls_back = kinds.calls_back && calls_back(call);
            Kinds {
                calls_back,
                ..kinds
            } == Kinds::default()
        };
        let common = self
            .kinds
            .iter()
            .filter(|&(&call, &kinds)| is_plain(call, kinds));
        let common: Vec<StmtId> = common.map(|(&call, _)| call).collect();
        for call in common {
            self.kinds.remove(&call);
        }
    }

    /// Assembler code calls what it names, or what it has the address of.
    fn find_assembler(&mut self, program: &Program) {
        let mut by_symbol = FxHashMap::default();
        for (id, function) in program.functions() {
            by_symbol.insert(&*function.symbol, id);
        }
        let named = |text: &str| -> Vec<FunctionId> {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '$';
            let words = text.split(|c| !is_part(c));
            words
                .filter_map(|word| by_symbol.get(word).copied())
                .collect()
        };
        self.any_time.extend(named(&program.assembler));
        for stmt in (0..program.stmts.len() as u32).map(StmtId) {
            let Some(Operand::Const(id)) = program.callee(stmt) else {
                continue;
            };
            let Const::Assembler(text, _) = program.constant(id) else {
                continue;
            };
            let mut callees = named(text);
            if text.contains("call") || text.contains("jmp") {
                let taken = program.functions().filter(|(_, f)| f.address_taken);
                callees.extend(taken.map(|(id, _)| id));
            }
            if !callees.is_empty() {
                self.kinds.entry(stmt).or_default().calls_back = true;
                self.more_callees.insert(stmt, callees);
            }
        }
    }

    /// Functions that are called though no call of them is to be seen.
    fn find_unseen_callers(&mut self, program: &Program) {
        let mut found = Vec::new();
        for (_, global) in program.globals() {
            if global.symbol.starts_with("llvm.global_")
                && let Some(initial) = global.initial
            {
                mentioned(program, initial, &mut found);
            }
        }
        for (id, function) in program.functions() {
            if !function.is_static && REPLACED.contains(&&*function.symbol) {
                found.push(id);
            }
        }
        // What is stored in a variable of a library may be called by it.
        let is_hook = |stmt: StmtId| match (program.stmt(stmt).op, program.operands(stmt)) {
            (Op::Store { .. }, &[value, Operand::Global(to)]) => {
                let may_be_function = match value {
                    Operand::Function(_) => true,
                    Operand::Stmt(value) => *program.ty(program.stmt(value).ty) == Type::Pointer,
                    Operand::Param(_) => *program.ty(program.global(to).ty) == Type::Pointer,
                    _ => false,
                };
                may_be_function && program.global(to).initial.is_none()
            }
            _ => false,
        };
        if (0..program.stmts.len() as u32).map(StmtId).any(is_hook) {
            let taken = program.functions().filter(|(_, f)| f.address_taken);
            found.extend(taken.map(|(id, _)| id));
        }
        self.any_time.extend(found);
    }

    fn find_live(&mut self, program: &Program, calls: &CallGraph) {
        let mut live = vec![false; program.functions.len()];
        let roots = program.functions().map(|(id, _)| id);
        let is_root = |id: &FunctionId| {
            self.main.is_none_or(|main| main == *id) || self.any_time.contains(id)
        };
        let mut work: Vec<FunctionId> = roots.filter(is_root).collect();
        while let Some(id) = work.pop() {
            if !std::mem::replace(&mut live[id.index()], true) {
                for stmt in program.function_stmts(id) {
                    work.extend(self.callees(calls, stmt));
                }
            }
        }
        self.live = live;
    }
}
