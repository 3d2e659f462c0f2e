//! The change sequence graph: in which orders changes can be executed.
//!
//! After Böhme, Oliveira and Roychoudhury (FSE 2013). Its nodes are the changes, the places where
//! the effects of several changes meet, and the outputs that changes can influence; an edge says
//! that control may flow from one to the other with none of them between. A way through the graph
//! is a sequence of changes that an input may exercise. Errors that several changes make only
//! together are found on such sequences.
//!
//! Departures from the paper: functions are looked through both ways, with summaries instead of
//! recursion; what was deleted is a node, too, where its effect starts in new; the influence of old
//! statements counts.
//!
//! Start at [`Graph::of`]. Nothing here knows of execution: a trace is only a list of statements.

mod anchor;
mod flow;
mod graph;
mod marks;

pub use anchor::{Correspondence, anchors};
pub use graph::{Edge, EdgeKind, Graph, Node, NodeKind, Side};
