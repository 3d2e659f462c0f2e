//! The change sequence graph, as `beagle graph` writes it: as JSON, for Graphviz, and as a picture.
//!
//! The types here are the JSON format, which docs/graph.md describes; [`SCHEMA`] changes when they
//! do.

mod layers;
mod svg;

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// The version of the JSON format.
pub const SCHEMA: u32 = 1;

/// The graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What the user called the old version.
    pub old: String,
    /// What the user called the new version.
    pub new: String,
    /// The nodes.
    pub nodes: Vec<NodeEntry>,
    /// The nodes that may be the first, by id.
    pub first: Vec<usize>,
    /// The edges.
    pub edges: Vec<EdgeEntry>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEntry {
    /// Its number, from 1. That of a change is as in `beagle changes`.
    pub id: usize,
    /// What it is.
    pub kind: NodeKind,
    /// Of changes: `added`, `deleted` or `modified`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<String>,
    /// The file: of new, unless it is only in old.
    pub file: String,
    /// The line there, from 1; 0 if not known.
    pub line: u32,
    /// What stands there.
    pub text: String,
    /// The function or variable that it is in.
    pub function: Option<String>,
    /// The changes that can influence it, by id.
    pub changes: Vec<usize>,
    /// Whether control can get there in new.
    pub reachable: bool,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// A change.
    Change,
    /// A place where the effects of several changes meet.
    Interaction,
    /// An output that changes can influence.
    Output,
}

/// An edge: control may flow so, with no other node between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeEntry {
    /// Where it starts, by id.
    pub from: usize,
    /// Where it leads, by id.
    pub to: usize,
    /// What it says.
    pub kind: EdgeKind,
}

/// What an edge says besides the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeKind {
    /// A change behind the first node can influence the second.
    Influence,
    /// Only the order.
    Order,
}

/// How many characters of a line are shown.
const TEXT: usize = 44;

impl Graph {
    /// The graph for machines.
    pub fn json(&self) -> String {
        // Nothing in it can fail to be written: keys are strings.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// The graph for Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_dot(&mut out);
        out
    }

    fn write_dot(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "digraph changes {{")?;
        writeln!(out, "  label=\"{}\";", quoted(&self.title()))?;
        writeln!(out, "  node [shape=box, style=filled, fontname=monospace];")?;
        writeln!(
            out,
            "  start [label=\"start\", shape=circle, fillcolor=white];"
        )?;
        for node in &self.nodes {
            let [head, text] = node.label();
            let (fill, line) = node.colours();
            writeln!(
                out,
                "  n{} [label=\"{}\\l{}\\l\", fillcolor=\"{fill}\", color=\"{line}\"];",
                node.id,
                quoted(&head),
                quoted(&text)
            )?;
        }
        for first in &self.first {
            writeln!(out, "  start -> n{first} [style=dashed];")?;
        }
        for edge in &self.edges {
            let style = match edge.kind {
                EdgeKind::Influence => "solid",
                EdgeKind::Order => "dashed",
            };
            writeln!(out, "  n{} -> n{} [style={style}];", edge.from, edge.to)?;
        }
        writeln!(out, "}}")
    }

    /// The graph as a picture.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    fn title(&self) -> String {
        format!("{} → {}", self.old, self.new)
    }
}

impl NodeEntry {
    /// What it is and where, and what stands there.
    fn label(&self) -> [String; 2] {
        let place = match (self.file.is_empty(), self.line) {
            (true, _) => "?".to_owned(),
            (false, 0) => self.file.clone(),
            (false, line) => format!("{}:{line}", self.file),
        };
        let what = match (self.kind, self.change.as_deref()) {
            (NodeKind::Change, Some(change)) => format!("{} {change}", self.id),
            (NodeKind::Change, None) => format!("{} changed", self.id),
            (NodeKind::Interaction, _) => format!("{} meet", numbers(&self.changes)),
            (NodeKind::Output, _) => format!("output of {}", numbers(&self.changes)),
        };
        let function = self.function.as_deref().unwrap_or_default();
        let head = format!("{what}  {place}  {function}");
        [cut(head.trim_end()), cut(self.text.trim())]
    }

    /// Of its area and its border.
    fn colours(&self) -> (&'static str, &'static str) {
        match (self.reachable, self.kind) {
            (false, _) => ("#eeeeee", "#bbbbbb"),
            (true, NodeKind::Change) => ("#ffe3c8", "#c05a00"),
            (true, NodeKind::Interaction) => ("#e6dcff", "#5b34b0"),
            (true, NodeKind::Output) => ("#d5f0d5", "#22772a"),
        }
    }
}

/// Three or more in a row as the first and the last of them.
fn numbers(numbers: &[usize]) -> String {
    const MOST: usize = 6;
    let rows = numbers.chunk_by(|a, b| a + 1 == *b);
    let mut texts: Vec<String> = Vec::new();
    for row in rows {
        match row {
            [first, _, .., last] => texts.push(format!("{first}–{last}")),
            few => texts.extend(few.iter().map(ToString::to_string)),
        }
    }
    let text = texts[..texts.len().min(MOST)].join(", ");
    match texts.len() > MOST {
        true => format!("{text}, …"),
        false => text,
    }
}

fn cut(text: &str) -> String {
    match text.chars().count() > TEXT {
        true => text.chars().take(TEXT - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// For a string of Graphviz.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn node(id: usize, kind: NodeKind, text: &str) -> NodeEntry {
        NodeEntry {
            id,
            kind,
            change: (kind == NodeKind::Change).then(|| "modified".into()),
            file: "new.c".into(),
            line: 10 * id as u32,
            text: text.into(),
            function: Some("f".into()),
            changes: vec![1, 2],
            reachable: true,
        }
    }

    pub(super) fn edge(from: usize, to: usize, kind: EdgeKind) -> EdgeEntry {
        EdgeEntry { from, to, kind }
    }

    pub(super) fn example() -> Graph {
        let mut gone = node(2, NodeKind::Change, "if (s == \"<a & b>\")");
        gone.reachable = false;
        Graph {
            schema: SCHEMA,
            old: "old.c".into(),
            new: "new.c".into(),
            nodes: vec![
                node(1, NodeKind::Change, "x = y + 1;"),
                gone,
                node(3, NodeKind::Interaction, "z = x + y;"),
                node(4, NodeKind::Output, "printf(\"%d\\n\", z);"),
            ],
            first: vec![1],
            edges: vec![
                edge(1, 3, EdgeKind::Influence),
                edge(2, 3, EdgeKind::Influence),
                edge(3, 4, EdgeKind::Influence),
                edge(4, 1, EdgeKind::Order),
            ],
        }
    }

    #[test]
    fn it_is_written_for_graphviz() {
        insta::assert_snapshot!(example().dot());
    }

    #[test]
    fn it_can_be_read_again() {
        let graph = example();
        let read: Graph = serde_json::from_str(&graph.json()).unwrap();
        assert_eq!(read, graph);
    }

    #[test]
    fn changes_in_a_row_take_little_room() {
        assert_eq!(numbers(&[1, 2, 3, 4, 7, 8, 10]), "1–4, 7, 8, 10");
        assert_eq!(numbers(&[1, 3, 5, 7, 9, 11, 13]), "1, 3, 5, 7, 9, 11, …");
    }

    #[test]
    fn long_lines_are_cut() {
        let label = node(1, NodeKind::Change, &"x".repeat(100)).label();
        assert!(label.iter().all(|line| line.chars().count() <= TEXT));
    }
}
