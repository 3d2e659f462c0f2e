//! A layout in layers: edges lead downwards, but for those that close a circle.
//!
//! After Sugiyama, Tagawa and Toda: circles are broken, nodes are put into layers, edges over several
//! layers get a point in each, and each layer is put into an order with few crossings. Edges of a kind
//! that end in the same node below share their points: they run together like tributaries, else forty
//! changes that all may be followed by the same output would fill the picture with lines.

use std::collections::HashMap;

/// An edge from one node to another, and whether it is of the second kind.
pub(super) type Line = (usize, usize, bool);

/// Where everything is.
#[derive(Debug)]
pub(super) struct Layout {
    /// For each layer the places in it, from left to right.
    pub(super) layers: Vec<Vec<Slot>>,
    /// For each edge, its points from top to bottom as (layer, place in the layer).
    pub(super) routes: Vec<Vec<(usize, usize)>>,
    /// Whether each edge leads upwards, against its route.
    pub(super) turned: Vec<bool>,
}

/// A place in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// A node.
    Node(usize),
    /// A point of an edge.
    Bend,
}

/// With more points than this, edges go straight: nobody can follow them anyway.
const MOST_BENDS: usize = 20_000;

/// How often the order of the layers is improved.
const SWEEPS: usize = 12;

/// Lays out a graph of so many nodes.
pub(super) fn layout(count: usize, lines: &[Line]) -> Layout {
    let edges: Vec<(usize, usize)> = lines.iter().map(|&(from, to, _)| (from, to)).collect();
    let turned = turned(count, &edges);
    let down: Vec<(usize, usize)> = edges
        .iter()
        .zip(&turned)
        .map(|(&(from, to), &turned)| if turned { (to, from) } else { (from, to) })
        .collect();
    let depth = depths(count, &down);
    // All points: nodes first, then those of edges.
    let mut at: Vec<usize> = depth.clone();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let mut shared: HashMap<(usize, usize, bool, bool), usize> = HashMap::new();
    let between = |&(from, to): &(usize, usize)| (depth[from] + 1..depth[to]).len();
    let bends = down.iter().map(between).sum::<usize>() <= MOST_BENDS;
    for (number, &(from, to)) in down.iter().enumerate() {
        let mut chain = vec![from];
        for layer in (depth[from] + 1..depth[to]).filter(|_| bends) {
            let stream = (to, layer, turned[number], lines[number].2);
            chain.push(*shared.entry(stream).or_insert_with(|| {
                at.push(layer);
                at.len() - 1
            }));
        }
        chain.push(to);
        chains.push(chain);
    }
    let layers = at.iter().max().map_or(0, |&deepest| deepest + 1);
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for (point, &layer) in at.iter().enumerate() {
        order[layer].push(point);
    }
    arrange(&mut order, &chains, at.len());
    let mut place = vec![(0, 0); at.len()];
    for (layer, points) in order.iter().enumerate() {
        for (index, &point) in points.iter().enumerate() {
            place[point] = (layer, index);
        }
    }
    let slot = |&point: &usize| match point < count {
        true => Slot::Node(point),
        false => Slot::Bend,
    };
    Layout {
        layers: order
            .iter()
            .map(|points| points.iter().map(slot).collect())
            .collect(),
        routes: chains
            .iter()
            .map(|chain| chain.iter().map(|&point| place[point]).collect())
            .collect(),
        turned,
    }
}

/// The edges that close a circle, seen from the first nodes on.
fn turned(count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Unseen,
        Open,
        Done,
    }
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (number, &(from, _)) in edges.iter().enumerate() {
        out[from].push(number);
    }
    let mut turned = vec![false; edges.len()];
    let mut state = vec![State::Unseen; count];
    for root in 0..count {
        if state[root] != State::Unseen {
            continue;
        }
        state[root] = State::Open;
        // The nodes on the way, each with how many of its edges were looked at.
        let mut way = vec![(root, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(&edge) = out[*node].get(*next) else {
                state[*node] = State::Done;
                way.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].1;
            match state[to] {
                State::Unseen => {
                    state[to] = State::Open;
                    way.push((to, 0));
                }
                State::Open => turned[edge] = true,
                State::Done => {}
            }
        }
    }
    turned
}

/// The layer of each node: below all that lead to it.
fn depths(count: usize, down: &[(usize, usize)]) -> Vec<usize> {
    let mut waiting = vec![0; count];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in down {
        if from != to {
            waiting[to] += 1;
            out[from].push(to);
        }
    }
    let mut depth = vec![0; count];
    let mut work: Vec<usize> = (0..count).filter(|&node| waiting[node] == 0).collect();
    while let Some(node) = work.pop() {
        for &to in &out[node] {
            depth[to] = depth[to].max(depth[node] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                work.push(to);
            }
        }
    }
    depth
}

/// Moves points towards the middle of those that they are joined with, layer by layer.
fn arrange(order: &mut [Vec<usize>], chains: &[Vec<usize>], points: usize) {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); points];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); points];
    for chain in chains {
        for pair in chain.windows(2) {
            below[pair[0]].push(pair[1]);
            above[pair[1]].push(pair[0]);
        }
    }
    let mut position = vec![0.0; points];
    let note = |position: &mut Vec<f64>, layer: &[usize]| {
        let half = layer.len() as f64 / 2.0;
        for (index, &point) in layer.iter().enumerate() {
            position[point] = index as f64 - half;
        }
    };
    for layer in order.iter() {
        note(&mut position, layer);
    }
    let count = order.len();
    for sweep in 0..SWEEPS {
        for step in 0..count {
            let (layer, joined) = match sweep % 2 {
                0 => (step, &above),
                _ => (count - 1 - step, &below),
            };
            let middle = |point: &usize| match &joined[*point][..] {
                [] => position[*point],
                joined => {
                    let sum: f64 = joined.iter().map(|&other| position[other]).sum();
                    sum / joined.len() as f64
                }
            };
            let mut keyed: Vec<(f64, usize)> = order[layer]
                .iter()
                .map(|point| (middle(point), *point))
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            order[layer] = keyed.into_iter().map(|(_, point)| point).collect();
            note(&mut position, &order[layer]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(edges: &[(usize, usize)]) -> Vec<Line> {
        edges.iter().map(|&(from, to)| (from, to, false)).collect()
    }

    #[test]
    fn edges_to_the_same_node_run_together() {
        // A chain of five, of which each may also be followed by the last.
        let chain = [(0, 1), (1, 2), (2, 3), (3, 4)];
        let mut edges = lines(&chain);
        edges.extend([(0, 4, false), (1, 4, false), (2, 4, true)]);
        let layout = layout(5, &edges);
        let widths = layout.layers.iter().map(Vec::len);
        // Those of another kind do not run with them.
        assert_eq!(widths.collect::<Vec<_>>(), [1, 2, 2, 3, 1]);
        assert_eq!(layout.routes[4][2..], layout.routes[5][1..]);
    }

    fn layer_of(layout: &Layout, node: usize) -> usize {
        let holds = |layer: &Vec<Slot>| layer.contains(&Slot::Node(node));
        layout.layers.iter().position(holds).unwrap()
    }

    #[test]
    fn edges_lead_down_but_for_those_that_close_a_circle() {
        let edges = [(0, 1), (1, 2), (0, 2), (2, 1), (3, 3)];
        let layout = layout(4, &lines(&edges));
        assert_eq!(
            [0, 1, 2, 3].map(|node| layer_of(&layout, node)),
            [0, 1, 2, 0]
        );
        assert_eq!(layout.turned, [false, false, false, true, true]);
        // The long edge has a point between.
        assert_eq!(layout.routes[2].len(), 3);
        assert_eq!(layout.layers[1].len(), 2);
    }

    #[test]
    fn crossings_are_undone() {
        let layout = layout(4, &lines(&[(0, 3), (1, 2)]));
        let index = |node| {
            let layer = &layout.layers[layer_of(&layout, node)];
            layer
                .iter()
                .position(|slot| *slot == Slot::Node(node))
                .unwrap()
        };
        assert_eq!(index(0) < index(1), index(3) < index(2));
    }

    #[test]
    fn a_long_chain_is_no_problem() {
        let edges: Vec<_> = (0..2000).map(|node| (node, node + 1)).collect();
        assert_eq!(layout(2001, &lines(&edges)).layers.len(), 2001);
        assert!(layout(0, &[]).layers.is_empty());
        // Nor are many edges over many layers.
        let edges: Vec<_> = (0..2000).flat_map(|n| [(n, n + 1), (0, n + 1)]).collect();
        let many = layout(2001, &lines(&edges));
        assert!(many.layers.iter().all(|layer| layer.len() == 1));
    }
}
