//! Programs that do not behave: the command ends by itself, says what is the case, and nothing outside of the
//! directory of a run is touched.

use crate::support::{Pair, bytes};

#[test]
fn a_program_that_ends_only_in_the_old_version() {
    let old = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    volatile int spin = 1;
    if (argc > 1 && argv[1][0] == 'x')
        while (spin == 2)
            ;
    puts("done");
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("spin == 2", "spin == 1")]);
    let report = pair
        .diff("--first --run-timeout 500ms -- {a:2}")
        .is("different", 1);
    let found = report.one("hang");
    assert!(found.args()[0].starts_with('x'), "{report}");
    assert_eq!(found.0["new"]["timed_out"], true, "{report}");
    assert_eq!(found.0["regression"], true, "{report}");
}

/// Every native run of such an input takes the whole time for a run: confirming, looking with sanitizers and making
/// small must not wait for it again and again.
#[test]
fn inputs_on_which_new_does_not_end_do_not_take_all_the_time() {
    let old = r#"
#include <stdio.h>
int main(void)
{
    unsigned char buf[64] = {0};
    fread(buf, 1, 63, stdin);
    int i = 0, hops = 0;
    while (buf[i] == 'g') {
        i = buf[i + 1] % 60;
        if (++hops > 8)
            break;
    }
    printf("%d\n", i);
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("++hops > 8", "++hops < 0")]);
    let report = pair
        .diff("--timeout 5s --run-timeout 5s --stdin-text g2abcdefgh")
        .is("different", 1);
    report.one("hang");
    // It was over two minutes, and one run of old, new and new with sanitizers takes 6 s.
    assert!(
        report.json["seconds"].as_f64().is_some_and(|s| s < 60.0),
        "{report}"
    );
}

#[test]
fn a_program_that_never_ends() {
    let old = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    int steps = argc > 1 && argv[1][0] == 'x' ? 1 : 2;
    volatile unsigned count = 0;
    for (;;)
        count += (unsigned)steps;
}
"#;
    let pair = Pair::edited(old, &[("? 1 : 2", "? 3 : 2")]);
    pair.diff("--timeout 4s --run-timeout 200ms -- {a:2}")
        .is("none-found", 0);
}

const NEEDS_FILE: &str = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen("settings.txt", "r");
    if (!file) {
        fputs("no settings\n", stderr);
        return 1;
    }
    int first = fgetc(file);
    printf("%c %d\n", first, argc > 1 && argv[1][0] == 'x' ? 1 : 2);
    return 0;
}
"#;

#[test]
fn a_program_that_needs_a_file() {
    let pair = Pair::edited(NEEDS_FILE, &[("? 1 : 2", "? 3 : 2")]);
    let report = pair.diff("--max-runs 20 -- {a:2}");
    assert_eq!(report.code, Some(0), "{report}");
    assert!(report.differences().is_empty(), "{report}");
    assert_eq!(report.json["changes"][0]["reached"], false, "{report}");
    let report = pair.diff("--max-runs 20 --strict -- {a:2}");
    assert_eq!(report.code, Some(4), "{report}");
    pair.write("things/settings.txt", "s");
    let report = pair
        .diff("--max-runs 20 --fixture things -- {a:2}")
        .is("different", 1);
    assert_eq!(report.one("output").stdout("new"), "s 3\n", "{report}");
}

#[test]
fn a_program_that_writes_into_its_directory() {
    let old = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen("out.txt", "w");
    if (!file)
        return 1;
    fputs(argc > 1 && argv[1][0] == 'x' ? "one" : "two", file);
    return fclose(file);
}
"#;
    let pair = Pair::edited(old, &[("\"one\"", "\"three\"")]);
    let report = pair.diff("--max-runs 20 -- {a:2}").is("different", 1);
    let found = report.one("output");
    assert_eq!(found.aspects(), ["files"], "{report}");
    let content = |version: &str| bytes(&found.0[version]["files"]["out.txt"]["content_b64"]);
    assert_eq!(
        (content("old"), content("new")),
        (b"one".to_vec(), b"three".to_vec())
    );
    assert!(!pair.path("out.txt").exists());
}

#[test]
fn a_program_that_writes_elsewhere() {
    let old = r#"
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *file = fopen("VICTIM", "w");
    puts(file ? "written" : "refused");
    puts(argc > 1 && argv[1][0] == 'x' ? "one" : "two");
    return 0;
}
"#;
    let pair = Pair::new("", "");
    let victim = pair.path("victim");
    pair.write("victim", "untouched");
    let old = old.replace("VICTIM", victim.to_str().unwrap());
    pair.write("old.c", &old);
    pair.write("new.c", old.replace("\"one\"", "\"three\""));
    let report = pair.diff("--max-runs 20 -- {a:2}").is("different", 1);
    let found = report.one("output");
    assert_eq!(found.stdout("new"), "refused\nthree\n", "{report}");
    assert_eq!(std::fs::read(victim).unwrap(), b"untouched");
}

#[test]
fn a_program_that_kills_its_process_group() {
    let old = r#"
#include <signal.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == 'x')
        kill(0, 0);
    puts("done");
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("kill(0, 0)", "kill(0, SIGKILL)")]);
    let report = pair.diff("--max-runs 20 -- {a:2}").is("different", 1);
    let found = report.one("crash");
    assert!(found.args()[0].starts_with('x'), "{report}");
    assert_eq!(found.0["new"]["signal"], 9, "{report}");
}

#[test]
fn a_program_that_leaves_children_behind() {
    let old = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < 3; i++)
        if (fork() == 0)
            for (;;)
                pause();
    puts(argc > 1 && argv[1][0] == 'x' ? "one" : "two");
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("\"one\"", "\"three\"")]);
    let report = pair.diff("--max-runs 20 -- {a:2}").is("different", 1);
    assert!(report.one("output").args()[0].starts_with('x'), "{report}");
}

#[test]
fn a_program_that_prints_a_gigabyte() {
    let old = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    static char block[1 << 20];
    memset(block, 'a', sizeof block);
    int blocks = 1;
    if (argc > 1 && argv[1][0] == 'x')
        blocks = 2;
    for (int i = 0; i < blocks; i++)
        if (write(1, block, sizeof block) < 0)
            return 1;
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("blocks = 2", "blocks = 1024")]);
    let report = pair
        .diff("--first --run-timeout 20s -- {a:2}")
        .is("different", 1);
    let found = report.differences()[0];
    assert!(found.args()[0].starts_with('x'), "{report}");
    assert!(found.stdout("new").len() < 1 << 20);
}

#[test]
fn a_program_that_is_different_each_time() {
    let old = r#"
#include <stdio.h>
#include <sys/random.h>
int main(int argc, char **argv)
{
    unsigned long number = 0;
    if (getrandom(&number, sizeof number, 0) < 0)
        return 1;
    if (argc > 1 && argv[1][0] == 'x')
        number ^= 1;
    printf("%lx\n", number);
    return 0;
}
"#;
    let pair = Pair::edited(old, &[("^= 1", "^= 2")]);
    let report = pair.diff("--max-runs 20 -- {a:2}").is("none-found", 0);
    let unstable = &report.json["unstable"][0];
    assert_eq!(unstable["aspects"][0], "stdout", "{report}");
    pair.diff("--max-runs 20 --strict -- {a:2}")
        .is("none-found", 4);
}
