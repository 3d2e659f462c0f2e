//! `beagle-cc cc|c++|ld ARGS…`: the compiler stand-in without the rest of Beagle.

use std::process::exit;

use beagle_build::compiler::{self, Kind};

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let kind = arguments.next().and_then(|word| Kind::from_name(&word));
    let Some(kind) = kind else { exit(2) };
    let arguments: Vec<_> = arguments.collect();
    exit(compiler::run(kind, &arguments));
}
