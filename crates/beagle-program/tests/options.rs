//! Which options of the command line a program knows, and where it goes on with each.

mod support;

use beagle_program::{CommandOption, command_options};
use support::{Case, lift};

/// Each option as people write it, with the line at which it goes on: `-w= 12`.
fn known(case: &Case) -> Vec<String> {
    let known = command_options(&case.program);
    let shown = |option: &CommandOption| {
        let text = String::from_utf8_lossy(&option.text);
        let takes = if option.takes { "=" } else { "" };
        let way = option.way.map(|(branch, to)| {
            let block = case.program.stmt(branch).block;
            let next = case.program.block(block).successors[to as usize];
            let first = case.program.block(next).stmts().next();
            let line = first.and_then(|stmt| case.line_of(stmt));
            line.map_or("nowhere".to_owned(), |line| line.to_string())
        });
        format!("{text}{takes} {}", way.unwrap_or("-".to_owned()))
    };
    known.iter().map(shown).collect()
}

#[test]
fn letters_lead_to_cases() {
    let case = lift(
        r#"#include <unistd.h>
        int width, quiet;
        int main(int argc, char **argv) {
            int option;
            while ((option = getopt(argc, argv, "+:w:qx")) != -1) {
                switch (option) {
                case 'q':
                    quiet = 1;
                    break;
                case 'w':
                    width = 1;
                    break;
                default:
                    return 2;
                }
            }
            switch (width) {
            case 'x':
                return 3;
            }
            return quiet;
        }"#,
    );
    assert_eq!(known(&case), ["-w= 11", "-q 8", "-x -"]);
}

#[test]
fn a_letter_may_be_compared() {
    let case = lift(
        r#"#include <unistd.h>
        int main(int argc, char **argv) {
            for (char option; (option = getopt(argc, argv, "ab")) != -1;) {
                if (option == 'a')
                    return 1;
                if (option != 'b')
                    continue;
                argc++;
            }
            return 0;
        }"#,
    );
    assert_eq!(known(&case), ["-a 5", "-b 8"]);
}

#[test]
fn names_lead_where_their_numbers_do() {
    let case = lift(
        r#"#include <getopt.h>
        static int quiet;
        static const struct option names[] = {
            {"width", required_argument, 0, 'w'},
            {"quiet", no_argument, &quiet, 1},
            {"colour", optional_argument, 0, 256},
            {0, 0, 0, 0},
        };
        int main(int argc, char **argv) {
            int option;
            while ((option = getopt_long(argc, argv, "w:", names, 0)) != -1) {
                switch (option) {
                case 'w':
                    return 1;
                case 256:
                    return 2;
                }
            }
            return quiet;
        }"#,
    );
    assert_eq!(
        known(&case),
        ["-w= 14", "--width= 14", "--quiet -", "--colour 16"]
    );
}

#[test]
fn what_is_made_at_run_time_is_not_known() {
    let case = lift(
        r#"#include <unistd.h>
        int main(int argc, char **argv) {
            return getopt(argc, argv, argv[0]);
        }"#,
    );
    assert_eq!(known(&case), [""; 0]);
}
