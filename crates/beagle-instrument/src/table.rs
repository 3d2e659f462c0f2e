//! The table of libc functions, `functions.txt` of the runtime.
//!
//! A line is `name | symbol | class | words`. Uses of the declaration `name` become uses of `symbol`;
//! of class `plain` it is only known that nothing about it has to be counted.

use rustc_hash::{FxHashMap, FxHashSet};

/// The table, read.
pub struct Table<'a> {
    /// What stands for a function, by its name.
    pub symbols: FxHashMap<&'a str, &'a str>,
    /// Functions that are called as they are.
    pub plain: FxHashSet<&'a str>,
}

impl<'a> Table<'a> {
    /// Reads the table; lines that start with `#` are comments.
    pub fn parse(text: &'a str) -> Self {
        let mut table = Table {
            symbols: FxHashMap::default(),
            plain: FxHashSet::default(),
        };
        for line in text.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut fields = line.split('|').map(str::trim);
            let (Some(name), Some(symbol), Some(class)) =
                (fields.next(), fields.next(), fields.next())
            else {
                continue;
            };
            if class == "plain" || symbol == "-" {
                table.plain.insert(name);
            } else {
                table.symbols.insert(name, symbol);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let table = Table::parse(
            "# comment\n\nstrlen | bg_x_strlen | expression | length\n\
             __isoc99_sscanf | bg_m_sscanf | model | parse\nsin | - | plain | sine\n",
        );
        assert_eq!(table.symbols["strlen"], "bg_x_strlen");
        assert_eq!(table.symbols["__isoc99_sscanf"], "bg_m_sscanf");
        assert!(table.plain.contains("sin"));
        assert_eq!(table.symbols.len(), 2);
    }

    #[test]
    fn the_table_of_the_runtime_is_whole() {
        for line in crate::assets::FUNCTIONS.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fields: Vec<_> = line.split('|').map(str::trim).collect();
            assert!(fields.len() >= 3, "{line}");
            let known = ["bg_x_", "bg_m_", "-"];
            assert!(known.iter().any(|k| fields[1].starts_with(k)), "{line}");
        }
    }
}
