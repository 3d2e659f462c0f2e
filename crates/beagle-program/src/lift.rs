//! From LLVM's module to a [`Program`].
//!
//! Two passes over each function, because statements refer to later ones: the first numbers blocks
//! and instructions, the second translates. Only debug intrinsics are left out; what the model has
//! no name for becomes [`Op::Other`] with its operands, so no dependence is lost.

use std::path::Path;

use beagle_llvm::{
    Constant, Context, FloatKind, Function as LlvmFunction, Global as LlvmGlobal, Instruction,
    Linkage, LoadError, Module, Opcode, Type as LlvmType, TypeKind, Value, ValueKind,
};
use rustc_hash::FxHashMap;

use crate::lift_debug::{Files, SourceStructs, source_name, type_text};
use crate::model::*;

impl Program {
    /// Reads whole-program bitcode.
    pub fn load(path: &Path) -> Result<Program, LoadError> {
        let mut context = Context::new();
        let module = Module::load(&mut context, path)?;
        Ok(Lifter::new(&module).run())
    }
}

struct Lifter<'m> {
    module: &'m Module<'m>,
    program: Program,
    files: Files<'m>,
    source_structs: SourceStructs<'m>,
    types: FxHashMap<LlvmType<'m>, TypeId>,
    type_ids: FxHashMap<Type, TypeId>,
    constants: FxHashMap<Value<'m>, Operand>,
    const_ids: FxHashMap<Const, ConstId>,
    functions: FxHashMap<Value<'m>, FunctionId>,
    globals: FxHashMap<Value<'m>, GlobalId>,
    aliases: FxHashMap<Value<'m>, Value<'m>>,
    blocks: FxHashMap<beagle_llvm::Block<'m>, BlockId>,
    /// Results and parameters of the function at hand.
    locals: FxHashMap<Value<'m>, Operand>,
}

impl<'m> Lifter<'m> {
    fn new(module: &'m Module<'m>) -> Self {
        Self {
            module,
            program: Program::default(),
            files: Files::default(),
            source_structs: SourceStructs::default(),
            types: FxHashMap::default(),
            type_ids: FxHashMap::default(),
            constants: FxHashMap::default(),
            const_ids: FxHashMap::default(),
            functions: FxHashMap::default(),
            globals: FxHashMap::default(),
            aliases: FxHashMap::default(),
            blocks: FxHashMap::default(),
            locals: FxHashMap::default(),
        }
    }

    fn run(mut self) -> Program {
        self.aliases = self.module.aliases().collect();
        self.note_source_structs();
        self.declare();
        for (global, llvm) in self.module.globals().enumerate() {
            let initial = llvm.initializer().map(|value| self.operand(value));
            self.program.globals[global].initial = initial;
        }
        let functions: Vec<_> = self.module.functions().collect();
        for (id, llvm) in functions.into_iter().enumerate() {
            if !llvm.is_declaration() {
                self.function(FunctionId(id as u32), llvm);
            }
        }
        self.finish()
    }

    /// Field names are needed when the first structure type is met, so they are collected first.
    fn note_source_structs(&mut self) {
        for global in self.module.globals() {
            if let Some(variable) = global.variable() {
                self.source_structs.add(variable.base_type());
            }
        }
        for function in self.module.functions() {
            if let Some(subprogram) = function.subprogram() {
                self.source_structs.add(subprogram.base_type());
            }
            for block in function.blocks() {
                for instruction in block.instructions() {
                    if let Some((_, variable)) = instruction.declared_variable() {
                        self.source_structs.add(variable.base_type());
                    }
                }
            }
        }
    }

    /// Numbers functions, variables and blocks, so that everything can refer to them.
    fn declare(&mut self) {
        for llvm in self.module.globals() {
            let global = self.declare_global(llvm);
            let id = GlobalId(self.program.globals.len() as u32);
            self.globals.insert(llvm.value(), id);
            self.program.globals.push(global);
        }
        for llvm in self.module.functions() {
            let id = FunctionId(self.program.functions.len() as u32);
            self.functions.insert(llvm.value(), id);
            let start = self.program.blocks.len() as u32;
            for block in llvm.blocks() {
                self.blocks
                    .insert(block, BlockId(self.program.blocks.len() as u32));
                self.program.blocks.push(Block {
                    function: id,
                    stmts: 0..0,
                    successors: Vec::new(),
                    predecessors: Vec::new(),
                });
            }
            let end = self.program.blocks.len() as u32;
            let function = self.declare_function(llvm, start..end);
            self.program.functions.push(function);
        }
    }

    fn declare_global(&mut self, llvm: LlvmGlobal<'m>) -> Global {
        let symbol = llvm.value().name();
        let variable = llvm.variable();
        Global {
            name: variable
                .and_then(|v| v.name())
                .unwrap_or_else(|| symbol.clone()),
            file: variable.and_then(|v| self.files.of(v)),
            line: variable.map_or(0, |v| v.line()),
            ty: self.ty(llvm.content_type()),
            initial: None,
            is_constant: llvm.is_constant(),
            is_static: matches!(llvm.linkage(), Linkage::Internal | Linkage::Private),
            is_literal: llvm.linkage() == Linkage::Private && llvm.is_constant(),
            symbol,
        }
    }

    fn declare_function(
        &mut self,
        llvm: LlvmFunction<'m>,
        blocks: std::ops::Range<u32>,
    ) -> Function {
        let symbol = llvm.value().name();
        let subprogram = llvm.subprogram();
        Function {
            name: subprogram
                .and_then(|s| s.name())
                .unwrap_or_else(|| symbol.clone()),
            file: subprogram.and_then(|s| self.files.of(s)),
            line: subprogram.map_or(0, |s| s.line()),
            is_static: matches!(llvm.linkage(), Linkage::Internal | Linkage::Private),
            ty: self.ty(llvm.function_type()),
            blocks,
            locals: Vec::new(),
            no_return: llvm.has_attribute("noreturn"),
            returns_twice: llvm.has_attribute("returns_twice"),
            is_intrinsic: llvm.is_intrinsic(),
            address_taken: false,
            symbol,
        }
    }

    fn function(&mut self, id: FunctionId, llvm: LlvmFunction<'m>) {
        self.locals.clear();
        for (i, parameter) in (0..).zip(llvm.parameters()) {
            self.locals.insert(parameter, Operand::Param(i));
        }
        let mut next = self.program.stmts.len() as u32;
        let mut names = FxHashMap::default();
        for block in llvm.blocks() {
            for instruction in block.instructions() {
                if let Some((address, variable)) = instruction.declared_variable() {
                    names.entry(address).or_insert(variable);
                }
                if !instruction.is_debug() {
                    self.locals
                        .insert(instruction.value(), Operand::Stmt(StmtId(next)));
                    next += 1;
                }
            }
        }
        for llvm_block in llvm.blocks() {
            let block = self.blocks[&llvm_block];
            let start = self.program.stmts.len() as u32;
            for instruction in llvm_block.instructions().filter(|i| !i.is_debug()) {
                let stmt = StmtId(self.program.stmts.len() as u32);
                if instruction.opcode() == Opcode::LLVMAlloca {
                    let variable = names.get(&instruction.value()).copied();
                    self.program.functions[id.index()].locals.push(Local {
                        alloca: stmt,
                        name: variable.and_then(|v| v.name()),
                        type_name: variable.map_or(String::new(), |v| type_text(v.base_type())),
                        line: variable.map_or(0, |v| v.line()),
                    });
                }
                self.statement(block, instruction);
            }
            self.program.blocks[block.index()].stmts = start..self.program.stmts.len() as u32;
        }
    }

    fn statement(&mut self, block: BlockId, instruction: Instruction<'m>) {
        let (op, operands) = self.translate(instruction);
        let start = self.program.operand_pool.len() as u32;
        self.program.operand_pool.extend(&operands);
        let ty = self.ty(instruction.value().ty());
        let place = instruction.location().and_then(|location| {
            Some(Place {
                file: self.files.of(location.scope)?,
                line: location.line,
                column: location.column,
            })
        });
        self.program.stmts.push(Stmt {
            op,
            ty,
            block,
            place: place.filter(|place| place.line > 0),
            operands_start: start,
            operands_len: operands.len() as u32,
        });
        let successors: Vec<_> = instruction
            .successors()
            .into_iter()
            .filter_map(|successor| self.blocks.get(&successor).copied())
            .collect();
        for &successor in &successors {
            let predecessors = &mut self.program.blocks[successor.index()].predecessors;
            if !predecessors.contains(&block) {
                predecessors.push(block);
            }
        }
        self.program.blocks[block.index()]
            .successors
            .extend(successors);
    }

    /// The operation and the operands, in the order that [`Op`] promises.
    fn translate(&mut self, instruction: Instruction<'m>) -> (Op, Vec<Operand>) {
        use Opcode::*;
        let opcode = instruction.opcode();
        if let Some(op) = binary(opcode) {
            let op = if op == BinaryOp::SDiv && instruction.is_exact() {
                Op::PointerDifference
            } else {
                Op::Binary(op)
            };
            return (op, self.all(instruction));
        }
        if let Some(op) = cast(opcode) {
            return (Op::Cast(op), self.all(instruction));
        }
        let volatile = instruction.is_volatile_or_atomic();
        let op = match opcode {
            LLVMAlloca => match instruction.allocated_type() {
                Some(ty) => Op::Alloca(self.ty(ty)),
                None => Op::Other(opcode as u32),
            },
            LLVMLoad => Op::Load { volatile },
            LLVMStore => Op::Store { volatile },
            LLVMGetElementPtr => match instruction.stepped_type() {
                Some(ty) => Op::Address(self.ty(ty)),
                None => Op::Other(opcode as u32),
            },
            LLVMFNeg => Op::Negate,
            LLVMICmp => match instruction.integer_predicate() {
                Some(predicate) => Op::Compare(comparison(predicate)),
                None => Op::Other(opcode as u32),
            },
            LLVMFCmp => match instruction.float_predicate() {
                Some(predicate) => Op::CompareFloat(predicate as u8),
                None => Op::Other(opcode as u32),
            },
            LLVMSelect => Op::Select,
            LLVMPHI => return (Op::Phi, self.incoming(instruction)),
            LLVMCall | LLVMInvoke | LLVMCallBr => return self.call(instruction),
            LLVMBr if instruction.successors().len() > 1 => {
                // LLVM lists the targets as operands, too.
                let operands = self.all(instruction);
                return (Op::Branch, operands.into_iter().take(1).collect());
            }
            LLVMBr => return (Op::Jump, Vec::new()),
            LLVMSwitch => {
                let operands = self.all(instruction);
                return (Op::Switch, operands.into_iter().filter(no_block).collect());
            }
            LLVMIndirectBr => {
                let operands = self.all(instruction);
                return (
                    Op::ComputedJump,
                    operands.into_iter().filter(no_block).collect(),
                );
            }
            LLVMRet => Op::Return,
            LLVMUnreachable => Op::Unreachable,
            LLVMExtractValue | LLVMInsertValue => {
                let mut operands = self.all(instruction);
                for index in instruction.indices() {
                    operands.push(Operand::Const(self.constant(Const::Int {
                        width: 32,
                        bits: index.into(),
                    })));
                }
                let extract = opcode == LLVMExtractValue;
                return (if extract { Op::Extract } else { Op::Insert }, operands);
            }
            LLVMAtomicRMW => Op::AtomicUpdate(instruction.atomic_operation().unwrap_or(u32::MAX)),
            LLVMAtomicCmpXchg => Op::CompareExchange,
            _ => Op::Other(opcode as u32),
        };
        (op, self.all(instruction))
    }

    fn call(&mut self, instruction: Instruction<'m>) -> (Op, Vec<Operand>) {
        let ty = match instruction.called_type() {
            Some(ty) => self.ty(ty),
            None => self.intern(Type::Other),
        };
        let mut operands: Vec<_> = instruction
            .arguments()
            .into_iter()
            .map(|value| self.operand(value))
            .collect();
        if let Some(callee) = instruction.callee() {
            let callee = match callee.as_function() {
                // Not through `operand`: being called is not having one's address taken.
                Some(function) => Operand::Function(self.functions[&function.value()]),
                None => self.operand(callee),
            };
            operands.push(callee);
        }
        let op = match instruction.opcode() {
            Opcode::LLVMCall => Op::Call(ty),
            _ => Op::Invoke(ty),
        };
        (op, operands)
    }

    fn incoming(&mut self, instruction: Instruction<'m>) -> Vec<Operand> {
        let mut operands = Vec::new();
        for (value, block) in instruction.incoming() {
            operands.push(self.operand(value));
            operands.push(Operand::Block(self.blocks[&block]));
        }
        operands
    }

    fn all(&mut self, instruction: Instruction<'m>) -> Vec<Operand> {
        instruction
            .operands()
            .into_iter()
            .map(|value| self.operand(value))
            .collect()
    }

    fn operand(&mut self, value: Value<'m>) -> Operand {
        if let Some(&local) = self.locals.get(&value) {
            return local;
        }
        if let Some(&known) = self.constants.get(&value) {
            return known;
        }
        let operand = match value.kind() {
            ValueKind::Function(function) => {
                let id = self.functions[&function.value()];
                self.program.functions[id.index()].address_taken = true;
                Operand::Function(id)
            }
            ValueKind::Global(global) => Operand::Global(self.globals[&global.value()]),
            ValueKind::Block(block) => return Operand::Block(self.blocks[&block]),
            ValueKind::Alias => match self.aliases.get(&value).copied() {
                Some(target) => self.operand(target),
                None => Operand::Const(self.constant(Const::Other(value.name()))),
            },
            ValueKind::Assembler(text, constraints) => {
                Operand::Const(self.constant(Const::Assembler(text, constraints)))
            }
            ValueKind::Constant(constant) => {
                let constant = self.translate_constant(constant);
                Operand::Const(self.constant(constant))
            }
            ValueKind::Parameter | ValueKind::Instruction(_) | ValueKind::Other => {
                Operand::Const(self.constant(Const::Other(value.print())))
            }
        };
        self.constants.insert(value, operand);
        operand
    }

    fn translate_constant(&mut self, constant: Constant<'m>) -> Const {
        let mut operands = |values: Vec<Value<'m>>| -> Vec<Operand> {
            values.into_iter().map(|v| self.operand(v)).collect()
        };
        match constant {
            Constant::Int(width, bits) => Const::Int { width, bits },
            Constant::Float(kind, text) => Const::Float(format!("{} {text}", float_name(kind))),
            Constant::Null => Const::Null,
            Constant::Undefined => Const::Undefined,
            Constant::Zero => Const::Zero,
            Constant::Bytes(bytes) => Const::Bytes(bytes),
            Constant::Aggregate(values) => Const::Aggregate(operands(values)),
            Constant::Expression(_, values, Some(ty)) => {
                let values = operands(values);
                Const::Address(self.ty(ty), values)
            }
            Constant::Expression(opcode, values, None) => {
                Const::Expression(opcode as u32, operands(values))
            }
            Constant::Label(function, block) => {
                let block = self.blocks[&block];
                match self.functions.get(&function) {
                    Some(&id) => {
                        let first = self.program.function(id).blocks.start;
                        Const::Label(id, block.0 - first)
                    }
                    None => Const::Other(function.name()),
                }
            }
            Constant::Other(text) => Const::Other(text),
        }
    }

    fn constant(&mut self, constant: Const) -> ConstId {
        if let Some(&id) = self.const_ids.get(&constant) {
            return id;
        }
        let id = ConstId(self.program.constants.len() as u32);
        self.program.constants.push(constant.clone());
        self.const_ids.insert(constant, id);
        id
    }

    fn intern(&mut self, ty: Type) -> TypeId {
        if let Some(&id) = self.type_ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.program.types.len() as u32);
        self.program.types.push(ty.clone());
        self.type_ids.insert(ty, id);
        id
    }

    fn ty(&mut self, llvm: LlvmType<'m>) -> TypeId {
        if let Some(&id) = self.types.get(&llvm) {
            return id;
        }
        let ty = match llvm.kind() {
            TypeKind::Void => Type::Void,
            TypeKind::Int(width) => Type::Int(width),
            TypeKind::Float(kind) => Type::Float(float_name(kind)),
            TypeKind::Pointer => Type::Pointer,
            TypeKind::Array(count, element) => Type::Array(count, self.ty(element)),
            TypeKind::Vector(count, element) => Type::Vector(count, self.ty(element)),
            TypeKind::Struct(Some(name), fields) => self.structure(llvm, &name, fields),
            TypeKind::Struct(None, fields) => {
                Type::Tuple(fields.into_iter().map(|field| self.ty(field)).collect())
            }
            TypeKind::Function(result, params, variadic) => Type::Function {
                result: self.ty(result),
                params: params.into_iter().map(|param| self.ty(param)).collect(),
                variadic,
            },
            TypeKind::Other => Type::Other,
        };
        let id = self.intern(ty);
        self.types.insert(llvm, id);
        id
    }

    fn structure(&mut self, llvm: LlvmType<'m>, name: &str, fields: Vec<LlvmType<'m>>) -> Type {
        let name = source_name(name);
        let size = llvm.size(self.module).unwrap_or(0);
        let fields = (0..)
            .zip(fields)
            .map(|(i, field)| {
                let offset = llvm.field_offset(self.module, i).unwrap_or(0);
                Field {
                    name: self.source_structs.field(&name, size, offset),
                    ty: self.ty(field),
                    offset,
                }
            })
            .collect();
        // Pointers are opaque, so a structure cannot contain itself and this cannot recurse
        // without end.
        let id = StructId(self.program.structs.len() as u32);
        self.program.structs.push(Struct { name, fields, size });
        Type::Struct(id)
    }

    fn finish(mut self) -> Program {
        self.program.files = self.files.paths;
        self.program.assembler = self.module.inline_assembler();
        self.program
    }
}

fn no_block(operand: &Operand) -> bool {
    !matches!(operand, Operand::Block(_))
}

fn float_name(kind: FloatKind) -> &'static str {
    match kind {
        FloatKind::Half => "half",
        FloatKind::BFloat => "bfloat",
        FloatKind::Float => "float",
        FloatKind::Double => "double",
        FloatKind::X86Fp80 => "x86_fp80",
        FloatKind::Fp128 => "fp128",
        FloatKind::PpcFp128 => "ppc_fp128",
    }
}

fn binary(opcode: Opcode) -> Option<BinaryOp> {
    use Opcode::*;
    Some(match opcode {
        LLVMAdd => BinaryOp::Add,
        LLVMSub => BinaryOp::Sub,
        LLVMMul => BinaryOp::Mul,
        LLVMUDiv => BinaryOp::UDiv,
        LLVMSDiv => BinaryOp::SDiv,
        LLVMURem => BinaryOp::URem,
        LLVMSRem => BinaryOp::SRem,
        LLVMShl => BinaryOp::Shl,
        LLVMLShr => BinaryOp::LShr,
        LLVMAShr => BinaryOp::AShr,
        LLVMAnd => BinaryOp::And,
        LLVMOr => BinaryOp::Or,
        LLVMXor => BinaryOp::Xor,
        LLVMFAdd => BinaryOp::FAdd,
        LLVMFSub => BinaryOp::FSub,
        LLVMFMul => BinaryOp::FMul,
        LLVMFDiv => BinaryOp::FDiv,
        LLVMFRem => BinaryOp::FRem,
        _ => return None,
    })
}

fn cast(opcode: Opcode) -> Option<CastOp> {
    use Opcode::*;
    Some(match opcode {
        LLVMTrunc => CastOp::Trunc,
        LLVMZExt => CastOp::ZExt,
        LLVMSExt => CastOp::SExt,
        LLVMFPToUI => CastOp::FpToUi,
        LLVMFPToSI => CastOp::FpToSi,
        LLVMUIToFP => CastOp::UiToFp,
        LLVMSIToFP => CastOp::SiToFp,
        LLVMFPTrunc => CastOp::FpTrunc,
        LLVMFPExt => CastOp::FpExt,
        LLVMPtrToInt => CastOp::PtrToInt,
        LLVMIntToPtr => CastOp::IntToPtr,
        LLVMBitCast => CastOp::Bitcast,
        _ => return None,
    })
}

fn comparison(predicate: beagle_llvm::IntPredicate) -> Predicate {
    use beagle_llvm::IntPredicate::*;
    match predicate {
        LLVMIntEQ => Predicate::Eq,
        LLVMIntNE => Predicate::Ne,
        LLVMIntUGT => Predicate::Ugt,
        LLVMIntUGE => Predicate::Uge,
        LLVMIntULT => Predicate::Ult,
        LLVMIntULE => Predicate::Ule,
        LLVMIntSGT => Predicate::Sgt,
        LLVMIntSGE => Predicate::Sge,
        LLVMIntSLT => Predicate::Slt,
        LLVMIntSLE => Predicate::Sle,
    }
}
