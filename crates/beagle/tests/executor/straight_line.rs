//! Random straight-line programs all of whose values depend on the input: every value that is
//! printed must equal its expression.

use std::fmt::Write;

use beagle_trace::Input;

use crate::support::{NAME, Traced};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ self.0 >> 31;
        x.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const TYPES: [&str; 10] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "float",
    "double",
];

/// A program of so many assignments; it prints each value.
fn program(random: &mut Random, length: usize) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\nint main(void) {\nunsigned char in[64] = {0};\nif (read(0, in, 64) < 0) return 1;\n",
    );
    let mut types: Vec<&str> = Vec::new();
    for i in 0..8 {
        let ty = TYPES[random.below(8)];
        let at = random.below(48);
        writeln!(text, "{ty} v{i}; memcpy(&v{i}, in + {at}, sizeof v{i});").expect("text");
        types.push(ty);
    }
    let float = |ty: &str| ty == "float" || ty == "double";
    for i in 8..8 + length {
        let ty = TYPES[random.below(10)];
        let (a, b, c) = (random.below(i), random.below(i), random.below(i));
        let k = random.next() as u32 >> random.below(32);
        let all_integers = !float(types[a]) && !float(types[b]);
        // Unsigned arithmetic in 64 bits has no undefined behaviour.
        let x = format!("(unsigned long)v{a}");
        let y = format!("(unsigned long)v{b}");
        let expression = match random.below(12) {
            0 if all_integers => {
                format!("{x} {} {y}", random.pick(&["+", "-", "*", "&", "|", "^"]))
            }
            1 if all_integers => format!("{x} {} ({y} | 1)", random.pick(&["/", "%"])),
            2 if all_integers => format!("{x} {} ({y} & 31)", random.pick(&["<<", ">>"])),
            3 if all_integers => format!("(long)v{a} >> ({y} & 63)"),
            4 => format!(
                "v{a} {} v{b}",
                random.pick(&["<", "<=", ">", ">=", "==", "!="])
            ),
            5 if all_integers => format!(
                "(int)v{a} {} (int)(v{b} & 1023 | 1)",
                random.pick(&["/", "%"])
            ),
            6 => format!("v{c} ? v{a} : v{b}"),
            7 if !float(types[a]) => {
                format!("{x} {} {k}u", random.pick(&["+", "*", "^", "&", "-"]))
            }
            8 if !float(types[a]) => format!("~{x}"),
            9 => format!(
                "(double)v{a} {} (double)v{b}",
                random.pick(&["+", "-", "*"])
            ),
            10 if !float(types[a]) => format!("!v{a}"),
            _ if !float(types[a]) => format!("({ty})v{a}"),
            _ => format!("v{a} * 0.5"),
        };
        if float(ty) {
            writeln!(text, "{ty} v{i} = ({ty})({expression});").expect("text");
        } else if float_result(&expression, &types, a, b, c) {
            // A float that does not fit is undefined as an integer.
            writeln!(text, "double d{i} = (double)({expression}); {ty} v{i} = d{i} > -100 && d{i} < 100 ? ({ty})(int)d{i} : ({ty}){k};").expect("text");
        } else {
            writeln!(text, "{ty} v{i} = ({ty})({expression});").expect("text");
        }
        types.push(ty);
        if float(ty) {
            writeln!(text, "printf(\"%g\\n\", (double)v{i});").expect("text");
        } else {
            writeln!(text, "printf(\"%ld\\n\", (long)v{i});").expect("text");
        }
    }
    text.push_str("return 0;\n}\n");
    text
}

fn float_result(expression: &str, types: &[&str], a: usize, b: usize, c: usize) -> bool {
    let float = |i: usize| types[i] == "float" || types[i] == "double";
    expression.contains("0.5")
        || expression.contains("(double)")
        || (expression.contains('?') && (float(a) || float(b)))
        || (expression.starts_with("(float)")
            || float(c) && expression.starts_with(&format!("(v{c})")))
}

#[test]
fn every_value_equals_its_expression() {
    let mut random = Random(7);
    let mut checks = 0;
    let mut pieces = 0;
    // More with STRAIGHT_LINES=60.
    let count = std::env::var("STRAIGHT_LINES").ok();
    let count: u32 = count.and_then(|n| n.parse().ok()).unwrap_or(12);
    for _ in 0..count {
        let mut traced = Traced::source(&program(&mut random, 150));
        for _ in 0..6 {
            let bytes: Vec<u8> = (0..64).map(|_| random.next() as u8).collect();
            let input = Input::from_args(NAME, Vec::<Vec<u8>>::new()).with_stdin(bytes);
            let (_, report) = traced.agree(&input);
            checks += report.nodes;
            pieces += report.pieces;
        }
    }
    eprintln!("{checks} values, {pieces} printed");
    assert!(
        checks > 20_000 && pieces > 5000,
        "{checks} values, {pieces} printed"
    );
}
