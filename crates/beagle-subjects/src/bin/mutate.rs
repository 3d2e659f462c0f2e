//! Makes single-change versions of a C program: `mutate FILE` lists them, `--out` writes them.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line")]

use std::path::PathBuf;

use anyhow::Result;
use beagle_subjects::mutate::{Harvest, Mutant, Options, Target, harvest};
use clap::{Parser, ValueEnum};

/// Makes versions of a C program, each with one small change.
#[derive(Parser)]
struct Arguments {
    /// A C file, or the directory of a program of several files.
    source: PathBuf,
    /// In a directory: change this file only. Can be given several times.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<PathBuf>,
    /// How many mutants, spread over operators and functions; all if not given.
    #[arg(long, value_name = "N")]
    count: Option<usize>,
    /// Chooses which ones, if not all are wanted.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Another flag for the compiler. Can be given several times.
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    cflags: Vec<String>,
    /// Print the mutants, also if they are written.
    #[arg(long)]
    list: bool,
    /// How to print them.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Write each mutant to DIR/ID/, with its facts in mutant.toml.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Json,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let target = if arguments.source.is_dir() {
        Target::directory(&arguments.source, &arguments.files)?
    } else {
        anyhow::ensure!(arguments.files.is_empty(), "--file is for directories");
        Target::file(&arguments.source)?
    };
    let options = Options {
        count: arguments.count,
        seed: arguments.seed,
        cflags: arguments.cflags,
        ..Options::default()
    };
    let harvest = harvest(&target, &options)?;
    if let Some(out) = &arguments.out {
        for mutant in &harvest.mutants {
            target.write(mutant, out)?;
        }
    }
    if arguments.list || arguments.out.is_none() {
        match arguments.format {
            Format::Table => print_table(&harvest.mutants),
            Format::Json => println!("{}", serde_json::to_string_pretty(&harvest)?),
        }
    }
    summarise(&harvest);
    Ok(())
}

fn print_table(mutants: &[Mutant]) {
    for mutant in mutants {
        let Mutant {
            id,
            operator,
            class,
            file,
            line,
            column,
            function,
            ..
        } = mutant;
        let place = format!("{}:{line}:{column}", file.display());
        let (original, replacement) = (short(&mutant.original), short(&mutant.replacement));
        println!(
            "{id}  {operator:<17}  {class:<12}  {place:<20}  {function:<20}  {original} → {replacement}"
        );
    }
}

fn summarise(harvest: &Harvest) {
    let Harvest {
        candidates,
        not_compiling,
        equivalent,
        mutants,
    } = harvest;
    let kept = mutants.len();
    eprintln!(
        "{kept} mutants of {candidates} candidates; \
         {not_compiling} did not compile, {equivalent} compiled to the same code"
    );
}

/// The text on one line, and not too long for a table.
fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}
