//! From a program to constraints.

use super::Object;
use super::copies::Copied;
use super::solver::{Along, Complex, Solver, Step};
use crate::externals::{Effects, Points};
use crate::model::*;

const STAY: Step = Step {
    offset: 0,
    array: None,
    along: Along::No,
};

/// The state behind a standard stream, by the name of the variable that points there.
pub(super) fn stream(symbol: &str) -> Option<&'static str> {
    match symbol {
        "stdin" => Some("stdin"),
        "stdout" => Some("stdout"),
        "stderr" => Some("stderr"),
        _ => None,
    }
}

impl Solver<'_> {
    /// Turns the program into constraints.
    pub(super) fn collect(&mut self) {
        for (id, global) in self.program.globals() {
            let cell = self.object(Object::Global(id));
            match (global.initial, stream(&global.symbol)) {
                (Some(initial), _) => self.initial(cell, global.ty, initial),
                (None, Some(stream)) => {
                    let stream = self.object(Object::Library(stream));
                    let node = self.cell_node(cell);
                    self.add_target(node, stream);
                }
                (None, None) => {}
            }
        }
        let live = self.calls.reachable(self.program);
        let is_library = !self.program.functions.iter().any(|f| f.symbol == "main");
        for (id, function) in self.program.functions() {
            if !live[id.index()] {
                continue;
            }
            let is_visible = is_library && !function.is_static;
            if is_visible || self.calls.callers(id).is_empty() {
                self.called_from_outside(id);
            }
            for stmt in self.program.function_stmts(id) {
                self.statement(id, stmt);
            }
        }
    }

    /// That is how `main` gets its arguments.
    fn called_from_outside(&mut self, id: FunctionId) {
        let outside = self.cell_node(0);
        for node in self.params(id) {
            self.add_target(node, 0);
        }
        let result = self.points.layout.results + id.0;
        self.add_edge(result, outside);
    }

    fn params(&self, id: FunctionId) -> std::ops::Range<u32> {
        let params = &self.points.layout.params;
        let next = params.get(id.index() + 1);
        params[id.index()]..next.copied().unwrap_or(self.points.layout.results)
    }

    // ---- operands and constants ----

    fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Stmt(stmt) => Some(stmt.0),
            Operand::Param(i) => Some(self.points.layout.params[function.index()] + i),
            constant => self.constant_node(constant),
        }
    }

    fn constant_node(&mut self, constant: Operand) -> Option<u32> {
        if let Some(&node) = self.constant_nodes.get(&constant) {
            return Some(node);
        }
        let targets = self.constant_targets(constant);
        if targets.is_empty() {
            return None;
        }
        let node = self.extra_node();
        for &target in &targets {
            self.add_target(node, target);
        }
        self.constant_nodes.insert(constant, node);
        Some(node)
    }

    fn constant_targets(&mut self, constant: Operand) -> Vec<u32> {
        let id = match constant {
            Operand::Global(id) => return vec![self.object(Object::Global(id))],
            Operand::Const(id) => id,
            _ => return Vec::new(),
        };
        match self.program.constant(id).clone() {
            Const::Address(ty, operands) => {
                let step = self.constant_step(ty, &operands[1..]);
                let base = self.constant_targets(operands[0]).into_iter();
                base.map(|cell| self.step(cell, step)).collect()
            }
            Const::Expression(_, operands) => {
                let all = operands.into_iter();
                all.flat_map(|operand| self.constant_targets(operand))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn number(&self, operand: Operand) -> Option<i64> {
        let Operand::Const(id) = operand else {
            return None;
        };
        match self.program.constant(id) {
            Const::Int { width, bits } => {
                let shift = 128 - (*width).min(128);
                Some((((*bits << shift) as i128) >> shift) as i64)
            }
            _ => None,
        }
    }

    /// Where constant address arithmetic leads. No loop repeats it, so bytes can be counted.
    fn constant_step(&self, ty: TypeId, indices: &[Operand]) -> Step {
        if let ([index], Type::Int(8)) = (indices, self.program.ty(ty))
            && let Some(offset) = self.number(*index).and_then(|n| u64::try_from(n).ok())
        {
            return Step { offset, ..STAY };
        }
        self.address_step(ty, indices)
    }

    /// Where address arithmetic leads.
    fn address_step(&self, ty: TypeId, indices: &[Operand]) -> Step {
        let along = self.first_index(ty, indices.first().copied());
        let mut current = ty;
        let mut offset = 0;
        for &index in indices.iter().skip(1) {
            if self.is_scalar_array(current) {
                break;
            }
            let field = self.number(index).and_then(|n| usize::try_from(n).ok());
            match (self.program.ty(current), field) {
                (Type::Struct(id), Some(i)) => {
                    let Some(field) = self.program.structure(*id).fields.get(i) else {
                        break;
                    };
                    offset += field.offset;
                    current = field.ty;
                }
                (Type::Tuple(fields), Some(i)) if i < fields.len() => {
                    offset += self.program.tuple_offset(fields, i);
                    current = fields[i];
                }
                (Type::Array(_, element), _) => current = *element,
                _ => break,
            }
        }
        // Into an array of scalars, or to one as a whole. An array of no elements goes on to the
        // end of the object.
        let in_array = indices.len() > 1 && self.is_scalar_array(current);
        let array = in_array.then(|| match self.program.size_of(current) {
            0 => u64::MAX,
            size => size,
        });
        Step {
            offset,
            array,
            along,
        }
    }

    /// What the first index of address arithmetic does: it goes from element to element.
    fn first_index(&self, ty: TypeId, index: Option<Operand>) -> Along {
        let number = index.and_then(|index| self.number(index));
        let mut element = ty;
        while let Type::Array(_, inner) | Type::Vector(_, inner) = self.program.ty(element) {
            element = *inner;
        }
        match (self.program.ty(element), number) {
            (_, Some(0)) => Along::No,
            (Type::Int(8), Some(n)) if n < -1 => Along::Object,
            (Type::Struct(_) | Type::Tuple(_), _) => Along::No,
            _ => Along::Array(self.program.size_of(ty)),
        }
    }

    fn initial(&mut self, cell: u32, ty: TypeId, value: Operand) {
        let targets = self.constant_targets(value);
        let node = self.cell_node(cell);
        for target in targets {
            self.add_target(node, target);
        }
        let Operand::Const(id) = value else {
            return;
        };
        let Const::Aggregate(values) = self.program.constant(id).clone() else {
            return;
        };
        for (i, &value) in values.iter().enumerate() {
            match self.program.ty(ty).clone() {
                Type::Struct(id) => {
                    let field = self.program.structure(id).fields.get(i);
                    if let Some((offset, ty)) = field.map(|field| (field.offset, field.ty)) {
                        let array = self.is_scalar_array(ty);
                        let step = Step {
                            offset,
                            array: array.then(|| self.program.size_of(ty)),
                            along: Along::No,
                        };
                        let cell = self.step(cell, step);
                        self.initial(cell, ty, value);
                    }
                }
                Type::Array(_, element) | Type::Vector(_, element) => {
                    self.initial(cell, element, value);
                }
                // Whether unnamed structures are packed is not known here: all in one cell.
                Type::Tuple(fields) => match fields.get(i) {
                    Some(&field) => {
                        let along = Along::Object;
                        let cell = self.step(cell, Step { along, ..STAY });
                        self.initial(cell, field, value);
                    }
                    None => return,
                },
                _ => return,
            }
        }
    }

    // ---- statements ----

    fn copy(&mut self, function: FunctionId, from: Operand, to: u32) {
        if let Some(from) = self.operand(function, from) {
            self.add_edge(from, to);
        }
    }

    /// Whether a value of a type can hold a pointer.
    fn is_tracked(&self, ty: TypeId) -> bool {
        !matches!(
            self.program.ty(ty),
            Type::Int(0..=63) | Type::Float(_) | Type::Void
        )
    }

    fn statement(&mut self, function: FunctionId, stmt: StmtId) {
        let data = *self.program.stmt(stmt);
        let operands = self.program.operands(stmt);
        // Also where no pointer is moved, the memory that a constant names must have its cell.
        for &operand in operands {
            if matches!(operand, Operand::Global(_) | Operand::Const(_)) {
                self.constant_node(operand);
            }
        }
        match data.op {
            Op::Alloca(_) => {
                let cell = self.object(Object::Local(stmt));
                self.add_target(stmt.0, cell);
            }
            Op::Load { .. } if self.is_tracked(data.ty) => {
                let size = self.program.size_of(data.ty);
                self.load(function, operands[0], stmt.0, size);
            }
            Op::Store { .. } => {
                if let Operand::Stmt(value) = operands[0]
                    && !self.is_tracked(self.program.stmt(value).ty)
                {
                    return;
                }
                if let Some(from) = self.operand(function, operands[0]) {
                    let size = self.program.operand_size(function, operands[0]);
                    self.store(function, operands[1], from, size.unwrap_or(u64::MAX));
                }
            }
            Op::Address(ty) => self.address(function, stmt, ty, operands),
            Op::Call(_) | Op::Invoke(_) => self.call(function, stmt),
            Op::Return => {
                let to = self.points.layout.results + function.0;
                for &value in operands {
                    self.copy(function, value, to);
                }
            }
            Op::AtomicUpdate(_) | Op::CompareExchange => {
                self.load(function, operands[0], stmt.0, 8);
                for &value in &operands[1..] {
                    if let Some(from) = self.operand(function, value) {
                        self.store(function, operands[0], from, 8);
                    }
                }
            }
            Op::Compare(_) | Op::CompareFloat(_) => {}
            // Everything else may pass its operands on, if the result can hold a pointer.
            _ if self.is_tracked(data.ty) => {
                for &operand in operands {
                    self.copy(function, operand, stmt.0);
                }
            }
            _ => {}
        }
    }

    fn address(&mut self, function: FunctionId, stmt: StmtId, ty: TypeId, operands: &[Operand]) {
        let Some(base) = self.operand(function, operands[0]) else {
            return;
        };
        match self.address_step(ty, &operands[1..]) {
            STAY => self.add_edge(base, stmt.0),
            step => self.add_complex(base, Complex::Move { to: stmt.0, step }),
        }
    }

    fn load(&mut self, function: FunctionId, address: Operand, to: u32, size: u64) {
        if let Some(node) = self.operand(function, address) {
            self.add_complex(node, Complex::Load { to, size });
        }
    }

    fn store(&mut self, function: FunctionId, address: Operand, from: u32, size: u64) {
        if let Some(node) = self.operand(function, address) {
            self.add_complex(node, Complex::Store { from, size });
        }
    }

    // ---- calls ----

    fn call(&mut self, function: FunctionId, call: StmtId) {
        let callees = self.calls.callees(call);
        for &callee in callees {
            match self.calls.effects(callee) {
                Some(effects) => self.external(function, call, effects.clone()),
                None => self.internal(function, call, callee),
            }
        }
        if callees.is_empty() {
            // Assembler, or a pointer that no function fits.
            self.external(function, call, Effects::unknown());
        }
    }

    fn internal(&mut self, function: FunctionId, call: StmtId, callee: FunctionId) {
        let params = self.params(callee);
        // A callback of an external function gets its arguments from there.
        let direct = self.program.called_function(call);
        if direct.is_some_and(|direct| direct != callee) {
            for param in params {
                self.add_target(param, 0);
                for &argument in self.program.arguments(call) {
                    self.copy(function, argument, param);
                }
            }
            return;
        }
        for (i, &argument) in (0..).zip(self.program.arguments(call)) {
            let to = if params.start + i < params.end {
                params.start + i
            } else {
                let cell = self.object(Object::Variadic(callee));
                self.cell_node(cell)
            };
            self.copy(function, argument, to);
        }
        let result = self.points.layout.results + callee.0;
        self.add_edge(result, call.0);
    }

    fn external(&mut self, function: FunctionId, call: StmtId, effects: Effects) {
        let arguments = self.program.arguments(call).to_vec();
        let node = |solver: &mut Self, i: u32| {
            let argument = *arguments.get(i as usize)?;
            solver.operand(function, argument)
        };
        if effects.is_unknown {
            let outside = self.cell_node(0);
            for i in 0..arguments.len() as u32 {
                if let Some(node) = node(self, i) {
                    self.add_edge(node, outside);
                }
            }
        }
        for &(to, from) in &effects.copies {
            if let (Some(to), Some(from)) = (node(self, to), node(self, from)) {
                // `realloc` moves what its argument holds to the new memory.
                let is_moved = effects.result == Points::Fresh;
                let to = if is_moved { call.0 } else { to };
                let size = crate::dependence::copied_size(self.program, call);
                self.add_copy(Copied { to, from, size });
            }
        }
        for &(to, from) in &effects.stores {
            if let (Some(to), Some(from)) = (node(self, to), node(self, from)) {
                self.add_complex(to, Complex::Store { from, size: 8 });
            }
        }
        if let Some((state, from)) = effects.keeps {
            let cell = self.object(Object::Library(state));
            let to = self.cell_node(cell);
            if let Some(from) = node(self, from) {
                self.add_edge(from, to);
            }
        }
        for state in effects.reads.states.iter().chain(&effects.writes.states) {
            self.object(Object::Library(state));
        }
        for &to in &effects.fresh {
            if let Some(to) = node(self, to) {
                let cell = self.object(Object::Heap(call));
                let from = self.extra_node();
                self.add_target(from, cell);
                self.add_complex(to, Complex::Store { from, size: 8 });
            }
        }
        self.external_result(call, effects.result, |solver, i| node(solver, i));
        let name = self.program.called_function(call);
        let name = name.map_or("", |id| &self.program.function(id).symbol);
        if name.starts_with("llvm.va_start")
            && let Some(list) = node(self, 0)
        {
            self.variadic_list(function, list);
        }
    }

    fn external_result(
        &mut self,
        call: StmtId,
        result: Points,
        argument: impl Fn(&mut Self, u32) -> Option<u32>,
    ) {
        let to = call.0;
        match result {
            Points::Nowhere => {}
            Points::Argument(i) => {
                if let Some(from) = argument(self, i) {
                    self.add_edge(from, to);
                }
            }
            Points::Within(i) => {
                if let Some(from) = argument(self, i) {
                    let along = Along::Array(1);
                    let step = Step { along, ..STAY };
                    self.add_complex(from, Complex::Move { to, step });
                }
            }
            Points::Loaded(i) => {
                if let Some(from) = argument(self, i) {
                    self.add_complex(from, Complex::Load { to, size: 8 });
                }
            }
            Points::Fresh => {
                let cell = self.object(Object::Heap(call));
                self.add_target(to, cell);
            }
            Points::State(state) => {
                let cell = self.object(Object::Library(state));
                self.add_target(to, cell);
            }
            Points::Kept(state) => {
                let cell = self.object(Object::Library(state));
                self.add_edge(self.cell_node(cell), to);
            }
            Points::Outside => self.add_edge(self.cell_node(0), to),
        }
    }

    /// `va_start`: all pointers in the structure behind a `va_list` lead to the arguments.
    fn variadic_list(&mut self, function: FunctionId, list: u32) {
        let arguments = self.object(Object::Variadic(function));
        let from = self.extra_node();
        self.add_target(from, arguments);
        for offset in [0, 8, 16] {
            let field = self.extra_node();
            let step = Step { offset, ..STAY };
            self.add_complex(list, Complex::Move { to: field, step });
            self.add_complex(field, Complex::Store { from, size: 8 });
        }
    }
}
