//! Words and numbers that two versions know. Those that only one of them has, and those of functions with
//! a change, count as close to the change.

use std::collections::BTreeSet;

use beagle_change::Numbers;
use beagle_lane::Tokens;
use beagle_program::{Const, Op, Operand, Program, StmtId, command_options};

/// Everything that one version knows, with whether it is part of a changed function.
#[derive(Default)]
struct Known {
    words: BTreeSet<Vec<u8>>,
    close: BTreeSet<Vec<u8>>,
}

/// The words of both versions.
pub fn known(programs: (&Program, &Program), numbers: &(Numbers, Numbers)) -> Tokens {
    let old = of_version(programs.0, &numbers.0);
    let new = of_version(programs.1, &numbers.1);
    let mut tokens = Tokens::default();
    let one_sided = old.words.symmetric_difference(&new.words);
    for word in one_sided.chain(&old.close).chain(&new.close) {
        tokens.add(word, true);
    }
    for word in old.words.iter().chain(&new.words) {
        tokens.add(word, false);
    }
    tokens
}

fn of_version(program: &Program, numbers: &Numbers) -> Known {
    let mut known = Known::default();
    let options = command_options(program);
    let long = program
        .functions
        .iter()
        .any(|it| it.name.starts_with("getopt_long"));
    for (id, _) in program.globals() {
        if let Some(text) = text(program, Operand::Global(id)) {
            known.words.extend(variants(text, long));
        }
    }
    for (id, _) in program.functions() {
        let stmts = || program.function_stmts(id);
        let is_changed = |stmt: StmtId| numbers.changed.get(stmt.index()) == Some(&true);
        let close = stmts().any(is_changed);
        let mut words = Vec::new();
        for stmt in stmts() {
            for &operand in program.operands(stmt) {
                if let Some(text) = text(program, operand) {
                    words.extend(variants(text, long));
                }
            }
            let asking = options.iter().filter(|option| option.call == stmt);
            words.extend(asking.map(|option| option.text.clone()));
            words.extend(compared(program, stmt));
        }
        if close {
            known.close.extend(words.iter().cloned());
        }
        known.words.extend(words);
    }
    known
}

/// A string literal without the zero at its end.
fn text(program: &Program, operand: Operand) -> Option<&[u8]> {
    program.text(operand).filter(|text| !text.is_empty())
}

/// A literal as it may stand in an input: as it is, as an option, and the words in it.
fn variants(text: &[u8], long_options: bool) -> Vec<Vec<u8>> {
    // What is printed is rarely read.
    if text.contains(&b'%') || text.len() > 32 {
        return Vec::new();
    }
    let is_name = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let mut all = vec![text.to_vec()];
    if long_options && text.iter().all(is_name) {
        all.push([b"--", text].concat());
    }
    all
}

/// Numbers that something is compared with, as text, and single characters.
fn compared(program: &Program, stmt: StmtId) -> Vec<Vec<u8>> {
    if !matches!(program.stmt(stmt).op, Op::Compare(_) | Op::Switch) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for &operand in program.operands(stmt) {
        let Operand::Const(id) = operand else {
            continue;
        };
        let &Const::Int { width, bits } = program.constant(id) else {
            continue;
        };
        if !(8..=64).contains(&width) {
            continue;
        }
        let shift = 128 - width;
        let value = ((bits << shift) as i128) >> shift;
        all.push(value.to_string().into_bytes());
        match u8::try_from(value) {
            Ok(byte) if byte.is_ascii_graphic() => all.push(vec![byte]),
            _ => {}
        }
    }
    all
}
