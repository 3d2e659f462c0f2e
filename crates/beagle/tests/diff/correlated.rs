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

/// Parts one after the other, each with its kind, its length and a check sum. What is about the length comes after the
/// check sum was computed, and what comes after a part must still be where it was.
const PARTS: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static uint8_t file[256];
static size_t size;
static void bad(const char *why)
{
    printf("bad: %s\n", why);
    exit(1);
}
static unsigned sum(const uint8_t *at, size_t length)
{
    unsigned a = 1, b = 0;
    for (size_t i = 0; i < length; i++) {
        a = (a + at[i]) % 251;
        b = (b + a) % 251;
    }
    return b << 8 | a;
}
int main(void)
{
    unsigned width = 0, scale = 1;
    size = fread(file, 1, sizeof file, stdin);
    for (size_t at = 0;;) {
        const uint8_t *part = file + at;
        if (size - at < 4)
            bad("too short");
        size_t length = part[1];
        if (size - at < 4 + length)
            bad("too long");
        if (sum(part, 2 + length) != (unsigned)(part[2 + length] << 8 | part[3 + length]))
            bad("sum");
        if (part[0] == 'W') {
            if (length == 2)
                width = part[2] << 8 | part[3];
            else if (length == 4)
                width = (unsigned)part[2] << 24 | part[3] << 16 | part[4] << 8 | part[5];
            else
                bad("width");
        } else if (part[0] == 'S') {
            if (length != 1)
                bad("scale");
            scale = part[2];
        } else if (part[0] == 'E') {
            if (length != 0 || at + 4 != size)
                bad("end");
            break;
        }
        at += 4 + length;
    }
    printf("%u\n", width * scale);
    return 0;
}
"#;

#[test]
fn a_part_that_gets_longer_with_its_length() {
    let pair = Pair::edited(PARTS, &[("part[2] << 24", "part[2] << 16")]);
    pair.write("parts", b"S\x01\x02\x05WW\x02\x01\x05r`E\x00\x8cF");
    let techniques = "reach,infect,propagate,shadow,cover,sequences,prune";
    let report = pair.diff(&format!("--strategy {techniques} --first --stdin parts"));
    // 35 or 36 runs, as chance decides; 124 to 150 when only the number changed.
    let report = report.is("different", 1).within(60);
    let found = report.one("output").stdin();
    assert!(found.windows(2).any(|bytes| bytes == b"W\x04"), "{report}");
}
