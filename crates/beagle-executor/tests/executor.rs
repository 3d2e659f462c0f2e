//! The executor against a stand-in for a traced program, which behaves badly on demand.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use beagle_executor::{Executor, ExecutorError, Options, Outcome};
use beagle_trace::{Event, Input, Limits};

fn program() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("server");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server.c");
        let status = Command::new("clang-19")
            .args(["-O1", "-o"])
            .arg(&path)
            .arg(source)
            .status()
            .expect("clang-19 runs");
        assert!(status.success());
        (directory, path)
    });
    path
}

fn start() -> Executor {
    Executor::start(program(), Options::default()).expect("it starts")
}

fn input(what: &str) -> Input {
    Input::from_args("server", [what])
}

fn limits() -> Limits {
    Limits::default()
}

fn with_env(name: &str) -> Options {
    Options {
        environment: vec![(name.into(), "1".into())],
        start_time: Duration::from_millis(300),
        ..Options::default()
    }
}

#[test]
fn outputs_and_exit_status_come_back() {
    let mut executor = start();
    for code in [3, 0, 255] {
        let run = executor
            .run(&input(&format!("exit {code}")), &limits())
            .expect("runs");
        assert_eq!(run.outcome, Outcome::Exit(code));
        assert_eq!(*run.stdout, *format!("out exit {code}\n").as_bytes());
        assert_eq!(*run.stderr, *b"err\n");
        assert!(run.trace.is_ok());
    }
}

#[test]
fn a_signal_is_an_outcome() {
    let mut executor = start();
    let run = executor.run(&input("crash"), &limits()).expect("runs");
    assert_eq!(run.outcome, Outcome::Signal(11));
    assert_eq!(run.outcome.to_string(), "SIGSEGV");
}

#[test]
fn a_run_that_takes_too_long_is_killed_and_the_next_one_works() {
    let mut executor = start();
    let time = Duration::from_millis(100);
    let run = executor
        .run(&input("loop"), &Limits { time, ..limits() })
        .expect("runs");
    assert_eq!(run.outcome, Outcome::TimedOut);
    assert_eq!(*run.stdout, *b"before");
    assert!(run.time >= time && run.time < Duration::from_secs(5));
    let run = executor.run(&input("exit 1"), &limits()).expect("runs");
    assert_eq!(run.outcome, Outcome::Exit(1));
    assert_eq!(*run.stdout, *b"out exit 1\n");
}

#[test]
fn a_program_that_kills_its_server_leaves_its_trace_and_the_next_run_works() {
    let mut executor = start();
    let error = executor
        .run(&input("kill server"), &limits())
        .expect_err("the server is dead");
    assert_eq!(
        error.to_string(),
        "the traced program's fork server ended (SIGKILL) during a run"
    );
    let trace = executor.trace().expect("sound");
    let events: Vec<_> = trace.events().collect();
    assert!(matches!(events[..], [Event::Statement { site: 9 }]));
    let run = executor.run(&input("exit 4"), &limits()).expect("runs");
    assert_eq!(run.outcome, Outcome::Exit(4));
    assert_eq!(run.trace.expect("sound").events().count(), 0);
}

#[test]
fn the_trace_of_one_run_does_not_show_in_the_next() {
    let mut executor = start();
    let run = executor.run(&input("events"), &limits()).expect("runs");
    let events: Vec<_> = run.trace.expect("sound").events().collect();
    assert!(matches!(
        events[..],
        [
            Event::Branch {
                site: 5,
                taken: true,
                node: None
            },
            Event::Statement { site: 7 }
        ]
    ));
    let run = executor.run(&input("exit 0"), &limits()).expect("runs");
    assert_eq!(run.trace.expect("sound").events().count(), 0);
}

#[test]
fn a_damaged_trace_does_not_hide_the_outcome() {
    let mut executor = start();
    let run = executor.run(&input("garbage"), &limits()).expect("runs");
    assert_eq!(run.outcome, Outcome::Signal(6));
    assert_eq!(
        run.trace.expect_err("damaged").to_string(),
        "the trace is damaged: event at word 0: it cannot be understood"
    );
    let run = executor.run(&input("exit 0"), &limits()).expect("runs");
    assert!(run.trace.is_ok());
}

#[test]
fn a_hundred_megabytes_of_output_come_back() {
    let mut executor = start();
    let run = executor.run(&input("much"), &limits()).expect("runs");
    assert_eq!(run.outcome, Outcome::Exit(0));
    assert_eq!(run.stdout.len(), 100 << 20);
    assert!(!run.stdout.truncated);
    assert!(run.stdout.iter().all(|&byte| byte == b'x'));
}

#[test]
fn more_output_than_wanted_is_cut() {
    let options = Options {
        output_cap: 1000,
        ..Options::default()
    };
    let mut executor = Executor::start(program(), options).expect("it starts");
    let run = executor.run(&input("much"), &limits()).expect("runs");
    assert_eq!(run.stdout.len(), 1000);
    assert!(run.stdout.truncated);
    let run = executor.run(&input("exit 0"), &limits()).expect("runs");
    assert!(!run.stdout.truncated);
}

#[test]
fn every_run_starts_in_an_empty_directory() {
    let mut executor = start();
    executor.run(&input("files"), &limits()).expect("runs");
    assert!(executor.directory().join("d").exists());
    executor.run(&input("exit 0"), &limits()).expect("runs");
    assert!(!executor.directory().join("d").exists());
}

#[test]
fn a_program_that_removes_its_directory_has_one_in_the_next_run() {
    let mut executor = start();
    // Where the system keeps it from that, it is still there.
    executor.run(&input("rmdir"), &limits()).expect("runs");
    let directory = executor.directory().to_owned();
    let run = executor.run(&input("where"), &limits()).expect("runs");
    let expected = format!("{0} {0} (null)", directory.display());
    assert_eq!(run.stdout.escape_ascii().to_string(), expected);
}

#[test]
fn the_directory_and_the_environment_are_as_asked() {
    let directory = tempfile::tempdir().expect("a directory");
    let options = Options {
        directory: Some(directory.path().join("sub")),
        environment: vec![("EXTRA".into(), "yes".into())],
        ..Options::default()
    };
    let mut executor = Executor::start(program(), options).expect("it starts");
    let run = executor.run(&input("where"), &limits()).expect("runs");
    let path = directory.path().canonicalize().expect("exists").join("sub");
    let expected = format!("{0} {0} yes", path.display());
    assert_eq!(run.stdout.escape_ascii().to_string(), expected);
}

#[test]
fn a_program_that_dies_at_start_is_quoted() {
    let error = Executor::start(program(), with_env("DIE")).expect_err("dies");
    let expected = format!(
        "{} ended (exit status 127) before it was ready to be traced:\nno such library",
        program().display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_program_that_says_nothing_is_given_up() {
    let start = Instant::now();
    let error = Executor::start(program(), with_env("MUTE")).expect_err("is mute");
    assert!(matches!(error, ExecutorError::NotReady { .. }));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_program_without_a_fork_server_is_told_apart() {
    let error = Executor::start(Path::new("/bin/true"), Options::default()).expect_err("is none");
    assert!(matches!(error, ExecutorError::DiedAtStart { .. }));
}

#[test]
fn a_program_that_is_not_there_is_told_by_name() {
    let error = Executor::start(Path::new("/nowhere/p"), Options::default()).expect_err("is none");
    assert_eq!(error.to_string(), "cannot start /nowhere/p");
}

#[test]
fn a_failing_fork_is_an_error_of_the_run() {
    let mut executor = Executor::start(program(), with_env("NOFORK")).expect("it starts");
    let error = executor
        .run(&input("exit 0"), &limits())
        .expect_err("no fork");
    assert!(matches!(error, ExecutorError::Fork { source } if source.raw_os_error() == Some(11)));
}

#[test]
fn an_input_that_is_too_large_is_refused_and_the_executor_goes_on() {
    let mut executor = start();
    let large = input("exit 0").with_stdin(vec![0; 20 << 20]);
    let error = executor.run(&large, &limits()).expect_err("too large");
    assert!(error.to_string().starts_with("the input takes 20971"));
    assert!(executor.run(&input("exit 0"), &limits()).is_ok());
}

#[test]
fn runs_take_about_a_millisecond() {
    let mut executor = start();
    let start = Instant::now();
    for _ in 0..200 {
        executor.run(&input("exit 0"), &limits()).expect("runs");
    }
    // Generous, for machines that are busy; 200 runs are a matter of 0.1 s.
    assert!(start.elapsed() < Duration::from_secs(10));
}
