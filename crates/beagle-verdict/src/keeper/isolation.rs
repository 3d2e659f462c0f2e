//! What keeps the programs under test away from everything else, as far as the system allows.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is in force for every native run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Own namespaces: no network, no view of other processes, and nothing survives a run.
    pub namespaces: bool,
    /// All file systems but the private directories can only be read.
    pub read_only: bool,
    /// Landlock refuses to write outside the private directories.
    pub landlock: bool,
    /// Seccomp refuses system calls that concern the whole machine or the network.
    pub seccomp: bool,
    /// What could not be had, and what the system said.
    pub refused: Vec<String>,
}

impl Isolation {
    /// What a user should know before running programs that are not trusted; `None` if all is well.
    pub fn warning(&self) -> Option<String> {
        let mut open = Vec::new();
        if !self.landlock && !self.read_only {
            open.push("can write wherever you can");
        }
        if !self.namespaces && !self.seccomp {
            open.push("can use the network");
        }
        if open.is_empty() {
            return None;
        }
        let why = match &self.refused[..] {
            [] => String::new(),
            refused => format!(" ({})", refused.join("; ")),
        };
        Some(format!("programs under test {}{why}", open.join(" and ")))
    }
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.namespaces, "namespaces"),
            (self.read_only, "read-only file systems"),
            (self.landlock, "landlock"),
            (self.seccomp, "seccomp"),
            (true, "limits"),
        ];
        let mut first = true;
        for (_, name) in parts.iter().filter(|(there, _)| *there) {
            let comma = if std::mem::take(&mut first) { "" } else { ", " };
            write!(f, "{comma}{name}")?;
        }
        Ok(())
    }
}
