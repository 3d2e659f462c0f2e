//! Our own miniatures of the examples with which the DARWIN paper shows what it does.

use crate::support::Scratch;
use crate::{explained, line_of, named};

const CHOICE: &str = "#include <stdio.h>\n\
    #include <stdlib.h>\n\
    static int up(int x) { return x + 10; }\n\
    static int down(int x) { return x - 10; }\n\
    int main(int argc, char **argv) {\n\
    \x20 int number = argc > 1 ? atoi(argv[1]) : 0;\n\
    \x20 int result;\n\
    \x20 if (number != 1)\n\
    \x20   result = up(number);\n\
    \x20 else\n\
    \x20   result = down(number);\n\
    \x20 printf(\"%d\\n\", result);\n\
    \x20 return 0;\n\
    }\n";

/// Figure 2: the input moved to the other side of a branch in new; a near one did not.
#[test]
fn an_input_that_changed_sides_is_explained_by_one_that_did_not() {
    let new = CHOICE.replace("number != 1", "number != 1 && number != 2");
    let line = line_of(&new, "number != 2");
    for mode in ["", "--alternates-only"] {
        let report = explained(CHOICE, &new, &format!("{mode} -- 2"));
        let first = &named(&report)[0];
        assert_eq!((&*first.version, first.line), ("new", line), "{report:#}");
        let alternate = &report["alternates"][0];
        assert_eq!(alternate["agrees"], true, "{report:#}");
        assert_eq!(alternate["bytes"], 1, "{report:#}");
        assert_eq!(alternate["version"], "new", "{report:#}");
    }
}

/// Figure 3: no other input goes the old way, so the line of old is what explains it.
#[test]
fn where_no_other_input_goes_the_old_way_old_explains() {
    let old = CHOICE.replace("number != 1", "number == 1");
    let new = CHOICE.replace("number != 1", "number == 2");
    let report = explained(&old, &new, "--alternates-only -- 1");
    let first = &named(&report)[0];
    let line = line_of(&old, "number == 1");
    assert_eq!((&*first.version, first.line), ("old", line), "{report:#}");
    assert_eq!(report["alternates"][0]["version"], "old", "{report:#}");
    // With what changed, it is the same line of new.
    let report = explained(&old, &new, "-- 1");
    let first = &named(&report)[0];
    assert_eq!((&*first.version, first.line), ("new", line), "{report:#}");
}

const MATCHES: &str = "#include <stdio.h>\n\
    #include <string.h>\n\
    int main(int argc, char **argv) {\n\
    \x20 const char *text = argc > 1 ? argv[1] : \"\";\n\
    \x20 int length = (int)strlen(text), at = 0, last = -1;\n\
    \x20 while (at < length && text[at] != 0) {\n\
    \x20   int end = text[at] - '0';\n\
    \x20   if (end > length) return 2;\n\
    \x20   if (end >= 0 && end != last) {\n\
    \x20     fputs(\"<>\", stdout);\n\
    \x20     last = end;\n\
    \x20   }\n\
    \x20   if (end < 0 || end <= at) {\n\
    \x20     putchar(text[at]);\n\
    \x20     at = at + 1;\n\
    \x20   } else\n\
    \x20     at = end;\n\
    \x20 }\n\
    \x20 return 0;\n\
    }\n";

/// Figure 4: a part of a condition in a loop is missing, and runs are aligned iteration by iteration.
#[test]
fn a_missing_part_of_a_condition_in_a_loop_is_found() {
    let new = MATCHES.replace(" && end != last", "");
    let line = line_of(&new, "if (end >= 0)");
    for mode in ["", "--alternates-only"] {
        let report = explained(MATCHES, &new, &format!("{mode} -- 11"));
        let first = &named(&report)[0];
        assert_eq!(first.line, line, "{report:#}");
    }
}

const ESCAPES: &str = "#include <stdio.h>\n\
    #include <string.h>\n\
    static void copy(const char *from, char end) {\n\
    \x20 size_t at = 1;\n\
    \x20 while (from[at] != end && from[at] != 0) {\n\
    \x20   if (from[at - 1] == '@')\n\
    \x20     printf(\"(%c)\", from[at]);\n\
    \x20   else\n\
    \x20     putchar(from[at]);\n\
    \x20   at++;\n\
    \x20 }\n\
    }\n\
    int main(int argc, char **argv) {\n\
    \x20 if (argc > 1 && strlen(argv[1]) > 1) copy(argv[1], ']');\n\
    \x20 putchar(10);\n\
    \x20 return 0;\n\
    }\n";

/// Figure 7: an index that is off by one.
#[test]
fn an_index_that_is_off_by_one_is_found() {
    let new = ESCAPES.replace("from[at - 1] == '@'", "from[at] == '@'");
    let line = line_of(&new, "from[at] == '@'");
    for mode in ["", "--alternates-only"] {
        let report = explained(ESCAPES, &new, &format!("{mode} -- [0@t]"));
        let lines = named(&report);
        assert_eq!(lines[0].line, line, "{report:#}");
        assert_eq!(report["alternates"][0]["agrees"], true, "{report:#}");
    }
}

#[test]
fn the_text_tells_the_story() {
    let new = CHOICE.replace("number != 1", "number != 1 && number != 2");
    let scratch = Scratch::with(&[("old.c", CHOICE), ("new.c", &new)]);
    let ran = scratch
        .beagle("-q explain old.c new.c --timeout 5m -- 2")
        .exits(1);
    insta::assert_snapshot!(ran.stdout);
}
