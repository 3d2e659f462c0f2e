//! The script that runs a program on a saved input, without Beagle.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use beagle_trace::SourceKind;

use super::{Saved, format};

const START: &[u8] = br#"#!/bin/sh
# Runs a program on this input, in a temporary directory. Needs no Beagle.
# Usage: repro.sh PROGRAM, or PROGRAM=... repro.sh
program=${1:-$PROGRAM}
if [ -z "$program" ]; then
    echo "usage: $0 PROGRAM" >&2
    exit 2
fi
case $program in
    /*) ;;
    *) program=$PWD/$program ;;
esac
here=$(cd "$(dirname "$0")" && pwd) || exit 2
room=$(mktemp -d) || exit 2
trap 'chmod -R u+rwx "$room"; rm -rf "$room"' EXIT
mkdir "$room/work" "$room/bin" "$room/tmp" || exit 2
cd "$room/work" || exit 2
"#;

const END: &[u8] = br#"
status=$?
echo "exit status: $status" >&2
exit "$status"
"#;

/// The script of a test.
pub(super) fn of(test: &Saved) -> Vec<u8> {
    let mut script = START.to_vec();
    if test.fixture.is_some() {
        script.extend(b"cp -a \"$here/fixture/.\" .\n");
    }
    let mut stdin = false;
    let mut arguments = Vec::new();
    let mut environment: Vec<(Vec<u8>, Vec<u8>)> = test
        .environment
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect();
    for (index, source) in test.input.sources.iter().enumerate() {
        match source.kind {
            SourceKind::Argument => arguments.push(source.content()),
            SourceKind::Environment => {
                environment.push((source.name.clone(), source.content().to_vec()));
            }
            SourceKind::Stdin => stdin = true,
            SourceKind::File => place(&mut script, &source.name, &format::input_file(index)),
        }
    }
    // Through a link with the right name, so that the program sees that name.
    let name = arguments.first().copied().unwrap_or_default();
    let by_name =
        !name.is_empty() && !name.iter().any(|byte| b"/=".contains(byte)) && name[0] != b'-';
    if by_name {
        script.extend(b"ln -s \"$program\" \"$room/bin/\"");
        quote(&mut script, name);
        script.extend(b" || exit 2\n");
    }
    script.extend(
        b"env -i PATH=\"$room/bin:/usr/local/bin:/usr/bin:/bin\" HOME=\"$PWD\" TMPDIR=\"$room/tmp\" LC_ALL=C TZ=UTC",
    );
    for (name, value) in &environment {
        script.push(b' ');
        quote(&mut script, &[name, &b"="[..], value].concat());
    }
    script.push(b' ');
    if by_name {
        quote(&mut script, name);
    } else {
        script.extend(b"\"$program\"");
    }
    for argument in arguments.iter().skip(1) {
        script.push(b' ');
        quote(&mut script, argument);
    }
    let from: &[u8] = if stdin {
        b" < \"$here/stdin\""
    } else {
        b" < /dev/null"
    };
    script.extend(from);
    script.extend(END);
    script
}

/// Copies a file of the input to where the program looks for it.
fn place(script: &mut Vec<u8>, path: &[u8], file: &str) {
    let parent = Path::new(std::ffi::OsStr::from_bytes(path)).parent();
    if let Some(parent) = parent.filter(|parent| !parent.as_os_str().is_empty()) {
        script.extend(b"mkdir -p ./");
        quote(script, parent.as_os_str().as_bytes());
        script.extend(b" || exit 2\n");
    }
    script.extend(b"rm -f ./");
    quote(script, path);
    script.extend(format!(" && cp \"$here/{file}\" ./").into_bytes());
    quote(script, path);
    script.extend(b" || exit 2\n");
}

/// Puts bytes into the script so that the shell takes them as they are.
fn quote(script: &mut Vec<u8>, bytes: &[u8]) {
    script.push(b'\'');
    for &byte in bytes {
        match byte {
            b'\'' => script.extend(br"'\''"),
            _ => script.push(byte),
        }
    }
    script.push(b'\'');
}
