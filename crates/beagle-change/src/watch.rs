//! Which variables are watched: those that changes put values into, as what old and new make of the same state is
//! compared there, and those that decide about changes.

use beagle_program::{FunctionId, Op, Operand, Program, StmtId, Type, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::comparison::Comparison;
use crate::deciding::Deciding;
use crate::variable::{Key, Variables};

/// The variables of both versions into which changed statements put values, and those that decide about
/// changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// By `StmtId` of old: the number of the variable that the statement puts a value into, from 1;
    /// 0 if it is none of them.
    pub old: Vec<u32>,
    /// By `StmtId` of new.
    pub new: Vec<u32>,
    /// By number less 1: where it is.
    pub scopes: Vec<Scope>,
    /// By number less 1: what people call it.
    pub names: Vec<String>,
    /// By number less 1: whether it holds addresses.
    pub addresses: Vec<bool>,
    /// By change: the numbers of variables that decide whether and how it acts.
    pub deciding: Vec<Deciders>,
}

/// Which variables are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// Those that changes put values into.
    Changed,
    /// All, as long as there are not too many. It slows down runs, and tells where the effect of a change goes.
    All,
    /// Also those that hold addresses: into what kind of memory these lead.
    AllAndPointers,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a function, by its number.
    Local(u32),
    /// It is the result of a function.
    Result,
    /// In all of the program.
    Global,
    /// In structures, of which there may be many: what was last put there need not be what another one holds.
    Member,
}

/// The variables, by number, that decide about a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deciders {
    /// Those that decide whether it is executed.
    pub whether: Vec<u32>,
    /// Those that decide what it makes.
    pub what: Vec<u32>,
}

/// Added to the numbers of variables that only decide about changes.
pub const DECIDING: u32 = 1 << 31;

/// So many variables are watched at most; those of the first changes come first.
const MOST: usize = 200;

/// So many are watched at most if all of them are to be.
const MOST_OF_ALL: usize = 4000;

/// So many variables are watched because they decide about changes.
const MOST_DECIDING: usize = 60;

/// So many changes are looked at for them.
const MOST_CHANGES: usize = 40;

/// In programs with more statements it is not asked what decides about changes.
const MOST_DECIDED: usize = 100_000;

/// With so many statements that would be watched, only the changed ones are: the others would tell too
/// little for what they take.
const MOST_STATEMENTS: usize = 2000;

impl Comparison {
    /// The variables that changes put values into, and those that decide about changes, whose numbers have
    /// [`DECIDING`] added.
    pub fn watched(&self, old: &Program, new: &Program) -> Watched {
        self.watching(old, new, Attention::Changed)
    }

    /// Other ones.
    pub fn watching(&self, old: &Program, new: &Program, attention: Attention) -> Watched {
        let functions = self.function_numbers(old, new);
        let mut globals = (FxHashMap::default(), FxHashMap::default());
        for (number, pair) in self.globals.iter().enumerate() {
            globals.0.extend(pair.old.map(|id| (id, number)));
            globals.1.extend(pair.new.map(|id| (id, number)));
        }
        let sides = [
            Variables::new(old, functions.0, globals.0),
            Variables::new(new, functions.1, globals.1),
        ];
        let sides = match attention {
            Attention::AllAndPointers => sides.map(Variables::with_pointers),
            Attention::Changed | Attention::All => sides,
        };
        let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
        let mut changed = [FxHashSet::default(), FxHashSet::default()];
        for change in &self.changes {
            for ((side, stmts), changed) in sides
                .iter()
                .zip([&change.old, &change.new])
                .zip(&mut changed)
            {
                for stmt in side.fed(stmts) {
                    changed.insert(stmt);
                    if numbers.len() < MOST
                        && let Some(key) = side.key(stmt)
                    {
                        let next = numbers.len() as u32 + 1;
                        numbers.entry(key).or_insert(next);
                    }
                }
            }
        }
        if attention != Attention::Changed && old.stmts.len().max(new.stmts.len()) <= MOST_WIDELY {
            for side in &sides {
                side.add_all(&mut numbers);
            }
            changed = [0, 1].map(|side| {
                let count = sides[side].program.stmts.len() as u32;
                (0..count).map(StmtId).collect()
            });
        }
        let (numbers_of_deciders, deciding) =
            match old.stmts.len().max(new.stmts.len()) <= MOST_DECIDED {
                true => self.deciding(&sides, &numbers),
                false => Default::default(),
            };
        let count = numbers.len() + numbers_of_deciders.len();
        let mut scopes = vec![Scope::Global; count];
        let mut names = vec![String::new(); count];
        let mut addresses = vec![false; count];
        for (key, &number) in numbers.iter().chain(&numbers_of_deciders) {
            let index = (number & !DECIDING) as usize - 1;
            scopes[index] = match key {
                Key::Local(function, _) => Scope::Local(*function),
                Key::Result(_) => Scope::Result,
                Key::Global(..) => Scope::Global,
                Key::Member(..) => Scope::Member,
            };
            names[index] = self.name(key, (old, new));
        }
        let [old, new] = [0, 1].map(|side| {
            let mut marked = sides[side].marked(&numbers, &changed[side]);
            let deciding = sides[side].marked(&numbers_of_deciders, &FxHashSet::default());
            for (mark, deciding) in marked.iter_mut().zip(deciding) {
                // No variable is in both.
                *mark |= deciding;
            }
            for (stmt, mark) in (0..).map(StmtId).zip(&marked) {
                if let Some(index) = (mark & !DECIDING).checked_sub(1) {
                    addresses[index as usize] |= sides[side].is_address(stmt);
                }
            }
            marked
        });
        Watched {
            old,
            new,
            scopes,
            names,
            addresses,
            deciding,
        }
    }

    /// What decides about each change, as long as there are not too many, and the numbers of those that have
    /// none yet.
    fn deciding(
        &self,
        sides: &[Variables<'_>; 2],
        compared: &FxHashMap<Key, u32>,
    ) -> (FxHashMap<Key, u32>, Vec<Deciders>) {
        let mut search = [&sides[0], &sides[1]].map(Deciding::new);
        let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
        let mut number = |key: Key| {
            if let Some(&number) = compared.get(&key).or(numbers.get(&key)) {
                return Some(number);
            }
            let next = DECIDING | (compared.len() + numbers.len() + 1) as u32;
            (numbers.len() < MOST_DECIDING).then(|| *numbers.entry(key).or_insert(next))
        };
        let mut all = Vec::new();
        for change in self.changes.iter().take(MOST_CHANGES) {
            let mut deciders = Deciders::default();
            for (search, stmts) in search.iter_mut().zip([&change.old, &change.new]) {
                let whether = search.whether(stmts).into_iter();
                deciders.whether.extend(whether.filter_map(&mut number));
                let what = search.what(stmts).into_iter();
                deciders.what.extend(what.filter_map(&mut number));
            }
            for list in [&mut deciders.whether, &mut deciders.what] {
                list.sort_unstable();
                list.dedup();
            }
            all.push(deciders);
        }
        (numbers, all)
    }

    /// What people call a variable.
    fn name(&self, key: &Key, (old, new): (&Program, &Program)) -> String {
        let function = |number: u32| {
            let pair = self.functions.get(number as usize)?;
            match (pair.new, pair.old) {
                (Some(id), _) => Some(new.function(id).name.clone()),
                (None, Some(id)) => Some(old.function(id).name.clone()),
                (None, None) => None,
            }
        };
        match key {
            Key::Local(_, name) => name.clone(),
            Key::Result(number) => {
                let name = function(*number).unwrap_or_default();
                format!("result of {name}()")
            }
            Key::Global(number, indices) => {
                let pair = self.globals.get(*number);
                let name = pair.and_then(|pair| match (pair.new, pair.old) {
                    (Some(id), _) => Some(new.global(id).name.clone()),
                    (None, Some(id)) => Some(old.global(id).name.clone()),
                    (None, None) => None,
                });
                match indices.is_empty() {
                    true => name.unwrap_or_default(),
                    false => format!("part of {}", name.unwrap_or_default()),
                }
            }
            Key::Member(name, indices) => {
                // Members are known by their place; if it has another name in the other version, neither is meant.
                let [old, new] = [old, new].map(|program| member(program, name, indices));
                let part = match (old, new) {
                    (Some(old), Some(new)) if old != new => None,
                    (old, new) => new.or(old),
                };
                match part {
                    Some(part) => format!("{} of {name}", part.trim_start_matches('.')),
                    None => format!("member of {name}"),
                }
            }
        }
    }
}

/// A member of the structure of this name, if there is one.
fn member(program: &Program, name: &str, indices: &[u128]) -> Option<String> {
    let all = (0..program.types.len() as u32).map(TypeId);
    let mut named = all.filter(|&ty| match program.ty(ty) {
        Type::Struct(id) => program.structs[id.index()].name == name,
        _ => false,
    });
    let ty = named.next()?;
    // All structures without a name share one.
    named
        .next()
        .is_none()
        .then(|| part(program, ty, indices.get(1..)?))?
}

/// A part of a value as C has it: `.name[2]`.
fn part(program: &Program, mut ty: TypeId, indices: &[u128]) -> Option<String> {
    let mut text = String::new();
    for &index in indices {
        match program.ty(ty) {
            Type::Struct(id) => {
                let fields = &program.structs[id.index()].fields;
                let field = fields.get(usize::try_from(index).ok()?)?;
                text.push('.');
                text.push_str(field.name.as_deref()?);
                ty = field.ty;
            }
            Type::Array(_, of) => {
                text.push_str(&format!("[{index}]"));
                ty = *of;
            }
            _ => return None,
        }
    }
    (!text.is_empty()).then_some(text)
}

/// In programs with more statements not everything is watched.
const MOST_WIDELY: usize = 200_000;

impl Variables<'_> {
    fn marked(&self, numbers: &FxHashMap<Key, u32>, changed: &FxHashSet<StmtId>) -> Vec<u32> {
        let mut marked = vec![0; self.program.stmts.len()];
        if numbers.is_empty() {
            return marked;
        }
        let mut all: Vec<(StmtId, u32)> = Vec::new();
        for (id, _) in self.program.functions() {
            for stmt in self.program.function_stmts(id) {
                let number = self.key(stmt).and_then(|key| numbers.get(&key).copied());
                all.extend(number.map(|number| (stmt, number)));
            }
        }
        let many = all.len() > MOST_STATEMENTS;
        for (stmt, number) in all {
            if !many || changed.contains(&stmt) {
                marked[stmt.index()] = number;
            }
        }
        marked
    }

    /// Gives a number to all that statements put values into, as long as there are not too many.
    fn add_all(&self, numbers: &mut FxHashMap<Key, u32>) {
        for (id, _) in self.program.functions() {
            for stmt in self.program.function_stmts(id) {
                if numbers.len() < MOST_OF_ALL
                    && let Some(key) = self.key(stmt)
                {
                    let next = numbers.len() as u32 + 1;
                    numbers.entry(key).or_insert(next);
                }
            }
        }
    }

    /// These statements, and those of the same function that compute with what they give.
    fn fed(&self, stmts: &[StmtId]) -> Vec<StmtId> {
        let mut all: FxHashSet<StmtId> = stmts.iter().copied().collect();
        let functions: FxHashSet<FunctionId> =
            stmts.iter().map(|&it| self.function_of(it)).collect();
        let mut list = stmts.to_vec();
        for function in functions {
            // What a statement uses comes before it, but for loops that keep values out of memory.
            for stmt in self.program.function_stmts(function) {
                let mut operands = self.program.operands(stmt).iter();
                let is_fed = |operand: &Operand| match operand {
                    Operand::Stmt(used) => {
                        all.contains(used) && !matches!(self.program.stmt(*used).op, Op::Alloca(_))
                    }
                    _ => false,
                };
                if operands.any(is_fed) && all.insert(stmt) {
                    list.push(stmt);
                }
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::numbers::tests::compared;

    const PROGRAM: &str = "struct pair { int a, b; };\n\
        int total;\n\
        static int count(struct pair *p, int x) {\n\
         int y = x;\n\
         y = x + 1;\n\
         p->b = x;\n\
         total = y;\n\
         return y; }\n\
        int main(void) { struct pair p = {0, 0}; int y = 7; total = count(&p, y); return p.b; }\n";

    /// The lines of the statements of each version that put values into what changes put values into, with
    /// the number of the variable, and whether it is a single one.
    fn watched(edits: &[(&str, &str)]) -> ([Vec<(u32, u32)>; 2], Vec<bool>) {
        let new = edits.iter().fold(PROGRAM.to_owned(), |text, (from, to)| {
            text.replacen(from, to, 1)
        });
        compared(PROGRAM, &new, |old, new, comparison| {
            let watched = comparison.watched(old, new);
            let lines = |program: &Program, marked: &[u32]| {
                let all = program.stmts.iter().zip(marked);
                let all = all.filter(|(_, number)| **number != 0 && **number < DECIDING);
                let mut lines: Vec<_> = all
                    .map(|(stmt, &number)| (stmt.place.unwrap().line, number))
                    .collect();
                lines.sort_unstable();
                lines
            };
            let both = [lines(old, &watched.old), lines(new, &watched.new)];
            let compared = both.iter().flatten().map(|&(_, number)| number).max();
            let mut single: Vec<bool> = (watched.scopes.iter())
                .map(|&scope| scope != Scope::Member)
                .collect();
            single.truncate(compared.unwrap_or(0) as usize);
            (both, single)
        })
    }

    #[test]
    fn all_stores_to_what_a_change_stores_to_are_watched() {
        // The store itself is the same.
        let (lines, single) = watched(&[("y = x + 1", "y = x + 2")]);
        // Not the other variable of that name.
        assert_eq!(lines, [vec![(4, 1), (5, 1)], vec![(4, 1), (5, 1)]]);
        assert_eq!(single, [true]);
    }

    #[test]
    fn globals_members_and_results() {
        let edits = [
            ("p->b = x", "p->b = x * 2"),
            ("total = y", "total = 2"),
            ("return y", "return y | 1"),
        ];
        let (lines, single) = watched(&edits);
        assert_eq!(lines[1], [(6, 1), (7, 2), (8, 3), (9, 2)]);
        assert_eq!(lines[0], lines[1]);
        assert_eq!(single, [false, true, true]);
    }

    #[test]
    fn all_stores_can_be_watched_and_have_names() {
        let new = PROGRAM.replacen("y = x + 1", "y = x + 2", 1);
        compared(PROGRAM, &new, |old, new, comparison| {
            let watched = comparison.watching(old, new, Attention::All);
            let marked = new.stmts.iter().zip(&watched.new);
            let marked = marked.filter(|(_, number)| **number != 0);
            let mut lines: Vec<u32> = marked
                .filter_map(|(stmt, _)| Some(stmt.place?.line))
                .collect();
            lines.sort_unstable();
            lines.dedup();
            assert_eq!(lines, [4, 5, 6, 7, 8, 9]);
            for name in ["y", "total", "result of count()", "b of struct pair"] {
                let mut names = watched.names.iter();
                assert!(names.any(|it| it == name), "{:?}", watched.names);
            }
        });
    }

    #[test]
    fn what_only_one_version_stores() {
        let (lines, _) = watched(&[("total = y;", "")]);
        assert_eq!(lines, [vec![(7, 1), (9, 1)], vec![(9, 1)]]);
    }

    const COUNTING: &str = "int getchar(void);\n\
        static int lines, rest, other;\n\
        static int enough(void) { return lines > 2; }\n\
        int main(void) { int c;\n\
         while ((c = getchar()) >= 0) if (c == 10) lines++; else other++;\n\
         if (enough()) return rest + 1;\n\
         return 0; }\n";

    #[test]
    fn what_decides_about_a_change_is_watched_by_way_of_others() {
        let new = COUNTING.replacen("rest + 1", "rest + 2", 1);
        compared(COUNTING, &new, |old, new, comparison| {
            let watched = comparison.watched(old, new);
            let names = |numbers: &[u32]| -> Vec<&str> {
                let indices = numbers
                    .iter()
                    .map(|&number| (number & !DECIDING) as usize - 1);
                let names = indices.map(|index| watched.names[index].as_str());
                names.collect()
            };
            let [deciders] = watched.deciding.as_slice() else {
                panic!("{:?}", watched.deciding);
            };
            let whether = names(&deciders.whether);
            // Not what the other way of the loop counts, and not what is only read.
            assert_eq!(whether, ["result of enough()", "lines", "c"]);
            assert!(!names(&deciders.what).contains(&"rest"));
            // What only decides is not compared: only what main gives is, by three stores.
            let [old, new] = [&watched.old, &watched.new].map(|marked| {
                let compared = marked
                    .iter()
                    .filter(|&&number| number != 0 && number < DECIDING);
                compared.count()
            });
            assert_eq!((old, new), (3, 3));
        });
    }

    /// The names of variables that decide whether the first change is executed.
    fn deciding(old: &str, new: &str) -> Vec<String> {
        compared(old, new, |old, new, comparison| {
            let watched = comparison.watched(old, new);
            let whether = watched.deciding[0].whether.iter();
            let names = whether.map(|number| &watched.names[(number & !DECIDING) as usize - 1]);
            names.cloned().collect()
        })
    }

    #[test]
    fn what_decides_about_a_call_decides_about_what_it_always_does() {
        let show = "int getchar(void); void abort(void); int putchar(int);\n\
            static int lines;\n\
            static void check(int it) { if (it < 0) abort(); }\n\
            static void show(const char *p) { while (*p) { putchar(*p); p++; } }\n\
            static void last(int it) { check(it); putchar('l'); }\n\
            int main(void) { while (getchar() == 10) lines++;\n\
             if (lines > 2) { show(\"abc\"); last(3); }\n\
             return 0; }\n";
        // Behind the condition of a loop, and behind a call that may not come back.
        for (from, to) in [
            ("putchar(*p)", "putchar(*p + 1)"),
            ("putchar('l')", "putchar('m')"),
        ] {
            let new = show.replacen(from, to, 1);
            let names = deciding(show, &new);
            assert!(
                names.iter().any(|name| name == "lines"),
                "{from}: {names:?}"
            );
        }
    }
}
