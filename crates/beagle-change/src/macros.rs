//! Which macros of a project put line numbers or sizes into the program.
//!
//! `assert(x)` compiles to a call with `__LINE__` in it, so moving it by a line changes the
//! program's bits but not what the programmer wrote. The same goes for `sizeof` of a structure that
//! got another field. To tell such a number from one that was written, the macros that use these
//! words, directly or through others, are looked up in the project's sources.

use rustc_hash::{FxHashMap, FxHashSet};

/// A word of C and the macros whose use brings it in.
pub(crate) struct MacroUses {
    names: FxHashSet<String>,
}

impl MacroUses {
    /// Collects them from the texts of a project's files.
    pub(crate) fn scan<'t>(words_of_c: &[&str], texts: impl Iterator<Item = &'t [String]>) -> Self {
        let mut bodies: FxHashMap<String, Vec<String>> = FxHashMap::default();
        for lines in texts {
            let mut lines = lines.iter();
            while let Some(line) = lines.next() {
                let Some(definition) = define(line) else {
                    continue;
                };
                let mut text = definition.to_owned();
                while text.ends_with('\\') {
                    text.pop();
                    match lines.next() {
                        Some(more) => text.push_str(more),
                        None => break,
                    }
                }
                let mut words = words(&text).map(str::to_owned);
                if let Some(name) = words.next() {
                    bodies.entry(name).or_default().extend(words);
                }
            }
        }
        let mut names: FxHashSet<String> = words_of_c.iter().map(|&word| word.to_owned()).collect();
        // Each round finds the macros that use one found before.
        loop {
            let found: Vec<_> = bodies
                .iter()
                .filter(|(name, body)| {
                    !names.contains(*name) && body.iter().any(|word| names.contains(word))
                })
                .map(|(name, _)| name.clone())
                .collect();
            if found.is_empty() {
                return Self { names };
            }
            names.extend(found);
        }
    }

    /// Whether a text uses one of them.
    pub(crate) fn used_in(&self, text: &str) -> bool {
        words(text).any(|word| self.names.contains(word))
    }

    /// What is given to them in a text: `*p` in `sizeof *p`, `(int)` in `NEW(int)`.
    pub(crate) fn operands_in<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut operands = Vec::new();
        for word in words(text).filter(|word| self.names.contains(*word)) {
            // Words are slices of the text, so their place in it is known.
            let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
            operands.push(operand(&text[end..]));
        }
        operands
    }
}

/// What stands in parentheses at the start of a text, or else up to what ends an expression.
fn operand(text: &str) -> &str {
    let text = text.trim_start();
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 1 => depth -= 1,
            ')' if depth == 1 => return &text[..=at],
            ')' | ',' | ';' | '+' | '/' | '%' | '<' | '=' | '?' | ':' if depth == 0 => {
                return &text[..at];
            }
            _ => {}
        }
    }
    text
}

/// What follows `#define`.
fn define(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    rest.strip_prefix("define")
        .filter(|rest| rest.starts_with([' ', '\t']))
}

pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> MacroUses {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        MacroUses::scan(&["__LINE__", "assert"], [lines.as_slice()].into_iter())
    }

    #[test]
    fn macros_that_use_the_line_through_others_are_found() {
        let macros = scan(
            "#define WHERE __FILE__, \\\n    __LINE__\n#  define DIE(msg) die(WHERE, msg)\n#define X 1\n",
        );
        assert!(macros.used_in("if (!p) DIE(\"no p\");"));
        assert!(macros.used_in("assert(p);"));
        assert!(!macros.used_in("x = X;"));
        assert!(!macros.used_in("die(p);"));
    }

    #[test]
    fn operands_are_found_with_and_without_parentheses() {
        let lines = ["#define NEW(T) malloc(sizeof(T))".to_owned()];
        let sizes = MacroUses::scan(&["sizeof"], [&lines[..]].into_iter());
        let text = "a = NEW(struct (s)); b = 2 * sizeof *p + sizeof(int);";
        assert_eq!(sizes.operands_in(text), ["(struct (s))", "*p ", "(int)"]);
    }
}
