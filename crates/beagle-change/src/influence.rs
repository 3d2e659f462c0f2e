//! What a change can influence: forward slices from the changed statements, in both versions.
//!
//! Deleted statements have their influence in the old version, added ones in the new; together
//! they say how far the effect of a change can go, never less than it does go.

use beagle_program::{Dependence, Fact, FunctionId, Object, Op, Operand, Program, Slice, StmtId};

use crate::comparison::{Change, Comparison, Line, Subject};
use crate::source::SourceTree;

/// What a change, or all changes together, can influence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Influence {
    /// The functions with statements that may behave differently, by name.
    pub functions: Vec<String>,
    /// Where the program shows something to the outside that may differ.
    pub outputs: Vec<Line>,
}

/// A version, with all that is needed to follow an influence in it.
pub struct Analysed<'a> {
    dependence: &'a Dependence<'a>,
    program: &'a Program,
    sources: &'a SourceTree,
}

impl Influence {
    /// The influence of some changes together.
    pub fn of<'c>(
        old: &Analysed,
        new: &Analysed,
        comparison: &Comparison,
        changes: impl IntoIterator<Item = &'c Change>,
    ) -> Influence {
        let (mut old_facts, mut new_facts) = (Vec::new(), Vec::new());
        for change in changes {
            old_facts.extend(changed_facts(old.dependence, &change.old));
            new_facts.extend(changed_facts(new.dependence, &change.new));
            if let Subject::Global(pair) = change.subject {
                old_facts.extend(pair.old.iter().flat_map(|&id| old.dependence.global(id)));
                new_facts.extend(pair.new.iter().flat_map(|&id| new.dependence.global(id)));
            }
        }
        let mut influence = Influence::default();
        let slice = new.dependence.forward(&new_facts);
        influence.add(new, &slice, |id| new.program.function(id).name.clone());
        let slice = old.dependence.forward(&old_facts);
        influence.add(old, &slice, |id| {
            // By the name that it has now, if it still exists.
            let pair = comparison
                .functions
                .iter()
                .find(|pair| pair.old == Some(id));
            match pair.and_then(|pair| pair.new) {
                Some(now) => new.program.function(now).name.clone(),
                None => old.program.function(id).name.clone(),
            }
        });
        influence
    }

    fn add(&mut self, version: &Analysed, slice: &Slice, name: impl Fn(FunctionId) -> String) {
        for id in slice.functions(version.program) {
            let name = name(id);
            if !self.functions.contains(&name) {
                self.functions.push(name);
            }
        }
        for stmt in slice.stmts() {
            if let Some(line) = version.output(stmt) {
                // What both versions have is listed once, as it stands in new.
                if !self.outputs.iter().any(|known| known.text == line.text) {
                    self.outputs.push(line);
                }
            }
        }
    }
}

impl<'a> Analysed<'a> {
    /// Puts together what depends on what, and the texts.
    pub fn new(dependence: &'a Dependence<'a>, sources: &'a SourceTree) -> Self {
        Self {
            dependence,
            program: dependence.program(),
            sources,
        }
    }

    /// The line of a statement that shows something to the outside.
    fn output(&self, stmt: StmtId) -> Option<Line> {
        let shows = match self.program.stmt(stmt).op {
            Op::Call(_) | Op::Invoke(_) => self.dependence.calls().is_output(stmt),
            // What `main` returns is the exit status.
            Op::Return => {
                let function = self.program.function(self.program.function_of(stmt));
                function.symbol == "main"
            }
            _ => false,
        };
        let place = self.program.stmt(stmt).place.filter(|_| shows)?;
        let file = self.program.file(place.file);
        Some(Line {
            file: file.to_owned(),
            line: place.line,
            text: self.sources.line(file, place.line).unwrap_or_default(),
        })
    }
}

/// The facts that changed statements decide about.
pub fn changed_facts(dependence: &Dependence, stmts: &[StmtId]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for &stmt in stmts {
        facts.extend(dependence.changed(stmt));
        if let Op::Alloca(_) = dependence.program().stmt(stmt).op {
            facts.extend(variable(dependence, stmt));
        }
    }
    facts
}

/// All that a variable is used for.
fn variable(dependence: &Dependence, alloca: StmtId) -> Vec<Fact> {
    let program = dependence.program();
    let cells = dependence.points_to().cells_of(Object::Local(alloca));
    let function = program.function_of(alloca);
    let users = program
        .function_stmts(function)
        .filter(|&stmt| program.operands(stmt).contains(&Operand::Stmt(alloca)));
    cells
        .into_iter()
        .map(Fact::Cell)
        .chain(users.map(Fact::Stmt))
        .collect()
}
