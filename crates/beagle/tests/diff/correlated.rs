//! Conditions that an earlier one stands in the way of.

use crate::support::Pair;

/// A record with its length before it and a check sum behind it, and the number of its entries in it. To change
/// the length is to run the loop of the check sum longer, which is over before anybody looks at the entries.
const RECORD: &str = r#"
#include <stdio.h>
int main(void)
{
    unsigned char text[64];
    size_t size = fread(text, 1, sizeof text, stdin);
    unsigned length, sum = 0;
    int total = 0, count;
    if (size < 2 || (length = text[0]) + 2 > size)
        return 2;
    for (unsigned i = 0; i <= length; i++)
        sum = sum * 3 + text[i];
    if ((sum & 0xff) != text[length + 1]) {
        puts("bad check sum");
        return 1;
    }
    count = text[1];
    if (count == 0 || length != 1 + 2 * (unsigned)count)
        return 1;
    for (int i = 0; i < count; i++)
        total += (signed char)text[2 + 2 * i] + text[3 + 2 * i];
    printf("mean %d\n", total / count);
    return 0;
}
"#;

#[test]
fn a_length_that_a_loop_has_fixed() {
    let most = "(count > 7 ? 7 : count)";
    let pair = Pair::edited(RECORD, &[("total / count", &format!("total / {most}"))]);
    pair.write("one", b"\x03\x01\xfd\x01\x52");
    // 3 runs; it took 12 when every length had to be come to one by one.
    let report = pair
        .diff("--first --stdin one")
        .is("different", 1)
        .within(6);
    let found = report.one("output").stdin();
    assert!(found[1] >= 8, "{report}");
}
