//! Fuzz targets and single functions, as a user sees them.

use crate::support::Scratch;

const TARGET: &str = r#"#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size > 3 && data[2] == 77)
        return 1;
    return 0;
}
"#;

const FUNCTION: &str = r#"#include <string.h>
static int known(const char *word, int n)
{
    if (strcmp(word, "secret") == 0 && n > 5)
        return 1;
    return 0;
}
int main(int argc, char **argv)
{
    return known(argv[0], argc);
}
"#;

#[test]
fn a_fuzz_target_is_traced_and_compared() {
    let new = TARGET.replace("77", "78");
    let scratch = Scratch::with(&[("old.c", TARGET), ("new.c", &new), ("in", "abcd")]);
    let ran = scratch.beagle("trace old.c -q --check --stdin in").exits(0);
    assert!(ran.stdout.contains("stdin[2] == 'M'"), "{ran}");
    assert!(ran.stdout.contains("return 0"), "{ran}");
    let ran = scratch.beagle("changes old.c new.c").exits(1);
    assert!(ran.stdout.contains("1 change: old.c → new.c"), "{ran}");
    assert!(ran.stdout.contains("LLVMFuzzerTestOneInput()"), "{ran}");
}

#[test]
fn a_function_is_traced_and_compared() {
    let new = FUNCTION.replace("n > 5", "n > 6");
    let input = format!("secret{}", "\0".repeat(40));
    let scratch = Scratch::with(&[("old.c", FUNCTION), ("new.c", &new), ("in", &input)]);
    let ran = scratch
        .beagle("trace old.c -q --check --function known --stdin in")
        .exits(0);
    assert!(ran.stdout.contains("stdin[0..] == \"secret\""), "{ran}");
    assert!(ran.stdout.contains("return = 0"), "{ran}");
    let ran = scratch
        .beagle("changes old.c new.c --function known")
        .exits(1);
    assert!(ran.stdout.contains("1 change: old.c → new.c"), "{ran}");
}

#[test]
fn a_function_that_is_not_there_is_named_with_those_that_are() {
    let scratch = Scratch::with(&[("old.c", FUNCTION), ("new.c", FUNCTION)]);
    let ran = scratch
        .beagle("changes old.c new.c --function knwon")
        .fails(2);
    let text = ran.stderr.as_str();
    assert!(
        text.contains("old.c: there is no function `knwon`"),
        "{ran}"
    );
    assert!(text.contains("hint: it has known, main"), "{ran}");
}
