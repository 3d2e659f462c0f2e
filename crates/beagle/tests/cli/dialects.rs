//! Sources as they are found in the world.

use insta::assert_snapshot;

use crate::support::Scratch;

#[track_caller]
fn check(files: [(&str, &[u8]); 2], code: i32) -> String {
    let scratch = Scratch::new();
    for (name, text) in files {
        scratch.write(name, text);
    }
    let ran = scratch.beagle(&format!("changes '{}' '{}' -q", files[0].0, files[1].0));
    let ran = ran.exits(code);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn old_style_functions() {
    let old = "\
extern printf();
static count;

bump(by, times)
int by;
{
    while (times-- > 0)
        count += by;
    return count;
}

main(argc, argv)
char **argv;
{
    printf(\"%d\\n\", bump(argc, 3));
    exit(0);
}
";
    let new = old.replace("times-- > 0", "--times > 0");
    assert_snapshot!(check(
        [("old.c", old.as_bytes()), ("new.c", new.as_bytes())],
        1
    ));
}

const MAIN: &str = "int main(int argc, char **argv)\n{\n    return argc + 1;\n}\n";

#[test]
fn names_with_spaces_quotes_and_other_letters() {
    let new = MAIN.replace("+ 1", "+ 2");
    let files = [
        ("alte Fassung.c", MAIN.as_bytes()),
        ("größer \"neu\" $x.c", new.as_bytes()),
    ];
    assert_snapshot!(check(files, 1));
}

#[test]
fn directories_with_spaces() {
    let scratch = Scratch::with(&[
        ("the old/my main.c", MAIN),
        ("the new/my main.c", &MAIN.replace("+ 1", "- 1")),
    ]);
    let ran = scratch.beagle("changes 'the old' 'the new/' -q").exits(1);
    assert!(ran.stdout.contains("+ my main.c:3"), "{ran}");
    assert!(
        ran.stdout.contains("1 change: the old → the new\n"),
        "{ran}"
    );
}

#[test]
fn line_ends_and_a_missing_last_one_are_no_change() {
    let crlf = MAIN.replace('\n', "\r\n");
    let files = [("old.c", MAIN.as_bytes()), ("new.c", crlf.as_bytes())];
    assert!(check(files, 0).starts_with("No change in meaning"));
    let files = [
        ("old.c", MAIN.as_bytes()),
        ("new.c", MAIN.trim_end().as_bytes()),
    ];
    assert!(check(files, 0).starts_with("No change in meaning"));
    let changed = crlf.replace("+ 1", "+ 2");
    let report = check(
        [("old.c", crlf.as_bytes()), ("new.c", changed.as_bytes())],
        1,
    );
    assert!(report.contains("+ new.c:3  return argc + 2;\n"), "{report}");
}

#[test]
fn bytes_that_are_not_utf_8() {
    let old = b"int puts(const char *);\nint main(void) { puts(\"caf\xe9\"); return 0; }\n";
    let new = b"int puts(const char *);\nint main(void) { puts(\"caf\xe8\"); return 0; }\n";
    assert!(check([("old.c", old), ("new.c", old)], 0).starts_with("No change"));
    let report = check([("old.c", old), ("new.c", new)], 1);
    assert!(report.contains("puts(\"caf\u{fffd}\")"), "{report}");
}

#[test]
fn a_byte_order_mark() {
    let marked = format!("\u{feff}{MAIN}");
    let files = [("old.c", MAIN.as_bytes()), ("new.c", marked.as_bytes())];
    assert!(check(files, 0).starts_with("No change in meaning"));
}
