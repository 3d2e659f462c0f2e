//! Whole inputs, from recorded runs and saved tests, brought to what the user asked for now.

use beagle_trace::{Input, Source, SourceKind};

use super::Rules;

/// Whether an input was made for the program of this name.
pub fn is_of(input: &Input, name: &[u8]) -> bool {
    let first = input.sources.first();
    first.is_some_and(|first| first.kind == SourceKind::Argument && first.bytes == name)
}

/// What whole inputs have to fit.
pub struct Fitting<'a> {
    /// What the program is called.
    pub name: &'a [u8],
    /// The words, if the user gave some; else words are what they are, and all vary.
    pub words: Option<&'a [Source]>,
    /// Environment variables that the user set.
    pub variables: &'a [Source],
    /// What has to hold.
    pub rules: &'a Rules,
}

impl Fitting<'_> {
    /// The inputs that fit, and how many do not.
    pub fn all(&self, inputs: Vec<(String, Input)>) -> (Vec<(String, Input)>, usize) {
        let count = inputs.len();
        let fitting = inputs.into_iter();
        let fitting = fitting.filter_map(|(name, input)| Some((name, self.one(input)?)));
        let fitting: Vec<_> = fitting.collect();
        let omitted = count - fitting.len();
        (fitting, omitted)
    }

    fn one(&self, mut input: Input) -> Option<Input> {
        let first = input.sources.first_mut()?;
        if first.kind != SourceKind::Argument {
            return None;
        }
        first.bytes = self.name.to_vec();
        if let Some(words) = self.words {
            let count = input.arg_count() as usize;
            let own = &mut input.sources[1..count];
            if own.len() != words.len() {
                return None;
            }
            for (own, word) in own.iter_mut().zip(words) {
                if !word.symbolic && own.content() != word.content() {
                    return None;
                }
                (own.symbolic, own.pad) = (word.symbolic, word.pad);
            }
        }
        let is_set = |source: &Source| {
            source.kind == SourceKind::Environment
                && self.variables.iter().any(|set| set.name == source.name)
        };
        input.sources.retain(|source| !is_set(source));
        input.sources.extend(self.variables.iter().cloned());
        (self.rules.allow(&input) && input.encode().is_ok()).then_some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_take_over_what_the_user_says_or_do_not_fit() {
        let rules = Rules::default();
        let words = Input::from_args("p", ["-d", "x"]).sources;
        let mut words = words[1..].to_vec();
        words[0].symbolic = false;
        let variables = Input::default().with_env("A", "new").sources;
        let fitting = Fitting {
            name: b"q",
            words: Some(&words),
            variables: &variables,
            rules: &rules,
        };
        let input = |args: &[&str]| {
            let input = Input::from_args("p", args.iter().copied()).with_env("A", "old");
            (String::new(), input)
        };
        let all = vec![input(&["-d", "y"]), input(&["-c", "y"]), input(&["-d"])];
        let (fit, omitted) = fitting.all(all.clone());
        assert_eq!((fit.len(), omitted), (1, 2));
        let sources = &fit[0].1.sources;
        assert_eq!(sources[0].bytes, b"q");
        assert!(!sources[1].symbolic && sources[2].symbolic);
        assert_eq!(sources[3].bytes, b"new");
        assert_eq!(sources.len(), 4);
        let free = Fitting {
            words: None,
            ..fitting
        };
        assert_eq!(free.all(all).0.len(), 3);
        assert!(is_of(&input(&[]).1, b"p") && !is_of(&input(&[]).1, b"q"));
    }
}
