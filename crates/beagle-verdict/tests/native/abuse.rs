//! Programs that misbehave. Each test holds with namespaces and without.

use std::time::Duration;

use beagle_trace::Input;
use beagle_verdict::{Effect, End, Entry, Error, Setting};

use crate::support::{
    no_args, observe, pair, pair_with, sanitized_pair, setting, stdout, without_namespaces,
};

fn both() -> [Setting; 2] {
    [setting(), without_namespaces()]
}

#[test]
fn the_sandbox_says_what_is_in_force() {
    let source = "int main(void) { return 0; }";
    for setting in both() {
        let without = setting.without_namespaces;
        let pair = pair_with(source, source, setting);
        let isolation = pair.judge.isolation();
        assert!(!(without && isolation.namespaces));
        // What is not in force has a reason.
        let complete = isolation.read_only && isolation.landlock && isolation.seccomp;
        assert_eq!(
            complete || without,
            isolation.refused.is_empty(),
            "{isolation:?}"
        );
        if isolation.seccomp && isolation.landlock {
            assert_eq!(isolation.warning(), None);
        }
        assert!(isolation.to_string().ends_with("limits"), "{isolation}");
    }
}

#[test]
fn a_file_that_is_not_there_is_the_programs_own_affair() {
    let source = r#"#include <stdio.h>
int main(void) { if (!fopen("missing", "r")) { perror("missing"); return 2; } }"#;
    let seen = observe(source, &no_args(), setting());
    assert_eq!(seen.end, End::Exit(2));
    assert_eq!(seen.stderr.bytes, b"missing: No such file or directory\n");
}

#[test]
fn nothing_outside_is_written_changed_or_removed() {
    let outside = tempfile::TempDir::new().unwrap();
    let file = outside.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let source = r#"#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static void report(const char *what, int result) { printf("%s %s\n", what, result < 0 ? "refused" : "done"); }
int main(int argc, char **argv) {
    char name[4096];
    snprintf(name, sizeof name, "%s/made", argv[1]);
    report("create", open(name, O_CREAT | O_WRONLY, 0600));
    report("directory", mkdir(name, 0700));
    snprintf(name, sizeof name, "%s/file", argv[1]);
    report("write", open(name, O_WRONLY));
    report("truncate", truncate(name, 0));
    report("remove", unlink(name));
    report("rename", rename(name, "mine"));
    report("parent", open("../made", O_CREAT | O_WRONLY, 0600));
    symlink(name, "link");
    report("link", open("link", O_WRONLY));
    report("null", open("/dev/null", O_WRONLY));
    report("own", open("own", O_CREAT | O_WRONLY, 0600));
    report("temporary", mkstemp(strcat(strcpy(name, getenv("TMPDIR")), "/XXXXXX")));
}"#;
    let source = format!("#include <string.h>\n{source}");
    let input = Input::from_args("prog", [outside.path().to_str().unwrap()]);
    for setting in both() {
        let mut pair = pair_with(&source, &source, setting);
        let isolation = pair.judge.isolation().clone();
        if isolation.warning().is_some() {
            continue;
        }
        let seen = pair.quick(&input).new;
        let expected = "create refused\ndirectory refused\nwrite refused\ntruncate refused\n\
                        remove refused\nrename refused\nparent refused\nlink refused\nnull done\n\
                        own done\ntemporary done\n";
        assert_eq!(stdout(&seen), expected, "{isolation}");
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    }
}

#[test]
fn permissions_and_times_outside_stay_where_file_systems_are_read_only() {
    let outside = tempfile::TempDir::new().unwrap();
    let file = outside.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let before = std::fs::metadata(&file).unwrap();
    let source = r#"#include <stdio.h>
#include <sys/stat.h>
#include <utime.h>
int main(int argc, char **argv) { printf("%d %d\n", chmod(argv[1], 0777), utime(argv[1], 0)); }"#;
    let mut pair = pair(source, source);
    if !pair.judge.isolation().read_only {
        return;
    }
    let input = Input::from_args("prog", [file.to_str().unwrap()]);
    assert_eq!(stdout(&pair.quick(&input).new), "-1 -1\n");
    let after = std::fs::metadata(&file).unwrap();
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
}

#[test]
fn an_input_cannot_write_outside_either() {
    let source = "int main(void) { return 0; }";
    let fixture = tempfile::TempDir::new().unwrap();
    let outside = tempfile::TempDir::new().unwrap();
    std::os::unix::fs::symlink(outside.path(), fixture.path().join("out")).unwrap();
    let mut setting = setting();
    setting.fixture = Some(fixture.path().to_owned());
    let mut pair = pair_with(source, source, setting);
    for path in ["/etc/x", "../x", "a/../../x", "out/x", "."] {
        let error = pair
            .judge
            .quick(&no_args().with_file(path, "x"))
            .unwrap_err();
        assert!(
            matches!(error, Error::FileOutside { .. }),
            "{path}: {error}"
        );
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn there_is_no_network() {
    let source = r#"#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
int main(void) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(53)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    puts(s < 0 || connect(s, (void *)&to, sizeof to) < 0 ? "refused" : "connected");
}"#;
    for setting in both() {
        let seen = observe(source, &no_args(), setting);
        assert_eq!(stdout(&seen), "refused\n");
    }
}

#[test]
fn a_program_that_kills_its_group_kills_only_itself() {
    for target in ["0", "-getpgrp()", "-1"] {
        let source = format!(
            "#include <signal.h>\n#include <unistd.h>\nint main(void) {{ kill({target}, SIGKILL); raise(SIGKILL); }}"
        );
        for setting in both() {
            let seen = observe(&source, &no_args(), setting);
            assert_eq!(seen.end, End::Signal(9));
        }
    }
}

#[test]
fn a_program_that_kills_its_parent_is_survived() {
    let source = r#"#include <signal.h>
#include <unistd.h>
int main(void) { kill(getppid(), SIGKILL); return 7; }"#;
    // The first process of a namespace cannot be killed from inside.
    let mut guarded = pair(source, source);
    if guarded.judge.isolation().namespaces {
        assert_eq!(guarded.quick(&no_args()).new.end, End::Exit(7));
    }
    let mut open = pair_with(source, source, without_namespaces());
    let error = open.judge.quick(&no_args()).unwrap_err();
    assert!(matches!(error, Error::KeeperLost { .. }), "{error}");
}

/// Whether a process is still there that has this word among its arguments.
fn runs_on(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0)
            .any(|argument| argument == word.as_bytes())
    })
}

#[test]
fn nothing_that_a_run_starts_outlives_it() {
    let source = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    for (int i = 1; i < 32; i++) signal(i, SIG_IGN);
    if (fork() == 0) { setsid(); if (fork() == 0) { for (;;) pause(); } _exit(0); }
    if (fork() == 0) { daemon(1, 0); for (;;) pause(); }
    puts("started"); return 0;
}"#;
    for (setting, word) in both().into_iter().zip(["beagle-left-1", "beagle-left-2"]) {
        let seen = observe(source, &Input::from_args("prog", [word]), setting);
        assert_eq!((seen.end, &stdout(&seen)[..]), (End::Exit(0), "started\n"));
        assert!(!runs_on(word));
    }
}

#[test]
fn what_a_child_prints_after_its_parents_end_is_seen() {
    let source = r#"#include <stdio.h>
#include <unistd.h>
int main(void) {
    int done[2]; pipe(done);
    if (fork() == 0) { char c; close(done[1]); read(done[0], &c, 1); puts("child"); return 0; }
    write(1, "parent\n", 7); return 0;
}"#;
    for setting in both() {
        let seen = observe(source, &no_args(), setting);
        assert_eq!(stdout(&seen), "parent\nchild\n");
    }
}

#[test]
fn a_fork_bomb_is_put_out() {
    // It makes no more than a thousand, so that a failure of this test does no harm.
    let source = r#"#include <unistd.h>
int main(void) { for (int i = 0; i < 10; i++) fork(); alarm(20); for (;;) pause(); }"#;
    for mut setting in both() {
        setting.limits.time = Duration::from_secs(10);
        let mut pair = pair_with(source, source, setting);
        let seen = pair.quick(&no_args()).new;
        let refused = matches!(seen.end, End::TimedOut) && pair.judge.isolation().namespaces;
        assert!(refused || seen.end == End::TooManyProcesses, "{}", seen.end);
        assert_eq!(pair.quick(&no_args()).old.end, seen.end);
    }
}

#[test]
fn a_gigabyte_of_output_is_counted_not_kept() {
    let source = r#"#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char block[1 << 20];
int main(void) {
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 1023; i++) for (int n = 0; n < sizeof block; n += write(1, block + n, sizeof block - n));
    block[sizeof block - 1] = LAST;
    for (int n = 0; n < sizeof block; n += write(1, block + n, sizeof block - n));
}"#;
    let mut setting = setting();
    setting.limits.time = Duration::from_secs(120);
    let (old, new) = (source.replace("LAST", "'x'"), source.replace("LAST", "'y'"));
    let seen = pair_with(&old, &new, setting).quick(&no_args());
    assert_eq!(seen.aspects.to_string(), "stdout");
    assert_eq!(seen.new.stdout.length, 1 << 30);
    assert!(seen.new.stdout.truncated() && seen.new.stdout.bytes.len() == 256 << 10);
}

#[test]
fn memory_is_limited() {
    let source = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    volatile size_t size = 10ull << 30; char *volatile p = malloc(size);
    if (!p) { puts("no memory"); return 3; }
    memset(p, 1, size);
}"#;
    for setting in both() {
        let seen = observe(source, &no_args(), setting);
        assert_eq!(
            (seen.end, &stdout(&seen)[..]),
            (End::Exit(3), "no memory\n")
        );
    }
    let seen = sanitized_pair(source, source).same(&no_args());
    assert_eq!((seen.end, seen.fault), (End::Exit(3), None));
}

#[test]
fn a_huge_file_is_limited() {
    let source = r#"#include <fcntl.h>
#include <unistd.h>
static char block[1 << 20];
int main(void) { int f = open("huge", O_CREAT | O_WRONLY, 0600); for (;;) write(f, block, sizeof block); }"#;
    let mut setting = setting();
    setting.limits.file_size = 8 << 20;
    let seen = observe(source, &no_args(), setting);
    assert_eq!(seen.end, End::Signal(25));
    match &seen.files[0].effect {
        Effect::Created(Entry::File { content, .. }) => assert_eq!(content.length, 8 << 20),
        other => panic!("{other:?}"),
    }
}

#[test]
fn closed_streams_a_rewound_input_and_strange_directories_are_fine() {
    let closed = r#"#include <unistd.h>
#include <fcntl.h>
int main(void) { close(0); close(1); close(2); return open("a", O_CREAT, 0600); }"#;
    assert_eq!(observe(closed, &no_args(), setting()).end, End::Exit(0));
    let twice = r#"#include <stdio.h>
#include <unistd.h>
int main(void) {
    char b[16]; int n = read(0, b, 16); lseek(0, 1, SEEK_SET); int m = read(0, b, 16);
    printf("%d %d\n", n, m);
}"#;
    let seen = observe(twice, &no_args().with_stdin("hello"), setting());
    assert_eq!(stdout(&seen), "5 4\n");
    let strange = r#"#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    mkdir("locked", 0700); fclose(fopen("locked/file", "w")); chmod("locked", 0); mkfifo("pipe", 0600);
    for (int i = 0; i < 300; i++) { mkdir("deep", 0700); chdir("deep"); }
    rmdir(getenv("HOME")); chmod(getenv("HOME"), 0);
}"#;
    let strange = format!("#include <stdlib.h>\n{strange}");
    let mut pair = pair(&strange, &strange);
    let seen = pair.quick(&no_args());
    assert!(!seen.differs());
    assert_eq!(seen.new.files.len(), 3 + 300);
}

#[test]
fn directories_too_deep_for_a_path_are_cleared_away() {
    let source = r#"#include <sys/stat.h>
#include <unistd.h>
int main(void) { for (int i = 0; i < 1100; i++) { mkdir("directory", 0700); chdir("directory"); } }"#;
    let seen = pair(source, source).quick(&no_args());
    assert!(!seen.differs());
    assert!(seen.new.files.len() > 300);
}

#[test]
fn arguments_that_the_system_refuses_are_an_error() {
    let source = "int main(void) { return 0; }";
    let mut pair = pair(source, source);
    let error = pair
        .judge
        .quick(&Input::from_args("prog", [vec![b'x'; 1 << 20]]))
        .unwrap_err();
    assert!(
        error.to_string().starts_with("cannot start the program: "),
        "{error}"
    );
    pair.same(&no_args());
}
