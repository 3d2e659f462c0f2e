//! What the tests of this crate share: C snippets become programs, and facts about them are named
//! by the lines of the snippet, or by `/*marker*/` comments in them.

// Each test program uses another part of this.
#![allow(dead_code, reason = "shared by several test programs")]

pub mod csmith;
pub mod graph;
pub mod mutants;
pub mod slices;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use beagle_program::{
    BlockId, Dependence, FunctionId, Object, Op, Operand, Program, StmtId, Struct,
};
use tempfile::TempDir;

/// A snippet and the program made of it.
pub struct Case {
    pub text: String,
    pub program: Program,
}

/// Compiles a snippet as Beagle compiles C, and lifts it.
pub fn lift(text: &str) -> Case {
    lift_with("clang-19", "main.c", &[], text)
}

/// Like [`lift`], with another compiler, file name and more flags.
pub fn lift_with(compiler: &str, name: &str, flags: &[&str], text: &str) -> Case {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join(name), text).expect("the snippet can be written");
    let path = compile(&dir, compiler, name, flags);
    let program = Program::load(&path).unwrap_or_else(|cause| panic!("{cause}\n{text}"));
    Case {
        text: text.to_owned(),
        program,
    }
}

/// The bitcode of a file in a directory.
pub fn compile(dir: &TempDir, compiler: &str, name: &str, flags: &[&str]) -> PathBuf {
    let bitcode = format!("{name}.bc");
    let mut command = Command::new(compiler);
    command.args(["-O0", "-g", "-w", "-Xclang", "-disable-O0-optnone"]);
    command.args(["-emit-llvm", "-c", "-o", &bitcode]);
    command.args(flags).arg(name);
    run(&mut command, dir.path());
    dir.path().join(bitcode)
}

/// Runs a command that has to succeed.
pub fn run(command: &mut Command, dir: &Path) {
    let output = command.current_dir(dir).output();
    let output = output.unwrap_or_else(|cause| panic!("{command:?}: {cause}"));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{log}");
}

impl Case {
    /// Checks that blocks hold the lines that end in `// in`, and none of those that end in `// not in`.
    #[track_caller]
    pub fn check_blocks(&self, blocks: impl IntoIterator<Item = BlockId>) {
        let stmts = blocks.into_iter().flat_map(|block| {
            let stmts = &self.program.block(block).stmts;
            (stmts.start..stmts.end).map(StmtId)
        });
        let found: BTreeSet<u32> = stmts.filter_map(|stmt| self.line_of(stmt)).collect();
        let missing = &self.lines_with("// in") - &found;
        let wrong = &self.lines_with("// not in") & &found;
        assert!(
            missing.is_empty() && wrong.is_empty(),
            "missing {missing:?}, too many {wrong:?}"
        );
    }

    /// The line, from 1, that holds `/*marker*/`.
    pub fn line(&self, marker: &str) -> u32 {
        let comment = format!("/*{marker}*/");
        let at = self.text.lines().position(|line| line.contains(&comment));
        at.unwrap_or_else(|| panic!("no {comment} in\n{}", self.text)) as u32 + 1
    }

    /// The lines that hold a text, from 1.
    pub fn lines_with(&self, text: &str) -> BTreeSet<u32> {
        let lines = (1..).zip(self.text.lines());
        let found = lines.filter(|(_, line)| line.contains(text));
        found.map(|(number, _)| number).collect()
    }

    /// The statements of a line.
    pub fn stmts(&self, line: u32) -> Vec<StmtId> {
        let all = (0..self.program.stmts.len() as u32).map(StmtId);
        all.filter(|&stmt| self.line_of(stmt) == Some(line))
            .collect()
    }

    /// The line of a statement.
    pub fn line_of(&self, stmt: StmtId) -> Option<u32> {
        self.program.stmt(stmt).place.map(|place| place.line)
    }

    /// The statements of a marked line.
    pub fn marked(&self, marker: &str) -> Vec<StmtId> {
        let stmts = self.stmts(self.line(marker));
        assert!(!stmts.is_empty(), "no statement at {marker}");
        stmts
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> FunctionId {
        let mut all = self.program.functions();
        let found = all.find(|(_, function)| function.name == name);
        found.unwrap_or_else(|| panic!("no function {name}")).0
    }

    /// The structure type of that name.
    pub fn structure(&self, name: &str) -> &Struct {
        let found = self.program.structs.iter().find(|s| s.name == name);
        found.unwrap_or_else(|| {
            let names: Vec<_> = self.program.structs.iter().map(|s| &s.name).collect();
            panic!("no {name} among {names:?}")
        })
    }

    /// The name of an object: that of the variable, `heap@line`, `outside`, `arguments of f`.
    pub fn object_name(&self, object: Object) -> String {
        match object {
            Object::Outside => "outside".to_owned(),
            Object::Global(id) => self.program.global(id).name.clone(),
            Object::Heap(call) => format!("heap@{}", self.line_of(call).unwrap_or(0)),
            Object::Variadic(id) => format!("arguments of {}", self.program.function(id).name),
            Object::Local(alloca) => {
                let function = self.program.function(self.program.function_of(alloca));
                let mut locals = function.locals.iter();
                let local = locals.find(|local| local.alloca == alloca);
                local
                    .and_then(|local| local.name.clone())
                    .unwrap_or_else(|| "unnamed".to_owned())
            }
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// The objects that the last access through a pointer on a marked line may touch.
    pub fn accessed(&self, marker: &str) -> BTreeSet<String> {
        let dependence = Dependence::of(&self.program);
        let points_to = dependence.points_to();
        let access = self
            .marked(marker)
            .into_iter()
            .rev()
            .find_map(|stmt| Some((stmt, self.pointer(stmt)?)));
        let (stmt, address) = access.unwrap_or_else(|| panic!("no access at {marker}"));
        let function = self.program.function_of(stmt);
        let cells = points_to.read(function, address, Some(8));
        let objects = cells.into_iter().map(|cell| points_to.object(cell));
        objects.map(|object| self.object_name(object)).collect()
    }

    /// The address of a load or store that is not simply that of a variable.
    fn pointer(&self, stmt: StmtId) -> Option<Operand> {
        let operands = self.program.operands(stmt);
        let address = match self.program.stmt(stmt).op {
            Op::Load { .. } => operands[0],
            Op::Store { .. } => operands[1],
            _ => return None,
        };
        let Operand::Stmt(from) = address else {
            return None;
        };
        let is_variable = matches!(self.program.stmt(from).op, Op::Alloca(_));
        (!is_variable).then_some(address)
    }
}
