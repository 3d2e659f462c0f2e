//! Reads the reports of the address and undefined-behaviour sanitizers.

use std::sync::LazyLock;

use regex::Regex;

use crate::observation::Fault;

/// How the sanitizers are told to behave. Reports go to files of their own, so they cannot be mistaken for
/// something the program printed, and its exit status does not matter.
pub(crate) fn options(log: &str, memory: u64) -> Vec<(&'static str, String)> {
    let megabytes = memory >> 20;
    let common = format!(
        "log_path={log}:exitcode=99:abort_on_error=0:symbolize=1:handle_abort=1:\
         print_stacktrace=1:allow_user_segv_handler=1"
    );
    let mut options = vec![
        (
            "ASAN_OPTIONS",
            format!(
                "{common}:detect_leaks=0:allocator_may_return_null=1:\
                 max_allocation_size_mb={megabytes}:hard_rss_limit_mb={megabytes}:\
                 detect_stack_use_after_return=0"
            ),
        ),
        ("UBSAN_OPTIONS", common),
    ];
    if let Some(path) = SYMBOLIZER.as_ref() {
        options.push(("ASAN_SYMBOLIZER_PATH", path.clone()));
        options.push(("UBSAN_SYMBOLIZER_PATH", path.clone()));
    }
    options
}

/// The sanitizers accept a symbolizer only under its plain name, so it is the one of LLVM's own directory.
static SYMBOLIZER: LazyLock<Option<String>> = LazyLock::new(|| {
    [
        "/usr/lib/llvm-19/bin/llvm-symbolizer",
        "/usr/local/bin/llvm-symbolizer",
        "/usr/bin/llvm-symbolizer",
    ]
    .into_iter()
    .find(|path| std::path::Path::new(path).exists())
    .map(str::to_owned)
});

/// The error of a report; `None` if it is empty.
pub(crate) fn parse(report: &str) -> Option<Fault> {
    // Warnings tell of what the program was refused, as it would have been without sanitizers.
    let errors = |line: &&str| !line.contains("==WARNING: ") && !line.trim().is_empty();
    report.lines().find(errors)?;
    let (kind, mut place) = address(report)
        .map(|kind| (kind, None))
        .or_else(|| undefined(report))
        .unwrap_or_else(|| ("sanitizer-error".to_owned(), None));
    let mut function = None;
    if let Some((name, line)) = frame(report) {
        function = Some(name);
        place = place.or(Some(line));
    }
    Some(Fault {
        kind,
        place,
        function,
        text: report.to_owned(),
    })
}

/// `==1==ERROR: AddressSanitizer: heap-buffer-overflow on address …`
fn address(report: &str) -> Option<String> {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^==\d+==\s*(?:ERROR: )?(?:Address|UndefinedBehavior|Leak)Sanitizer:? (?:(attempting double-free|attempting free)|([A-Za-z][\w-]*))").ok()
    });
    let found = LINE.as_ref()?.captures(report)?;
    if let Some(attempt) = found.get(1) {
        let double = attempt.as_str().ends_with("double-free");
        return Some(if double { "double-free" } else { "bad-free" }.to_owned());
    }
    let kind = found.get(2)?.as_str();
    Some(match kind {
        "hard" => "out-of-memory".to_owned(),
        kind => kind.to_owned(),
    })
}

/// `file.c:3:9: runtime error: signed integer overflow: …`
fn undefined(report: &str) -> Option<(String, Option<String>)> {
    let line = report
        .lines()
        .find(|line| line.contains(": runtime error: "))?;
    let (place, message) = line.split_once(": runtime error: ")?;
    let kind = KINDS
        .iter()
        .find(|(start, _)| message.contains(start))
        .map_or_else(|| words(message), |(_, kind)| (*kind).to_owned());
    // Without the column.
    let place = match place.rsplit_once(':') {
        Some((place, column)) if column.parse::<u32>().is_ok() => place,
        _ => place,
    };
    Some((kind, Some(place.to_owned())))
}

/// Parts of messages of UBSan, and the check that makes them.
const KINDS: &[(&str, &str)] = &[
    ("signed integer overflow", "signed-integer-overflow"),
    ("unsigned integer overflow", "unsigned-integer-overflow"),
    ("division by zero", "divide-by-zero"),
    ("shift exponent", "shift-exponent"),
    ("left shift of", "shift-base"),
    ("out of bounds for type", "index-out-of-bounds"),
    ("misaligned", "misaligned-access"),
    ("applying non-zero offset", "pointer-overflow"),
    ("applying zero offset", "pointer-overflow"),
    ("pointer index expression", "pointer-overflow"),
    ("addition of unsigned offset", "pointer-overflow"),
    ("subtraction of unsigned offset", "pointer-overflow"),
    ("null pointer passed", "nonnull-argument"),
    ("null pointer returned", "nonnull-return"),
    ("null pointer", "null-pointer"),
    ("negation of", "negation-overflow"),
    ("outside the range of representable", "float-cast-overflow"),
    ("not a valid value for type", "invalid-value"),
    ("with insufficient space", "object-size"),
    ("variable length array bound", "vla-bound"),
    ("execution reached", "unreachable"),
    ("passing zero to", "invalid-builtin"),
    ("through pointer to incorrect function", "function-type"),
];

/// The first words of a message that none of the known ones matches.
fn words(message: &str) -> String {
    message
        .split_whitespace()
        .take_while(|word| word.chars().all(char::is_alphabetic))
        .take(4)
        .collect::<Vec<_>>()
        .join("-")
}

/// The innermost function of the program itself, and its line.
fn frame(report: &str) -> Option<(String, String)> {
    static FRAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^\s*#\d+ 0x[0-9a-f]+ in (.+) (/[^\s()]*|[^\s()/][^\s()]*\.\w+):(\d+)(?::\d+)?\s*$").ok()
    });
    let frame = FRAME.as_ref()?;
    // Only the first stack: others tell where memory came from.
    let stack = report.find("#0 ").map(|start| {
        let text = &report[line_start(report, start)..];
        text.split("\n\n").next().unwrap_or(text)
    })?;
    let found = frame
        .captures_iter(stack)
        .find(|found| !is_library(&found[1], &found[2]))?;
    Some((found[1].to_owned(), format!("{}:{}", &found[2], &found[3])))
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Directories of the sources of the C library, whose own paths are relative.
const LIBRARY: &[&str] = &[
    "assert/",
    "csu/",
    "debug/",
    "elf/",
    "io/",
    "libio/",
    "malloc/",
    "math/",
    "misc/",
    "nptl/",
    "posix/",
    "signal/",
    "stdio-common/",
    "stdlib/",
    "string/",
    "sysdeps/",
    "time/",
    "wcsmbs/",
];

/// Whether a function belongs to the compiler or the C library. A program may have directories of these
/// names, too, so the name of the function has to fit.
fn is_library(function: &str, file: &str) -> bool {
    let relative = file.strip_prefix("./").unwrap_or(file);
    let named = function.starts_with("__") || ["abort", "raise", "qsort"].contains(&function);
    file.contains("compiler-rt")
        || file.contains("sysdeps/")
        || named && LIBRARY.iter().any(|start| relative.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_error_is_read() {
        let report = "\
=================================================================
==20000==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55d
WRITE of size 1 at 0x602000000014 thread T0
    #0 0x55d5a3 in strcpy (/tmp/x/prog+0x5d3a3) (BuildId: 12)
    #1 0x55d5a4 in fill src/fill.c:12:9
    #2 0x55d5a5 in main /tmp/x/a.c:30:5
    #3 0x7f in __libc_start_call_main csu/../sysdeps/nptl/libc_start_call_main.h:58:16

0x602000000014 is located 0 bytes after 4-byte region
allocated by thread T0 here:
    #0 0x55 in malloc (/tmp/x/prog+0x1)
    #1 0x55 in make /tmp/x/a.c:3:3
";
        let fault = parse(report).expect("a fault");
        assert_eq!(fault.kind, "heap-buffer-overflow");
        assert_eq!(fault.function.as_deref(), Some("fill"));
        assert_eq!(fault.place.as_deref(), Some("src/fill.c:12"));
        assert_eq!(fault.key(), "heap-buffer-overflow@fill");
    }

    #[test]
    fn an_undefined_behaviour_is_read() {
        let report = "\
/tmp/x/a.c:3:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
    #0 0x55 in add /tmp/x/a.c:3:9
    #1 0x55 in main /tmp/x/a.c:7:1
";
        let fault = parse(report).expect("a fault");
        assert_eq!(fault.kind, "signed-integer-overflow");
        assert_eq!(fault.place.as_deref(), Some("/tmp/x/a.c:3"));
        assert_eq!(fault.function.as_deref(), Some("add"));
    }

    #[test]
    fn what_the_library_does_is_left_out_but_not_what_is_named_like_it() {
        let report = "\
==301==ERROR: AddressSanitizer: ABRT on unknown address 0x1
    #0 0x7f in __pthread_kill_implementation nptl/pthread_kill.c:44:76
    #1 0x7f in raise signal/../sysdeps/posix/raise.c:26:13
    #2 0x7f in abort stdlib/abort.c:79:7
    #3 0x55 in read_all ./io/read.c:7:3
    #4 0x55 in main ./main.c:9:1
";
        let fault = parse(report).expect("a fault");
        assert_eq!(fault.key(), "ABRT@read_all");
        assert_eq!(fault.place.as_deref(), Some("./io/read.c:7"));
    }

    #[test]
    fn other_kinds_are_named() {
        let kind = |text: &str| parse(text).expect("a fault").kind;
        assert_eq!(
            kind("==1==ERROR: AddressSanitizer: attempting double-free on 0x1 in thread T0:"),
            "double-free"
        );
        assert_eq!(
            kind(
                "==1==ERROR: AddressSanitizer: attempting free on address which was not malloc()-ed: 0x1"
            ),
            "bad-free"
        );
        assert_eq!(
            kind("==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0"),
            "SEGV"
        );
        assert_eq!(
            kind("==1==AddressSanitizer: hard rss limit exhausted (1Mb vs 2Mb)"),
            "out-of-memory"
        );
        assert_eq!(
            kind("a.c:1:2: runtime error: some new check of theirs: 3"),
            "some-new-check-of"
        );
        assert_eq!(kind("something else"), "sanitizer-error");
        assert!(parse(" \n").is_none());
        assert!(parse("==1==WARNING: AddressSanitizer failed to allocate 0x1 bytes\n").is_none());
    }
}
