//! What a program wants and nobody said: files, and many arguments.

use crate::support::Pair;

/// Counts lines of a file that the command line does not name.
const SETTINGS: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void)
{
    char line[64];
    int ports = 0;
    FILE *file = fopen("./settings.ini", "r");
    if (!file) {
        perror("settings.ini");
        return 1;
    }
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "port=", 5))
            ports++;
    return ports > 1;
}
"#;

/// Reads the file that a word names.
const NAMED: &str = r#"
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char c = 0;
    int file = argc < 2 ? -1 : open(argv[1], O_RDONLY);
    if (file < 0 || read(file, &c, 1) != 1)
        return 1;
    return c == 'x' ? 2 : 3;
}
"#;

/// Takes so many numbers and looks at the last.
const NUMBERS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    if (argc != WANTED)
        return 2;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] < '0' || argv[i][0] > '9')
            return 3;
    printf("%d\n", atoi(argv[argc - 1]) > 4);
    return 0;
}
"#;

fn settings() -> Pair {
    let pair = Pair::edited(SETTINGS, &[("ports > 1", "ports > 2")]);
    pair.write("settings.ini", "port=1\n");
    pair.write("seeds/settings.ini", "port=1\n");
    pair
}

#[test]
fn a_file_that_is_not_there_is_asked_for() {
    let report = settings().diff("").is("none-found", 0);
    let notes = report.strings("notes").join("\n");
    let wanted = "the program looks for settings.ini, which is not there; give it with --file";
    assert!(notes.contains(wanted), "{report}");
    let losses = &report.json["losses"];
    let cause = "file that is not there: settings.ini";
    assert_eq!(losses[0]["cause"], cause, "{report}");
    let missing = report.strings("missing").join("\n");
    assert!(missing.contains("settings.ini"), "{report}");
}

#[test]
fn a_file_that_is_given_is_read_and_nothing_is_said_of_it() {
    let report = settings()
        .diff("--first --file settings.ini")
        .is("different", 1);
    let notes = report.strings("notes").join("\n");
    assert!(!notes.contains("settings.ini"), "{report}");
}

#[test]
fn a_file_under_a_name_that_nobody_opens_is_pointed_out() {
    let report = settings()
        .diff("--file seeds/settings.ini")
        .is("none-found", 0);
    let notes = report.strings("notes").join("\n");
    let wanted =
        "--file seeds/settings.ini: no run read it under that name; it looks for settings.ini";
    assert!(notes.contains(wanted), "{report}");
}

#[test]
fn a_word_that_names_no_file_is_pointed_out() {
    let pair = Pair::edited(NAMED, &[("? 2 : 3", "? 4 : 3")]);
    pair.write("data", "y");
    for words in ["-- data", "--max-runs 20 -- {data}"] {
        let report = pair.diff(words).is("none-found", 0);
        let notes = report.strings("notes").join("\n");
        assert!(
            notes.contains("the program looks for data, which"),
            "{report}"
        );
    }
    pair.diff("--first -- @{data}").is("different", 1);
}

#[test]
fn as_many_arguments_are_made_as_the_program_wants() {
    for wanted in ["3", "10", "13", "21"] {
        let numbers = NUMBERS.replace("WANTED", wanted);
        let pair = Pair::edited(&numbers, &[("> 4)", "> 5)")]);
        let report = pair.diff("--first").is("different", 1).within(60);
        let (count, wanted) = (report.one("output").args().len(), wanted.parse::<usize>());
        assert_eq!(Ok(count + 1), wanted, "{report}");
    }
}

#[test]
fn what_is_wrong_with_the_input_is_told_before_anything_is_built() {
    let pair = Pair::edited(SETTINGS, &[("return ports > 1;", "return ports > 1")]);
    for (asked, named) in [
        ("--seeds nowhere", "nowhere"),
        ("--stdin gone.txt", "gone.txt"),
    ] {
        let ran = pair.beagle(&format!("-q diff old.c new.c {asked}"));
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.stderr.contains(named), "{ran}");
    }
}

/// Three functions of a byte, of which only the last is printed.
const TWO_STEPS: &str = r#"
#include <stdio.h>
static int first(int c)
{
    return c + 1 - 1;
}

static int unused;

static int second(int c)
{
    return c * 2;
}

int main(int argc, char **argv)
{
    int c = argc > 1 ? argv[1][0] : 0;
    unused = first(c);
    printf("%d\n", second(c));
    return 0;
}
"#;

#[test]
fn a_change_that_is_executed_on_the_way_is_not_said_to_have_changed_an_output() {
    let edits = [("c + 1 - 1", "c + 2"), ("c * 2", "c * 3")];
    let pair = Pair::edited(TWO_STEPS, &edits);
    let report = pair.diff("-- {a:1}").is("different", 1);
    let far: Vec<_> = report.json["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|it| {
            (
                it["function"].as_str(),
                it["reached"].as_bool(),
                it["propagated"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        far,
        [
            (Some("first"), Some(true), Some(false)),
            (Some("second"), Some(true), Some(true))
        ],
        "{report}"
    );
}
