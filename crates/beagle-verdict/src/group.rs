//! Puts findings of the same cause together, the worst first.

use std::collections::HashMap;

use beagle_trace::Input;

use crate::judge::Difference;
use crate::minimise::size;

/// An input on which the versions differ.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The input.
    pub input: Input,
    /// What differs.
    pub difference: Difference,
    /// How many changes it executes: the fewer, the clearer what it takes.
    pub changes: usize,
    /// What in the program causes it, in the words of who found it.
    pub cause: String,
}

impl Finding {
    /// Smaller for what is better shown.
    fn weight(&self) -> (usize, usize) {
        (self.changes, size(&self.input))
    }
}

/// Findings that are one for the user.
#[derive(Debug, Clone)]
pub struct Group {
    /// The one with the fewest changes, of these the one with the smallest input.
    pub representative: Finding,
    /// How many there are.
    pub count: usize,
}

impl Group {
    /// Whether both are one for the user after all: made small they are shown by the same input, or they
    /// differ in the same way for the same cause.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.representative, &other.representative);
        let alike = one.difference.signature == other.difference.signature;
        one.input == other.input || alike && one.cause == other.cause
    }
}

/// All findings so far.
#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    by_key: HashMap<(String, String), usize>,
}

impl Groups {
    /// Adds a finding. Returns the number of its group, and whether it is the first in there. Numbers
    /// stay as they are.
    pub fn add(&mut self, finding: Finding) -> (usize, bool) {
        let key = (finding.difference.signature.clone(), finding.cause.clone());
        if let Some(&number) = self.by_key.get(&key) {
            let group = &mut self.groups[number];
            group.count += 1;
            if finding.weight() < group.representative.weight() {
                group.representative = finding;
            }
            return (number, false);
        }
        let number = self.groups.len();
        self.by_key.insert(key, number);
        self.groups.push(Group {
            representative: finding,
            count: 1,
        });
        (number, true)
    }

    /// Puts another input for the same difference in the place of the representative.
    pub fn replace(&mut self, number: usize, input: Input, difference: Difference) {
        if let Some(group) = self.groups.get_mut(number) {
            group.representative.input = input;
            group.representative.difference = difference;
        }
    }

    /// The group of this number.
    pub fn get(&self, number: usize) -> Option<&Group> {
        self.groups.get(number)
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups with their numbers, worst first; of equally bad ones those with small inputs.
    pub fn ranked(&self) -> Vec<(usize, &Group)> {
        let mut ranked: Vec<_> = self.groups.iter().enumerate().collect();
        ranked.sort_by_key(|(number, group)| {
            let finding = &group.representative;
            (finding.difference.severity(), size(&finding.input), *number)
        });
        ranked
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::class::Class;
    use crate::compare::Aspects;
    use crate::observation::{Circumstances, End, Observation, Stream};

    fn finding(class: Class, cause: &str, argument: &str) -> Finding {
        let run = Observation {
            end: End::Exit(0),
            stdout: Stream::default(),
            stderr: Stream::default(),
            files: Vec::new(),
            fault: None,
            time: Duration::ZERO,
            circumstances: Circumstances::default(),
        };
        Finding {
            input: Input::from_args("prog", [argument]),
            difference: Difference {
                class,
                standing: None,
                old: run.clone(),
                new: run,
                golden: None,
                aspects: Aspects::default(),
                runs: 1,
                signature: class.name().to_owned(),
            },
            changes: 1,
            cause: cause.to_owned(),
        }
    }

    #[test]
    fn equal_causes_are_one_group_and_the_worst_comes_first() {
        let mut groups = Groups::default();
        assert_eq!(groups.add(finding(Class::Message, "a", "m")), (0, true));
        assert_eq!(groups.add(finding(Class::Output, "a", "long")), (1, true));
        assert_eq!(groups.add(finding(Class::Output, "a", "o")), (1, false));
        assert_eq!(
            groups.add(finding(Class::Output, "a", "longer")),
            (1, false)
        );
        // More changes are not clearer, whatever the size.
        let more = Finding {
            changes: 2,
            ..finding(Class::Output, "a", "")
        };
        assert_eq!(groups.add(more), (1, false));
        assert_eq!(groups.add(finding(Class::Output, "b", "other")), (2, true));
        assert_eq!(groups.add(finding(Class::Fix, "a", "")), (3, true));
        assert_eq!(groups.add(finding(Class::Crash, "c", "crash")), (4, true));
        let ranked: Vec<_> = groups
            .ranked()
            .iter()
            .map(|(number, group)| (*number, group.count))
            .collect();
        assert_eq!(ranked, [(4, 1), (1, 4), (2, 1), (0, 1), (3, 1)]);
        let (output, crash) = (groups.get(1).unwrap(), groups.get(4).unwrap());
        assert!(!output.is_same(groups.get(2).unwrap()) && !output.is_same(crash));
        groups.replace(
            2,
            output.representative.input.clone(),
            crash.representative.difference.clone(),
        );
        assert!(groups.get(1).unwrap().is_same(groups.get(2).unwrap()));
        let smallest = groups.get(1).map(|group| &group.representative.input);
        assert_eq!(smallest, Some(&Input::from_args("prog", ["o"])));
    }
}
