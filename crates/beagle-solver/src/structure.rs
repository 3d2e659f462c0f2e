//! What makes values of variables an input: strings end at their first 0, what is past the end of a
//! source is 0, sizes are bounded.
//!
//! Most answers change a byte and leave all sizes alone. So questions are first asked with the
//! *restriction* that sizes stay as they are unless the conditions are about them, which keeps them
//! small. If that restriction is in the way, they are asked again with all that hangs together
//! through the ends of strings and files.

use beagle_trace::op::Op;

use crate::path::Path;
use crate::pool::{Expr, Pool};
use crate::variable::{Source, SourceKey, Variable, VariableKind};
use crate::view::{View, chain};

/// How much of an input may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Sizes stay as they are, unless the conditions are about them.
    Restricted,
    /// All that hangs together through the ends of strings and files.
    Whole,
    /// The same, and many arguments may be added.
    Wide,
    /// The same, and sizes may be anything that is possible.
    Unbounded,
}

/// No source has more bytes, and there are fewer arguments.
const POSSIBLE: u128 = (1 << 31) - 1;
/// If a question has more bytes of a file than this, they all stay in it at first.
const MANY_BYTES: usize = 64;
/// How many bytes a file may grow by one answer.
const MAX_GROWTH: u64 = 4096;
/// How many arguments may be added by one answer: no more than these...
const MAX_NEW_ARGUMENTS: u32 = 8;
/// ...unless there is no answer with so few. The same question from another input counts as asked.
const MANY_NEW_ARGUMENTS: u32 = 64;

/// Why a condition is part of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// A part of a condition of the path, by its number.
    Atom(u32),
    /// What is asked for, by index.
    Asked(u32),
    /// It holds for every input.
    Structure,
    /// It keeps the question small.
    Restriction,
    /// It keeps inputs small.
    Bound,
}

/// A question with all that belongs to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slice {
    /// The conditions with their origins.
    pub conditions: Vec<(Expr, Origin)>,
    /// Whether it is about the number of arguments.
    pub counts: bool,
}

/// Collects the conditions that hang together with the asked ones, when the first `prefix`
/// conditions of the path count.
pub(crate) fn slice(
    pool: &mut Pool,
    path: &Path,
    view: &View,
    prefix: u32,
    asked: &[(Expr, Origin)],
    scope: Scope,
) -> Slice {
    let mut seeds: Vec<Variable> = Vec::new();
    for variable in pool.variables_of_all(asked.iter().map(|&(expr, _)| expr)) {
        seeds.push(variable);
        seeds.extend(chain(pool, path.hint(), variable));
    }
    let (mut variables, mut atoms) = view.slice(prefix, &seeds);
    let whole = scope != Scope::Restricted;
    if whole {
        loop {
            let more = linked(pool, path, prefix, &variables);
            let (all, all_atoms) = view.slice(prefix, &more);
            let same = all.len() == variables.len();
            (variables, atoms) = (all, all_atoms);
            if same {
                break;
            }
        }
    }
    let mut builder = Builder {
        pool,
        path,
        prefix,
        variables: &variables,
        scope,
        conditions: Vec::new(),
    };
    builder.strings(whole);
    builder.files(whole);
    builder.arguments(whole);
    let counts = builder.has(VariableKind::ArgCount);
    let structure = builder.conditions;
    let asked = asked.iter().copied();
    let atoms = atoms
        .iter()
        .map(|&atom| (view.atom(atom), Origin::Atom(atom)));
    let mut conditions: Vec<_> = asked.chain(atoms).chain(structure).collect();
    conditions.retain(|&(expr, _)| pool.value(expr) != Some(1));
    Slice { conditions, counts }
}

/// The variables, and those that hang together with them through the ends of sources.
fn linked(pool: &mut Pool, path: &Path, prefix: u32, variables: &[Variable]) -> Vec<Variable> {
    let mut all = variables.to_vec();
    let mut sources = Vec::new();
    let mut counted = false;
    for &variable in variables {
        match pool.variable_kind(variable) {
            VariableKind::Byte(source, _) | VariableKind::Size(source) => sources.push(source),
            VariableKind::ArgCount => counted = true,
        }
    }
    // An argument that is not there can be made.
    let absent = |&source: &Source| {
        let argument = matches!(pool.source_key(source), SourceKey::Argument(_));
        argument && !path.hint().has(source)
    };
    if !counted && sources.iter().any(absent) {
        let count = pool.variable(VariableKind::ArgCount);
        all.push(Variable(pool.term(count).c));
        counted = true;
    }
    if counted {
        let arguments = path.sources(prefix);
        sources.extend(arguments.filter(|&s| matches!(pool.source_key(s), SourceKey::Argument(_))));
    }
    sources.sort_unstable();
    sources.dedup();
    for source in sources {
        all.extend(path.bytes(prefix, source).map(|(_, variable)| variable));
        if !pool.source_key(source).is_string() {
            let size = pool.variable(VariableKind::Size(source));
            all.push(Variable(pool.term(size).c));
        }
    }
    all.sort_unstable();
    all.dedup();
    let chains: Vec<Variable> = all
        .iter()
        .flat_map(|&v| chain(pool, path.hint(), v))
        .collect();
    all.extend(chains);
    all.sort_unstable();
    all.dedup();
    all
}

struct Builder<'a> {
    pool: &'a mut Pool,
    path: &'a Path,
    prefix: u32,
    variables: &'a [Variable],
    scope: Scope,
    conditions: Vec<(Expr, Origin)>,
}

impl Builder<'_> {
    fn has(&self, kind: VariableKind) -> bool {
        let found = |v: &Variable| self.pool.variable_kind(*v) == kind;
        self.variables.iter().any(found)
    }

    /// The bytes among the variables, by source and index.
    fn bytes(&self, wanted: impl Fn(&SourceKey) -> bool) -> Vec<(Source, u32, Expr)> {
        let mut bytes = Vec::new();
        for &variable in self.variables {
            if let VariableKind::Byte(source, index) = self.pool.variable_kind(variable)
                && wanted(self.pool.source_key(source))
            {
                bytes.push((source, index, self.pool.variable_expr(variable)));
            }
        }
        bytes.sort_unstable();
        bytes
    }

    fn zero(&mut self, byte: Expr) -> Expr {
        let zero = self.pool.constant(8, 0);
        self.pool.eq(byte, zero)
    }

    fn strings(&mut self, whole: bool) {
        let bytes = self.bytes(SourceKey::is_string);
        let mut last: Option<(Source, Expr)> = None;
        for (source, index, byte) in bytes {
            let inside = u64::from(index) < self.path.hint().size(source);
            let zero = self.zero(byte);
            if !self.path.hint().has(source) {
                let argument = matches!(self.pool.source_key(source), SourceKey::Argument(_));
                match (argument, whole) {
                    // See the number of arguments.
                    (true, true) => {}
                    (true, false) => self.conditions.push((zero, Origin::Restriction)),
                    (false, _) => self.conditions.push((zero, Origin::Structure)),
                }
            }
            if inside && !whole {
                let there = self.pool.not(zero);
                self.conditions.push((there, Origin::Restriction));
            } else if let Some((_, before)) = last.filter(|&(of, _)| of == source) {
                // Nothing follows the end of a string. Bytes that are not named stay, and are not 0.
                let gone = self.zero(before);
                let there = self.pool.not(gone);
                let link = self.pool.op(Op::Or, 1, &[zero, there]);
                self.conditions.push((link, Origin::Structure));
            }
            last = Some((source, byte));
        }
    }

    fn files(&mut self, whole: bool) {
        let bytes = self.bytes(|key| !key.is_string());
        // The bytes come by source.
        let mut last = None;
        for (at, &(source, index, byte)) in bytes.iter().enumerate() {
            let (sized, kept) = match last {
                Some((of, sized, kept)) if of == source => (sized, kept),
                _ => {
                    let sized = self.has(VariableKind::Size(source));
                    let of_source = bytes[at..].iter().take_while(|&&(of, ..)| of == source);
                    let inside = of_source.map(|&(_, index, _)| u64::from(index) + 1);
                    let hint = self.path.hint().size(source);
                    let inside = inside.filter(|&end| end <= hint);
                    let many = sized && !whole && inside.clone().count() > MANY_BYTES;
                    let kept = inside.last().filter(|_| many).unwrap_or(0);
                    if kept > 0 {
                        let size = VariableKind::Size(source);
                        self.at_least(size, kept.into(), Origin::Restriction);
                    }
                    (sized, kept)
                }
            };
            last = Some((source, sized, kept));
            if u64::from(index) < kept {
                continue;
            }
            let zero = self.zero(byte);
            if !self.path.hint().has(source) {
                self.conditions.push((zero, Origin::Structure));
            } else if sized {
                let size = self.pool.variable(VariableKind::Size(source));
                let index = self.pool.constant(64, index.into());
                let inside = self.pool.op(Op::Ult, 1, &[index, size]);
                let link = self.pool.op(Op::Or, 1, &[inside, zero]);
                self.conditions.push((link, Origin::Structure));
            } else if u64::from(index) >= self.path.hint().size(source) {
                self.conditions.push((zero, Origin::Restriction));
            }
        }
        let kinds = self.variables.iter().map(|&v| self.pool.variable_kind(v));
        let kinds: Vec<VariableKind> = kinds.collect();
        for kind in kinds {
            let VariableKind::Size(source) = kind else {
                continue;
            };
            let hint = self.path.hint().size(source);
            self.at_most(kind, (hint + MAX_GROWTH).into());
            if whole {
                continue;
            }
            // Bytes that other conditions are about must stay.
            let inside = bytes.iter().filter(|&&(of, ..)| of == source).count();
            let named = self.path.bytes(self.prefix, source);
            let named = named.filter(|&(index, _)| u64::from(index) < hint);
            if named.clone().count() > inside
                && let Some((last, _)) = named.max()
            {
                self.at_least(kind, (last + 1).into(), Origin::Restriction);
            }
        }
    }

    fn arguments(&mut self, whole: bool) {
        let count = VariableKind::ArgCount;
        if !self.has(count) {
            return;
        }
        let hint = self.path.hint().value(count);
        let new = match self.scope {
            Scope::Restricted | Scope::Whole => MAX_NEW_ARGUMENTS,
            Scope::Wide | Scope::Unbounded => MANY_NEW_ARGUMENTS,
        };
        self.at_most(count, hint + u128::from(new));
        // The name of the program.
        self.at_least(count, 1, Origin::Structure);
        let number = |key: &SourceKey| match *key {
            SourceKey::Argument(number) => Some(number),
            _ => None,
        };
        let named = self.path.sources(self.prefix);
        let named = named.filter_map(|source| number(self.pool.source_key(source)));
        let last = named.max().unwrap_or(0);
        if !whole {
            self.at_least(count, u128::from(last) + 1, Origin::Restriction);
            return;
        }
        for (source, _, byte) in self.bytes(|key| number(key).is_some()) {
            let at = number(self.pool.source_key(source)).unwrap_or(0);
            let at = self.pool.constant(32, at.into());
            let arguments = self.pool.variable(count);
            let there = self.pool.op(Op::Ult, 1, &[at, arguments]);
            let zero = self.zero(byte);
            let link = self.pool.op(Op::Or, 1, &[there, zero]);
            self.conditions.push((link, Origin::Structure));
        }
    }

    /// Keeps a size from growing without need, and within what is possible.
    fn at_most(&mut self, kind: VariableKind, sensible: u128) {
        let (most, origin) = match self.scope != Scope::Unbounded {
            true => (sensible.min(POSSIBLE), Origin::Bound),
            false => (POSSIBLE, Origin::Structure),
        };
        let variable = self.pool.variable(kind);
        let width = self.pool.width(variable);
        let most = self.pool.constant(width, most);
        let within = self.pool.op(Op::Ule, 1, &[variable, most]);
        self.conditions.push((within, origin));
    }

    fn at_least(&mut self, kind: VariableKind, least: u128, origin: Origin) {
        let variable = self.pool.variable(kind);
        let width = self.pool.width(variable);
        let least = self.pool.constant(width, least);
        let within = self.pool.op(Op::Ule, 1, &[least, variable]);
        self.conditions.push((within, origin));
    }
}
