//! Local variables whose address goes nowhere: which assignments reach which uses.
//!
//! For these the order of statements counts, unlike for memory in general.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::*;

/// For the locals of a function that are only loaded and stored: the stores that each load may
/// see, as (store, load).
pub(crate) struct LocalFlow {
    /// The variables that this is about.
    pub(crate) variables: FxHashSet<StmtId>,
    /// From assignment to use.
    pub(crate) reaches: Vec<(StmtId, StmtId)>,
}

/// How one block treats one variable.
#[derive(Default)]
struct InBlock {
    last_store: Option<StmtId>,
    /// Loads before the first store.
    exposed: Vec<StmtId>,
}

impl LocalFlow {
    pub(crate) fn of(program: &Program, function: FunctionId) -> LocalFlow {
        let mut variables: FxHashSet<StmtId> = program
            .function(function)
            .locals
            .iter()
            .map(|local| local.alloca)
            .filter(|&alloca| is_scalar(program, alloca))
            .collect();
        // A long jump leads back to where no path seems to lead, with what the variables held.
        let calls = program.function_stmts(function);
        let mut called = calls.filter_map(|stmt| program.called_function(stmt));
        if called.any(|callee| program.function(callee).returns_twice) {
            variables.clear();
        }
        for stmt in program.function_stmts(function) {
            let operands = program.operands(stmt);
            // The address of a load or store is the one harmless use.
            let escaping = match program.stmt(stmt).op {
                Op::Load { volatile: false } => &[][..],
                Op::Store { volatile: false } => &operands[..1],
                _ => operands,
            };
            for operand in escaping {
                if let Operand::Stmt(alloca) = operand {
                    variables.remove(alloca);
                }
            }
        }
        let mut flow = LocalFlow {
            variables,
            reaches: Vec::new(),
        };
        flow.connect(program, function);
        flow
    }

    /// The variable that a load or store is about.
    pub(crate) fn variable(&self, program: &Program, stmt: StmtId) -> Option<StmtId> {
        let address = match (program.stmt(stmt).op, program.operands(stmt)) {
            (Op::Load { .. }, [address]) | (Op::Store { .. }, [_, address]) => address,
            _ => return None,
        };
        match address {
            Operand::Stmt(alloca) if self.variables.contains(alloca) => Some(*alloca),
            _ => None,
        }
    }

    fn connect(&mut self, program: &Program, function: FunctionId) {
        let mut uses: FxHashMap<StmtId, FxHashMap<BlockId, InBlock>> = FxHashMap::default();
        for stmt in program.function_stmts(function) {
            let Some(variable) = self.variable(program, stmt) else {
                continue;
            };
            let blocks = uses.entry(variable).or_default();
            let in_block = blocks.entry(program.stmt(stmt).block).or_default();
            match (program.stmt(stmt).op, in_block.last_store) {
                (Op::Store { .. }, _) => in_block.last_store = Some(stmt),
                (_, Some(store)) => self.reaches.push((store, stmt)),
                (_, None) => in_block.exposed.push(stmt),
            }
        }
        for blocks in uses.values() {
            for (&block, in_block) in blocks {
                if !in_block.exposed.is_empty() {
                    for store in stores_before(program, block, blocks) {
                        let loads = in_block.exposed.iter();
                        self.reaches.extend(loads.map(|&load| (store, load)));
                    }
                }
            }
        }
        self.reaches.sort();
    }
}

/// The stores that may be the last before a block is entered.
fn stores_before(
    program: &Program,
    block: BlockId,
    blocks: &FxHashMap<BlockId, InBlock>,
) -> Vec<StmtId> {
    let mut stores = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = program.block(block).predecessors.clone();
    while let Some(block) = work.pop() {
        if !seen.insert(block) {
            continue;
        }
        match blocks.get(&block).and_then(|in_block| in_block.last_store) {
            Some(store) => stores.push(store),
            None => work.extend(&program.block(block).predecessors),
        }
    }
    stores
}

/// Whether a variable is read and written as a whole.
fn is_scalar(program: &Program, alloca: StmtId) -> bool {
    match program.stmt(alloca).op {
        Op::Alloca(ty) => matches!(
            program.ty(ty),
            Type::Int(_) | Type::Float(_) | Type::Pointer
        ),
        _ => false,
    }
}
