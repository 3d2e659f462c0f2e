//! Which conditions of a path hang together through shared variables, at each point of the path.
//!
//! A union-find that remembers when each union happened: sets can be asked for as they were after
//! any number of conditions, so one structure serves all questions about a path.

use rustc_hash::FxHashMap;

use crate::pool::{Expr, Pool, Wide};
use crate::variable::Variable;

#[derive(Clone, Debug)]
struct Node {
    variable: Variable,
    parent: u32,
    /// When it got its parent; never, for a root.
    since: u32,
    size: u32,
    children: Vec<u32>,
    /// Items that name this variable first, with their times.
    items: Vec<(u32, u32)>,
}

/// Variables in sets that grow together with time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    nodes: Vec<Node>,
    index: FxHashMap<Variable, u32>,
}

/// Times are below this.
const NEVER: u32 = u32::MAX;

impl Partition {
    /// From this time on the variables are in one set, to which the item belongs. Times never
    /// decrease from call to call.
    pub(crate) fn join(&mut self, time: u32, variables: &[Variable], item: Option<u32>) {
        let Some(&first) = variables.first() else {
            return;
        };
        let first = self.node(first);
        if let Some(item) = item {
            self.nodes[first as usize].items.push((time, item));
        }
        for &variable in &variables[1..] {
            let other = self.node(variable);
            let (a, b) = (self.root(first, time), self.root(other, time));
            if a == b {
                continue;
            }
            let larger = self.nodes[a as usize].size >= self.nodes[b as usize].size;
            let (root, child) = if larger { (a, b) } else { (b, a) };
            let size = self.nodes[child as usize].size;
            self.nodes[child as usize].parent = root;
            self.nodes[child as usize].since = time;
            self.nodes[root as usize].size += size;
            self.nodes[root as usize].children.push(child);
        }
    }

    fn node(&mut self, variable: Variable) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.index.entry(variable).or_insert(next);
        if number == next {
            self.nodes.push(Node {
                variable,
                parent: next,
                since: NEVER,
                size: 1,
                children: Vec::new(),
                items: Vec::new(),
            });
        }
        number
    }

    fn root(&self, mut node: u32, time: u32) -> u32 {
        while self.nodes[node as usize].since <= time {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The variables and items of the sets of these variables, as they were at a time; both in
    /// ascending order. Variables that were in no set are among the variables, too.
    pub(crate) fn slice(&self, time: u32, variables: &[Variable]) -> (Vec<Variable>, Vec<u32>) {
        let (mut all, mut items) = (Vec::new(), Vec::new());
        let mut roots = Vec::new();
        for variable in variables {
            match self.index.get(variable) {
                Some(&node) => roots.push(self.root(node, time)),
                None => all.push(*variable),
            }
        }
        roots.sort_unstable();
        roots.dedup();
        while let Some(node) = roots.pop() {
            let node = &self.nodes[node as usize];
            all.push(node.variable);
            let early = node.items.iter().take_while(|&&(since, _)| since <= time);
            items.extend(early.map(|&(_, item)| item));
            let children = node.children.iter().copied();
            roots.extend(children.take_while(|&child| self.nodes[child as usize].since <= time));
        }
        all.sort_unstable();
        all.dedup();
        items.sort_unstable();
        (all, items)
    }
}

/// Expressions and tables with many variables that were joined before. They stand for one of their variables from
/// then on: along a checksum all variables of all conditions would take time in the square of its
/// length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joined {
    one_of: FxHashMap<Wide, Variable>,
}

impl Joined {
    /// Variables to join so that all of the expression are in one set, and those that were joined before with
    /// them.
    pub(crate) fn join(&mut self, pool: &Pool, expr: Expr) -> Vec<Variable> {
        let (mut entered, mut earlier) = (Vec::new(), Vec::new());
        let one_of = &mut self.one_of;
        let mut variables = pool.collect_variables([expr], |wide| match one_of.get(&wide) {
            Some(&variable) => {
                earlier.push(variable);
                false
            }
            None => {
                // Until the set is known; it must not be entered twice.
                one_of.insert(wide, Variable(u32::MAX));
                entered.push(wide);
                true
            }
        });
        variables.extend(earlier.into_iter().filter(|v| v.0 != u32::MAX));
        variables.sort_unstable();
        variables.dedup();
        if let Some(&first) = variables.first() {
            one_of.extend(entered.into_iter().map(|wide| (wide, first)));
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn variables(numbers: &[u32]) -> Vec<Variable> {
        numbers.iter().map(|&number| Variable(number)).collect()
    }

    #[test]
    fn sets_are_seen_as_they_were() {
        let mut partition = Partition::default();
        partition.join(1, &variables(&[1, 2]), Some(10));
        partition.join(2, &variables(&[3]), Some(20));
        partition.join(3, &variables(&[2, 3]), Some(30));
        partition.join(3, &variables(&[5, 4]), None);
        let at = |time, of: &[u32]| partition.slice(time, &variables(of));
        assert_eq!(at(0, &[1]), (variables(&[1]), vec![]));
        assert_eq!(at(1, &[2]), (variables(&[1, 2]), vec![10]));
        assert_eq!(at(2, &[3]), (variables(&[3]), vec![20]));
        assert_eq!(at(3, &[1]), (variables(&[1, 2, 3]), vec![10, 20, 30]));
        assert_eq!(at(3, &[4, 9]), (variables(&[4, 5, 9]), vec![]));
        assert_eq!(at(2, &[4]), (variables(&[4]), vec![]));
    }

    #[test]
    fn slices_agree_with_a_plain_search() {
        let mut generator = Random::new(12345);
        let mut random = |below: usize| generator.below(below) as u32;
        for _ in 0..200 {
            let sets: Vec<Vec<u32>> = (0..12)
                .map(|_| (0..1 + random(3)).map(|_| random(16)).collect())
                .collect();
            let mut partition = Partition::default();
            for (item, set) in sets.iter().enumerate() {
                partition.join(item as u32 + 1, &variables(set), Some(item as u32));
            }
            let (time, start) = (random(14), random(16));
            let mut reached = vec![start];
            let mut items = std::collections::BTreeSet::new();
            loop {
                let before = (reached.len(), items.len());
                for (item, set) in sets.iter().enumerate().take(time as usize) {
                    if set.iter().any(|v| reached.contains(v)) {
                        items.insert(item as u32);
                        reached.extend(set);
                    }
                }
                reached.sort_unstable();
                reached.dedup();
                if before == (reached.len(), items.len()) {
                    break;
                }
            }
            let expected = (variables(&reached), items.into_iter().collect());
            assert_eq!(partition.slice(time, &variables(&[start])), expected);
        }
    }
}
