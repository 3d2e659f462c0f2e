//! The call graph: who may call whom, and who may end the program.

use rustc_hash::FxHashMap;

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
                for &callee in &callees {
                    graph.callers[callee.index()].push(stmt);
                }
                graph.callees.insert(stmt, callees);
            }
        }
        graph.find_exits(program);
        graph
    }

    /// The functions that a call may enter.
    pub fn callees(&self, call: StmtId) -> &[FunctionId] {
        self.callees.get(&call).map_or(&[], |callees| callees)
    }

    /// The calls that may enter a function.
    pub fn callers(&self, function: FunctionId) -> &[StmtId] {
        &self.callers[function.index()]
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
            return taken.iter().copied().filter(fits).collect();
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
                Operand::Stmt(_) if effects.callbacks.contains(&i) => any = true,
                Operand::Stmt(stmt) if effects.is_unknown => {
                    any |= *program.ty(program.stmt(*stmt).ty) == Type::Pointer;
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
            self.may_exit[id.index()] = exits;
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
        kinds.0 == kinds.1 || matches!(kinds, (Type::Int(_), Type::Int(_)))
    };
    (*x || *y || a.len() == b.len()) && a.iter().zip(b).all(alike)
}
