//! Answers that spoilt an input for the program, and inputs that have both what was asked for and what was there, or in
//! which what comes after it is where it was.

use beagle_trace::Input;

use super::Engine;
use crate::frontier::Chosen;
use crate::guess::Guess;
use crate::insert::Insert;
use crate::product::Product;
use crate::question::{Aim, Question};
use crate::resize::Resize;

impl Engine<'_> {
    /// Asks for the same with all that was there, if the answer to a question spoilt it.
    pub(super) fn mend(&mut self, chosen: Chosen, input: &Input, product: &Product) {
        let Some((run, question, guess)) = self.mended(chosen, input, product) else {
            return;
        };
        let Some(Some(record)) = self.records.get_mut(run as usize) else {
            return;
        };
        record.product.questions.push(Question {
            guess: Some(guess),
            ..question
        });
        self.frontier.add_last(&self.scene, run, &record.product);
    }

    /// What to make of the input of which run.
    fn mended(
        &mut self,
        chosen: Chosen,
        input: &Input,
        product: &Product,
    ) -> Option<(u32, Question, Guess)> {
        let record = |run: u32| self.records.get(run as usize)?.as_ref();
        let from = record(chosen.at.run)?;
        let mut question = from.product.questions[chosen.at.question as usize].clone();
        let is_astray = product.astray.as_ref().is_some_and(|it| it.back.is_some());
        let is_sound = product.sound == Some(self.records.len() as u32);
        let run = match is_sound {
            _ if is_astray => chosen.at.run,
            false => from.product.sound?,
            true => return None,
        };
        let sound = record(run)?;
        // As far as both went the same way.
        let hashes = sound.product.hashes.iter().zip(&from.product.hashes);
        let same = hashes.take_while(|(one, other)| one == other).count();
        question.prefix = question.prefix.min(same.saturating_sub(1));
        // The same spoils everything again and again.
        let mut is_worth_it =
            |more: i64| self.spoiling.insert((question.edge.plain(), more)) || product.news > 0;
        let mut resize = || {
            let parts = sound.product.outline.as_ref()?;
            let resize = Resize::of(&sound.input, input, parts)?;
            is_worth_it(resize.more()).then_some(Guess::Resize(resize))
        };
        let insert = || Insert::of(&sound.input, input).map(Guess::Insert);
        let guess = match &question.guess {
            _ if question.aim != Aim::Flip => None,
            None if question.is_loose() => resize(),
            None => resize().or_else(|| insert().filter(|_| is_worth_it(0))),
            Some(_) if run != chosen.at.run => None,
            Some(Guess::Word(word)) if is_worth_it(0) => Some(Guess::Insert(word.inserted())),
            Some(Guess::Insert(insert)) => insert.with_word_of(&sound.input).map(Guess::Insert),
            _ => None,
        };
        Some((run, question, guess?))
    }
}
