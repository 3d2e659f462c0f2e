//! Which macros of a project put the line number of their use into the program.
//!
//! `assert(x)` compiles to a call with `__LINE__` in it, so moving it by a line changes the
//! program's bits but not what the programmer wrote. To tell such a number from one that was
//! written, the macros that use `__LINE__`, directly or through others, are looked up in the
//! project's sources.

use rustc_hash::{FxHashMap, FxHashSet};

/// The names whose use brings in a line number.
pub(crate) struct LineMacros {
    names: FxHashSet<String>,
}

impl LineMacros {
    /// Collects them from the texts of a project's files.
    pub(crate) fn scan<'t>(texts: impl Iterator<Item = &'t [String]>) -> Self {
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
        let mut names: FxHashSet<String> = ["__LINE__", "assert"]
            .into_iter()
            .map(str::to_owned)
            .collect();
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

    /// Whether a line of source uses one of them.
    pub(crate) fn used_in(&self, line: &str) -> bool {
        words(line).any(|word| self.names.contains(word))
    }
}

/// What follows `#define`.
fn define(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    rest.strip_prefix("define")
        .filter(|rest| rest.starts_with([' ', '\t']))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> LineMacros {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        LineMacros::scan([lines.as_slice()].into_iter())
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
}
