//! Addresses: which variable, which field, which element.
//!
//! Fields go by name, so that they stay the same when others move them. For variables outside of
//! functions clang computes addresses itself and leaves out steps of no effect (`&s.first` is `&s`)
//! or gives them in bytes (`&s.second` is `&s + 4`); here such addresses are turned back into steps.

use beagle_program::{Const, Operand, StructId, Type, TypeId};

use crate::token::{Side, Token, token_of};

/// A constant address as steps into a variable.
pub(crate) struct Path {
    base: Token,
    steps: Vec<Step>,
    /// The type of what is there, as far as it is known.
    ty: Option<TypeId>,
}

#[derive(Hash)]
enum Step {
    Field(Token),
    Element(u64),
    /// Anything that no field or element explains.
    Other(Token),
}

impl Path {
    pub(crate) fn token(&self) -> Token {
        token_of(("path", self.base, &self.steps))
    }

    fn other(&mut self, token: Token) {
        self.steps.push(Step::Other(token));
        self.ty = None;
    }
}

impl Side<'_> {
    /// The address of a load or store, if it is constant. If it is that of a structure or an array,
    /// the access is to the first field or element.
    pub(crate) fn accessed(&self, address: Operand) -> Option<Token> {
        let mut path = self.pointed_to(address)?;
        while self.descend(&mut path) {}
        Some(path.token())
    }

    /// The steps that lead to a constant address; `None` if it is not in a variable.
    pub(crate) fn pointed_to(&self, address: Operand) -> Option<Path> {
        match address {
            Operand::Global(id) => Some(Path {
                base: self.global(id),
                steps: Vec::new(),
                ty: Some(self.program.global(id).ty),
            }),
            Operand::Const(id) => match self.program.constant(id) {
                Const::Address(ty, operands) => {
                    let (&base, indices) = operands.split_first()?;
                    let mut path = self.pointed_to(base)?;
                    self.follow(&mut path, *ty, indices);
                    Some(path)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn follow(&self, path: &mut Path, ty: TypeId, indices: &[Operand]) {
        let numbers: Option<Vec<u64>> = indices.iter().map(|&i| self.integer(i)).collect();
        let bytes = *self.program.ty(ty) == Type::Int(8);
        match (numbers.as_deref(), path.ty) {
            (Some([offset]), Some(from)) if bytes => self.follow_bytes(path, from, *offset),
            (Some([first, rest @ ..]), Some(_)) if self.reach(path, ty, *first) => {
                for &index in rest {
                    self.step(path, index);
                }
            }
            _ => {
                let indices: Vec<_> = indices.iter().map(|&index| self.leaf(index)).collect();
                path.other(token_of((self.declared_type(ty), indices)));
            }
        }
    }

    /// Goes down to the first value of a type and then on by so many values.
    fn reach(&self, path: &mut Path, ty: TypeId, count: u64) -> bool {
        while path.ty != Some(ty) {
            if !self.descend(path) {
                return false;
            }
        }
        match path.steps.last_mut() {
            _ if count == 0 => true,
            Some(Step::Element(index)) => {
                *index = index.wrapping_add(count);
                true
            }
            _ => false,
        }
    }

    fn descend(&self, path: &mut Path) -> bool {
        match path.ty.map(|ty| self.program.ty(ty)) {
            Some(Type::Struct(id)) => {
                let structure = self.program.structure(*id);
                // All members of a union are first.
                let descends =
                    !structure.fields.is_empty() && !structure.name.starts_with("union ");
                if descends {
                    self.step(path, 0);
                }
                descends
            }
            Some(Type::Array(..)) => {
                self.step(path, 0);
                true
            }
            _ => false,
        }
    }

    fn step(&self, path: &mut Path, index: u64) {
        match path.ty.map(|ty| self.program.ty(ty)) {
            Some(Type::Struct(id)) => {
                let (token, ty) = self.field(*id, index as usize);
                path.steps.push(Step::Field(token));
                path.ty = ty;
            }
            Some(Type::Array(_, element)) => {
                path.steps.push(Step::Element(index));
                path.ty = Some(*element);
            }
            _ => path.other(token_of(index)),
        }
    }

    fn follow_bytes(&self, path: &mut Path, mut from: TypeId, mut offset: u64) {
        while offset > 0 {
            let (index, start) = match self.program.ty(from) {
                Type::Struct(id) => {
                    let fields = &self.program.structure(*id).fields;
                    let inside = |(_, field): &(usize, &beagle_program::Field)| {
                        let end = field.offset + self.program.size_of(field.ty);
                        (field.offset..end).contains(&offset)
                    };
                    match fields.iter().enumerate().find(inside) {
                        Some((index, field)) => (index as u64, field.offset),
                        None => break,
                    }
                }
                Type::Array(_, element) => match self.program.size_of(*element) {
                    0 => break,
                    size => (offset / size, offset / size * size),
                },
                _ => break,
            };
            self.step(path, index);
            offset -= start;
            match path.ty {
                Some(ty) => from = ty,
                None => break,
            }
        }
        if offset > 0 {
            path.other(token_of(("bytes", offset)));
        }
    }

    /// Address arithmetic over `ty`: fields by name, with the type they are declared with.
    /// `tokens` are those of `operands` (base, then indices).
    pub(crate) fn address(&self, ty: TypeId, tokens: &[Token], operands: &[Operand]) -> Token {
        let mut current = ty;
        let mut steps = vec![token_of(("address", tokens.first()))];
        for (i, (&token, &operand)) in tokens.iter().zip(operands).enumerate().skip(1) {
            match self.program.ty(current) {
                // The first index steps over whole values of the type. Their length matters only
                // if it is not zero.
                _ if i == 1 && self.integer(operand) == Some(0) => steps.push(self.ty(ty)),
                _ if i == 1 => steps.push(token_of((self.declared_type(ty), token))),
                Type::Struct(id) => match self.integer(operand) {
                    Some(index) => {
                        let (step, next) = self.field(*id, index as usize);
                        steps.push(step);
                        match next {
                            Some(next) => current = next,
                            None => break,
                        }
                    }
                    None => steps.push(token),
                },
                Type::Array(_, element) | Type::Vector(_, element) => {
                    steps.push(token_of(("element", token)));
                    current = *element;
                }
                Type::Tuple(fields) => {
                    steps.push(token);
                    match self.integer(operand).and_then(|i| fields.get(i as usize)) {
                        Some(&next) => current = next,
                        None => break,
                    }
                }
                _ => steps.push(token),
            }
        }
        token_of(steps)
    }

    fn integer(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Const(id) => match self.program.constant(id) {
                Const::Int { bits, .. } => u64::try_from(*bits).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    fn field(&self, id: StructId, index: usize) -> (Token, Option<TypeId>) {
        let structure = self.program.structure(id);
        let Some(field) = structure.fields.get(index) else {
            return (token_of(("field", index)), None);
        };
        let is_last = index + 1 == structure.fields.len();
        let declared = match self.program.ty(field.ty) {
            // `a[1]`, `a[0]` and `a[]` at the end all stand for as many elements as there is room.
            Type::Array(0 | 1, element) if is_last => token_of(("room", self.ty(*element))),
            _ => self.declared_type(field.ty),
        };
        let token = match &field.name {
            Some(name) => token_of(("field", &structure.name, name, declared)),
            // Without a name only the position tells the field.
            None => token_of(("field", &structure.name, index, declared)),
        };
        (token, Some(field.ty))
    }
}
