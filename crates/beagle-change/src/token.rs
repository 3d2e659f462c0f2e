//! Tokens: what two versions must agree on for a part of a statement to count as the same.
//!
//! A token is a hash of the part's meaning that leaves out everything a change elsewhere may
//! disturb: names of locals, numbers of string literals, offsets of fields, line numbers, sizes of
//! arrays and of structures that merely grew. Equal tokens in old and new mean the same; unequal
//! tokens are reported as a change, so when in doubt a token says more rather than less.

use std::hash::{DefaultHasher, Hash, Hasher};

use beagle_program::{
    Const, ConstId, FunctionId, GlobalId, Op, Operand, Program, StmtId, StructId, Type, TypeId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::source::SourceTree;

/// A hash of meaning. `DefaultHasher::new` has fixed keys, so tokens compare across versions.
pub(crate) type Token = u64;

/// A constant in a statement.
pub(crate) enum ConstToken {
    /// Must be the same in both versions.
    Plain(Token),
    /// Perhaps the size of a structure; to be compared by [`Side::same_size`].
    Size(u64),
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
    globals: Vec<Token>,
    /// The structures whose size differs between the versions, by the size they have here.
    resized: FxHashMap<u64, Vec<Token>>,
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
            resized: FxHashMap::default(),
            types: Vec::new(),
        };
        side.types = (0..program.types.len() as u32)
            .map(|id| side.type_token(TypeId(id), 0))
            .collect();
        side.globals = program
            .globals()
            .map(|(id, _)| side.global_name(id))
            .collect();
        side
    }

    /// Tells both sides which structures have another size in the other version.
    pub(crate) fn note_resized(old: &mut Side, new: &mut Side) {
        let sizes = |program: &Program| -> FxHashMap<String, FxHashSet<u64>> {
            let mut sizes = FxHashMap::<String, FxHashSet<u64>>::default();
            for structure in &program.structs {
                sizes
                    .entry(structure.name.clone())
                    .or_default()
                    .insert(structure.size);
            }
            sizes
        };
        let (old_sizes, new_sizes) = (sizes(old.program), sizes(new.program));
        for (name, before) in &old_sizes {
            let Some(after) = new_sizes.get(name) else {
                continue;
            };
            // A name that stands for several structures is left alone: better to report too much.
            if let (1, 1, Some(&before), Some(&after)) = (
                before.len(),
                after.len(),
                before.iter().next(),
                after.iter().next(),
            ) && before != after
            {
                let token = token_of(("sizeof", name));
                old.resized.entry(before).or_default().push(token);
                new.resized.entry(after).or_default().push(token);
            }
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

    fn global_name(&self, id: GlobalId) -> Token {
        let global = self.program.global(id);
        match global.initial {
            Some(initial) if global.is_literal => {
                token_of(("literal", self.initial(global.ty, initial)))
            }
            _ => token_of(("global", &global.name)),
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
        // While literals are named, they may refer to each other by content.
        match self.globals.get(id.index()) {
            Some(&token) => token,
            None => self.global_name(id),
        }
    }

    /// Names a variable anew, after it was matched with one of the other version.
    pub(crate) fn set_global(&mut self, id: GlobalId, token: Token) {
        self.globals[id.index()] = token;
    }

    fn constant(&self, id: ConstId) -> Token {
        let all = |operands: &[Operand]| -> Vec<Token> {
            operands.iter().map(|&operand| self.leaf(operand)).collect()
        };
        match self.program.constant(id) {
            Const::Aggregate(values) => token_of(("aggregate", all(values))),
            Const::Address(ty, operands) => self.address(*ty, &all(operands), operands),
            Const::Expression(opcode, operands) => token_of(("const", opcode, all(operands))),
            // Labels are compared by the jumps that use them.
            Const::Label(..) => token_of("label"),
            constant => token_of(constant),
        }
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

    /// A constant as operand of a statement: line numbers and sizes of structures that merely
    /// grew are not what the programmer wrote.
    pub(crate) fn constant_in(&self, stmt: StmtId, id: ConstId) -> ConstToken {
        if let Const::Int { bits, .. } = self.program.constant(id)
            && let Some(place) = self.program.stmt(stmt).place
            && let Ok(value) = u64::try_from(*bits)
        {
            let text = || {
                let file = self.program.file(place.file);
                self.sources.line(file, place.line).unwrap_or_default()
            };
            if value == u64::from(place.line)
                && self
                    .sources
                    .line_macros(&self.program.files)
                    .used_in(&text())
            {
                return ConstToken::Plain(token_of("__LINE__"));
            }
            if !self.resized.is_empty()
                && value >= 2
                && (self.sizes_by_itself(stmt) || text().contains("sizeof"))
            {
                return ConstToken::Size(value);
            }
        }
        ConstToken::Plain(self.constant(id))
    }

    /// Whether a size here and a size there are the same number, or the sizes of the same
    /// structure, which another field made grow or shrink.
    pub(crate) fn same_size(&self, size: u64, other: &Side, other_size: u64) -> bool {
        let structures = |side: &Side, size| side.resized.get(&size).cloned().unwrap_or_default();
        size == other_size
            || structures(self, size)
                .iter()
                .any(|token| structures(other, other_size).contains(token))
    }

    /// Whether clang puts sizes of structures into such statements without being asked: copies
    /// and clearing of whole structures, and differences of pointers.
    fn sizes_by_itself(&self, stmt: StmtId) -> bool {
        match self.program.stmt(stmt).op {
            Op::PointerDifference => true,
            Op::Call(_) => {
                let name = self
                    .program
                    .called_function(stmt)
                    .map_or("", |id| &self.program.function(id).symbol);
                let copies = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memset");
                let place = self.program.stmt(stmt).place;
                let text = place
                    .and_then(|place| self.sources.line(self.program.file(place.file), place.line));
                // With `memcpy` in the text the size was written by the programmer.
                copies && !text.is_some_and(|text| text.contains("mem"))
            }
            _ => false,
        }
    }

    /// Address arithmetic over `ty`: fields by name, with the type they are declared with.
    /// `tokens` are those of `operands` (base, then indices).
    pub(crate) fn address(&self, ty: TypeId, tokens: &[Token], operands: &[Operand]) -> Token {
        let mut current = ty;
        let mut steps = vec![token_of(("address", tokens.first()))];
        for (i, (&token, &operand)) in tokens.iter().zip(operands).enumerate().skip(1) {
            match self.program.ty(current) {
                // The first index steps over whole values of the type.
                _ if i == 1 => steps.push(token_of((self.ty(ty), token))),
                Type::Struct(id) => match self.field_index(operand) {
                    Some(index) => {
                        let (step, next) = self.field(*id, index);
                        steps.push(step);
                        match next {
                            Some(next) => current = next,
                            None => break,
                        }
                    }
                    None => steps.push(token),
                },
                Type::Array(_, element) | Type::Vector(_, element) => {
                    steps.push(token_of(("element", token)));
                    current = *element;
                }
                Type::Tuple(fields) => {
                    steps.push(token);
                    match self.field_index(operand).and_then(|i| fields.get(i)) {
                        Some(&next) => current = next,
                        None => break,
                    }
                }
                _ => steps.push(token),
            }
        }
        token_of(steps)
    }

    fn field_index(&self, operand: Operand) -> Option<usize> {
        match operand {
            Operand::Const(id) => match self.program.constant(id) {
                Const::Int { bits, .. } => usize::try_from(*bits).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    fn field(&self, id: StructId, index: usize) -> (Token, Option<TypeId>) {
        let structure = self.program.structure(id);
        let Some(field) = structure.fields.get(index) else {
            return (token_of(("field", index)), None);
        };
        let declared = self.declared_type(field.ty);
        let token = match &field.name {
            Some(name) => token_of(("field", &structure.name, name, declared)),
            // Without a name only the position tells the field.
            None => token_of(("field", &structure.name, index, declared)),
        };
        (token, Some(field.ty))
    }
}
