//! The options of the command line that a program knows, by what it gives to `getopt` and its kin. What a program
//! reads by itself is not among them, nor are tables that it makes as it runs.

use crate::model::*;

/// An option, and where a program goes on if it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOption {
    /// With what it starts: `-w` or `--width`.
    pub text: Vec<u8>,
    /// Whether it wants an argument.
    pub takes: bool,
    /// The call that looks for it.
    pub call: StmtId,
    /// The branch or switch that it decides, and the index of the successor, if there is one in the same function.
    pub way: Option<(StmtId, u32)>,
}

/// All of them.
pub fn command_options(program: &Program) -> Vec<CommandOption> {
    let mut all = Vec::new();
    for (function, _) in program.functions() {
        for call in program.function_stmts(function) {
            let callee = program.called_function(call);
            let name = callee.map(|id| program.function(id).name.as_str());
            let is_long = match name {
                Some("getopt" | "__posix_getopt") => false,
                Some("getopt_long" | "getopt_long_only") => true,
                _ => continue,
            };
            let looking = Looking::of(program, function, call);
            let arguments = program.arguments(call);
            all.extend(looking.short(arguments.get(2)));
            if is_long {
                all.extend(looking.long(arguments.get(3)));
            }
        }
    }
    all
}

/// A call that looks for options.
struct Looking<'p> {
    program: &'p Program,
    function: FunctionId,
    call: StmtId,
    /// Where what it returns is kept.
    places: Vec<Operand>,
}

impl<'p> Looking<'p> {
    fn of(program: &'p Program, function: FunctionId, call: StmtId) -> Self {
        let kept = program.function_stmts(function).filter_map(|store| {
            let is_store = matches!(program.stmt(store).op, Op::Store { .. });
            match program.operands(store) {
                &[given, to] if is_store && plain(program, given) == Some(call) => Some(to),
                _ => None,
            }
        });
        Self {
            program,
            function,
            call,
            places: kept.collect(),
        }
    }

    /// Those of one letter, from the text that lists them.
    fn short(&self, given: Option<&Operand>) -> Vec<CommandOption> {
        let text = given.and_then(|&given| self.program.text(given));
        let text = text.unwrap_or_default();
        let letters = text.iter().zip(text.iter().skip(1).chain([&0]));
        let letters = letters.filter(|(letter, _)| letter.is_ascii_alphanumeric());
        let options = letters.map(|(&letter, &next)| CommandOption {
            text: vec![b'-', letter],
            takes: next == b':',
            call: self.call,
            way: self.way(letter.into()),
        });
        options.collect()
    }

    /// Those with names, from the table.
    fn long(&self, given: Option<&Operand>) -> Vec<CommandOption> {
        let table = given.and_then(|&given| self.program.initial(given));
        let Some(Const::Aggregate(entries)) = table else {
            return Vec::new();
        };
        let options = entries.iter().filter_map(|&entry| {
            let Const::Aggregate(fields) = self.program.initial(entry)? else {
                return None;
            };
            let &[name, takes, flag, value, ..] = fields.as_slice() else {
                return None;
            };
            // The padding between them is no field of its own.
            let name = self.program.text(name)?;
            let is_returned = matches!(self.program.initial(flag), Some(Const::Null));
            let value = self.program.number(value).filter(|_| is_returned);
            Some(CommandOption {
                text: [b"--", name].concat(),
                takes: self.program.number(takes) == Some(1),
                call: self.call,
                way: value.and_then(|value| self.way(value)),
            })
        });
        options.collect()
    }

    /// Where control goes if the call returns a number.
    fn way(&self, returned: u128) -> Option<(StmtId, u32)> {
        let program = self.program;
        program.function_stmts(self.function).find_map(|stmt| {
            let decides = *program.operands(stmt).first()?;
            match (program.stmt(stmt).op, decides) {
                (Op::Switch, value) if self.is_result(value) => {
                    let cases = program.cases(stmt)?;
                    let case = cases.iter().position(|&case| case == returned)?;
                    Some((stmt, case as u32 + 1))
                }
                (Op::Branch, Operand::Stmt(test)) => {
                    let to = match program.stmt(test).op {
                        Op::Compare(Predicate::Eq) => 0,
                        Op::Compare(Predicate::Ne) => 1,
                        _ => return None,
                    };
                    let &[left, right] = program.operands(test) else {
                        return None;
                    };
                    let is_it = |a, b| program.number(b) == Some(returned) && self.is_result(a);
                    (is_it(left, right) || is_it(right, left)).then_some((stmt, to))
                }
                _ => None,
            }
        })
    }

    /// Whether a value is what the call returned, perhaps by way of a variable.
    fn is_result(&self, value: Operand) -> bool {
        let program = self.program;
        let Some(from) = plain(program, value) else {
            return false;
        };
        match (program.stmt(from).op, program.operands(from)) {
            (Op::Load { .. }, [address, ..]) => self.places.contains(address),
            _ => from == self.call,
        }
    }
}

/// The statement that makes a value, whatever its width.
fn plain(program: &Program, mut value: Operand) -> Option<StmtId> {
    loop {
        let Operand::Stmt(stmt) = value else {
            return None;
        };
        match (program.stmt(stmt).op, program.operands(stmt)) {
            (Op::Cast(_), &[of]) => value = of,
            _ => return Some(stmt),
        }
    }
}

impl Program {
    /// What a constant is; of a variable, what it holds at first.
    fn initial(&self, operand: Operand) -> Option<&Const> {
        match operand {
            Operand::Const(id) => Some(self.constant(id)),
            Operand::Global(global) => match self.global(global).initial {
                Some(Operand::Const(id)) => Some(self.constant(id)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text that an operand points to, without the zero at its end.
    pub fn text(&self, operand: Operand) -> Option<&[u8]> {
        match (operand, self.initial(operand)?) {
            (Operand::Global(_), Const::Bytes(bytes)) => bytes.strip_suffix(b"\0"),
            _ => None,
        }
    }

    fn number(&self, operand: Operand) -> Option<u128> {
        match (operand, self.initial(operand)?) {
            (Operand::Const(_), Const::Int { bits, .. }) => Some(*bits),
            _ => None,
        }
    }
}
