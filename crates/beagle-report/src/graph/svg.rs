//! The picture: boxes in layers, and lines between them.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

use super::layers::{Layout, Slot, layout};
use super::{EdgeKind, Graph};

const BOX: (f64, f64) = (340.0, 44.0);
const BEND: f64 = 4.0;
const GAP: (f64, f64) = (16.0, 56.0);
const MARGIN: f64 = 24.0;
/// The room for the title and for what the colours mean.
const HEAD: f64 = 64.0;
/// The colours of edges by kind.
const INFLUENCE: &str = "#333";
const ORDER: &str = "#4a7fb5";

/// Draws a graph.
pub(super) fn draw(graph: &Graph) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = Picture::new(graph).write(&mut out);
    out
}

struct Picture<'a> {
    graph: &'a Graph,
    layout: Layout,
    /// The middle of each place, from left to right, by layer.
    middles: Vec<Vec<f64>>,
    width: f64,
}

impl<'a> Picture<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.nodes.iter().enumerate();
        let index: HashMap<usize, usize> = nodes.map(|(at, node)| (node.id, at)).collect();
        let at = |id: usize| index.get(&id).copied();
        let edges = graph.edges.iter();
        let lines = edges.filter_map(|edge| {
            let is_order = edge.kind == EdgeKind::Order;
            Some((at(edge.from)?, at(edge.to)?, is_order))
        });
        let layout = layout(graph.nodes.len(), &lines.collect::<Vec<_>>());
        let breadth = |layer: &Vec<Slot>| -> f64 {
            layer.iter().map(|slot| width(*slot) + GAP.0).sum::<f64>() - GAP.0
        };
        let widest = layout.layers.iter().map(breadth).fold(BOX.0, f64::max);
        let middles = layout.layers.iter().map(|layer| {
            let mut x = MARGIN + (widest - breadth(layer)) / 2.0;
            let places = layer.iter().map(|slot| {
                let middle = x + width(*slot) / 2.0;
                x += width(*slot) + GAP.0;
                middle
            });
            places.collect()
        });
        Self {
            graph,
            middles: middles.collect(),
            layout,
            width: (widest + 2.0 * MARGIN).max(640.0),
        }
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let layers = self.layout.layers.len() as f64;
        let height = HEAD + 2.0 * MARGIN + layers * (BOX.1 + GAP.1);
        let width = self.width;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"12\">"
        )?;
        writeln!(
            out,
            "<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555\"/></marker></defs>"
        )?;
        writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>")?;
        self.write_head(out)?;
        self.write_edges(out)?;
        self.write_nodes(out)?;
        writeln!(out, "</svg>")
    }

    fn write_head(&self, out: &mut String) -> fmt::Result {
        let title = escaped(&self.graph.title());
        writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{title}</text>"
        )?;
        let mut x = MARGIN;
        for (fill, line, text) in [
            ("#ffe3c8", "#c05a00", "change"),
            ("#e6dcff", "#5b34b0", "where changes meet"),
            ("#d5f0d5", "#22772a", "output"),
            ("#eeeeee", "#bbbbbb", "cannot be reached"),
        ] {
            writeln!(
                out,
                "<rect x=\"{x}\" y=\"40\" width=\"14\" height=\"14\" fill=\"{fill}\" stroke=\"{line}\"/>\
                 <text x=\"{}\" y=\"52\">{text}</text>",
                x + 20.0
            )?;
            x += 44.0 + 7.5 * text.len() as f64;
        }
        for (colour, dash, text) in [(INFLUENCE, "", "influence"), (ORDER, "5 4", "order only")] {
            writeln!(
                out,
                "<line x1=\"{x}\" y1=\"47\" x2=\"{}\" y2=\"47\" stroke=\"{colour}\" stroke-dasharray=\"{dash}\"/>\
                 <text x=\"{}\" y=\"52\">{text}</text>",
                x + 24.0,
                x + 30.0
            )?;
            x += 54.0 + 7.5 * text.len() as f64;
        }
        Ok(())
    }

    fn write_edges(&self, out: &mut String) -> fmt::Result {
        let live = self.graph.nodes.iter().filter(|node| node.reachable);
        let live: HashSet<usize> = live.map(|node| node.id).collect();
        let routes = self.layout.routes.iter().zip(&self.layout.turned);
        for ((route, turned), edge) in routes.zip(&self.graph.edges) {
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (number, &(layer, index)) in route.iter().enumerate() {
                let (x, y) = (self.middles[layer][index], top(layer));
                // From the lower side of the first box to the upper side of the last.
                if number > 0 {
                    points.push((x, y));
                }
                if number + 1 < route.len() {
                    points.push((x, y + BOX.1));
                }
            }
            if *turned {
                points.reverse();
            }
            let Some(&(x, y)) = points.first() else {
                continue;
            };
            write!(out, "<path d=\"M{x:.0} {y:.0}")?;
            for pair in points.windows(2) {
                let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
                let half = (ay + by) / 2.0;
                write!(out, "C{ax:.0} {half:.0} {bx:.0} {half:.0} {bx:.0} {by:.0}")?;
            }
            let dash = match edge.kind {
                EdgeKind::Influence => "",
                EdgeKind::Order => " stroke-dasharray=\"5 4\"",
            };
            let is_live = live.contains(&edge.from) && live.contains(&edge.to);
            let colour = match (is_live, edge.kind) {
                (true, EdgeKind::Influence) => INFLUENCE,
                (true, EdgeKind::Order) => ORDER,
                (false, _) => "#ccc",
            };
            writeln!(
                out,
                "\" fill=\"none\" stroke=\"{colour}\"{dash} marker-end=\"url(#end)\"/>"
            )?;
        }
        Ok(())
    }

    fn write_nodes(&self, out: &mut String) -> fmt::Result {
        for (layer, slots) in self.layout.layers.iter().enumerate() {
            for (slot, middle) in slots.iter().zip(&self.middles[layer]) {
                let Slot::Node(index) = slot else { continue };
                let node = &self.graph.nodes[*index];
                let (x, y) = (middle - BOX.0 / 2.0, top(layer));
                let (fill, line) = node.colours();
                let text = if node.reachable { "black" } else { "#888" };
                // Where a sequence may start.
                let stroke = match self.graph.first.contains(&node.id) {
                    true => "3",
                    false => "1",
                };
                let [head, source] = node.label();
                writeln!(
                    out,
                    "<g fill=\"{text}\"><title>{}</title>\
                     <rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{}\" height=\"{}\" rx=\"4\" \
                     fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"{stroke}\"/>\
                     <text x=\"{:.0}\" y=\"{:.0}\" fill=\"#555\">{}</text>\
                     <text x=\"{:.0}\" y=\"{:.0}\">{}</text></g>",
                    escaped(node.text.trim()),
                    BOX.0,
                    BOX.1,
                    x + 8.0,
                    y + 17.0,
                    escaped(&head),
                    x + 8.0,
                    y + 35.0,
                    escaped(&source)
                )?;
            }
        }
        Ok(())
    }
}

fn width(slot: Slot) -> f64 {
    match slot {
        Slot::Node(_) => BOX.0,
        Slot::Bend => BEND,
    }
}

fn top(layer: usize) -> f64 {
    HEAD + MARGIN + layer as f64 * (BOX.1 + GAP.1)
}

/// For the text of XML; what XML cannot hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' => out.push(' '),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;

    #[test]
    fn every_node_and_edge_is_in_the_picture() {
        let picture = example().svg();
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<title>").count(), 4);
        assert_eq!(picture.matches("marker-end").count(), 4);
        assert!(picture.contains("if (s == &quot;&lt;a &amp; b&gt;&quot;)"));
        assert!(picture.contains("x = y + 1;"));
        // What cannot be reached is grey.
        assert_eq!(picture.matches("fill=\"#888\"").count(), 1);
    }
}
