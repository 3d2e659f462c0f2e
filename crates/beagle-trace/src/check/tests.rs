//! Traces that are true, and traces that are not.

use super::*;
use crate::Recording;
use crate::event;
use crate::layout;
use crate::op::Op;

/// A trace of a program that prints its argument's number, ten times a digit.
fn recording() -> Recording {
    let mut r = Recording::new();
    let byte = r.node(Op::Var, 8, [1, 0, 0], b'7'.into());
    let int = r.node(Op::SExt, 32, [byte, 0, 0], b'7'.into());
    let zero = r.constant(32, 48);
    let digit = r.node(Op::Sub, 32, [int, zero, 0], 7);
    let ten = r.constant(32, 10);
    let product = r.node(Op::Mul, 32, [digit, ten, 0], 70);
    let large = r.node(Op::Slt, 1, [zero, product, 0], 1);
    let conversion = r.push_conversion("%4lld");
    r.branch(11, true, large);
    r.branch(12, false, 0);
    r.events
        .extend([event::word(event::SWITCH, 13), 2 << 1 | 1, digit]);
    r.extended(event::EXT_ASSUME, &[14, event::ASSUME_VALUE, large]);
    let base = r.constant(64, 0x1000);
    let wide = r.node(Op::SExt, 64, [digit, 0, 0], 7);
    let address = r.node(Op::Add, 64, [base, wide, 0], 0x1007);
    r.extended(
        event::EXT_BOUNDS,
        &[
            15,
            1 << 8 | event::OBJECT_STACK << 1,
            address,
            0x1000,
            0,
            8,
            0,
        ],
    );
    let pieces = [
        Piece {
            position: 2,
            length: 4,
            node: product,
            conversion: Some(conversion),
        },
        Piece {
            position: 7,
            length: 1,
            node: byte,
            conversion: None,
        },
    ];
    r.output(16, Channel::Stdout, b"= \x20\x2070 7\n", &pieces);
    r.output(17, Channel::Stderr, b"done\n", &[]);
    r.extended(event::EXT_END, &[0, event::END_EXIT, 7, digit]);
    r
}

const OBSERVED: Observed<'_> = Observed {
    stdout: b"=   70 7\n",
    stderr: b"done\n",
    exited: true,
};

fn input() -> Input {
    Input::from_args("p", ["7"])
}

fn cases(site: Site) -> Option<Vec<u128>> {
    (site == 13).then(|| vec![3, 7])
}

fn checked(recording: &Recording, observed: Observed<'_>) -> CheckReport {
    let trace = recording.trace().expect("well typed");
    check(&trace, &input(), Some(observed), Some(&cases))
}

#[test]
fn a_true_trace_passes() {
    let report = checked(&recording(), OBSERVED);
    assert_eq!(
        report.to_string(),
        "10 expressions, 1 conditions, 1 assumptions, 1 switches, 1 accesses, 2 outputs with 2 \
         parts, 14 bytes written: all as recorded"
    );
    assert!(report.is_ok());
}

#[test]
fn a_wrong_value_is_shown_with_its_expression() {
    let mut r = recording();
    r.nodes[4].value[0] = 8;
    let report = checked(&r, OBSERVED);
    let texts: Vec<_> = report.failures.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["node 4: recorded 0x8, but arg1[0] - '0' is 0x7"]);
}

#[test]
fn another_input_fails_everywhere() {
    let r = recording();
    let trace = r.trace().expect("well typed");
    let input = Input::from_args("p", ["0"]);
    let report = check(&trace, &input, Some(OBSERVED), Some(&cases));
    let texts: Vec<_> = report.failures.iter().map(ToString::to_string).collect();
    assert!(texts.contains(
        &"event at word 0, site 11: the branch went to its true side, but (arg1[0] - '0') * 10 > \
          48 is 0x0"
            .into()
    ));
    assert!(texts.contains(
        &"event at word 3, site 13: the switch took case 2, but arg1[0] - '0' is 0x0".into()
    ));
    assert!(texts.contains(
        &"event at word 6, site 14: assumed (Value) (arg1[0] - '0') * 10 > 48, which does not hold"
            .into()
    ));
    assert!(
        texts
            .iter()
            .any(|text| text.ends_with("wrote \"  70\", but (arg1[0] - '0') * 10 gives \"   0\""))
    );
    assert!(!report.is_ok());
}

#[test]
fn an_access_outside_its_object_is_found() {
    let mut r = recording();
    let length = r.events.len();
    let size = r.events.iter().position(|&word| word == 8).expect("size");
    r.events[size] = 7;
    assert_eq!(r.events.len(), length);
    let report = checked(&r, OBSERVED);
    assert_eq!(
        report.failures[0].to_string(),
        "event at word 10, site 15: 1 bytes at 0x1007 are not in the object of 7 bytes at 0x1000"
    );
}

#[test]
fn output_that_was_not_recorded_is_found() {
    let observed = Observed {
        stdout: b"=   70 8\nmore",
        ..OBSERVED
    };
    let report = checked(&recording(), observed);
    assert_eq!(
        report.failures[0].to_string(),
        "Stdout: from byte 7 on \"8\\nmore\" was written, but \"7\\n\" was recorded"
    );
    assert_eq!(report.failure_count, 1);
}

#[test]
fn a_killed_program_may_have_written_less_but_not_else() {
    let part = Observed {
        stdout: b"=  ",
        stderr: b"",
        exited: false,
    };
    assert!(checked(&recording(), part).is_ok());
    assert!(
        !checked(
            &recording(),
            Observed {
                exited: true,
                ..part
            }
        )
        .is_ok()
    );
    let other = Observed {
        stdout: b"= x",
        ..part
    };
    assert!(!checked(&recording(), other).is_ok());
    // After `_exit` there is a status, but the streams were not flushed.
    let mut unflushed = recording();
    unflushed.phase = layout::PHASE_MAIN;
    assert!(
        checked(
            &unflushed,
            Observed {
                exited: true,
                ..part
            }
        )
        .is_ok()
    );
}

#[test]
fn an_incomplete_record_is_compared_as_far_as_it_goes() {
    let more = Observed {
        stdout: b"=   70 7\nand more",
        ..OBSERVED
    };
    let mut r = recording();
    assert!(!checked(&r, more).is_ok());
    r.stop = layout::STOP_EVENTS;
    let report = checked(&r, more);
    assert!(report.is_ok());
    assert!(
        report
            .to_string()
            .ends_with("\noutputs were compared only in part: recording stopped: too many events")
    );
}

#[test]
fn the_output_of_a_child_process_may_lie_between() {
    let between = Observed {
        stdout: b"=   child70 7\n",
        ..OBSERVED
    };
    let mut r = recording();
    assert!(!checked(&r, between).is_ok());
    r.losses.push(layout::LossSlot {
        cause: Loss::Process as u32,
        count: 1,
        name: [0; 56],
    });
    let report = checked(&r, between);
    assert!(report.is_ok());
    assert_eq!(report.incomplete.as_deref(), Some("child process"));
    let other = Observed {
        stdout: b"=  child\n",
        ..OBSERVED
    };
    assert!(!checked(&r, other).is_ok());
}

#[test]
fn a_record_that_ends_inside_an_event_is_wrong_if_the_program_exited() {
    let mut r = recording();
    r.events.push(event::word(event::SYMBOLIC_BRANCH, 3));
    assert!(r.trace().expect("sound").truncated());
    let report = checked(&r, OBSERVED);
    assert_eq!(report.failures, [Failure::Truncated]);
}

#[test]
fn only_the_first_failures_are_kept() {
    let mut r = recording();
    for _ in 0..100 {
        r.node(Op::ArgCount, 32, [0; 3], 9);
    }
    let report = checked(&r, OBSERVED);
    assert_eq!(report.failure_count, 100);
    assert_eq!(report.failures.len(), MAX_FAILURES);
}
