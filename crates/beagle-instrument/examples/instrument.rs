//! Instruments one bitcode file with the numbering of the program itself, for looking at the result:
//! `instrument BITCODE OUTPUT [O0|O1|O2] [LINK ARGUMENTS]`.

#![allow(clippy::print_stdout, reason = "a tool for people")]

use std::path::{Path, PathBuf};

use beagle_instrument::{Ids, Link, Optimise, Options, instrument};
use beagle_program::Program;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let bitcode = PathBuf::from(args.next().ok_or("no bitcode")?);
    let output = PathBuf::from(args.next().ok_or("no output")?);
    let optimise = match args.next().as_deref() {
        Some("O0") => Optimise::None,
        Some("O1") => Optimise::Less,
        _ => Optimise::Default,
    };
    let link: Vec<String> = args.collect();
    let program = Program::load(&bitcode)?;
    let stmts: Vec<u32> = (0..program.stmts.len() as u32).collect();
    let functions: Vec<u32> = (0..program.functions.len() as u32).collect();
    let ids = Ids {
        stmts: &stmts,
        functions: &functions,
        probes: &|_| false,
        watched: &[],
    };
    let options = Options {
        optimise,
        keep_bitcode: std::env::var_os("KEEP").map(PathBuf::from),
    };
    let dir = std::env::current_dir()?;
    let link = Link {
        args: &link,
        dir: Path::new(&dir),
    };
    let done = instrument(&bitcode, &ids, &link, &output, &options)?;
    println!("{} statements, {:?}", stmts.len(), done.times);
    println!("replaced {:?}\nunknown {:?}", done.replaced, done.unknown);
    Ok(())
}
