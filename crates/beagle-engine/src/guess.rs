//! Answers that are made without asking, where what decides does not depend on the input. The next run puts them right.

use std::rc::Rc;

use beagle_trace::{Input, Source};

use crate::insert::Insert;
use crate::options::with_arguments;
use crate::resize::Resize;
use crate::shape::Shape;
use crate::word::Word;

/// What an input gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Guess {
    /// A text in place of the word that was compared with it.
    Word(Word),
    /// A few bytes more.
    Insert(Insert),
    /// A part that is longer or shorter.
    Resize(Resize),
    /// Other arguments, with the name of the program.
    Arguments(Rc<[Source]>),
}

impl Guess {
    /// The input with it, if inputs of this shape can have it.
    pub fn put(&self, input: &Input, shape: &Shape) -> Option<Input> {
        match self {
            Guess::Word(word) => word.put(input, shape),
            Guess::Insert(insert) => insert.put(input, shape),
            Guess::Resize(resize) => resize.put(input, shape),
            Guess::Arguments(arguments) => Some(with_arguments(input, shape, arguments)),
        }
    }
}
