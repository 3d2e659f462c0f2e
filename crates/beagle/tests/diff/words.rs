//! Words and records of an input that a program takes one after the other.

use crate::support::Pair;

/// Commands of different lengths, cut out of lines.
const COMMANDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int total, locked;
static int run(char *line)
{
    char *command = strtok(line, " \n"), *number = strtok(NULL, " \n");
    if (command == NULL)
        return 0;
    if (strcmp(command, "add") == 0)
        total += number != NULL ? atoi(number) : 1;
    else if (strcmp(command, "subtract") == 0)
        total -= number != NULL ? atoi(number) : 1;
    else if (strcmp(command, "lock") == 0)
        locked = 1;
    else if (strcmp(command, "print") == 0)
        printf("%d%s\n", total, locked > 1 ? "!" : "");
    else
        return 1;
    return 0;
}
int main(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL)
        if (run(line) != 0)
            return 1;
    return 0;
}
"#;

#[test]
fn a_command_that_is_longer_than_any_that_is_there() {
    let edit = ("total -= number", "total += number");
    let pair = Pair::edited(COMMANDS, &[edit]);
    pair.write("commands", b"add 5\nprint\nprint\n");
    // 3 runs; not in 400 when only what is there could become another.
    let techniques = "reach,infect,propagate,shadow,cover,sequences,prune";
    let report = pair.diff(&format!("--strategy {techniques} --first --stdin commands"));
    let report = report.is("different", 1).within(8);
    let found = report.one("output").stdin();
    let found = String::from_utf8_lossy(&found);
    assert!(found.contains("subtract"), "{report}");
}

#[test]
fn lines_come_after_each_other_so_that_changes_act_in_a_new_order() {
    let edits = [
        ("locked = 1", "locked = 2"),
        ("locked > 1", "locked > 0 && locked"),
    ];
    let pair = Pair::edited(COMMANDS, &edits);
    pair.write("commands", b"add 5\nprint\nlock\n");
    let report = pair.diff("--strategy sequences --first --stdin commands");
    // 4 runs; 221 when lines could only become others byte by byte.
    report.is("different", 1).within(10);
}
