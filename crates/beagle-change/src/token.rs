//! Tokens: what two versions must agree on for a part of a statement to count as the same.
//!
//! A token is a hash of the part's meaning that leaves out everything a change elsewhere may
//! disturb: names of locals, numbers of string literals, offsets of fields, line numbers, sizes of
//! arrays and of structures that merely grew. Equal tokens in old and new mean the same; unequal
//! tokens are reported as a change, so when in doubt a token says more rather than less.

use std::hash::{DefaultHasher, Hash, Hasher};

use beagle_program::{
    BlockId, Const, ConstId, FunctionId, Global, GlobalId, Op, Operand, Program, StmtId, Type,
    TypeId,
};

use crate::macros::words;
use crate::size::{Resized, Size};
use crate::source::{SourceTree, Written};

/// A hash of meaning. `DefaultHasher::new` has fixed keys, so tokens compare across versions.
pub(crate) type Token = u64;

/// A constant in a statement.
pub(crate) enum ConstToken {
    /// Must be the same in both versions.
    Plain(Token),
    /// Perhaps the size of a structure; to be compared by [`Side::same_size`].
    Size(Size),
}

pub(crate) fn token_of(value: impl Hash) -> Token {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// One version, with what is needed to make tokens.
pub(crate) struct Side<'a> {
    pub(crate) program: &'a Program,
    pub(crate) sources: &'a SourceTree,
    /// By function; what corresponds in the other version has the same token.
    pub(crate) functions: Vec<Token>,
    /// `None` for literals that have no token yet.
    globals: Vec<Option<Token>>,
    /// The structures whose size differs between the versions.
    pub(crate) resized: Resized,
    types: Vec<Token>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(program: &'a Program, sources: &'a SourceTree) -> Self {
        let mut side = Self {
            program,
            sources,
            functions: program
                .functions
                .iter()
                .map(|function| token_of(("function", &function.name)))
                .collect(),
            globals: Vec::new(),
            resized: Resized::default(),
            types: Vec::new(),
        };
        side.types = (0..program.types.len() as u32)
            .map(|id| side.type_token(TypeId(id), 0))
            .collect();
        let name =
            |global: &Global| (!global.is_literal).then(|| token_of(("global", &global.name)));
        side.globals = program.globals.iter().map(name).collect();
        side.name_literals();
        side
    }

    /// Gives literals tokens by what they say, from the tokens of what they refer to.
    pub(crate) fn name_literals(&mut self) {
        let literals = |(id, global): (GlobalId, &Global)| global.is_literal.then_some(id);
        let literals: Vec<_> = self.program.globals().filter_map(literals).collect();
        for id in &literals {
            self.globals[id.index()] = None;
        }
        for id in literals {
            self.globals[id.index()] = Some(self.global(id));
        }
    }

    /// A type without what moves when something else grows: lengths of arrays, layouts.
    pub(crate) fn ty(&self, id: TypeId) -> Token {
        self.types[id.index()]
    }

    fn type_token(&self, id: TypeId, depth: u32) -> Token {
        // Types cannot contain themselves; the bound only guards against deep nesting.
        if depth > 64 {
            return 0;
        }
        match self.program.ty(id) {
            Type::Array(_, element) => token_of(("array", self.type_token(*element, depth + 1))),
            Type::Vector(count, element) => {
                token_of(("vector", count, self.type_token(*element, depth + 1)))
            }
            Type::Struct(id) => token_of(("struct", &self.program.structure(*id).name)),
            Type::Tuple(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|&field| self.type_token(field, depth + 1))
                    .collect();
                token_of(("tuple", fields))
            }
            Type::Function {
                result,
                params,
                variadic,
            } => {
                let params: Vec<_> = params
                    .iter()
                    .map(|&param| self.type_token(param, depth + 1))
                    .collect();
                token_of((
                    "function",
                    self.type_token(*result, depth + 1),
                    params,
                    variadic,
                ))
            }
            other => token_of(other),
        }
    }

    /// A type with the lengths of its arrays: what a declaration fixes.
    pub(crate) fn declared_type(&self, id: TypeId) -> Token {
        match self.program.ty(id) {
            Type::Array(count, element) => token_of(("array", count, self.declared_type(*element))),
            _ => self.ty(id),
        }
    }

    /// The initial value of a variable of some type. Fields go by name, and what is zero is left
    /// out, so that a new field does not change the variables that do not set it.
    pub(crate) fn initial(&self, ty: TypeId, value: Operand) -> Token {
        let Operand::Const(id) = value else {
            return self.leaf(value);
        };
        match (self.program.constant(id), self.program.ty(ty)) {
            (Const::Zero | Const::Null, _) => 0,
            (Const::Int { bits: 0, .. }, _) => 0,
            (Const::Bytes(bytes), _) if bytes.iter().all(|&byte| byte == 0) => 0,
            (Const::Aggregate(values), Type::Struct(structure)) => {
                let fields = &self.program.structure(*structure).fields;
                let mut parts: Vec<_> = fields
                    .iter()
                    .zip(values)
                    .map(|(field, &value)| (&field.name, self.initial(field.ty, value)))
                    .filter(|(_, token)| *token != 0)
                    .collect();
                // By name: a field that moved is still the same field.
                parts.sort();
                if parts.is_empty() { 0 } else { token_of(parts) }
            }
            (Const::Aggregate(values), kind) => {
                let element = |i: usize| match kind {
                    Type::Array(_, element) | Type::Vector(_, element) => Some(*element),
                    Type::Tuple(fields) => fields.get(i).copied(),
                    _ => None,
                };
                let parts: Vec<_> = values
                    .iter()
                    .enumerate()
                    .map(|(i, &value)| match element(i) {
                        Some(ty) => self.initial(ty, value),
                        None => self.leaf(value),
                    })
                    .collect();
                if parts.iter().all(|&part| part == 0) {
                    0
                } else {
                    token_of(parts)
                }
            }
            _ => token_of((self.ty(ty), self.constant(id))),
        }
    }

    /// What a global is called, or what a literal says.
    pub(crate) fn global(&self, id: GlobalId) -> Token {
        if let Some(token) = self.globals[id.index()] {
            return token;
        }
        let global = self.program.global(id);
        let initial = global.initial.map(|value| self.initial(global.ty, value));
        token_of(("literal", self.declared_type(global.ty), initial))
    }

    /// Names a variable anew, after it was matched with one of the other version.
    pub(crate) fn set_global(&mut self, id: GlobalId, token: Token) {
        self.globals[id.index()] = Some(token);
    }

    fn constant(&self, id: ConstId) -> Token {
        let all = |operands: &[Operand]| -> Vec<Token> {
            operands.iter().map(|&operand| self.leaf(operand)).collect()
        };
        match self.program.constant(id) {
            Const::Aggregate(values) => token_of(("aggregate", all(values))),
            Const::Address(ty, operands) => match self.pointed_to(Operand::Const(id)) {
                Some(path) => path.token(),
                None => self.address(*ty, &all(operands), operands),
            },
            Const::Expression(opcode, operands) => token_of(("const", opcode, all(operands))),
            Const::Label(function, block) => {
                token_of(("label", self.label_number(*function, *block)))
            }
            constant => token_of(constant),
        }
    }

    /// The place of a label among the targets of its function's computed jumps, which are compared
    /// as targets.
    fn label_number(&self, function: FunctionId, block: u32) -> Option<usize> {
        let function = self.program.function(function);
        let label = BlockId(function.blocks.start + block);
        let jumps = function.blocks().filter(|&block| {
            let last = self.program.block(block).terminator();
            self.program.stmt(last).op == Op::ComputedJump
        });
        let mut targets = jumps.map(|block| self.jump_targets(block));
        targets.find_map(|targets| targets.iter().position(|&target| target == label))
    }

    /// Where the computed jump of a block may lead, in the order of the function. Clang lists them
    /// in the order in which labels are mentioned, as often as they are.
    pub(crate) fn jump_targets(&self, block: BlockId) -> Vec<BlockId> {
        let mut targets = self.program.block(block).successors.clone();
        targets.sort();
        targets.dedup();
        targets
    }

    /// An operand that does not depend on the statement it stands in.
    pub(crate) fn leaf(&self, operand: Operand) -> Token {
        match operand {
            Operand::Param(i) => token_of(("param", i)),
            Operand::Function(id) => self.function(id),
            Operand::Global(id) => self.global(id),
            Operand::Const(id) => self.constant(id),
            // Results and blocks are compared by correspondence, not by token.
            Operand::Stmt(_) | Operand::Block(_) => token_of("reference"),
        }
    }

    pub(crate) fn function(&self, id: FunctionId) -> Token {
        self.functions[id.index()]
    }

    /// A constant as operand of a statement that is part of a root: line numbers and sizes of
    /// structures that merely grew are not what the programmer wrote.
    pub(crate) fn constant_in(&self, root: StmtId, stmt: StmtId, id: ConstId) -> ConstToken {
        if let Const::Int { bits, .. } = self.program.constant(id)
            && let Ok(value) = u64::try_from(*bits)
        {
            if self.is_line_number(stmt, value) {
                return ConstToken::Plain(token_of("__LINE__"));
            }
            if let Some(size) = self.size_in(root, stmt, value) {
                return ConstToken::Size(size);
            }
        }
        ConstToken::Plain(self.constant(id))
    }

    fn is_line_number(&self, stmt: StmtId, value: u64) -> bool {
        let Some(place) = self.program.stmt(stmt).place else {
            return false;
        };
        // A macro with arguments over several lines has the number of its last line.
        let near = value.wrapping_sub(place.line.into()) < 100;
        let Some(written) = near.then(|| self.written(stmt)).flatten() else {
            return false;
        };
        let macros = self.sources.line_macros(&self.program.files);
        // If the number is written there, that is more likely what it is: rather report too much.
        let literal = || words(&written.text).any(|word| word.parse() == Ok(value));
        u32::try_from(value).is_ok_and(|value| written.lines.contains(&value))
            && macros.used_in(&written.text)
            && !literal()
    }

    /// The text of a statement.
    pub(crate) fn written(&self, stmt: StmtId) -> Option<Written> {
        let place = self.program.stmt(stmt).place?;
        let file = self.program.file(place.file);
        self.sources.statement(file, place.line, place.column)
    }
}
