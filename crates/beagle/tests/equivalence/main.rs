//! `beagle diff` against trying all inputs: on small functions of two bytes, what it calls equivalent
//! must be, what it calls different must differ, and what differs must not be called equivalent.

mod generate;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use generate::Generator;
use serde_json::Value;

/// How many pairs are tried; more with `PAIRS`.
const PAIRS: u64 = 8;

#[test]
fn verdicts_agree_with_trying_all_inputs() {
    let from = |name: &str, default| {
        let value = std::env::var(name).ok();
        value.map_or(default, |value| value.parse().expect(name))
    };
    let (first, count) = (from("SEED", 1), from("PAIRS", PAIRS));
    let dir = tempfile::tempdir().expect("temporary directory");
    let mut seen = [0; 3];
    for seed in first..first + count {
        let mut generator = Generator::new(seed);
        let (old, new) = generator.pair();
        let pair = format!("seed {seed}:\n--- old\n{old}\n--- new\n{new}");
        let differing = all_inputs(dir.path(), &old, &new);
        let report = diff(dir.path(), &old, &new);
        let verdict = report["verdict"].as_str().expect("a verdict");
        match verdict {
            "equivalent" => {
                assert!(differing.is_empty(), "{differing:?} differ in {pair}");
                seen[0] += 1;
            }
            "different" => {
                let shown = report["differences"].as_array().expect("a list");
                for difference in shown {
                    let input = argument(&difference["input"]);
                    assert!(
                        differing.contains(&input),
                        "{input:?} is the same in {pair}"
                    );
                }
                seen[1] += 1;
            }
            _ => {
                let missing = report["missing"].as_array().expect("a list");
                assert!(!missing.is_empty(), "no reason is given for {pair}");
                assert!(
                    differing.is_empty() || report["reason"] != "exhausted",
                    "{differing:?} was not found in {pair}: {missing:?}",
                );
                seen[2] += 1;
            }
        }
    }
    let [equivalent, different, unknown] = seen;
    // Most can be decided, and both kinds are there.
    assert!(unknown * 4 <= count, "{seen:?}");
    assert!(equivalent > 0 && different > 0, "{seen:?}");
}

/// The argument of an input, as numbers.
fn argument(input: &Value) -> Vec<u8> {
    if let Some(args) = input["args"].as_array() {
        return args[0].as_str().expect("a text").as_bytes().to_vec();
    }
    let text = input["args_b64"][0].as_str().expect("base64");
    decode(text)
}

fn decode(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits = text.bytes().filter(|&byte| byte != b'=');
    let bits = bits.fold((0u64, 0), |(all, count), byte| {
        (all << 6 | u64::from(digit(byte)), count + 6)
    });
    let (all, count) = bits;
    let bytes = (0..count / 8).map(|at| (all >> (count - 8 - at * 8)) as u8);
    bytes.collect()
}

/// The arguments of at most two bytes on which the functions differ, by calling both on all of them.
fn all_inputs(dir: &Path, old: &str, new: &str) -> Vec<Vec<u8>> {
    let mut text = String::from("#include <stdio.h>\n");
    for (name, function) in [("old", old), ("new", new)] {
        let function = function.replace("f(const", &format!("{name}(const"));
        let _ = writeln!(
            text,
            "{}",
            function.replace("table[", &format!("{name}_table["))
        );
    }
    text.push_str(
        "int main(void) {\n\
         for (int a = 0; a < 256; a++) for (int b = 0; b < 256; b++) {\n\
         if (a == 0 && b != 0) continue;\n\
         unsigned char s[3] = {a, b, 0};\n\
         if (old(s) != new(s)) printf(\"%d %d\\n\", a, b); }\n\
         return 0; }\n",
    );
    let source = dir.join("all.c");
    std::fs::write(&source, text).expect("can be written");
    let program = dir.join("all");
    let flags = ["-O1", "-w", "-fwrapv", "-o"];
    let clang = Command::new("clang-19")
        .args(flags)
        .arg(&program)
        .arg(&source)
        .status();
    assert!(clang.expect("clang-19 is there").success());
    let output = Command::new(&program).output().expect("runs");
    let lines = String::from_utf8(output.stdout).expect("numbers");
    let inputs = lines.lines().map(|line| {
        let bytes = line
            .split(' ')
            .map(|number| number.parse().expect("a number"));
        bytes.take_while(|&byte: &u8| byte != 0).collect()
    });
    inputs.collect()
}

/// What `beagle diff` says of the functions, called on an argument of at most two bytes.
fn diff(dir: &Path, old: &str, new: &str) -> Value {
    let main = "#include <stdio.h>\nint main(int argc, char **argv) {\n\
                printf(\"%d\\n\", f((const unsigned char *)argv[1]));\nreturn 0; }\n";
    for (name, function) in [("old.c", old), ("new.c", new)] {
        std::fs::write(dir.join(name), format!("{function}\n{main}")).expect("can be written");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_beagle"))
        .args([
            "-q",
            "diff",
            "old.c",
            "new.c",
            "--cflags=-fwrapv",
            "--format",
            "json",
        ])
        .args(["--timeout", "30s", "--max-input", "0", "--", "{a:2}"])
        .current_dir(dir)
        .env("BEAGLE_CACHE", dir.join("cache"))
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{error}"))
}
