//! Makes pairs of small functions of a string: the second is the first with something changed,
//! perhaps to the same effect.

use std::fmt::Write;

/// Makes pairs; equal seeds make equal pairs.
pub struct Generator {
    state: u64,
}

/// Names of variables, besides the bytes `s[0]` and `s[1]`.
const VARIABLES: [&str; 3] = ["x", "y", "z"];

impl Generator {
    pub fn new(seed: u64) -> Self {
        let mut generator = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        };
        for _ in 0..4 {
            generator.below(2);
        }
        generator
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Two functions.
    pub fn pair(&mut self) -> (String, String) {
        let lines = self.lines(6, 0);
        let old = function(&lines);
        let mut changed = lines.clone();
        for _ in 0..20 {
            let at = self.below(changed.len());
            if let Some(line) = self.changed(&changed[at]) {
                changed[at] = line;
                break;
            }
        }
        (old, function(&changed))
    }

    fn lines(&mut self, count: usize, depth: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..count {
            let variable = self.pick(&VARIABLES);
            match self.below(8) {
                0 | 1 if depth < 2 => {
                    lines.push(format!("if ({}) {{", self.condition()));
                    lines.extend(self.lines(2, depth + 1));
                    if self.below(2) == 0 {
                        lines.push("} else {".to_owned());
                        lines.extend(self.lines(1, depth + 1));
                    }
                    lines.push("}".to_owned());
                }
                2 if depth < 1 => {
                    let most = 1 + self.below(3);
                    lines.push(format!("for (int i = 0; i < (s[0] & {most}); i++) {{"));
                    lines.extend(self.lines(1, 2));
                    lines.push("}".to_owned());
                }
                3 => lines.push(format!("{variable} = table[{} & 7];", self.value())),
                4 if depth < 2 => {
                    let a = self.byte();
                    let b = a + 1 + self.below(9);
                    lines.push(format!("switch (s[1]) {{ case {a}: {variable} = 3; break;"));
                    lines.push(format!("case {b}: {variable} += 2; break;"));
                    lines.push(format!("default: {variable} ^= 1; }}"));
                }
                _ => {
                    let value = self.value();
                    lines.push(format!("{variable} = {value};"));
                }
            }
        }
        lines
    }

    fn byte(&mut self) -> usize {
        33 + self.below(90)
    }

    fn value(&mut self) -> String {
        let left = self.pick(&["s[0]", "s[1]", "x", "y", "z"]);
        match self.below(6) {
            0 => left.to_owned(),
            1 => format!("{left} + {}", 1 + self.below(9)),
            2 => format!("{left} * {}", 2 + self.below(7)),
            3 => format!("({left} & {}) - {}", 1 + self.below(63), self.below(9)),
            4 => format!("{left} / {}", 2 + self.below(5)),
            _ => format!("{left} ^ {}", self.pick(&["s[0]", "s[1]", "x", "y"])),
        }
    }

    fn condition(&mut self) -> String {
        let operator = self.pick(&["<", ">", "==", "!=", "<=", ">="]);
        let right = match self.below(4) {
            0 => self.value(),
            _ => self.byte().to_string(),
        };
        format!("{} {operator} {right}", self.value())
    }

    /// The line with something changed, if there is anything to change in it.
    fn changed(&mut self, line: &str) -> Option<String> {
        let changes = [
            (" < ", " <= "),
            (" > ", " >= "),
            (" == ", " != "),
            (" + 1", " + 2"),
            (" * 2", " << 1"),
            (" * 4", " << 2"),
            (" / 2", " >> 1"),
            (" & 7", " % 8"),
            ("x = ", "x = 0 + "),
            ("y = ", "y = 1 * "),
            ("^ s[0]", "| s[0]"),
            (" - ", " + "),
            ("z = ", "z = 1 + "),
        ];
        let fitting: Vec<_> = changes
            .iter()
            .filter(|(from, _)| line.contains(from))
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let (from, to) = fitting[self.below(fitting.len())];
        Some(line.replacen(from, to, 1))
    }
}

fn function(lines: &[String]) -> String {
    let mut text = String::from(
        "static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n\
         static int f(const unsigned char *s) {\nint x = 0, y = 1, z = s[0];\n",
    );
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text.push_str("return x + 3 * y + 5 * z;\n}");
    text
}
