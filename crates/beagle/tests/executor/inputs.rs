//! Bytes of every kind of input are variables, wherever they are met.

use beagle_trace::op::Op;
use beagle_trace::{Event, Input, Limits, Printer};

use crate::support::{NAME, Traced, args};

/// The conditions of a run, as text.
fn conditions(traced: &mut Traced, input: &Input) -> Vec<String> {
    let (recording, _) = traced.agree(input);
    let trace = recording.trace().expect("well-formed");
    let printer = Printer::new(&trace, input);
    let nodes = trace.events().filter_map(|event| match event {
        Event::Branch {
            node: Some(node), ..
        } => Some(printer.print(node)),
        _ => None,
    });
    nodes.collect()
}

#[test]
fn arguments_environment_standard_input_and_files() {
    let mut traced = Traced::source(
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv) {
            FILE *f = fopen("data", "r");
            const char *e = getenv("MODE");
            if (argc > 1 && argv[1][0] == 'a') puts("argument");
            if (e && e[1] == 'b') puts("environment");
            if (getchar() == 'c') puts("standard input");
            if (f && fgetc(f) == 'd') puts("file");
            return 0;
        }"#,
    );
    let input = Input::from_args(NAME, ["a"])
        .with_stdin("c")
        .with_file("data", "d")
        .with_env("MODE", "xb");
    let found = conditions(&mut traced, &input).join("\n");
    for part in ["arg1[0]", "$MODE[1]", "stdin[0]", "data[0]"] {
        assert!(found.contains(part), "{part} is in\n{found}");
    }
}

#[test]
fn files_at_any_offset_by_any_way() {
    let mut traced = Traced::source(
        r#"
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(void) {
            char b[4];
            FILE *f = fopen("one", "r");
            fseek(f, 5, SEEK_SET);
            int c = getc(f);
            ungetc(c, f);
            if (getc(f) == '5') puts("seek and ungetc");
            if (fread(b, 1, 3, f) == 3 && b[2] == '8') puts("fread");
            int fd = open("two", O_RDONLY);
            if (pread(fd, b, 2, 7) == 2 && b[1] == 'i') puts("pread");
            lseek(fd, 2, SEEK_SET);
            if (read(fd, b, 1) == 1 && b[0] == 'c') puts("read");
            char *m = mmap(0, 10, PROT_READ, MAP_PRIVATE, fd, 0);
            if (m[4] == 'e') puts("mmap");
            return 0;
        }"#,
    );
    let input = Input::from_args(NAME, Vec::<Vec<u8>>::new())
        .with_stdin("")
        .with_file("one", "0123456789")
        .with_file("two", "abcdefghij");
    let found = conditions(&mut traced, &input).join("\n");
    for part in ["one[5]", "one[8]", "two[8]", "two[2]", "two[4]"] {
        assert!(found.contains(part), "{part} is in\n{found}");
    }
}

#[test]
fn inputs_can_grow_and_shrink() {
    let mut traced = Traced::source(
        r#"
        #include <stdio.h>
        int main(int argc, char **argv) {
            int n = 0;
            while (argv[1][n]) n++;
            while (getchar() != EOF) n++;
            printf("%d\n", n);
            return argc > 5;
        }"#,
    );
    let input = args(&["ab"]);
    let limits = Limits {
        with_sizes: true,
        ..Limits::default()
    };
    let (_, recording, report) = traced.run(&input, &limits);
    assert!(report.is_ok(), "{report}");
    let nodes = &recording.nodes;
    let past_end = |n: &&beagle_trace::node::Node| n.op() == Some(Op::Var) && n.a == 1 && n.b == 2;
    assert!(
        nodes.iter().any(|n| past_end(&n)),
        "the end of the argument is a variable"
    );
    for op in [Op::Size, Op::ArgCount] {
        assert!(nodes.iter().any(|n| n.op() == Some(op)), "{op:?}");
    }
    // What the trace says of another input must be what happens there.
    let mut other = input.clone();
    other.set_byte(1, 2, b'x').expect("an argument grows");
    assert_eq!(other.sources[1].bytes, b"abx");
    traced.agree(&other);
}
