//! What a program is made of, after lifting: plain data, all in a few flat arrays.
//!
//! A [`Program`] is the program as clang wrote it at `-O0`: every local variable is an
//! [`Op::Alloca`], every assignment an [`Op::Store`], so that each thing a programmer can change is
//! a statement with a place in the source. Nothing here refers to LLVM, and nothing is changed
//! after lifting.

use std::ops::Range;

/// Declares index types, so that a block number cannot be used as a statement number.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// As index into the array that it belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// Index into [`Program::functions`].
    FunctionId;
    /// Index into [`Program::globals`].
    GlobalId;
    /// Index into [`Program::blocks`].
    BlockId;
    /// Index into [`Program::stmts`].
    StmtId;
    /// Index into [`Program::types`].
    TypeId;
    /// Index into [`Program::structs`].
    StructId;
    /// Index into [`Program::constants`].
    ConstId;
    /// Index into [`Program::files`].
    FileId;
}

/// A program, or one version of it.
#[derive(Default, Debug)]
pub struct Program {
    /// The source files that debug information names.
    pub files: Vec<String>,
    /// All functions, also those that are only declared.
    pub functions: Vec<Function>,
    /// All global variables, also string literals.
    pub globals: Vec<Global>,
    /// The blocks of all functions, those of one function in a row.
    pub blocks: Vec<Block>,
    /// The statements of all blocks, those of one block in a row.
    pub stmts: Vec<Stmt>,
    /// The operands of all statements; see [`Program::operands`].
    pub operand_pool: Vec<Operand>,
    /// All types.
    pub types: Vec<Type>,
    /// All structure types that have a name.
    pub structs: Vec<Struct>,
    /// All constants.
    pub constants: Vec<Const>,
    /// Assembler text at the top level of the sources.
    pub assembler: String,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    /// The name in the source.
    pub name: String,
    /// The name for the linker; differs from `name` when two files have a static function of the
    /// same name, and in C++.
    pub symbol: String,
    /// The file that defines it.
    pub file: Option<FileId>,
    /// The line of its definition; 0 if unknown.
    pub line: u32,
    /// Whether its name is visible in its own file only.
    pub is_static: bool,
    /// Its [`Type::Function`].
    pub ty: TypeId,
    /// Its blocks, the entry first; empty if it is only declared.
    pub blocks: Range<u32>,
    /// Its variables and parameters, in the order of their declaration.
    pub locals: Vec<Local>,
    /// Whether it is declared never to return.
    pub no_return: bool,
    /// Whether it may return more than once (`setjmp`).
    pub returns_twice: bool,
    /// Whether it is one of LLVM's own operations (`llvm.memcpy`).
    pub is_intrinsic: bool,
    /// Whether something other than a direct call refers to it.
    pub address_taken: bool,
}

impl Function {
    /// Whether its code is part of the program.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Its blocks.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = BlockId> + ExactSizeIterator + use<> {
        self.blocks.clone().map(BlockId)
    }

    /// Its first block.
    pub fn entry(&self) -> Option<BlockId> {
        self.is_defined().then_some(BlockId(self.blocks.start))
    }
}

/// A local variable or parameter.
#[derive(Debug)]
pub struct Local {
    /// The [`Op::Alloca`] that makes room for it.
    pub alloca: StmtId,
    /// The name in the source; `None` for temporaries of the compiler.
    pub name: Option<String>,
    /// The type as the source writes it.
    pub type_name: String,
    /// The line of the declaration; 0 if unknown.
    pub line: u32,
}

/// A global or static variable, or a string literal.
#[derive(Debug)]
pub struct Global {
    /// The name in the source (the symbol if there is none).
    pub name: String,
    /// The name for the linker.
    pub symbol: String,
    /// The file that defines it.
    pub file: Option<FileId>,
    /// The line of its definition; 0 if unknown.
    pub line: u32,
    /// What it holds.
    pub ty: TypeId,
    /// The initial value; `None` if it is defined elsewhere.
    pub initial: Option<Operand>,
    /// Whether it can never be written.
    pub is_constant: bool,
    /// Whether its name is visible in its own file only.
    pub is_static: bool,
    /// Whether it is a literal of the source, known by its contents rather than by its name.
    pub is_literal: bool,
}

/// A block: statements that run one after the other.
#[derive(Debug)]
pub struct Block {
    /// The function it belongs to.
    pub function: FunctionId,
    /// Its statements; the last one says where control goes.
    pub stmts: Range<u32>,
    /// Where control may go next, in the order of the terminator's cases.
    pub successors: Vec<BlockId>,
    /// Where control may come from.
    pub predecessors: Vec<BlockId>,
}

impl Block {
    /// Its statements.
    pub fn stmts(&self) -> impl DoubleEndedIterator<Item = StmtId> + ExactSizeIterator + use<> {
        self.stmts.clone().map(StmtId)
    }

    /// The last statement.
    pub fn terminator(&self) -> StmtId {
        StmtId(self.stmts.end - 1)
    }
}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
}

/// One step of the program.
#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    /// What it does.
    pub op: Op,
    /// The type of its result.
    pub ty: TypeId,
    /// The block it belongs to.
    pub block: BlockId,
    /// Where it stands in the source; `None` for what the compiler made up.
    pub place: Option<Place>,
    pub(crate) operands_start: u32,
    pub(crate) operands_len: u32,
}

/// What a statement does. The operands are listed in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Room for a variable of that type. Operands: number of elements.
    Alloca(TypeId),
    /// Operands: address.
    Load {
        /// Whether the access itself counts (`volatile`, atomic).
        volatile: bool,
    },
    /// Operands: value, address.
    Store {
        /// Whether the access itself counts (`volatile`, atomic).
        volatile: bool,
    },
    /// Address arithmetic over that type. Operands: base, indices.
    Address(TypeId),
    /// Operands: left, right.
    Binary(BinaryOp),
    /// A pointer difference divided by the size of the elements. Operands: left, right.
    PointerDifference,
    /// Floating-point negation. Operands: value.
    Negate,
    /// Operands: value.
    Cast(CastOp),
    /// Comparison of integers or pointers. Operands: left, right.
    Compare(Predicate),
    /// Comparison of floating-point numbers, by LLVM's number. Operands: left, right.
    CompareFloat(u8),
    /// Operands: condition, value if true, value if false.
    Select,
    /// The value that belongs to the block control came from. Operands: value, block, value, …
    Phi,
    /// A call of a function of that type. Operands: arguments, callee.
    Call(TypeId),
    /// Like `Call`, but as terminator with more than one way on (C++ exceptions, `asm goto`).
    Invoke(TypeId),
    /// Goes on to the one successor.
    Jump,
    /// Operands: condition. Successors: if true, if false.
    Branch,
    /// Operands: value, cases. Successors: default, cases.
    Switch,
    /// `goto *address`. Operands: address.
    ComputedJump,
    /// Operands: the result, if any.
    Return,
    /// Control never gets here.
    Unreachable,
    /// Takes a member out of a structure. Operands: structure, indices.
    Extract,
    /// Puts a member into a structure. Operands: structure, member, indices.
    Insert,
    /// Atomic read-modify-write, by LLVM's number of the operation. Operands: address, value.
    AtomicUpdate(u32),
    /// Operands: address, expected, replacement.
    CompareExchange,
    /// Everything else, by LLVM's number: vectors, fences, `va_arg`, exceptions.
    Other(u32),
}

/// Operations on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of LLVM")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of LLVM")]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    FpTrunc,
    FpExt,
    PtrToInt,
    IntToPtr,
    Bitcast,
}

/// Comparisons of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of LLVM")]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// An operand of a statement or constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The result of a statement of the same function.
    Stmt(StmtId),
    /// A parameter of the function, from 0.
    Param(u32),
    /// The address of a function.
    Function(FunctionId),
    /// The address of a global variable.
    Global(GlobalId),
    /// A constant.
    Const(ConstId),
    /// A block.
    Block(BlockId),
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Const {
    /// An integer.
    Int {
        /// How many bits.
        width: u32,
        /// The bits; those above the width are zero.
        bits: u128,
    },
    /// A floating-point number with its format, as LLVM writes it, which is exact: `float 1.5`.
    Float(String),
    /// The null pointer.
    Null,
    /// A value that is not defined.
    Undefined,
    /// All bytes zero.
    Zero,
    /// An array of bytes.
    Bytes(Vec<u8>),
    /// An array or structure.
    Aggregate(Vec<Operand>),
    /// Address arithmetic over a type. Operands: base, indices.
    Address(TypeId, Vec<Operand>),
    /// Another operation on constants, by LLVM's number.
    Expression(u32, Vec<Operand>),
    /// The address of a label: function, and the block's number within it.
    Label(FunctionId, u32),
    /// Inline assembler: text and constraints.
    Assembler(String, String),
    /// Anything else, as LLVM prints it.
    Other(String),
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// No value.
    Void,
    /// An integer of that many bits.
    Int(u32),
    /// A floating-point number, by the name of its format.
    Float(&'static str),
    /// A pointer.
    Pointer,
    /// So many elements.
    Array(u64, TypeId),
    /// A SIMD vector.
    Vector(u32, TypeId),
    /// A structure or union that has a name.
    Struct(StructId),
    /// A structure without a name: its fields.
    Tuple(Vec<TypeId>),
    /// A function.
    Function {
        /// What it returns.
        result: TypeId,
        /// Its parameters.
        params: Vec<TypeId>,
        /// Whether more arguments may follow.
        variadic: bool,
    },
    /// No type of a C value.
    Other,
}

/// A structure or union type.
#[derive(Debug)]
pub struct Struct {
    /// `struct foo`, `union bar`; anonymous ones are `struct anon`.
    pub name: String,
    /// The fields as laid out, with padding.
    pub fields: Vec<Field>,
    /// The size in bytes; 0 if unknown.
    pub size: u64,
}

/// A field of a structure.
#[derive(Debug)]
pub struct Field {
    /// The name in the source; `None` for padding and where debug information is missing.
    pub name: Option<String>,
    /// Its type.
    pub ty: TypeId,
    /// Where it starts, in bytes.
    pub offset: u64,
}

impl Program {
    /// The function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The global variable.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// The block.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// The statement.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id.index()]
    }

    /// The type.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// The structure type.
    pub fn structure(&self, id: StructId) -> &Struct {
        &self.structs[id.index()]
    }

    /// The constant.
    pub fn constant(&self, id: ConstId) -> &Const {
        &self.constants[id.index()]
    }

    /// The path of a file.
    pub fn file(&self, id: FileId) -> &str {
        &self.files[id.index()]
    }

    /// The operands of a statement, in the order that [`Op`] gives.
    pub fn operands(&self, id: StmtId) -> &[Operand] {
        let stmt = self.stmt(id);
        let start = stmt.operands_start as usize;
        &self.operand_pool[start..start + stmt.operands_len as usize]
    }

    /// The function that a statement belongs to.
    pub fn function_of(&self, id: StmtId) -> FunctionId {
        self.block(self.stmt(id).block).function
    }

    /// All functions with their numbers.
    pub fn functions(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        (0..).map(FunctionId).zip(&self.functions)
    }

    /// All global variables with their numbers.
    pub fn globals(&self) -> impl Iterator<Item = (GlobalId, &Global)> {
        (0..).map(GlobalId).zip(&self.globals)
    }

    /// The statements of a function, block by block.
    pub fn function_stmts(&self, id: FunctionId) -> impl Iterator<Item = StmtId> + '_ {
        self.function(id)
            .blocks()
            .flat_map(|block| self.block(block).stmts())
    }

    /// For calls: what is called.
    pub fn callee(&self, id: StmtId) -> Option<Operand> {
        match self.stmt(id).op {
            Op::Call(_) | Op::Invoke(_) => self.operands(id).last().copied(),
            _ => None,
        }
    }

    /// For calls: the function, if it is named in the call.
    pub fn called_function(&self, id: StmtId) -> Option<FunctionId> {
        match self.callee(id) {
            Some(Operand::Function(function)) => Some(function),
            _ => None,
        }
    }

    /// For switches: the values of the cases, in order.
    pub fn cases(&self, id: StmtId) -> Option<Vec<u128>> {
        let cases = match (self.stmt(id).op, self.operands(id)) {
            (Op::Switch, [_value, cases @ ..]) => cases,
            _ => return None,
        };
        let values = cases.iter().filter_map(|case| match case {
            Operand::Const(id) => match self.constant(*id) {
                Const::Int { bits, .. } => Some(*bits),
                _ => None,
            },
            _ => None,
        });
        Some(values.collect())
    }

    /// For calls: the arguments.
    pub fn arguments(&self, id: StmtId) -> &[Operand] {
        match (self.stmt(id).op, self.operands(id)) {
            (Op::Call(_) | Op::Invoke(_), [arguments @ .., _callee]) => arguments,
            _ => &[],
        }
    }

    /// The size of a type in bytes; 0 if it has none.
    pub fn size_of(&self, ty: TypeId) -> u64 {
        match self.ty(ty) {
            Type::Int(width) => u64::from(width.div_ceil(8)).next_power_of_two(),
            Type::Float("half" | "bfloat") => 2,
            Type::Float("float") => 4,
            Type::Float("double") => 8,
            Type::Float(_) => 16,
            Type::Pointer => 8,
            Type::Array(count, element) => count.saturating_mul(self.size_of(*element)),
            Type::Vector(count, element) => {
                (u64::from(*count) * self.size_of(*element)).next_power_of_two()
            }
            Type::Struct(id) => self.structure(*id).size,
            Type::Tuple(fields) => self.tuple_offset(fields, fields.len()),
            Type::Void | Type::Function { .. } | Type::Other => 0,
        }
    }

    /// Where a field of a structure without a name starts; for the number behind the last one, the
    /// size of the whole. Such structures are made by the compiler, and never packed.
    pub(crate) fn tuple_offset(&self, fields: &[TypeId], index: usize) -> u64 {
        let mut at: u64 = 0;
        for &field in &fields[..index.min(fields.len())] {
            at = at.next_multiple_of(self.alignment(field)) + self.size_of(field);
        }
        let next = match fields.get(index) {
            Some(&field) => self.alignment(field),
            None => fields.iter().map(|&f| self.alignment(f)).max().unwrap_or(1),
        };
        at.next_multiple_of(next)
    }

    fn alignment(&self, ty: TypeId) -> u64 {
        match self.ty(ty) {
            Type::Array(_, element) => self.alignment(*element),
            Type::Struct(id) => {
                let fields = self.structure(*id).fields.iter();
                fields.map(|f| self.alignment(f.ty)).max().unwrap_or(1)
            }
            Type::Tuple(fields) => fields.iter().map(|&f| self.alignment(f)).max().unwrap_or(1),
            _ => self.size_of(ty).max(1),
        }
    }

    /// The size of an operand's value; `None` if its type is not known.
    pub(crate) fn operand_size(&self, function: FunctionId, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Stmt(stmt) => Some(self.size_of(self.stmt(stmt).ty)),
            Operand::Param(i) => match self.ty(self.function(function).ty) {
                Type::Function { params, .. } => Some(self.size_of(*params.get(i as usize)?)),
                _ => None,
            },
            Operand::Function(_) | Operand::Global(_) | Operand::Block(_) => Some(8),
            Operand::Const(id) => match self.constant(id) {
                Const::Int { width, .. } => Some(u64::from(width.div_ceil(8))),
                Const::Null | Const::Address(..) | Const::Label(..) => Some(8),
                _ => None,
            },
        }
    }
}
