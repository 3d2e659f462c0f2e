//! Options of the command line that an input does not give, and inputs that do.
//!
//! What an option decides is decided by a number that `getopt` returned, long after it looked at single
//! characters. That an option is given is therefore a guess, judged by the branch that it is for.

use beagle_program::{CommandOption, FunctionId, command_options};
use beagle_solver::SourceKey;
use beagle_trace::event::Site;
use beagle_trace::{Input, Source};

use crate::guess::Guess;
use crate::product::Product;
use crate::question::{Aim, Edge, From, Question};
use crate::shape::{Bounds, Shape};
use crate::twin::{Side, Twin};

/// What an option gets that wants an argument: a number and a word.
const ARGUMENT: u8 = b'1';

/// An option that a version knows.
#[derive(Debug)]
struct Known {
    option: CommandOption,
    from: From,
    side: Side,
    function: FunctionId,
    /// Where it decides.
    site: Site,
    to: Option<u32>,
}

/// The options that both versions know.
#[derive(Debug, Default)]
pub struct Options(Vec<Known>);

impl Options {
    /// Of two versions.
    pub fn of(twin: &Twin<'_>) -> Self {
        let [old, new] = Side::BOTH.map(|side| command_options(twin.half(side).program));
        let mut all = Vec::new();
        for (side, options, others) in [(Side::New, &new, &old), (Side::Old, &old, &new)] {
            let half = twin.half(side);
            for option in options {
                let from = match others.iter().any(|other| other.text == option.text) {
                    true if side == Side::Old => continue,
                    true => From::Both,
                    false => From::One(side),
                };
                let (stmt, to) = match option.way {
                    Some((branch, to)) => (branch, Some(to)),
                    None => (option.call, None),
                };
                all.extend(half.site(stmt).map(|site| Known {
                    option: option.clone(),
                    from,
                    side,
                    function: half.program.block(half.block(stmt)).function,
                    site,
                    to,
                }));
            }
        }
        Self(all)
    }

    /// Asks for each option that the input of a run does not give, and to do without each that it does: once for the
    /// same arguments, whatever else the input is, as what comes of it can be varied in turn.
    pub fn ask(&self, twin: &Twin<'_>, input: &Input, shape: &Shape, product: &mut Product) {
        let mut questions = Vec::new();
        // Those before one that is given were asked for without it, so that no set of them comes in several orders.
        let last = self.0.iter().rposition(|known| is_given(known, input));
        for (number, known) in self.0.iter().enumerate() {
            let given = is_given(known, input);
            let arguments = match given {
                true => without(known, input, shape),
                false if last.is_none_or(|last| number > last) => self.with(known, input, shape),
                false => None,
            };
            let Some(arguments) = arguments else {
                continue;
            };
            let half = twin.half(known.side);
            let is_there = |edge: &Edge| {
                let stmt = half.stmt(edge.site);
                let block = stmt.map(|stmt| half.program.block(half.block(stmt)));
                block.is_some_and(|block| block.function == known.function)
            };
            // The versions came to where it is looked for.
            let mut edges = product.edges.iter().filter(|(side, _)| *side == known.side);
            let Some((_, near)) = edges.find(|(_, edge)| is_there(edge)) else {
                continue;
            };
            let edge = Edge {
                site: known.site,
                // Without it, control does not come to where it is decided.
                to: known.to.filter(|_| !given),
                constant: given.then_some(number as u64),
                mark: 0,
                ..*near
            };
            questions.push(Question {
                guess: Some(Guess::Arguments(arguments.into())),
                ..Question::new(Aim::Flip, (0, 0), Vec::new(), known.from, edge)
            });
        }
        product.questions.extend(questions);
    }

    /// The arguments with an option more, if there is room for it.
    fn with(&self, known: &Known, input: &Input, shape: &Shape) -> Option<Vec<Source>> {
        let CommandOption { text, takes, .. } = &known.option;
        let count = input.arg_count() as usize;
        let letter = text.get(1).filter(|_| text.len() == 2);
        let mut all = input.sources[..count].to_vec();
        let mut word = text.clone();
        match (takes, letter) {
            (true, Some(_)) => word.push(ARGUMENT),
            (true, None) => word.extend([b'=', ARGUMENT]),
            (false, _) => {}
        }
        if can_move(shape) {
            all.insert(1.min(count), Source::argument(word));
            return Some(all);
        }
        // No more words: it joins other options of one letter, or takes the place of a word.
        let keys = SourceKey::of_input(input);
        let has_room =
            |at: usize, more: usize| all[at].symbolic && shape.has_room(&keys[at], input, at, more);
        let mut clusters = (1..count).filter(|&at| is_cluster(all[at].content()));
        let Some(&letter) = letter.filter(|_| clusters.clone().next().is_some()) else {
            let at = clusters.next().or((count > 1).then_some(1))?;
            let more = word.len().saturating_sub(all[at].content().len());
            all[at].bytes = has_room(at, more).then_some(word)?;
            return Some(all);
        };
        // Before them, or behind all if it wants an argument and they do not.
        let at = clusters.find(|&at| {
            let mut letters = all[at].content()[1..].iter();
            has_room(at, 1 + usize::from(*takes))
                && (!takes || letters.all(|&letter| self.is_plain(letter)))
        })?;
        let mut bytes = all[at].content().to_vec();
        match takes {
            true => bytes.extend([letter, ARGUMENT]),
            false => bytes.insert(1, letter),
        }
        all[at].bytes = bytes;
        Some(all)
    }

    /// Whether a letter is an option that wants no argument.
    fn is_plain(&self, letter: u8) -> bool {
        let mut all = self.0.iter().map(|known| &known.option);
        all.any(|option| option.text == [b'-', letter] && !option.takes)
    }
}

/// Whether a word is made of options of one letter.
fn is_cluster(word: &[u8]) -> bool {
    word.len() > 1 && word.starts_with(b"-") && !word.starts_with(b"--")
}

/// The arguments without an option of one letter that wants no argument, if there can be fewer or something else that
/// means nothing can take its place.
fn without(known: &Known, input: &Input, shape: &Shape) -> Option<Vec<Source>> {
    let CommandOption { text, takes, .. } = &known.option;
    let &[b'-', letter] = text.as_slice() else {
        return None;
    };
    let mut all = input.sources[..input.arg_count() as usize].to_vec();
    let gives = |source: &Source| {
        let word = source.content();
        is_cluster(word) && word.contains(&letter)
    };
    let at = all.iter().skip(1).position(gives)? + 1;
    let key = &SourceKey::of_input(input)[at];
    if *takes || !all[at].symbolic || !shape.has_room(key, input, at, 0) {
        return None;
    }
    let mut word = all[at].content().to_vec();
    word.retain(|&byte| byte != letter);
    let mut after = all[at + 1..].iter();
    let is_last = !after.any(|source| is_cluster(source.content()));
    match word.as_slice() {
        b"-" if can_move(shape) => {
            all.remove(at);
        }
        b"-" if is_last => all[at].bytes = b"--".to_vec(),
        b"-" => return None,
        _ => all[at].bytes = word,
    }
    Some(all)
}

/// Whether words may come before others: nothing that the user fixed of one would be of another then.
fn can_move(shape: &Shape) -> bool {
    let is_argument = |bounds: &Bounds| matches!(bounds.source, SourceKey::Argument(_));
    shape.arguments.is_none() && !shape.bounds.iter().any(is_argument)
}

/// Whether an input gives an option, as far as can be seen from its words.
fn is_given(known: &Known, input: &Input) -> bool {
    let text = &known.option.text;
    let arguments = input.sources[..input.arg_count() as usize].iter();
    let mut words = arguments.skip(1).map(Source::content);
    words.any(|word| match (word, text.as_slice()) {
        ([b'-', b'-', ..], text) => word.starts_with(text),
        ([b'-', letters @ ..], [b'-', letter]) => letters.contains(letter),
        _ => false,
    })
}

/// An input with other arguments.
pub fn with_arguments(input: &Input, shape: &Shape, arguments: &[Source]) -> Input {
    let rest = &input.sources[input.arg_count() as usize..];
    let mut input = Input {
        sources: [arguments, rest].concat(),
    };
    shape.keep_to(&mut input);
    input
}

#[cfg(test)]
mod tests {
    use beagle_program::StmtId;

    use super::*;

    /// `-c`, `-q`, `-w N` and `--colour`.
    fn options() -> Options {
        let texts = [
            ("-c", false),
            ("-q", false),
            ("-w", true),
            ("--colour", true),
        ];
        let known = texts.map(|(text, takes)| Known {
            option: CommandOption {
                text: text.into(),
                takes,
                call: StmtId(0),
                way: None,
            },
            from: From::Both,
            side: Side::New,
            function: FunctionId(0),
            site: 1,
            to: None,
        });
        Options(known.into())
    }

    fn words(input: &Input) -> Vec<String> {
        let arguments = input.sources[1..input.arg_count() as usize].iter();
        let text = |source: &Source| String::from_utf8_lossy(source.content()).into_owned();
        arguments.map(text).collect()
    }

    /// The words with each option that is not given, and without each that is.
    fn varied(arguments: &[&str], shape: &Shape) -> Vec<String> {
        let options = options();
        let input = Input::from_args("p", arguments.iter().copied()).with_stdin("text");
        let varied = options.0.iter().filter_map(|known| {
            let arguments = match is_given(known, &input) {
                true => without(known, &input, shape),
                false => options.with(known, &input, shape),
            };
            let varied = with_arguments(&input, shape, &arguments?);
            assert_eq!(varied.sources.last(), input.sources.last());
            Some(words(&varied).join(" "))
        });
        varied.collect()
    }

    #[test]
    fn an_option_is_one_word_more_or_less() {
        let any = Shape::default();
        assert_eq!(varied(&[], &any), ["-c", "-q", "-w1", "--colour=1"]);
        assert_eq!(
            varied(&["-c", "file"], &any),
            ["file", "-q -c file", "-w1 -c file", "--colour=1 -c file"]
        );
        assert_eq!(
            varied(&["-qc", "-w", "5", "--colour=2"], &any),
            ["-q -w 5 --colour=2", "-c -w 5 --colour=2"]
        );
    }

    #[test]
    fn where_there_are_as_many_words_as_there_were_it_joins_another_or_takes_its_place() {
        let fixed = |arguments: u32| Shape {
            arguments: Some(arguments),
            ..Shape::default()
        };
        assert_eq!(
            varied(&["-c", "x"], &fixed(3)),
            ["-- x", "-qc x", "-cw1 x", "--colour=1 x"]
        );
        assert_eq!(
            varied(&["-w", "5"], &fixed(3)),
            ["-cw 5", "-qw 5", "--colour=1 5"]
        );
        assert_eq!(varied(&["x"], &fixed(2)), ["-c", "-q", "-w1", "--colour=1"]);
        assert_eq!(varied(&[], &fixed(1)), [""; 0]);
    }

    #[test]
    fn what_the_user_fixed_stays() {
        let bounds = vec![Bounds {
            source: SourceKey::Argument(1),
            fixed: vec![(0, b'-'), (1, b'c')],
            most: None,
        }];
        for arguments in [Some(2), None] {
            let bounds = bounds.clone();
            let shape = Shape { arguments, bounds };
            assert_eq!(varied(&["-c"], &shape), [""; 0]);
        }
    }

    #[test]
    fn what_does_not_vary_of_a_word_goes_with_it() {
        let any = Shape::default();
        let mut input = Input::from_args("p", ["-c", "name"]);
        input.sources[2].symbolic = false;
        let options = options();
        let symbolic = |arguments: Option<Vec<Source>>| {
            let varied = with_arguments(&input, &any, &arguments.unwrap());
            let flags = varied.sources.iter().map(|source| source.symbolic);
            flags.collect::<Vec<_>>()
        };
        let with = options.with(&options.0[1], &input, &any);
        assert_eq!(symbolic(with), [false, true, true, false]);
        let without = without(&options.0[0], &input, &any);
        assert_eq!(symbolic(without), [false, false]);
    }
}
