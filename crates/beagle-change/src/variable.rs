//! Variables, as both versions know them.

use beagle_program::{Const, FunctionId, GlobalId, Op, Operand, Program, StmtId, Type};
use rustc_hash::FxHashMap;

/// What both versions know a variable by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A local variable: its function, as a number that both versions share, and its name.
    Local(u32, String),
    /// The result of a function.
    Result(u32),
    /// A global variable, or a part of it.
    Global(usize, Vec<u128>),
    /// A member of a structure, wherever it is.
    Member(String, Vec<u128>),
}

/// How one version calls its variables.
pub(crate) struct Variables<'a> {
    pub program: &'a Program,
    functions: Vec<u32>,
    globals: FxHashMap<GlobalId, usize>,
    /// The names of local variables, by what makes room for them.
    locals: FxHashMap<StmtId, String>,
    /// Whether variables that hold addresses count.
    pointers: bool,
}

impl<'a> Variables<'a> {
    pub fn new(
        program: &'a Program,
        functions: Vec<u32>,
        globals: FxHashMap<GlobalId, usize>,
    ) -> Self {
        let mut locals = FxHashMap::default();
        for (_, function) in program.functions() {
            for local in &function.locals {
                // Two of the same name in different blocks have different lines, but lines move.
                locals.insert(local.alloca, local.name.clone().unwrap_or_default());
            }
        }
        Self {
            program,
            functions,
            globals,
            locals,
            pointers: false,
        }
    }

    /// The same, and variables that hold addresses count, too.
    pub fn with_pointers(self) -> Self {
        Self {
            pointers: true,
            ..self
        }
    }

    /// The number of the function that a statement is in.
    pub fn function(&self, stmt: StmtId) -> u32 {
        self.functions[self.function_of(stmt).index()]
    }

    /// The result of a function that is there.
    pub fn result(&self, id: FunctionId) -> Option<Key> {
        let has_body = self.program.function(id).entry().is_some();
        has_body.then(|| Key::Result(self.functions[id.index()]))
    }

    /// The function that a statement is in.
    pub fn function_of(&self, stmt: StmtId) -> FunctionId {
        let block = self.program.stmt(stmt).block;
        self.program.block(block).function
    }

    /// What a statement puts a value into. Addresses do not count as values, unless they are wanted.
    pub fn key(&self, stmt: StmtId) -> Option<Key> {
        let function = self.function(stmt);
        match (self.program.stmt(stmt).op, self.program.operands(stmt)) {
            (Op::Return, &[value]) if self.is_number(value) => Some(Key::Result(function)),
            (Op::Store { volatile: false }, &[value, address])
                if self.is_number(value) || self.pointers && self.is_pointer(value) =>
            {
                self.place(function, address)
            }
            _ => None,
        }
    }

    /// The variable at an address that a function computes.
    pub fn place(&self, function: u32, address: Operand) -> Option<Key> {
        match address {
            Operand::Global(id) => Some(Key::Global(*self.globals.get(&id)?, Vec::new())),
            Operand::Const(id) => match self.program.constant(id) {
                Const::Address(_, parts) => match parts.as_slice() {
                    [Operand::Global(id), indices @ ..] => {
                        let indices = self.indices(indices)?;
                        Some(Key::Global(*self.globals.get(id)?, indices))
                    }
                    _ => None,
                },
                _ => None,
            },
            Operand::Stmt(made) => match self.program.stmt(made).op {
                Op::Alloca(_) => Some(Key::Local(function, self.locals.get(&made)?.clone())),
                Op::Address(ty) => {
                    let Type::Struct(id) = self.program.ty(ty) else {
                        return None;
                    };
                    let indices = self.indices(self.program.operands(made).get(1..)?)?;
                    let name = self.program.structs[id.index()].name.clone();
                    Some(Key::Member(name, indices))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The indices, if all are constants.
    fn indices(&self, operands: &[Operand]) -> Option<Vec<u128>> {
        let constants = operands.iter().map(|&operand| match operand {
            Operand::Const(id) => match self.program.constant(id) {
                Const::Int { bits, .. } => Some(*bits),
                Const::Zero => Some(0),
                _ => None,
            },
            _ => None,
        });
        constants.collect()
    }

    /// Whether a statement puts an address into a variable.
    pub fn is_address(&self, stmt: StmtId) -> bool {
        let value = self.program.operands(stmt).first();
        value.is_some_and(|&value| self.is_pointer(value))
    }

    /// Whether a value is an address.
    fn is_pointer(&self, operand: Operand) -> bool {
        match operand {
            Operand::Stmt(stmt) => *self.program.ty(self.program.stmt(stmt).ty) == Type::Pointer,
            Operand::Const(id) => {
                matches!(self.program.constant(id), Const::Null | Const::Address(..))
            }
            Operand::Global(_) | Operand::Function(_) => true,
            // As with numbers.
            Operand::Param(_) | Operand::Block(_) => false,
        }
    }

    /// Whether a value is a number.
    pub fn is_number(&self, operand: Operand) -> bool {
        match operand {
            Operand::Stmt(stmt) => {
                let ty = self.program.stmt(stmt).ty;
                matches!(self.program.ty(ty), Type::Int(_) | Type::Float(_))
            }
            Operand::Const(id) => {
                let constant = self.program.constant(id);
                matches!(constant, Const::Int { .. } | Const::Float(_))
            }
            // Parameters are put into their variables before anything is done with them.
            _ => false,
        }
    }
}
