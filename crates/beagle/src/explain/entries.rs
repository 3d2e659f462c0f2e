//! From an explanation to the entries of a report.

use beagle_engine::Side;
use beagle_explain::{Alternate, Cause, Explanation};
use beagle_report::diff::InputEntry;
use beagle_report::explain::{
    AlternateEntry, BranchEntry, CauseEntry, EvidenceEntry, Explanation as Entry,
};
use beagle_report::words::aspects_named;
use beagle_verdict::{Difference, Observation};

use super::Job;

/// So many lines and alternate inputs are reported.
const MOST: usize = 20;

impl Job<'_> {
    /// What is reported of an explanation.
    pub fn entry(&self, explanation: &Explanation, difference: &Difference) -> Entry {
        let mut story = vec![what_happens(difference)];
        story.extend(explanation.story());
        let causes = (1..).zip(explanation.causes.iter().take(MOST));
        let alternates = explanation.alternates.iter().take(MOST);
        Entry {
            story,
            causes: causes.map(|(rank, it)| self.cause(rank, it)).collect(),
            alternates: alternates.map(alternate).collect(),
            notes: explanation.notes.clone(),
        }
    }

    fn cause(&self, rank: usize, cause: &Cause) -> CauseEntry {
        let sources = match cause.side {
            Side::Old => &self.versions.0.sources,
            Side::New => &self.versions.1.sources,
        };
        let text = sources.line(&cause.place.file, cause.place.line);
        let evidence = cause.evidence.iter().map(|it| EvidenceEntry {
            kind: it.kind.name().to_owned(),
            text: it.text.clone(),
        });
        CauseEntry {
            rank,
            version: version(cause.side),
            file: cause.place.file.clone(),
            line: cause.place.line,
            text: text.unwrap_or_default(),
            function: cause.function.clone(),
            hunk: cause.hunk.map(|index| index + 1),
            evidence: evidence.collect(),
        }
    }
}

fn version(side: Side) -> String {
    match side {
        Side::Old => "old",
        Side::New => "new",
    }
    .to_owned()
}

fn alternate(alternate: &Alternate) -> AlternateEntry {
    let branches = alternate.branches.iter().map(|branch| {
        let [explained, alternate] = branch.said();
        BranchEntry {
            file: branch.place.file.clone(),
            line: branch.place.line,
            explained,
            alternate,
        }
    });
    AlternateEntry {
        input: InputEntry::new(&alternate.input),
        bytes: alternate.bytes,
        agrees: alternate.agrees,
        version: version(alternate.side),
        same_way: alternate.same_way,
        branches: branches.collect(),
    }
}

/// What both versions do, in a sentence.
fn what_happens(difference: &Difference) -> String {
    let (old, new) = (&difference.old, &difference.new);
    let aspects = difference.aspects;
    let does = |run: &Observation, other: &Observation| {
        let mut parts = Vec::new();
        if aspects.exit || aspects.signal || aspects.time || run.end != other.end {
            parts.push(run.end.to_string());
        }
        for (differs, name, stream) in [
            (aspects.stdout, "standard output", &run.stdout),
            (aspects.stderr, "standard error", &run.stderr),
        ] {
            if differs {
                parts.push(format!("{name} {}", quoted(&stream.bytes)));
            }
        }
        match parts.is_empty() {
            true => "something else".to_owned(),
            false => parts.join(", "),
        }
    };
    match does(old, new) == does(new, old) {
        true => format!(
            "The versions differ in {}.",
            aspects_named(&aspects.names())
        ),
        false => format!("Old: {}; new: {}.", does(old, new), does(new, old)),
    }
}

/// The beginning of an output.
fn quoted(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    let rest = if bytes.len() > MOST { "…" } else { "" };
    let shown = &bytes[..bytes.len().min(MOST)];
    format!("\"{}{rest}\"", shown.escape_ascii())
}
