//! The two versions under comparison, and what an event of either means.

use std::cell::OnceCell;
use std::fmt;

use beagle_change::{Comparison, Deciders, Scope, Watched};
use beagle_program::{BlockId, CallGraph, Flow, FunctionId, Program, StmtId};
use beagle_trace::event::{DECIDING, MODEL_SITES, Site};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::steps::{Step, What};

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The old version.
    Old,
    /// The new version.
    New,
}

impl Side {
    /// Both.
    pub const BOTH: [Side; 2] = [Side::Old, Side::New];

    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Old => Side::New,
            Side::New => Side::Old,
        }
    }
}

/// One version.
pub struct Half<'a> {
    /// What it is.
    pub program: &'a Program,
    /// Who calls whom.
    pub calls: CallGraph,
    /// The statement of each number.
    stmts: Vec<Option<StmtId>>,
    /// The number of each statement, plus 1.
    sites: Vec<Site>,
    /// The number of each function, plus 1.
    functions: Vec<u32>,
    flows: Vec<OnceCell<Flow>>,
    /// The changes that each statement belongs to.
    changes: FxHashMap<StmtId, Vec<usize>>,
}

impl<'a> Half<'a> {
    fn new(program: &'a Program, numbers: &[u32], functions: &[u32], count: u32) -> Self {
        let mut stmts = vec![None; count as usize];
        for (index, &number) in numbers.iter().enumerate() {
            stmts[number as usize] = Some(StmtId(index as u32));
        }
        Self {
            calls: CallGraph::of(program),
            flows: program.functions.iter().map(|_| OnceCell::new()).collect(),
            program,
            functions: functions
                .iter()
                .map(|number| number.wrapping_add(1))
                .collect(),
            stmts,
            sites: numbers.iter().map(|number| number + 1).collect(),
            changes: FxHashMap::default(),
        }
    }

    /// The statement at which an event happened; `None` in a model of a libc function.
    pub fn stmt(&self, site: Site) -> Option<StmtId> {
        let number = site.checked_sub(1).filter(|_| site < MODEL_SITES)?;
        *self.stmts.get(number as usize)?
    }

    /// The number of a statement, as events have it.
    pub fn site(&self, stmt: StmtId) -> Option<Site> {
        self.sites.get(stmt.index()).copied()
    }

    /// The number of a function plus 1, as events have it.
    pub fn function_number(&self, function: FunctionId) -> u32 {
        self.functions[function.index()]
    }

    /// The control flow of a function that is defined.
    pub fn flow(&self, function: FunctionId) -> &Flow {
        self.flows[function.index()].get_or_init(|| Flow::of(self.program, &self.calls, function))
    }

    /// Where the program starts.
    pub fn start(&self) -> Option<BlockId> {
        let mut functions = self.program.functions();
        let main = functions.find(|(_, function)| function.symbol == "main")?;
        main.1.entry()
    }

    /// The block of a statement.
    pub fn block(&self, stmt: StmtId) -> BlockId {
        self.program.stmt(stmt).block
    }

    /// The block in which a step was taken; `None` for calls, and in a model of a libc function.
    pub fn block_of(&self, step: &Step) -> Option<BlockId> {
        match step.what {
            What::Enter | What::Leave => None,
            _ => self.stmt(step.site).map(|stmt| self.block(stmt)),
        }
    }

    /// The values of the cases of a switch, in order.
    pub fn cases(&self, site: Site) -> Option<Vec<u128>> {
        self.program.cases(self.stmt(site)?)
    }

    /// The changes that a statement belongs to, as indexes into [`Comparison::changes`].
    pub fn changes_of(&self, stmt: StmtId) -> &[usize] {
        self.changes.get(&stmt).map_or(&[], |all| all)
    }

    /// All statements that belong to changes.
    pub fn changed(&self) -> impl Iterator<Item = (StmtId, &[usize])> {
        self.changes.iter().map(|(&stmt, all)| (stmt, &**all))
    }

    /// Where a statement stands.
    pub fn place(&self, stmt: StmtId) -> Option<Place> {
        let place = self.program.stmt(stmt).place?;
        Some(Place {
            file: self.program.file(place.file).to_owned(),
            line: place.line,
        })
    }
}

/// A place in the source of a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The two versions, and how they correspond.
pub struct Twin<'a> {
    /// The old version.
    pub old: Half<'a>,
    /// The new version.
    pub new: Half<'a>,
    /// How they correspond, and what changed.
    pub comparison: &'a Comparison,
    /// The variables that are watched.
    watched: Watched,
    /// The numbers of those among them that decide about changes.
    deciding: FxHashSet<u32>,
}

impl<'a> Twin<'a> {
    /// For two versions that were compared.
    pub fn new(old: &'a Program, new: &'a Program, comparison: &'a Comparison) -> Self {
        Self::watching(old, new, comparison, comparison.watched(old, new))
    }

    /// The same for traces of programs in which other variables are watched.
    pub fn watching(
        old: &'a Program,
        new: &'a Program,
        comparison: &'a Comparison,
        watched: Watched,
    ) -> Self {
        let stmts = &comparison.stmts;
        let functions = comparison.function_numbers(old, new);
        let mut twin = Self {
            old: Half::new(old, &stmts.old, &functions.0, stmts.count),
            new: Half::new(new, &stmts.new, &functions.1, stmts.count),
            comparison,
            deciding: (watched.deciding.iter())
                .flat_map(|deciders| deciders.whether.iter().chain(&deciders.what).copied())
                .collect(),
            watched,
        };
        let (in_old, in_new) = comparison.changed_statements(old, new);
        for (half, changed) in [(&mut twin.old, in_old), (&mut twin.new, in_new)] {
            for (stmt, change) in changed {
                half.changes.entry(stmt).or_default().push(change);
            }
        }
        twin
    }

    /// One of the versions.
    pub fn half(&self, side: Side) -> &Half<'a> {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    /// Whether a variable that is watched, by its number, is one: what was last put there is what it
    /// holds.
    pub fn is_single(&self, place: u32) -> bool {
        self.scope(place)
            .is_some_and(|scope| scope != Scope::Member)
    }

    /// Whether a variable that is watched holds addresses: what is known of these is where they lead.
    pub fn is_address(&self, place: u32) -> bool {
        let addresses = &self.watched.addresses;
        index(place).is_some_and(|index| addresses.get(index) == Some(&true))
    }

    /// Where a variable that is watched is, by its number.
    pub fn scope(&self, place: u32) -> Option<Scope> {
        self.watched.scopes.get(index(place)?).copied()
    }

    /// Whether what old and new make of a variable that is watched is compared.
    pub fn is_compared(&self, place: u32) -> bool {
        place & DECIDING == 0
    }

    /// Whether a variable that is watched decides about changes.
    pub fn is_deciding(&self, place: u32) -> bool {
        self.deciding.contains(&place)
    }

    /// The numbers of all variables that decide about changes.
    pub fn deciding_places(&self) -> impl Iterator<Item = u32> {
        self.deciding.iter().copied()
    }

    /// The variables that decide about each change, as far as that is known.
    pub fn deciding(&self) -> &[Deciders] {
        &self.watched.deciding
    }

    /// What people call a variable that is watched.
    pub fn watched_name(&self, place: u32) -> Option<&str> {
        let name = self.watched.names.get(index(place)?)?;
        Some(name).filter(|name| !name.is_empty()).map(|it| &**it)
    }

    /// Whether an event at this site can have a counterpart in the other version.
    pub fn is_shared(&self, site: Site) -> bool {
        site >= MODEL_SITES || site.saturating_sub(1) < self.comparison.stmts.shared
    }

    /// Whether a function, by its number plus 1, is in both versions.
    pub fn is_shared_function(&self, number: u32) -> bool {
        let functions = &self.comparison.functions;
        let pair = number
            .checked_sub(1)
            .map(|index| functions.get(index as usize));
        // Those beyond belong to models of libc functions.
        pair.flatten()
            .is_none_or(|pair| pair.old.is_some() && pair.new.is_some())
    }
}

// What the comparison numbers so, the programs record so.
const _: () = assert!(beagle_change::DECIDING == DECIDING);

/// Where a variable that is watched is among all of them.
fn index(place: u32) -> Option<usize> {
    Some((place & !DECIDING).checked_sub(1)? as usize)
}
