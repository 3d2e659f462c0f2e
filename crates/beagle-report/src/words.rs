//! In what versions differ, in words.

/// The names of what differs, as in a sentence: `exit status and stdout`.
pub fn aspects_named<S: AsRef<str>>(names: &[S]) -> String {
    let words: Vec<&str> = names.iter().map(|name| word(name.as_ref())).collect();
    match &words[..] {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// That these differ: `exit status and stdout differ`.
pub fn aspects_differ<S: AsRef<str>>(names: &[S]) -> String {
    let is_one = matches!(names, [only] if only.as_ref() != "files");
    let verb = if is_one { "differs" } else { "differ" };
    format!("{} {verb}", aspects_named(names))
}

fn word(name: &str) -> &str {
    match name {
        "exit" => "exit status",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_a_sentence() {
        for (names, said) in [
            (&["stdout"][..], "stdout differs"),
            (&["exit"], "exit status differs"),
            (&["files"], "files differ"),
            (&["exit", "stdout"], "exit status and stdout differ"),
            (
                &["exit", "stdout", "stderr"],
                "exit status, stdout and stderr differ",
            ),
        ] {
            assert_eq!(aspects_differ(names), said);
        }
    }
}
