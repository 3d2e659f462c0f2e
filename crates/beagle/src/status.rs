//! The exit status of `beagle diff`, from what it reports.
//!
//! What stops a command before there is anything to report has its status from
//! [`Failure::exit_code`](crate::failure::Failure::exit_code): 2 and 3.

use beagle_report::diff::{Reason, Report};

use crate::arguments::FailOn;

/// Nothing that the user wants to fail for.
pub const FINE: i32 = 0;
/// Differences that the user wants to fail for.
pub const DIFFERENT: i32 = 1;
/// With `--strict`: changed code was not reached, or runs were not repeatable.
pub const INCONCLUSIVE: i32 = 4;
/// The user stopped it; what the report says is not all.
pub const INTERRUPTED: i32 = 130;

/// The exit status for a report.
pub fn exit_code(report: &Report, fail_on: FailOn, strict: bool) -> i32 {
    if report.reason == Reason::Interrupted {
        return INTERRUPTED;
    }
    let mut differences = report.differences.iter();
    let fails = match fail_on {
        FailOn::Difference => !report.differences.is_empty(),
        FailOn::Regression => differences.any(|difference| difference.regression == Some(true)),
        FailOn::Never => false,
    };
    match (fails, strict && report.is_inconclusive()) {
        (true, _) => DIFFERENT,
        (false, true) => INCONCLUSIVE,
        (false, false) => FINE,
    }
}

/// What an exit status means, as the report ends with it.
pub fn meaning(status: i32, fail_on: FailOn, report: &Report) -> &'static str {
    let missed = report.changes.iter().any(|change| !change.reached);
    match (status, fail_on) {
        (DIFFERENT, FailOn::Regression) => "Exit status 1: regressions",
        (DIFFERENT, _) => "Exit status 1: differences",
        (INCONCLUSIVE, _) => match (missed, report.unstable.is_empty()) {
            (true, true) => "Exit status 4: changed code was not reached",
            (false, _) => "Exit status 4: runs were not repeatable",
            (true, false) => {
                "Exit status 4: changed code was not reached, and runs were not repeatable"
            }
        },
        (INTERRUPTED, _) => "Exit status 130: interrupted",
        (_, FailOn::Difference) => "Exit status 0: no difference found",
        (_, FailOn::Regression) => "Exit status 0: no regression found",
        (_, FailOn::Never) => "Exit status 0: --fail-on never",
    }
}

#[cfg(test)]
mod tests {
    use beagle_report::diff::{ChangeEntry, Class, DifferenceEntry, InputEntry, ObservedEntry};

    use super::*;

    fn report(classes: &[Class], reached: bool) -> Report {
        let mut report = Report::new("old", "new", "p");
        report.changes.push(ChangeEntry {
            reached,
            ..ChangeEntry::default()
        });
        let differences = classes.iter().map(|&class| DifferenceEntry {
            id: 1,
            class,
            regression: class.regression(),
            aspects: Vec::new(),
            input: InputEntry::default(),
            old: ObservedEntry::default(),
            new: ObservedEntry::default(),
            golden: None,
            changes: Vec::new(),
            group: 1,
            saved: None,
            confirmed: 3,
        });
        report.differences.extend(differences);
        report
    }

    #[test]
    fn any_difference_counts_unless_the_user_says_otherwise() {
        use FailOn::{Difference, Never, Regression};
        for (classes, any, regression) in [
            (&[][..], 0, 0),
            (&[Class::Output], 1, 0),
            (&[Class::Fix, Class::Message], 1, 0),
            (&[Class::Fix, Class::Crash], 1, 1),
            (&[Class::Hang], 1, 1),
            (&[Class::Regression], 1, 1),
            (&[Class::IncompleteFix, Class::Progression], 1, 0),
        ] {
            let report = report(classes, true);
            assert_eq!(exit_code(&report, Difference, true), any, "{classes:?}");
            assert_eq!(exit_code(&report, Regression, true), regression);
            assert_eq!(exit_code(&report, Never, true), 0);
        }
    }

    #[test]
    fn what_was_not_reached_counts_only_if_asked_for_and_if_nothing_is_worse() {
        let missed = report(&[], false);
        assert_eq!(exit_code(&missed, FailOn::Difference, false), 0);
        assert_eq!(exit_code(&missed, FailOn::Difference, true), 4);
        let both = report(&[Class::Output], false);
        assert_eq!(exit_code(&both, FailOn::Difference, true), 1);
        assert_eq!(exit_code(&both, FailOn::Never, true), 4);
    }

    #[test]
    fn what_is_said_is_the_status() {
        let missed = report(&[], false);
        let text = meaning(INCONCLUSIVE, FailOn::Difference, &missed);
        assert_eq!(text, "Exit status 4: changed code was not reached");
        for status in [FINE, DIFFERENT, INCONCLUSIVE, INTERRUPTED] {
            let text = meaning(status, FailOn::Difference, &missed);
            assert!(
                text.starts_with(&format!("Exit status {status}: ")),
                "{text}"
            );
        }
    }

    #[test]
    fn an_interrupted_search_is_no_result() {
        let mut report = report(&[Class::Crash], true);
        report.reason = Reason::Interrupted;
        assert_eq!(exit_code(&report, FailOn::Difference, true), 130);
        assert_eq!(exit_code(&report, FailOn::Never, false), 130);
    }
}
