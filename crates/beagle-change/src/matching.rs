//! Which functions and global variables of two versions correspond.
//!
//! By name first, and by file where several static ones share a name. What is left is matched by
//! what it does: functions by the share of statements they have in common, so that renamed and
//! moved ones are found, and variables by type and initial value where that leaves no choice.

use std::hash::Hash;

use beagle_program::{FunctionId, GlobalId, Program};
use rustc_hash::FxHashMap;

use crate::shape::Shape;
use crate::token::{Side, Token, token_of};

/// Two versions of one thing; `None` where a version does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<T> {
    /// In the old version.
    pub old: Option<T>,
    /// In the new version.
    pub new: Option<T>,
}

/// The share of statements that functions of different names must have in common.
const SIMILAR: f64 = 0.5;

/// A statement that so many functions have says nothing about which is which.
const COMMON: usize = 50;

/// Matches functions, and gives those that correspond the same token.
pub(crate) fn match_functions(old: &mut Side, new: &mut Side) -> Vec<Pair<FunctionId>> {
    let names = |program: &Program| -> Vec<Named<FunctionId>> {
        let named = |(id, function): (_, &beagle_program::Function)| Named {
            id,
            name: function.name.clone(),
            file: function.file.map(|file| program.file(file).to_owned()),
        };
        program.functions().map(named).collect()
    };
    let (mut pairs, old_left, new_left) = by_name(names(old.program), names(new.program));
    let defined = |side: &Side, ids: Vec<FunctionId>| -> (Vec<_>, Vec<_>) {
        ids.into_iter()
            .partition(|&id| side.program.function(id).is_defined())
    };
    let (old_left, old_declared) = defined(old, old_left);
    let (new_left, new_declared) = defined(new, new_left);
    pairs.extend(by_similarity(old, old_left, new, new_left));
    pairs.extend(only_old(old_declared).chain(only_new(new_declared)));
    for (number, pair) in pairs.iter().enumerate() {
        let token = token_of(("function", number));
        if let Some(id) = pair.old {
            old.functions[id.index()] = token;
        }
        if let Some(id) = pair.new {
            new.functions[id.index()] = token;
        }
    }
    // Literals may hold addresses of functions, which now have other tokens.
    old.name_literals();
    new.name_literals();
    pairs
}

/// Matches global variables other than literals, and gives those that correspond the same token.
pub(crate) fn match_globals(old: &mut Side, new: &mut Side) -> Vec<Pair<GlobalId>> {
    let names = |program: &Program| -> Vec<Named<GlobalId>> {
        let variables = program.globals().filter(|(_, global)| !global.is_literal);
        let named = |(id, global): (_, &beagle_program::Global)| Named {
            id,
            // The symbol of a static variable inside a function starts with the function's name.
            name: without_number(&global.symbol).to_owned(),
            file: global.file.map(|file| program.file(file).to_owned()),
        };
        variables.map(named).collect()
    };
    let (mut pairs, old_left, new_left) = by_name(names(old.program), names(new.program));
    let defined = |side: &Side, ids: Vec<GlobalId>| -> (Vec<_>, Vec<_>) {
        ids.into_iter()
            .partition(|&id| side.program.global(id).initial.is_some())
    };
    let (old_left, old_declared) = defined(old, old_left);
    let (new_left, new_declared) = defined(new, new_left);
    let (renamed, old_left, new_left) = by_key(
        old_left,
        |id| content(old, id),
        new_left,
        |id| content(new, id),
    );
    pairs.extend(renamed);
    // What is defined elsewhere is known by its name alone: `stdout` is no renamed `stderr`.
    pairs.extend(only_old(old_left).chain(only_new(new_left)));
    pairs.extend(only_old(old_declared).chain(only_new(new_declared)));
    for (number, pair) in pairs.iter().enumerate() {
        let token = token_of(("global", number));
        if let Some(id) = pair.old {
            old.set_global(id, token);
        }
        if let Some(id) = pair.new {
            new.set_global(id, token);
        }
    }
    pairs
}

/// What tells a renamed variable: its type and what it starts with.
fn content(side: &Side, id: GlobalId) -> Token {
    let global = side.program.global(id);
    let initial = global
        .initial
        .map(|initial| side.initial(global.ty, initial));
    token_of((
        side.declared_type(global.ty),
        initial,
        global.is_constant,
        global.is_static,
    ))
}

struct Named<T> {
    id: T,
    name: String,
    file: Option<String>,
}

fn only_old<T>(ids: Vec<T>) -> impl Iterator<Item = Pair<T>> {
    ids.into_iter().map(|id| Pair {
        old: Some(id),
        new: None,
    })
}

fn only_new<T>(ids: Vec<T>) -> impl Iterator<Item = Pair<T>> {
    ids.into_iter().map(|id| Pair {
        old: None,
        new: Some(id),
    })
}

type Matched<T> = (Vec<Pair<T>>, Vec<T>, Vec<T>);

fn by_name<T: Copy + Ord>(old: Vec<Named<T>>, new: Vec<Named<T>>) -> Matched<T> {
    let mut by_name: FxHashMap<String, Vec<Named<T>>> = FxHashMap::default();
    for named in new {
        by_name.entry(named.name.clone()).or_default().push(named);
    }
    // Those that also agree in the file choose first.
    let (same_file, rest): (Vec<_>, Vec<_>) = old.into_iter().partition(|named| {
        let candidates = by_name.get(&named.name);
        candidates.is_some_and(|all| all.iter().any(|other| other.file == named.file))
    });
    let mut pairs = Vec::new();
    let mut old_left = Vec::new();
    for named in same_file.into_iter().chain(rest) {
        let candidates = by_name.get_mut(&named.name).filter(|all| !all.is_empty());
        let Some(candidates) = candidates else {
            old_left.push(named.id);
            continue;
        };
        let same_file = candidates.iter().position(|other| other.file == named.file);
        let found = candidates.remove(same_file.unwrap_or(0));
        pairs.push(Pair {
            old: Some(named.id),
            new: Some(found.id),
        });
    }
    let left = by_name.into_values().flatten().map(|named| named.id);
    let mut new_left: Vec<_> = left.collect();
    // The map has no order of its own, but results must not vary from run to run.
    new_left.sort();
    old_left.sort();
    pairs.sort_by_key(|pair| pair.new);
    (pairs, old_left, new_left)
}

/// Matches what has the same key, where exactly one in each version has it.
fn by_key<T: Copy + Ord, K: Hash + Eq>(
    old: Vec<T>,
    old_key: impl Fn(T) -> K,
    new: Vec<T>,
    new_key: impl Fn(T) -> K,
) -> Matched<T> {
    let mut groups: FxHashMap<K, (Vec<T>, Vec<T>)> = FxHashMap::default();
    for &id in &old {
        groups.entry(old_key(id)).or_default().0.push(id);
    }
    for &id in &new {
        groups.entry(new_key(id)).or_default().1.push(id);
    }
    let mut pairs = Vec::new();
    for (a, b) in groups.into_values() {
        if let ([a], [b]) = (&a[..], &b[..]) {
            pairs.push(Pair {
                old: Some(*a),
                new: Some(*b),
            });
        }
    }
    pairs.sort_by_key(|pair| pair.new);
    let left = |ids: Vec<T>, taken: &dyn Fn(T) -> bool| -> Vec<T> {
        ids.into_iter().filter(|&id| !taken(id)).collect()
    };
    let old_left = left(old, &|id| pairs.iter().any(|pair| pair.old == Some(id)));
    let new_left = left(new, &|id| pairs.iter().any(|pair| pair.new == Some(id)));
    (pairs, old_left, new_left)
}

/// Matches functions of different names by the statements that they share.
fn by_similarity(
    old_side: &Side,
    old: Vec<FunctionId>,
    new_side: &Side,
    new: Vec<FunctionId>,
) -> Vec<Pair<FunctionId>> {
    let tokens = |side: &Side, id: FunctionId| -> Vec<Token> {
        let shape = Shape::of(side, id);
        shape.roots.iter().map(|root| root.token).collect()
    };
    let new_tokens: Vec<_> = new.iter().map(|&id| tokens(new_side, id)).collect();
    let mut holders: FxHashMap<Token, Vec<usize>> = FxHashMap::default();
    for (index, tokens) in new_tokens.iter().enumerate() {
        for &token in tokens {
            holders.entry(token).or_default().push(index);
        }
    }
    let mut ranked = Vec::new();
    for (index, &id) in old.iter().enumerate() {
        let tokens = tokens(old_side, id);
        for (other, shared) in count_shared(&tokens, &holders) {
            let total = tokens.len() + new_tokens[other].len();
            let share = 2.0 * f64::from(shared) / total as f64;
            if share >= SIMILAR {
                ranked.push((share, index, other));
            }
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut partner: Vec<Option<usize>> = vec![None; old.len()];
    let mut taken = vec![false; new.len()];
    for (_, index, other) in ranked {
        if partner[index].is_none() && !taken[other] {
            partner[index] = Some(other);
            taken[other] = true;
        }
    }
    let matched = old.iter().zip(&partner).map(|(&id, partner)| Pair {
        old: Some(id),
        new: partner.map(|other| new[other]),
    });
    let added = new.iter().zip(&taken).filter(|(_, taken)| !**taken);
    matched
        .chain(added.map(|(&id, _)| Pair {
            old: None,
            new: Some(id),
        }))
        .collect()
}

/// How many of `tokens` each holder has, counting a token at most as often as both have it.
fn count_shared(tokens: &[Token], holders: &FxHashMap<Token, Vec<usize>>) -> FxHashMap<usize, u32> {
    let mut counts: FxHashMap<Token, u32> = FxHashMap::default();
    for &token in tokens {
        *counts.entry(token).or_default() += 1;
    }
    let mut shared = FxHashMap::default();
    for (token, count) in counts {
        let holders = holders.get(&token).map_or(&[][..], |holders| holders);
        if holders.len() > COMMON {
            continue;
        }
        let mut seen: FxHashMap<usize, u32> = FxHashMap::default();
        for &holder in holders {
            *seen.entry(holder).or_default() += 1;
        }
        for (holder, times) in seen {
            *shared.entry(holder).or_default() += times.min(count);
        }
    }
    shared
}

/// Without the number that the linker appends to tell static names apart.
fn without_number(symbol: &str) -> &str {
    match symbol.rsplit_once('.') {
        Some((base, number)) if number.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => symbol,
    }
}
