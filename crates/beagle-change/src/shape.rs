//! The shape of a function: the form in which two versions of it are compared.
//!
//! A function becomes a list of *roots*, the statements that do something: stores, calls, branches,
//! returns. What a root computes with (loads, arithmetic, addresses) becomes part of its token, so
//! a root is about what a programmer calls a statement. Plain jumps are no roots; they show in the
//! roots' successors. Three things are listed rather than hashed, because they are compared by
//! correspondence: local variables, results of other roots, and successors.
//!
//! Some differences in clang's output are none in the source, and are made equal here: `return x`
//! is a store to a hidden variable when there are several returns, and cases of a `switch` may
//! stand in any order.

use beagle_program::{BlockId, Const, FunctionId, Op, Operand, Program, StmtId, Type};
use rustc_hash::FxHashMap;

use crate::size::Size;
use crate::token::{ConstToken, Side, Token, token_of};

/// A function in the form in which it is compared.
pub(crate) struct Shape {
    pub(crate) function: FunctionId,
    pub(crate) roots: Vec<Root>,
    /// Position of a root's statement in `roots`.
    pub(crate) position: FxHashMap<StmtId, usize>,
    /// The local variables, as in [`beagle_program::Function::locals`].
    pub(crate) locals: Vec<LocalShape>,
    /// The first root.
    pub(crate) entry: Way,
}

/// A local variable.
pub(crate) struct LocalShape {
    pub(crate) name: Option<String>,
    /// The declared type with the lengths of arrays.
    pub(crate) declared: Token,
}

/// A statement that does something.
pub(crate) struct Root {
    pub(crate) stmt: StmtId,
    /// Everything but locals, results of other roots, sizes and successors.
    pub(crate) token: Token,
    /// Roughly what it does (the callee, the target of a store), to pair up what was edited.
    pub(crate) coarse: Token,
    /// The local variables it names, in the order of its expression.
    pub(crate) locals: Vec<u32>,
    /// The roots whose results it uses, in the order of its expression.
    pub(crate) results: Vec<StmtId>,
    /// Constants that may be sizes of structures.
    pub(crate) sizes: Vec<Size>,
    /// The statements of its expression, in the order of the expression.
    pub(crate) parts: Vec<StmtId>,
    /// Where control goes next.
    pub(crate) ways: Vec<Way>,
}

/// The way from one root to the next, through blocks that only jump.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// The jumps on the way.
    pub(crate) jumps: Vec<StmtId>,
    /// The root that it leads to; `None` where the function ends, or in an endless empty loop.
    pub(crate) to: Option<usize>,
    /// If it leads to a phi: which of the values belongs to this way. `c ? a : b` and `c ? b : a`
    /// may differ in nothing else.
    pub(crate) incoming: Option<usize>,
    /// Whether it ends in an endless empty loop.
    pub(crate) endless: bool,
}

impl Shape {
    pub(crate) fn of(side: &Side, function: FunctionId) -> Shape {
        Shaper::new(side, function).run()
    }
}

struct Shaper<'s, 'a> {
    side: &'s Side<'a>,
    program: &'a Program,
    function: FunctionId,
    /// The hidden variable for the result, if there is one.
    result: Option<StmtId>,
    local_numbers: FxHashMap<StmtId, u32>,
    position: FxHashMap<StmtId, usize>,
    /// For each statement: how many roots that write memory come before it in its block. A load
    /// means something else before a store than after it.
    writes_before: FxHashMap<StmtId, u32>,
}

impl<'s, 'a> Shaper<'s, 'a> {
    fn new(side: &'s Side<'a>, function: FunctionId) -> Self {
        let program = side.program;
        let locals = &program.function(function).locals;
        Self {
            side,
            program,
            function,
            result: hidden_result(program, function),
            local_numbers: locals.iter().map(|local| local.alloca).zip(0..).collect(),
            position: FxHashMap::default(),
            writes_before: FxHashMap::default(),
        }
    }

    fn run(mut self) -> Shape {
        let order = self.number_roots();
        let roots = order.iter().map(|&stmt| self.root(stmt)).collect();
        let function = self.program.function(self.function);
        let locals = function
            .locals
            .iter()
            .map(|local| LocalShape {
                name: local.name.clone(),
                declared: match self.program.stmt(local.alloca).op {
                    Op::Alloca(ty) => self.side.declared_type(ty),
                    _ => 0,
                },
            })
            .collect();
        let entry = function
            .entry()
            .map_or_else(Way::default, |entry| self.way(entry, None));
        Shape {
            function: self.function,
            roots,
            locals,
            entry,
            position: self.position,
        }
    }

    /// Finds the roots, in the order of the blocks, which is about that of the source.
    fn number_roots(&mut self) -> Vec<StmtId> {
        let mut used = rustc_hash::FxHashSet::default();
        for stmt in self.program.function_stmts(self.function) {
            for operand in self.program.operands(stmt) {
                if let Operand::Stmt(operand) = operand {
                    used.insert(*operand);
                }
            }
        }
        let mut order = Vec::new();
        for block in self.program.function(self.function).blocks() {
            let mut writes = 0;
            for stmt in self.program.block(block).stmts() {
                self.writes_before.insert(stmt, writes);
                if self.is_root(stmt) || (self.may_trap(stmt) && !used.contains(&stmt)) {
                    self.position.insert(stmt, order.len());
                    order.push(stmt);
                    writes += u32::from(self.writes(stmt));
                }
            }
        }
        order
    }

    fn is_root(&self, stmt: StmtId) -> bool {
        match self.program.stmt(stmt).op {
            Op::Jump => false,
            Op::Return => !self.returns_hidden(stmt),
            Op::Alloca(_) => !self.is_fixed(stmt),
            Op::Load { volatile } => volatile,
            Op::Store { .. } => !self.is_implicit_result(stmt),
            _ => !self.is_pure(stmt),
        }
    }

    /// Whether an alloca makes room for one variable, rather than for an array of variable length.
    fn is_fixed(&self, alloca: StmtId) -> bool {
        matches!(self.program.operands(alloca), [Operand::Const(_)])
    }

    /// Whether a statement only computes, so that it belongs to the roots that use it.
    fn is_pure(&self, stmt: StmtId) -> bool {
        matches!(
            self.program.stmt(stmt).op,
            Op::Load { volatile: false }
                | Op::Address(_)
                | Op::Binary(_)
                | Op::PointerDifference
                | Op::Negate
                | Op::Cast(_)
                | Op::Compare(_)
                | Op::CompareFloat(_)
                | Op::Select
                | Op::Extract
                | Op::Insert
        )
    }

    /// Whether a statement that only computes may end the program, so that it counts even if
    /// nobody uses its result.
    fn may_trap(&self, stmt: StmtId) -> bool {
        use beagle_program::BinaryOp::{SDiv, SRem, UDiv, URem};
        match self.program.stmt(stmt).op {
            Op::Load { .. } => true,
            Op::Binary(op) => matches!(op, SDiv | SRem | UDiv | URem),
            _ => false,
        }
    }

    fn writes(&self, stmt: StmtId) -> bool {
        !matches!(
            self.program.stmt(stmt).op,
            Op::Load { .. } | Op::Branch | Op::Switch | Op::Phi | Op::Return
        )
    }

    fn returns_hidden(&self, stmt: StmtId) -> bool {
        match (self.result, self.program.operands(stmt)) {
            (Some(result), [Operand::Stmt(load)]) => {
                matches!(self.program.operands(*load), [Operand::Stmt(alloca)] if *alloca == result)
            }
            _ => false,
        }
    }

    /// Whether this is the `return 0` that C adds to `main`.
    fn is_implicit_result(&self, stmt: StmtId) -> bool {
        self.program.stmt(stmt).place.is_none()
            && self.is_result(self.program.operands(stmt).get(1))
    }

    fn root(&self, stmt: StmtId) -> Root {
        let mut root = Root {
            stmt,
            token: 0,
            coarse: 0,
            locals: Vec::new(),
            results: Vec::new(),
            sizes: Vec::new(),
            parts: Vec::new(),
            ways: Vec::new(),
        };
        let operands = self.program.operands(stmt);
        let mut ways: Vec<BlockId> = Vec::new();
        let block = self.program.stmt(stmt).block;
        let is_terminator = self.program.block(block).terminator() == stmt;
        if is_terminator {
            ways.extend(&self.program.block(block).successors);
        }
        match self.program.stmt(stmt).op {
            Op::Store { volatile } if self.is_result(operands.get(1)) && !volatile => {
                let value = self.operand(&mut root, stmt, operands[0]);
                root.token = token_of(("return", self.result_type(), value));
                root.coarse = token_of("return");
            }
            Op::Return => {
                let value = operands.first();
                let value = value.map(|&value| self.operand(&mut root, stmt, value));
                root.token = match value {
                    Some(value) => token_of(("return", self.result_type(), value)),
                    None => token_of("return nothing"),
                };
                root.coarse = token_of("return");
            }
            Op::Switch => ways = self.switch(&mut root, stmt, ways),
            Op::ComputedJump => {
                root.token = self.expression(&mut root, stmt);
                root.coarse = token_of("computed jump");
                ways = self.side.jump_targets(block);
            }
            Op::Phi => self.phi(&mut root, stmt),
            Op::Store { volatile } => {
                let value = self.operand(&mut root, stmt, operands[0]);
                let before = root.locals.len();
                let target = self.accessed(&mut root, stmt, operands[1]);
                root.token = token_of((
                    "store",
                    volatile,
                    self.value_type(operands[0]),
                    value,
                    target,
                ));
                root.coarse = token_of(("store", target, &root.locals[before..]));
            }
            _ => {
                root.token = self.expression(&mut root, stmt);
                root.coarse = match self.program.callee(stmt) {
                    Some(callee) => token_of(("call", self.side.leaf(callee))),
                    None => token_of(std::mem::discriminant(&self.program.stmt(stmt).op)),
                };
            }
        }
        root.ways = if is_terminator {
            let way = |to| self.way(to, Some(block));
            ways.into_iter().map(way).collect()
        } else {
            vec![self.way_after(stmt)]
        };
        // The way from a store to the hidden result to the end is as much a return as a return.
        if root.coarse == token_of("return") {
            root.ways.retain(|way| way.to.is_some());
        }
        root
    }

    fn is_result(&self, address: Option<&Operand>) -> bool {
        matches!((address, self.result), (Some(Operand::Stmt(a)), Some(b)) if *a == b)
    }

    fn result_type(&self) -> Token {
        let function = self.program.function(self.function);
        match self.program.ty(function.ty) {
            Type::Function { result, .. } => self.side.ty(*result),
            _ => 0,
        }
    }

    /// The type of an operand, as far as it is not clear from the operand itself.
    fn value_type(&self, operand: Operand) -> Token {
        match operand {
            Operand::Stmt(stmt) => self.side.ty(self.program.stmt(stmt).ty),
            Operand::Const(id) => match self.program.constant(id) {
                Const::Int { width, .. } => token_of(Type::Int(*width)),
                _ => 0,
            },
            _ => 0,
        }
    }

    /// Cases in the order of their values: `case 2: case 1:` is `case 1: case 2:`.
    fn switch(&self, root: &mut Root, stmt: StmtId, ways: Vec<BlockId>) -> Vec<BlockId> {
        let operands = self.program.operands(stmt);
        let value = self.operand(root, stmt, operands[0]);
        let bits = |operand: &Operand| match operand {
            Operand::Const(id) => match self.program.constant(*id) {
                Const::Int { bits, .. } => *bits,
                _ => 0,
            },
            _ => 0,
        };
        let mut cases: Vec<_> = operands[1..]
            .iter()
            .map(bits)
            .zip(ways.iter().skip(1).copied())
            .collect();
        cases.sort();
        let values: Vec<_> = cases.iter().map(|(value, _)| value).collect();
        root.token = token_of(("switch", value, values));
        root.coarse = token_of("switch");
        let default = ways.first().copied();
        default
            .into_iter()
            .chain(cases.into_iter().map(|(_, block)| block))
            .collect()
    }

    fn phi(&self, root: &mut Root, stmt: StmtId) {
        let operands = self.program.operands(stmt);
        let values: Vec<_> = operands
            .iter()
            .step_by(2)
            .map(|&value| self.operand(root, stmt, value))
            .collect();
        root.token = token_of(("phi", self.side.ty(self.program.stmt(stmt).ty), values));
        root.coarse = token_of("phi");
    }

    /// The token of a statement with all that it computes with.
    fn expression(&self, root: &mut Root, stmt: StmtId) -> Token {
        let operands: Vec<_> = self.program.operands(stmt).to_vec();
        let data = self.program.stmt(stmt);
        if let (Op::Load { .. }, [address]) = (data.op, &operands[..]) {
            let address = self.accessed(root, stmt, *address);
            return token_of((data.op, self.side.ty(data.ty), address));
        }
        let tokens: Vec<_> = operands
            .iter()
            .map(|&operand| self.operand(root, stmt, operand))
            .collect();
        match data.op {
            Op::Address(ty) => self.side.address(ty, &tokens, &operands),
            Op::Alloca(ty) => token_of(("alloca", self.side.ty(ty), tokens)),
            Op::Call(ty) | Op::Invoke(ty) => token_of(("call", self.side.ty(ty), tokens)),
            op => token_of((op, self.side.ty(data.ty), tokens)),
        }
    }

    /// The address of a load or store.
    fn accessed(&self, root: &mut Root, user: StmtId, address: Operand) -> Token {
        match self.side.accessed(address) {
            Some(token) => token,
            None => self.operand(root, user, address),
        }
    }

    fn operand(&self, root: &mut Root, user: StmtId, operand: Operand) -> Token {
        let stmt = match operand {
            Operand::Const(id) => {
                return match self.side.constant_in(root.stmt, user, id) {
                    ConstToken::Plain(token) => token,
                    ConstToken::Size(size) => {
                        root.sizes.push(size);
                        token_of("size")
                    }
                };
            }
            Operand::Stmt(stmt) => stmt,
            other => return self.side.leaf(other),
        };
        if let Some(&local) = self.local_numbers.get(&stmt)
            && self.is_fixed(stmt)
        {
            root.locals.push(local);
            let ty = match self.program.stmt(stmt).op {
                Op::Alloca(ty) => self.side.ty(ty),
                _ => 0,
            };
            return token_of(("local", ty));
        }
        if self.position.contains_key(&stmt) {
            root.results.push(stmt);
            return token_of(("result", self.side.ty(self.program.stmt(stmt).ty)));
        }
        root.parts.push(stmt);
        let token = self.expression(root, stmt);
        if !matches!(self.program.stmt(stmt).op, Op::Load { .. }) {
            return token;
        }
        // How many writes lie between the load and the statement that uses it.
        let writes = |stmt| self.writes_before.get(&stmt).copied().unwrap_or(0);
        let same_block = self.program.stmt(stmt).block == self.program.stmt(root.stmt).block;
        let between = same_block.then(|| writes(root.stmt).saturating_sub(writes(stmt)));
        token_of((token, between))
    }

    /// The way that starts with a block, coming from another.
    fn way(&self, block: BlockId, mut from: Option<BlockId>) -> Way {
        let mut way = Way::default();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut current = block;
        while seen.insert(current) {
            let data = self.program.block(current);
            if let Some(root) = data.stmts().find_map(|stmt| self.position.get(&stmt)) {
                way.to = Some(*root);
                way.incoming = from.and_then(|from| self.incoming(current, from));
                return way;
            }
            match data.successors[..] {
                [next] => {
                    way.jumps.push(data.terminator());
                    from = Some(current);
                    current = next;
                }
                _ => return way,
            }
        }
        way.endless = true;
        way
    }

    /// Which value the phi at the start of a block takes when control comes from another.
    fn incoming(&self, block: BlockId, from: BlockId) -> Option<usize> {
        let first = self.program.block(block).stmts().next()?;
        if self.program.stmt(first).op != Op::Phi {
            return None;
        }
        let blocks = self.program.operands(first).iter().skip(1).step_by(2);
        blocks.into_iter().position(|b| *b == Operand::Block(from))
    }

    /// The way on from a root inside a block.
    fn way_after(&self, stmt: StmtId) -> Way {
        let block = self.program.block(self.program.stmt(stmt).block);
        let next = (stmt.0 + 1..block.stmts.end)
            .find_map(|next| self.position.get(&StmtId(next)).copied());
        if next.is_some() {
            return Way {
                to: next,
                ..Way::default()
            };
        }
        match block.successors[..] {
            [next] => {
                let from = self.program.stmt(stmt).block;
                let mut way = self.way(next, Some(from));
                way.jumps.insert(0, block.terminator());
                way
            }
            _ => Way::default(),
        }
    }
}

/// Finds the hidden variable that clang makes for the result when there are several returns, and
/// always in `main`: it has no name, and where it is loaded it is returned.
fn hidden_result(program: &Program, function: FunctionId) -> Option<StmtId> {
    let function = program.function(function);
    let returned = function.blocks().rev().find_map(|block| {
        let last = program.block(block).terminator();
        match (program.stmt(last).op, program.operands(last)) {
            (Op::Return, [Operand::Stmt(load)]) => match program.operands(*load) {
                [Operand::Stmt(alloca)] => Some(*alloca),
                _ => None,
            },
            _ => None,
        }
    });
    let hidden = function.locals.iter().filter(|local| local.name.is_none());
    let mut hidden = hidden.map(|local| local.alloca);
    hidden
        .clone()
        .find(|&alloca| Some(alloca) == returned)
        .or_else(|| {
            let first = function.locals.first().map(|local| local.alloca);
            hidden.find(|&alloca| function.name == "main" && Some(alloca) == first)
        })
}
