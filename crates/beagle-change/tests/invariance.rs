//! What changes only the looks of a program is no change: every version of every subject is
//! compared with itself, with new layouts, with renamed locals and with reordered functions.

mod support;

use std::process::ExitCode;

use libtest_mimic::{Failed, Trial};
use support::reflow::{Style, reflow};
use support::{Texts, build, expect_same, locals, order, subjects};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for subject in subjects::all() {
        for (number, version) in subject.versions().into_iter().enumerate() {
            let texts = subjects::texts(version);
            let name = subjects::title(version);
            // The versions of a subject have most of their text in common, so only the first one
            // gets every treatment by itself.
            let variants = match number {
                0 => each_by_itself,
                _ => all_at_once,
            };
            let variants = move |texts: &Texts| variants(texts, number);
            trials.push(Trial::test(name, move || check(&texts, variants)));
        }
    }
    subjects::run(trials)
}

/// Versions that mean the same, with what was done to make them.
type Variants = Vec<(String, Texts)>;

/// Compares a version with all that means the same, and tells all that went wrong.
fn check(texts: &Texts, variants: impl Fn(&Texts) -> Variants) -> Result<(), Failed> {
    let original = build(texts)?;
    let mut wrong = String::new();
    if let Err(why) = expect_same(&original, &original) {
        wrong += &format!("itself:\n{why}\n");
    }
    for (what, texts) in variants(texts) {
        let same = build(&texts).and_then(|variant| expect_same(&original, &variant));
        if let Err(why) = same {
            wrong += &format!("{what}:\n{why}\n");
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.into()),
    }
}

fn each_by_itself(texts: &Texts, _: usize) -> Variants {
    let mut variants = vec![
        ("renamed".to_owned(), renamed(texts)),
        ("reordered".to_owned(), map(texts, order::reverse_functions)),
    ];
    for style in Style::ALL {
        variants.push((format!("{style:?}"), map(texts, |text| reflow(text, style))));
    }
    variants
}

fn all_at_once(texts: &Texts, number: usize) -> Variants {
    let style = Style::ALL[number % Style::ALL.len()];
    let reordered = map(&renamed(texts), order::reverse_functions);
    let name = format!("renamed, reordered, {style:?}");
    vec![(name, map(&reordered, |text| reflow(text, style)))]
}

fn renamed(texts: &Texts) -> Texts {
    let all = || texts.iter().map(|(_, text)| &text[..]);
    map(texts, |text| locals::rename_locals(text, all()))
}

fn map(texts: &Texts, change: impl Fn(&str) -> String) -> Texts {
    let changed = |(name, text): &(String, String)| (name.clone(), change(text));
    texts.iter().map(changed).collect()
}
