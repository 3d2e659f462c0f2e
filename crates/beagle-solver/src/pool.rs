//! All expressions of both versions and all runs; equal ones have the same number.

use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::{self, Facts};
use crate::support::{NONE, Support, Supports};
use crate::variable::{Source, SourceKey, Variable, VariableKind};

/// An expression of a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Expr(pub(crate) u32);

impl Expr {
    /// Its number; operands have smaller ones.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an expression is made of. The operators mean what [`Op`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// The operator.
    pub op: Op,
    /// The width of the value in bits.
    pub width: u16,
    /// First operand; the low bits of a constant; the source of a byte or size.
    pub a: u32,
    /// Second operand; the middle bits of a constant; the index of a byte; the number of a table or
    /// conversion.
    pub b: u32,
    /// Third operand or what the operator says; of a constant of more than 64 bits the number of its
    /// high half plus 1; of a variable its number.
    pub c: u32,
}

impl Term {
    /// The operands in order.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = Expr> + use<> {
        let count = match self.op.arity() {
            Arity::Leaf => 0,
            Arity::One => 1,
            Arity::Two => 2,
            Arity::Three => 3,
        };
        [self.a, self.b, self.c].into_iter().take(count).map(Expr)
    }

    /// Whether it is a variable.
    pub fn is_variable(&self) -> bool {
        matches!(self.op, Op::Var | Op::Size | Op::ArgCount)
    }
}

/// The content of an object that is looked up at an offset that depends on the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// The bytes that do not depend on the input; 0 for the others.
    pub bytes: Vec<u8>,
    /// The bytes that do, by index, in ascending order; each of 8 bits.
    pub cells: Vec<(u32, Expr)>,
}

impl Table {
    /// The expression of a byte, if it depends on the input.
    pub fn cell(&self, index: usize) -> Option<Expr> {
        let found = self
            .cells
            .binary_search_by_key(&index, |&(at, _)| at as usize);
        found.ok().map(|at| self.cells[at].1)
    }
}

/// What can have too many variables to keep them at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wide {
    Expr(Expr),
    /// The cells of the table with this number.
    Table(u32),
}

/// All expressions.
#[derive(Debug, Default)]
pub struct Pool {
    terms: Vec<Term>,
    index: FxHashMap<Term, Expr>,
    /// The normal forms of the terms that were asked for: most are asked for again by each run.
    pub(crate) made: FxHashMap<Term, Expr>,
    facts: Vec<Facts>,
    /// By expression: whether a look-up in it can reach outside of its table.
    undefined: Vec<bool>,
    supports: Supports<Variable>,
    support: Vec<Support>,
    high_halves: Vec<u64>,
    variables: Vec<(VariableKind, Expr)>,
    sources: Vec<SourceKey>,
    source_index: FxHashMap<SourceKey, Source>,
    tables: Vec<Table>,
    table_index: FxHashMap<Table, u32>,
    conversions: Vec<String>,
    conversion_index: FxHashMap<String, u32>,
}

impl Pool {
    /// A pool without expressions.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are no expressions.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// What an expression is made of.
    pub fn term(&self, expr: Expr) -> Term {
        self.terms[expr.index()]
    }

    /// The width of an expression in bits.
    pub fn width(&self, expr: Expr) -> u16 {
        self.term(expr).width
    }

    /// What is known of the value of an expression for every input.
    pub(crate) fn facts(&self, expr: Expr) -> Facts {
        self.facts[expr.index()]
    }

    /// Whether a look-up in an expression can reach outside of its table.
    pub(crate) fn may_be_undefined(&self, expr: Expr) -> bool {
        self.undefined[expr.index()]
    }

    /// The constant of this width; bits above are cut off.
    pub fn constant(&mut self, width: u16, value: u128) -> Expr {
        let value = value & mask(width);
        let high = (value >> 64) as u64;
        let c = if high == 0 {
            0
        } else {
            // Such constants are rare, so each occurrence may search.
            let found = self.high_halves.iter().position(|&half| half == high);
            let at = found.unwrap_or_else(|| {
                self.high_halves.push(high);
                self.high_halves.len() - 1
            });
            at as u32 + 1
        };
        self.intern(Term {
            op: Op::Const,
            width,
            a: value as u32,
            b: (value >> 32) as u32,
            c,
        })
    }

    /// The value of an expression that is a constant.
    pub fn value(&self, expr: Expr) -> Option<u128> {
        let term = &self.terms[expr.index()];
        (term.op == Op::Const).then(|| self.constant_value(term))
    }

    /// The value of a term that is a constant.
    pub(crate) fn constant_value(&self, term: &Term) -> u128 {
        let high = match term.c {
            0 => 0,
            number => self.high_halves[number as usize - 1],
        };
        u128::from(term.a) | u128::from(term.b) << 32 | u128::from(high) << 64
    }

    /// One bit: true or false.
    pub fn truth(&mut self, value: bool) -> Expr {
        self.constant(1, value.into())
    }

    /// The number of a source.
    pub fn source(&mut self, key: &SourceKey) -> Source {
        if let Some(&source) = self.source_index.get(key) {
            return source;
        }
        let source = Source(self.sources.len() as u32);
        self.sources.push(key.clone());
        self.source_index.insert(key.clone(), source);
        source
    }

    /// What a source is.
    pub fn source_key(&self, source: Source) -> &SourceKey {
        &self.sources[source.0 as usize]
    }

    /// A variable.
    pub fn variable(&mut self, kind: VariableKind) -> Expr {
        let (op, width, a, b) = match kind {
            VariableKind::Byte(source, index) => (Op::Var, 8, source.0, index),
            VariableKind::Size(source) => (Op::Size, 64, source.0, 0),
            VariableKind::ArgCount => (Op::ArgCount, 32, 0, 0),
        };
        let mut term = Term {
            op,
            width,
            a,
            b,
            c: 0,
        };
        // Looked up under a number that no variable has, so that the number can be found by it.
        if let Some(&expr) = self.index.get(&term) {
            return expr;
        }
        let number = self.variables.len() as u32;
        let key = term;
        term.c = number;
        let expr = self.push(term);
        self.index.insert(key, expr);
        self.variables.push((kind, expr));
        expr
    }

    /// What a variable stands for.
    pub fn variable_kind(&self, variable: Variable) -> VariableKind {
        self.variables[variable.0 as usize].0
    }

    /// The expression of a variable.
    pub fn variable_expr(&self, variable: Variable) -> Expr {
        self.variables[variable.0 as usize].1
    }

    /// The variable of the size of a source, if an expression is about it.
    pub(crate) fn known_size(&self, source: Source) -> Option<Variable> {
        let key = Term {
            op: Op::Size,
            width: 64,
            a: source.0,
            b: 0,
            c: 0,
        };
        let expr = self.index.get(&key)?;
        Some(Variable(self.terms[expr.index()].c))
    }

    /// How many variables there are; they are numbered from 0.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// The variables of an expression, in ascending order.
    pub fn variables_of(&self, expr: Expr) -> Vec<Variable> {
        match self.supports.get(self.support[expr.index()]) {
            Some(variables) => variables.to_vec(),
            None => self.variables_of_all([expr]),
        }
    }

    /// The variables of an expression, if they are not too many to say at once.
    pub fn few_variables_of(&self, expr: Expr) -> Option<&[Variable]> {
        self.supports.get(self.support[expr.index()])
    }

    /// How many they are.
    pub(crate) fn few_variables(&self, expr: Expr) -> usize {
        self.few_variables_of(expr).map_or(usize::MAX, <[_]>::len)
    }

    /// The only variable of an expression, if it has exactly one.
    pub(crate) fn only_variable(&self, expr: Expr) -> Option<Variable> {
        match self.supports.get(self.support[expr.index()])? {
            &[variable] => Some(variable),
            _ => None,
        }
    }

    /// The variables of all these expressions, in ascending order.
    pub(crate) fn variables_of_all(&self, roots: impl IntoIterator<Item = Expr>) -> Vec<Variable> {
        let mut seen: Vec<u64> = Vec::new();
        let mut tables = FxHashSet::default();
        self.collect_variables(roots, |wide| match wide {
            Wide::Table(number) => tables.insert(number),
            Wide::Expr(expr) => {
                seen.resize(self.len() / 64 + 1, 0);
                let (word, bit) = (&mut seen[expr.index() / 64], 1 << (expr.index() % 64));
                let new = *word & bit == 0;
                *word |= bit;
                new
            }
        })
    }

    /// The same, without those of expressions and tables that are not to be entered. Only what has
    /// many variables is asked for.
    pub(crate) fn collect_variables(
        &self,
        roots: impl IntoIterator<Item = Expr>,
        mut enter: impl FnMut(Wide) -> bool,
    ) -> Vec<Variable> {
        let mut todo: Vec<Expr> = roots.into_iter().collect();
        let mut found = Vec::new();
        // Many expressions have the same variables.
        let mut sets = FxHashSet::default();
        while let Some(expr) = todo.pop() {
            let support = self.support[expr.index()];
            match self.supports.get(support) {
                Some(variables) if sets.insert(support) => found.extend_from_slice(variables),
                Some(_) => {}
                None if enter(Wide::Expr(expr)) => {
                    let term = self.term(expr);
                    todo.extend(term.operands());
                    // Many look in the same table.
                    if term.op == Op::Lookup && enter(Wide::Table(term.b)) {
                        let cells = &self.tables[term.b as usize].cells;
                        todo.extend(cells.iter().map(|&(_, cell)| cell));
                    }
                }
                None => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The number of a table.
    pub fn add_table(&mut self, table: Table) -> u32 {
        if let Some(&number) = self.table_index.get(&table) {
            return number;
        }
        let number = self.tables.len() as u32;
        self.tables.push(table.clone());
        self.table_index.insert(table, number);
        number
    }

    /// The table with this number.
    pub fn table(&self, number: u32) -> &Table {
        &self.tables[number as usize]
    }

    /// The number of a conversion of `printf`.
    pub fn add_conversion(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.conversion_index.get(text) {
            return number;
        }
        let number = self.conversions.len() as u32;
        self.conversions.push(text.to_owned());
        self.conversion_index.insert(text.to_owned(), number);
        number
    }

    /// The conversion with this number.
    pub fn conversion(&self, number: u32) -> &str {
        &self.conversions[number as usize]
    }

    /// The byte at an index of what a conversion of `printf` makes of a value.
    pub fn rendered(&mut self, value: Expr, conversion: u32, index: u32) -> Expr {
        self.make(Term {
            op: Op::RenderByte,
            width: 8,
            a: value.0,
            b: conversion,
            c: index,
        })
    }

    /// How many bytes a conversion of `printf` makes of a value; 32 bits.
    pub fn rendered_length(&mut self, value: Expr, conversion: u32) -> Expr {
        self.make(Term {
            op: Op::RenderLen,
            width: 32,
            a: value.0,
            b: conversion,
            c: 0,
        })
    }

    /// The expression as it is written, without rewriting.
    pub(crate) fn intern(&mut self, term: Term) -> Expr {
        if let Some(&expr) = self.index.get(&term) {
            return expr;
        }
        let expr = self.push(term);
        self.index.insert(term, expr);
        expr
    }

    fn push(&mut self, term: Term) -> Expr {
        let support = match term.op {
            Op::Const => NONE,
            Op::Var | Op::Size | Op::ArgCount => self.supports.one(Variable(term.c)),
            _ => {
                let mut all = NONE;
                for operand in term.operands() {
                    all = self.supports.union(all, self.support[operand.index()]);
                }
                if term.op == Op::Lookup {
                    for &(_, cell) in &self.tables[term.b as usize].cells {
                        all = self.supports.union(all, self.support[cell.index()]);
                    }
                }
                all
            }
        };
        let facts = facts::of(self, &term, |operand| self.facts(operand));
        let undefined = self.reaches_outside(&term);
        let expr = Expr(self.terms.len() as u32);
        self.terms.push(term);
        self.support.push(support);
        self.facts.push(facts);
        self.undefined.push(undefined);
        expr
    }

    fn reaches_outside(&self, term: &Term) -> bool {
        if term
            .operands()
            .any(|operand| self.may_be_undefined(operand))
        {
            return true;
        }
        term.op == Op::Lookup && {
            let table = self.table(term.b);
            let end = u128::from(self.facts(Expr(term.a)).max) + u128::from(term.width / 8);
            let mut cells = table.cells.iter();
            end > table.bytes.len() as u128 || cells.any(|&(_, cell)| self.may_be_undefined(cell))
        }
    }

    /// An operator of three operands or less, the expressions `fields`; rewritten to normal form.
    pub fn op(&mut self, op: Op, width: u16, operands: &[Expr]) -> Expr {
        let field = |at: usize| operands.get(at).map_or(0, |expr| expr.0);
        self.make(Term {
            op,
            width,
            a: field(0),
            b: field(1),
            c: field(2),
        })
    }

    /// The negation of one bit.
    pub fn not(&mut self, a: Expr) -> Expr {
        let one = self.truth(true);
        self.op(Op::Xor, 1, &[a, one])
    }

    /// Whether two expressions of equal width are equal.
    pub fn eq(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(Op::Eq, 1, &[a, b])
    }

    /// The constant that something else is compared with, if the expression says that it is equal to one.
    pub fn equals_constant(&self, expr: Expr) -> Option<u128> {
        let term = self.term(expr);
        let mut sides = term.operands();
        let constant = sides.find_map(|side| self.value(side));
        constant.filter(|_| term.op == Op::Eq)
    }

    /// Whether they are not.
    pub fn ne(&mut self, a: Expr, b: Expr) -> Expr {
        self.op(Op::Ne, 1, &[a, b])
    }

    /// The bits from `low` on.
    pub fn extract(&mut self, a: Expr, low: u16, width: u16) -> Expr {
        self.make(Term {
            op: Op::Extract,
            width,
            a: a.0,
            b: 0,
            c: low.into(),
        })
    }
}
