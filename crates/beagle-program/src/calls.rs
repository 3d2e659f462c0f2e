//! The call graph: who may call whom, and who may end the program.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::externals::Effects;
use crate::model::*;

/// Who may call whom.
#[derive(Debug)]
pub struct CallGraph {
    /// The functions that each call may enter; external ones too.
    callees: FxHashMap<StmtId, Vec<FunctionId>>,
    /// The calls that may enter each function.
    callers: Vec<Vec<StmtId>>,
    /// Whether a call of each function may end the program, or jump out of the caller.
    may_exit: Vec<bool>,
    /// Whether no call of each function comes back.
    never_returns: Vec<bool>,
    /// What each external function does; `None` for the program's own.
    effects: Vec<Option<Effects>>,
}

impl CallGraph {
    /// The call graph of a program.
    pub fn of(program: &Program) -> CallGraph {
        let effects: Vec<_> = program
            .functions
            .iter()
            .map(|function| (!function.is_defined()).then(|| Effects::of(&function.symbol)))
            .collect();
        let mut graph = CallGraph {
            callees: FxHashMap::default(),
            callers: vec![Vec::new(); program.functions.len()],
            may_exit: vec![false; program.functions.len()],
            never_returns: vec![false; program.functions.len()],
            effects,
        };
        let taken: Vec<_> = program
            .functions()
            .filter(|(_, function)| function.address_taken)
            .map(|(id, _)| id)
            .collect();
        for stmt in (0..program.stmts.len() as u32).map(StmtId) {
            if let Some(callee) = program.callee(stmt) {
                let callees = graph.targets(program, stmt, callee, &taken);
                graph.callees.insert(stmt, callees);
            }
        }
        graph.call_back_later(program);
        let mut calls: Vec<_> = graph.callees.iter().collect();
        calls.sort();
        for (&call, callees) in calls {
            for callee in callees {
                graph.callers[callee.index()].push(call);
            }
        }
        graph.find_exits(program);
        graph
    }

    /// Functions that unknown code was handed once may be called by it whenever it runs.
    fn call_back_later(&mut self, program: &Program) {
        let is_unknown = |function: Option<FunctionId>| {
            let effects = function.and_then(|f| self.effects[f.index()].as_ref());
            effects.is_some_and(|effects| effects.is_unknown)
        };
        let calls = self.callees.keys().copied();
        let unknown: Vec<_> = calls
            .filter(|&call| is_unknown(program.called_function(call)))
            .collect();
        let all = unknown.iter().flat_map(|call| self.callees[call].clone());
        let mut handed: Vec<_> = all.filter(|&f| program.function(f).is_defined()).collect();
        handed.sort();
        handed.dedup();
        for call in unknown {
            let callees = self.callees.entry(call).or_default();
            callees.extend(&handed);
            callees.sort();
            callees.dedup();
        }
    }

    /// The functions that a call may enter.
    pub fn callees(&self, call: StmtId) -> &[FunctionId] {
        self.callees.get(&call).map_or(&[], |callees| callees)
    }

    /// The calls that may enter a function.
    pub fn callers(&self, function: FunctionId) -> &[StmtId] {
        &self.callers[function.index()]
    }

    /// Whether a call of a function may end the program or jump out of the caller.
    pub fn may_exit(&self, function: FunctionId) -> bool {
        self.may_exit[function.index()]
    }

    /// Whether a call may end the program or jump out of the function.
    pub fn call_may_exit(&self, call: StmtId) -> bool {
        self.callees(call).iter().any(|f| self.may_exit[f.index()])
    }

    /// Whether a call never comes back.
    pub fn call_never_returns(&self, call: StmtId) -> bool {
        let callees = self.callees(call);
        !callees.is_empty() && callees.iter().all(|f| self.never_returns[f.index()])
    }

    /// What an external function does; `None` for the program's own.
    pub fn effects(&self, function: FunctionId) -> Option<&Effects> {
        self.effects[function.index()].as_ref()
    }

    /// Whether a call shows something to the outside.
    pub fn is_output(&self, call: StmtId) -> bool {
        let mut effects = self.callees(call).iter().filter_map(|&f| self.effects(f));
        effects.any(|effects| effects.is_output || effects.is_unknown)
    }

    /// The functions that may run at any time once they were handed over: handlers of signals, and
    /// what runs at the end.
    pub fn run_later(&self, program: &Program) -> Vec<FunctionId> {
        let later = |call: &StmtId| {
            let effects = program.called_function(*call).and_then(|f| self.effects(f));
            effects.is_some_and(|effects| effects.calls_later)
        };
        let calls = self.callees.keys().filter(|call| later(call));
        let mut functions: Vec<_> = calls
            .flat_map(|call| self.callees[call].iter().copied())
            .filter(|&f| program.function(f).is_defined())
            .collect();
        functions.sort();
        functions.dedup();
        functions
    }

    /// The calls of external functions, with what these do.
    pub fn external_calls(&self) -> impl Iterator<Item = (StmtId, &Effects)> {
        self.callees.iter().flat_map(|(&call, callees)| {
            let effects = callees.iter().filter_map(|&callee| self.effects(callee));
            effects.map(move |effects| (call, effects))
        })
    }

    /// The calls of external functions, with these.
    pub(crate) fn external_callees(&self) -> impl Iterator<Item = (StmtId, FunctionId)> {
        self.callees.iter().flat_map(|(&call, callees)| {
            let external = callees
                .iter()
                .filter(|&&callee| self.effects(callee).is_some());
            external.map(move |&callee| (call, callee))
        })
    }

    /// The defined functions that can run: those that `main` can reach, or all where there is no
    /// `main`, as in a library.
    pub fn reachable(&self, program: &Program) -> Vec<bool> {
        let defined = |id: &FunctionId| program.function(*id).is_defined();
        let all = || program.functions().map(|(id, _)| id).filter(defined);
        let mut work: Vec<_> = all()
            .filter(|id| program.function(*id).symbol == "main")
            .collect();
        if work.is_empty() {
            work.extend(all());
        }
        // What runs before and after `main`.
        for (id, global) in program.globals() {
            if matches!(
                &global.symbol[..],
                "llvm.global_ctors" | "llvm.global_dtors"
            ) {
                mentioned(program, Operand::Global(id), &mut work);
            }
        }
        let mut reached = vec![false; program.functions.len()];
        while let Some(id) = work.pop() {
            if !defined(&id) || std::mem::replace(&mut reached[id.index()], true) {
                continue;
            }
            for stmt in program.function_stmts(id) {
                work.extend(self.callees(stmt));
            }
        }
        reached
    }

    fn targets(
        &self,
        program: &Program,
        call: StmtId,
        callee: Operand,
        taken: &[FunctionId],
    ) -> Vec<FunctionId> {
        let Operand::Function(direct) = callee else {
            let expected = match program.stmt(call).op {
                Op::Call(ty) | Op::Invoke(ty) => ty,
                _ => return Vec::new(),
            };
            let fits = |id: &FunctionId| compatible(program, expected, program.function(*id).ty);
            let fitting: Vec<_> = taken.iter().copied().filter(fits).collect();
            let is_assembler = match callee {
                Operand::Const(id) => matches!(program.constant(id), Const::Assembler(..)),
                _ => false,
            };
            // What an external function is handed through a pointer is not looked into.
            let calls_back = |id: &FunctionId| {
                let effects = self.effects(*id);
                effects.is_some_and(|effects| effects.is_unknown || !effects.callbacks.is_empty())
            };
            // A pointer was cast to a type that no function has; then it may be any.
            let may_be_any = fitting.is_empty() || fitting.iter().any(calls_back);
            return match may_be_any && !is_assembler {
                true => taken.to_vec(),
                false => fitting,
            };
        };
        let mut targets = vec![direct];
        let Some(effects) = self.effects(direct) else {
            return targets;
        };
        // Functions handed to an external one may be called by it. Which one is handed over in a
        // variable is not looked into here, so it may be any.
        let mut any = false;
        for (i, argument) in (0..).zip(program.arguments(call)) {
            match argument {
                Operand::Function(function) => targets.push(*function),
                Operand::Const(_) if effects.callbacks.contains(&i) => {}
                _ if effects.callbacks.contains(&i) => any = true,
                Operand::Stmt(stmt) if effects.is_unknown => {
                    any |= *program.ty(program.stmt(*stmt).ty) == Type::Pointer;
                }
                Operand::Param(_) if effects.is_unknown => any = true,
                Operand::Global(_) | Operand::Const(_) if effects.is_unknown => {
                    any |= may_hold_function(program, *argument, &mut targets);
                }
                _ => {}
            }
        }
        if any {
            let defined = |id: &&FunctionId| program.function(**id).is_defined();
            targets.extend(taken.iter().filter(defined));
        }
        targets.sort();
        targets.dedup();
        targets
    }

    fn find_exits(&mut self, program: &Program) {
        for (id, function) in program.functions() {
            let effects = self.effects(id);
            let exits = function.no_return || effects.is_some_and(|e| e.exits);
            self.may_exit[id.index()] = exits || effects.is_some_and(|e| e.may_exit);
            self.never_returns[id.index()] = exits;
        }
        // A function that calls one that may exit may exit.
        let all = program.functions().map(|(id, _)| id);
        let mut work: Vec<_> = all.filter(|id| self.may_exit[id.index()]).collect();
        while let Some(id) = work.pop() {
            for &call in &self.callers[id.index()] {
                let caller = program.function_of(call);
                if !self.may_exit[caller.index()] {
                    self.may_exit[caller.index()] = true;
                    work.push(caller);
                }
            }
        }
        // A function from which every path leads to a call that never returns never returns. What
        // is found in one round helps the next.
        loop {
            let found: Vec<_> = program
                .functions()
                .filter(|(id, function)| {
                    function.is_defined()
                        && self.may_exit[id.index()]
                        && !self.never_returns[id.index()]
                        && !self.can_return(program, *id)
                })
                .map(|(id, _)| id)
                .collect();
            if found.is_empty() {
                return;
            }
            for id in found {
                self.never_returns[id.index()] = true;
            }
        }
    }

    /// Whether a path leads from a function's entry to a return, past no call that never returns.
    fn can_return(&self, program: &Program, id: FunctionId) -> bool {
        let function = program.function(id);
        let mut seen = vec![false; function.blocks.len()];
        let mut work: Vec<_> = function.entry().into_iter().collect();
        while let Some(block) = work.pop() {
            let index = (block.0 - function.blocks.start) as usize;
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            let data = program.block(block);
            if data.stmts().any(|stmt| self.call_never_returns(stmt)) {
                continue;
            }
            if program.stmt(data.terminator()).op == Op::Return {
                return true;
            }
            work.extend(&data.successors);
        }
        false
    }
}

/// Whether functions that are not named here may be stored in the memory that a constant points to.
/// Those that are named in memory that is never written are added to `found`.
fn may_hold_function(program: &Program, constant: Operand, found: &mut Vec<FunctionId>) -> bool {
    match constant {
        Operand::Global(id) if program.global(id).is_constant => {
            mentioned(program, constant, found);
            false
        }
        Operand::Global(_) => true,
        Operand::Const(id) => match program.constant(id) {
            Const::Address(_, operands) => may_hold_function(program, operands[0], found),
            _ => false,
        },
        _ => false,
    }
}

/// The functions that a constant, or the initial value of a variable, names.
pub(crate) fn mentioned(program: &Program, constant: Operand, found: &mut Vec<FunctionId>) {
    let mut seen = FxHashSet::default();
    let mut work = vec![constant];
    while let Some(operand) = work.pop() {
        if !seen.insert(operand) {
            continue;
        }
        match operand {
            Operand::Function(id) => found.push(id),
            Operand::Global(id) => work.extend(program.global(id).initial),
            Operand::Const(id) => match program.constant(id) {
                Const::Aggregate(parts) | Const::Expression(_, parts) => work.extend(parts),
                Const::Address(_, operands) => work.push(operands[0]),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Whether a call that expects one type may enter a function of another. Old C declares functions
/// without parameters, so calls of those fit everything.
fn compatible(program: &Program, expected: TypeId, actual: TypeId) -> bool {
    if expected == actual {
        return true;
    }
    let (
        Type::Function {
            params: a,
            variadic: x,
            ..
        },
        Type::Function {
            params: b,
            variadic: y,
            ..
        },
    ) = (program.ty(expected), program.ty(actual))
    else {
        return false;
    };
    // Differing results do not keep a call from working, nor do differing widths of integers.
    let alike = |(a, b): (&TypeId, &TypeId)| {
        let kinds = (program.ty(*a), program.ty(*b));
        let is_word = |ty: &Type| matches!(ty, Type::Int(64) | Type::Pointer);
        kinds.0 == kinds.1
            || matches!(kinds, (Type::Int(_), Type::Int(_)))
            || (is_word(kinds.0) && is_word(kinds.1))
    };
    (*x || *y || a.len() == b.len()) && a.iter().zip(b).all(alike)
}
