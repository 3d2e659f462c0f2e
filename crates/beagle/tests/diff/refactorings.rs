//! Changes that no input shows: nothing may be reported.

use crate::support::Pair;

const PROGRAM: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
static int weight(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return isalpha(c) ? 10 : 0;
}
int main(int argc, char **argv)
{
    int sum = 0;
    if (argc < 2)
        return 2;
    size_t length = strlen(argv[1]);
    for (size_t i = 0; i < length; i++)
        sum += weight((unsigned char)argv[1][i]);
    if (sum > 20)
        puts("heavy");
    printf("%d\n", sum * 2);
    return 0;
}
"#;

#[test]
fn refactorings_show_no_difference() {
    let edits = [
        ("sum * 2", "sum + sum"),
        ("if (c >= '0' && c <= '9')", "if ((unsigned)c - '0' < 10)"),
        ("sum > 20", "!(sum <= 20)"),
        (
            "    for (size_t i = 0; i < length; i++)\n        sum",
            "    for (size_t i = length; i-- > 0;)\n        sum",
        ),
        (
            "return isalpha(c) ? 10 : 0;",
            "return isalpha(c) ? 2 * 5 + (c < 0) : 0;",
        ),
        ("puts(\"heavy\")", "printf(\"%s\\n\", \"heavy\")"),
    ];
    for edit in edits {
        let pair = Pair::edited(PROGRAM, &[edit]);
        let report = pair.diff("--max-runs 60 -- {a1:3}");
        assert_ne!(report.json["verdict"], "different", "{edit:?}\n{report}");
        assert_eq!(report.code, Some(0), "{edit:?}\n{report}");
        assert!(report.differences().is_empty(), "{edit:?}\n{report}");
    }
}
