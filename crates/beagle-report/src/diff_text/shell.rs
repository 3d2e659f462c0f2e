//! An input as commands that can be pasted into a shell.

use crate::diff::{Bytes, InputEntry};

/// The commands that give a program this input: files first, then the program.
pub(crate) fn commands(input: &InputEntry, program: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut directories = Vec::new();
    for (name, content) in &input.files {
        let directory = name.0.iter().rposition(|&byte| byte == b'/');
        if let Some(directory) = directory.map(|end| &name.0[..end])
            && !directory.is_empty()
            && !directories.contains(&directory)
        {
            directories.push(directory);
            lines.push(format!("mkdir -p {}", operand(directory)));
        }
        lines.push(match &content.0[..] {
            [] => format!(": > {}", quoted(&name.0)),
            bytes => format!("printf {} > {}", format_of(bytes), quoted(&name.0)),
        });
    }
    let mut words = Vec::new();
    if !input.stdin.0.is_empty() {
        words.push(format!("printf {} |", format_of(&input.stdin.0)));
    }
    for (name, Bytes(value)) in &input.env {
        words.push(format!(
            "{}={}",
            String::from_utf8_lossy(&name.0),
            quoted(value)
        ));
    }
    words.push(quoted(program.as_bytes()));
    words.extend(input.args.iter().map(|arg| quoted(&arg.0)));
    if input.stdin.0.is_empty() {
        // Else the program waits for the terminal.
        words.push("< /dev/null".to_owned());
    }
    lines.push(words.join(" "));
    lines
}

/// A word for the shell. `$'…'` is used only where nothing simpler does: not all shells know it.
fn quoted(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+=:,./@%^".contains(byte);
    if !word.is_empty() && word.iter().all(is_plain) {
        return String::from_utf8_lossy(word).into_owned();
    }
    let is_shown = |text: &&str| !text.chars().any(char::is_control);
    if let Some(text) = std::str::from_utf8(word).ok().filter(is_shown) {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut out = String::from("$'");
    escape(&mut out, word, |out, c| match c {
        '\'' => out.push_str(r"\'"),
        c => out.push(c),
    });
    out.push('\'');
    out
}

/// A path that must not be taken for an option.
fn operand(path: &[u8]) -> String {
    match path.first() {
        Some(b'-') => quoted(&[b"./", path].concat()),
        _ => quoted(path),
    }
}

/// What to give to `printf` so that it prints these bytes.
fn format_of(bytes: &[u8]) -> String {
    let mut out = String::from("'");
    let (start, rest) = match bytes {
        // Else it would be an option.
        [b'-', rest @ ..] => (r"\055", rest),
        bytes => ("", bytes),
    };
    out.push_str(start);
    escape(&mut out, rest, |out, c| match c {
        '\'' => out.push_str(r"'\''"),
        '%' => out.push_str("%%"),
        c => out.push(c),
    });
    out.push('\'');
    out
}

/// Text as it is, but for what `special` does; everything else with backslashes. Octal numbers have
/// three digits, so what follows cannot be taken for a part of them.
fn escape(out: &mut String, bytes: &[u8], special: impl Fn(&mut String, char)) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str(r"\n"),
                '\t' => out.push_str(r"\t"),
                '\r' => out.push_str(r"\r"),
                '\\' => out.push_str(r"\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    octal(out, c.encode_utf8(&mut buffer).as_bytes());
                }
                c => special(out, c),
            }
        }
        octal(out, chunk.invalid());
    }
}

fn octal(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.push_str(&format!("\\{byte:03o}"));
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What a shell makes of the commands: the words, standard input and files that a program gets.
    fn pasted(input: &InputEntry) -> Vec<Vec<u8>> {
        let dir = tempfile::tempdir().expect("a directory");
        let script = commands(input, "show").join("\n");
        let show = "show() { for word; do printf '%s\\0' \"$word\"; done; cat; printf '\\0'; };";
        let output = Command::new("bash")
            .args(["-c", &format!("{show}\n{script}")])
            .current_dir(&dir)
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{script}\n{output:?}");
        let mut parts: Vec<_> = output
            .stdout
            .split(|&b| b == 0)
            .map(<[u8]>::to_vec)
            .collect();
        parts.pop();
        for name in input.files.keys() {
            use std::os::unix::ffi::OsStrExt;
            let path = dir.path().join(std::ffi::OsStr::from_bytes(&name.0));
            parts.push(std::fs::read(path).expect("a file"));
        }
        parts
    }

    #[test]
    fn a_shell_gives_exactly_this_input() {
        let words = [
            "",
            "-n",
            "a b",
            "it's",
            "$HOME `x` \"",
            "*",
            "~",
            "ü",
            "\u{85}",
            "\u{1b}[31m",
            "\n",
            "\\",
            "%s",
            "a\\'b\n",
            "{a,b}",
            "!!",
            "x=1",
        ];
        let mut args: Vec<Bytes> = words.iter().map(|word| Bytes::from(*word)).collect();
        args.push(Bytes(vec![0xff, b'0', 0x01, b'7']));
        let stdin = b"-%d 100%\\ 'q' \n\t\r\x7f\xff1\x80".to_vec();
        let file: Vec<u8> = (1..=255).collect();
        let input = InputEntry {
            args: args.clone(),
            stdin: Bytes(stdin.clone()),
            files: [
                (Bytes::from("-d/x y"), Bytes(file.clone())),
                (Bytes::from("empty"), Bytes::default()),
            ]
            .into(),
            ..InputEntry::default()
        };
        let mut expected: Vec<Vec<u8>> = args.into_iter().map(|arg| arg.0).collect();
        expected.extend([stdin, file, Vec::new()]);
        assert_eq!(pasted(&input), expected);
    }

    #[test]
    fn what_is_simple_looks_simple() {
        let mut input = InputEntry {
            args: vec!["-f1,3-".into(), "a b".into()],
            stdin: "it's 5%\n".into(),
            env: [("LANG".into(), "de DE".into())].into(),
            files: [("d/data".into(), "x\0\n".into())].into(),
        };
        assert_eq!(
            commands(&input, "cut"),
            [
                "mkdir -p d",
                r"printf 'x\000\n' > d/data",
                r"printf 'it'\''s 5%%\n' | LANG='de DE' cut -f1,3- 'a b'",
            ]
        );
        input = InputEntry::default();
        assert_eq!(commands(&input, "cut"), ["cut < /dev/null"]);
    }
}
