//! `beagle graph`: in which orders changes can be executed, and where their effects meet.

use std::path::Path;

use beagle_change::{Change, Comparison, Kind, Subject, compare};
use beagle_program::{Dependence, Program, StmtId};
use beagle_report::graph::{EdgeEntry, EdgeKind, Graph as Wire, NodeEntry, NodeKind, SCHEMA};
use beagle_sequence::{EdgeKind as Says, Graph, Node, NodeKind as Is};

use crate::arguments::{GraphOptions, Picture};
use crate::failure::Failure;
use crate::output;
use crate::timings::Timings;
use crate::versions::{Order, Version, both};

/// Runs the command; the result is the exit status.
pub fn run(options: &GraphOptions, quiet: bool) -> Result<i32, Failure> {
    let picture = picture(options)?;
    let mut timings = Timings::start();
    let (old, new) = Order::new(&options.pair)?.load(quiet, &mut timings)?;
    let comparison = compare(&old.program, &old.sources, &new.program, &new.sources);
    timings.end("compare");
    let programs = (&old.program, &new.program);
    let dependence = both(|| Dependence::of(programs.0), || Dependence::of(programs.1));
    timings.end("dependence");
    let graph = Graph::of(&dependence.0, &dependence.1, &comparison);
    timings.end("graph");
    let wire = wire(&old, &new, &comparison, &graph);
    let text = match picture {
        Picture::Dot => wire.dot(),
        Picture::Svg => wire.svg(),
        Picture::Json => wire.json() + "\n",
    };
    match &options.out {
        Some(path) => fs_err::write(path, text)
            .map_err(|error| Failure::usage(error.to_string(), "is there such a directory?"))?,
        None => output::print(&text)?,
    }
    timings.end("report");
    if options.timings {
        timings.print();
    }
    Ok(i32::from(!comparison.changes.is_empty()))
}

/// What the graph is written as.
fn picture(options: &GraphOptions) -> Result<Picture, Failure> {
    if let Some(picture) = options.format {
        return Ok(picture);
    }
    let Some(out) = &options.out else {
        return Ok(Picture::Dot);
    };
    let ending = out.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("dot" | "gv") => Ok(Picture::Dot),
        Some("svg") => Ok(Picture::Svg),
        Some("json") => Ok(Picture::Json),
        _ => Err(Failure::usage(
            format!("{}: cannot tell what to write", out.display()),
            "let the name end in .dot, .svg or .json, or give --format",
        )),
    }
}

fn wire(old: &Version, new: &Version, comparison: &Comparison, graph: &Graph) -> Wire {
    let describe = Describe {
        old,
        new,
        comparison,
    };
    let nodes = (1..).zip(&graph.nodes);
    let edges = (1..=graph.nodes.len()).flat_map(|from| {
        let edges = graph.successors(from - 1).iter();
        edges.map(move |edge| EdgeEntry {
            from,
            to: edge.to + 1,
            kind: match edge.kind {
                Says::Influence => EdgeKind::Influence,
                Says::Order => EdgeKind::Order,
            },
        })
    });
    Wire {
        schema: SCHEMA,
        old: old.built.label.clone(),
        new: new.built.label.clone(),
        nodes: nodes.map(|(id, node)| describe.node(id, node)).collect(),
        first: graph.first.iter().map(|node| node + 1).collect(),
        edges: edges.collect(),
    }
}

struct Describe<'a> {
    old: &'a Version,
    new: &'a Version,
    comparison: &'a Comparison,
}

impl Describe<'_> {
    fn node(&self, id: usize, node: &Node) -> NodeEntry {
        let change = match node.kind {
            Is::Change(number) => self.comparison.changes.get(number),
            Is::Interaction | Is::Output => None,
        };
        let (file, line, text) = match change {
            Some(change) => {
                let line = change.new_lines.first().or(change.old_lines.first());
                line.map(|line| (line.file.clone(), line.line, line.text.clone()))
            }
            None => self.place(&node.stmts),
        }
        .unwrap_or_default();
        NodeEntry {
            id,
            kind: match node.kind {
                Is::Change(_) => NodeKind::Change,
                Is::Interaction => NodeKind::Interaction,
                Is::Output => NodeKind::Output,
            },
            change: change.map(|change| {
                let kind = match change.kind() {
                    Kind::Added => "added",
                    Kind::Deleted => "deleted",
                    Kind::Modified => "modified",
                };
                kind.to_owned()
            }),
            file: short(&file),
            line,
            text: text.trim().to_owned(),
            function: match change {
                Some(change) => self.subject(change),
                None => node.stmts.first().map(|&stmt| {
                    let program = &self.new.program;
                    program.function(program.function_of(stmt)).name.clone()
                }),
            },
            changes: node.changes.iter().map(|change| change + 1).collect(),
            reachable: node.reachable,
        }
    }

    fn place(&self, stmts: &[StmtId]) -> Option<(String, u32, String)> {
        let program: &Program = &self.new.program;
        let place = stmts.iter().find_map(|&stmt| program.stmt(stmt).place)?;
        let file = program.file(place.file);
        let text = self.new.sources.line(file, place.line).unwrap_or_default();
        Some((file.to_owned(), place.line, text))
    }

    fn subject(&self, change: &Change) -> Option<String> {
        let (old, new) = (&self.old.program, &self.new.program);
        match change.subject {
            Subject::Function(pair) => {
                let new = pair.new.map(|id| new.function(id).name.clone());
                new.or_else(|| pair.old.map(|id| old.function(id).name.clone()))
            }
            Subject::Global(pair) => {
                let new = pair.new.map(|id| new.global(id).name.clone());
                new.or_else(|| pair.old.map(|id| old.global(id).name.clone()))
            }
            Subject::Assembler => None,
        }
    }
}

/// Debug information has `./` in front of some names.
fn short(file: &str) -> String {
    let file = Path::new(file);
    file.strip_prefix(".").unwrap_or(file).display().to_string()
}
