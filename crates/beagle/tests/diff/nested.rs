//! What is known outside may be new inside: of a nested part of the input, and of another caller.

use crate::support::Pair;

/// Names in brackets count up to the end of the block in which they are.
const BLOCKS: &str = r#"
#include <stdio.h>
#include <string.h>
static char text[64];
static const char *at = text;
static int take_name(char *name)
{
    int length = 0;
    while (*at >= 'a' && *at <= 'z' && length < 7)
        name[length++] = *at++;
    name[length] = 0;
    return length > 0;
}
static int block(char *name)
{
    char own[8], key[8];
    strcpy(own, name);
    for (;;) {
        if (*at == '[') {
            at++;
            if (!take_name(key))
                return 1;
            if (*at != ']')
                return 2;
            at++;
            strcpy(own, key);
        } else if (*at == '{') {
            at++;
            if (block(own) || *at != '}')
                return 3;
            at++;
        } else if (take_name(key)) {
            printf("%s.%s\n", own, key);
            if (*at == ';')
                at++;
        } else {
            break;
        }
    }
    return 0;
}
int main(void)
{
    char name[8] = "";
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    return block(name);
}
"#;

#[test]
fn a_name_that_leaves_the_block_in_which_it_was_given() {
    let leaves = "strcpy(name, own);\n    return 0;\n}\nint main";
    let pair = Pair::edited(BLOCKS, &[("return 0;\n}\nint main", leaves)]);
    pair.write("one", b"[a]{kk;k}k");
    // What the change reads is assigned where a name is given, so this asks for names. It asked for nothing when only
    // values could be made to differ: the name is the same whatever its letters are.
    pair.diff("--first --stdin one --max-runs 800 --strategy propagate")
        .is("none-found", 0);
    for strategy in [
        "infect,propagate",
        "reach,infect,propagate,shadow,cover,sequences",
    ] {
        let report = pair
            .diff(&format!(
                "--first --stdin one --max-runs 1400 --strategy {strategy}"
            ))
            // 107 to 928 runs of the two, as chance decides.
            .is("different", 1)
            .within(1400);
        let found = report.one("output").stdin();
        let names = found.iter().filter(|&&byte| byte == b'[');
        assert!(names.count() > 1, "{report}");
    }
}
