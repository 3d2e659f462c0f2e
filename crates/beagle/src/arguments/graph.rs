//! `beagle graph`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::PairOptions;

/// What follows the options of `beagle graph --help`.
pub const GRAPH_AFTER_HELP: &str = "\
Examples:
  beagle graph v1.2 HEAD --out changes.svg   a picture for a browser
  beagle graph old.c new.c | dot -Tpdf       drawn by Graphviz
  beagle graph old.c new.c --format json     for machines

Nodes are the changes, the places where effects of several changes meet, and the outputs that they
can influence. An edge says that control may flow from one to the other with none between.

Exit status:
  0  no change in meaning
  1  changes
  2  usage or configuration is wrong
  3  a version could not be built";

/// `beagle graph`
#[derive(Debug, Args)]
pub struct GraphOptions {
    /// The two versions, and how to build them
    #[command(flatten)]
    pub pair: PairOptions,

    /// For Graphviz, as a picture, or for machines; with --out, what its name ends in
    #[arg(long, value_enum)]
    pub format: Option<Picture>,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Print the time and memory of each phase to standard error
    #[arg(long)]
    pub timings: bool,
}

/// What a graph can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
    /// For machines
    Json,
}
