//! What is a change: control flow.

use super::{check, check_body};

#[test]
fn if_becomes_while() {
    check_body(
        "if (x < y)\nx = g(x);",
        "while (x < y)\nx = g(x);",
        "modified f: -5 +5",
    );
}

#[test]
fn while_becomes_do() {
    check_body(
        "while (x < y)\nx = g(x);",
        "do\nx = g(x);\nwhile (x < y);",
        "deleted f: -4\nadded f: +5",
    );
}

#[test]
fn while_becomes_do_at_the_entry() {
    check(
        "int n, g(void);\nvoid f(void) {\nwhile (n < 3)\nn = g();\n}",
        "int n, g(void);\nvoid f(void) {\ndo\nn = g();\nwhile (n < 3);\n}",
        "deleted f: -3\nadded f: +4",
    );
}

#[test]
fn deleted_break_in_a_switch() {
    check_body(
        "switch (x) {\ncase 1: g(1);\nbreak;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1);\n\ncase 2: g(2);\n}",
        "deleted f: -6",
    );
}

#[test]
fn deleted_break_in_a_loop() {
    check_body(
        "while (x) {\nif (g(x))\nbreak;\nx--;\n}",
        "while (x) {\nif (g(x))\n;\nx--;\n}",
        "deleted f: -6",
    );
}

#[test]
fn break_becomes_continue() {
    check_body(
        "while (x) {\nif (g(x))\nbreak;\nx--;\n}",
        "while (x) {\nif (g(x))\ncontinue;\nx--;\n}",
        "modified f: -6 +6",
    );
}

#[test]
fn goto_leads_elsewhere() {
    check_body(
        "if (x)\ngoto one;\ng(0);\none: g(1);\ntwo: g(2);",
        "if (x)\ngoto two;\ng(0);\none: g(1);\ntwo: g(2);",
        "modified f: -5 +5",
    );
}

#[test]
fn label_moves() {
    check_body(
        "if (x)\ngoto one;\ng(0);\none: g(1);\ng(2);",
        "if (x)\ngoto one;\ng(0);\ng(1);\none: g(2);",
        "modified f: -5 +5",
    );
}

#[test]
fn value_of_a_case() {
    check_body(
        "switch (x) {\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1); break;\ncase 3: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn cases_exchange_their_values() {
    check_body(
        "switch (x) {\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 2: g(1); break;\ncase 1: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn default_moves_to_another_case() {
    check_body(
        "switch (x) {\ndefault:\ncase 1: g(1); break;\ncase 2: g(2);\n}",
        "switch (x) {\ncase 1: g(1); break;\ndefault:\ncase 2: g(2);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn case_range() {
    check_body(
        "switch (x) {\ncase 1 ... 3: g(1);\n}",
        "switch (x) {\ncase 1 ... 4: g(1);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn statement_moves_out_of_an_if() {
    check_body(
        "if (x) {\ng(1);\ng(2);\n}",
        "if (x) {\ng(1);\n}\ng(2);",
        "modified f: -4 +4",
    );
}

#[test]
fn statement_moves_into_a_loop() {
    check_body(
        "while (x) {\nx = g(x);\n}\ny++;",
        "while (x) {\nx = g(x);\ny++;\n}",
        "modified f: -4 +4\nmodified f: -5,7 +5-6",
    );
}

#[test]
fn else_belongs_to_the_other_if() {
    check_body(
        "if (x) {\nif (y) g(1);\n} else g(2);",
        "if (x) {\nif (y) g(1);\nelse g(2); }",
        "modified f: -4-5 +4-5",
    );
}

#[test]
fn two_statements_change_places() {
    check_body(
        "a = 1;\ng(2);",
        "g(2);\na = 1;",
        "added f: +4\ndeleted f: -5",
    );
}

#[test]
fn endless_loop_instead_of_the_end() {
    check(
        "int f(int c) {\nif (c == 1) return 1;\nif (c)\n;\n}",
        "int f(int c) {\nif (c == 1) return 1;\nif (c)\nfor (;;);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn return_becomes_endless_loop() {
    check_body("if (x) g(1);", "if (x) g(1);\nfor (;;);", "deleted f: -5");
}

#[test]
fn return_instead_of_falling_through() {
    check_body(
        "if (x)\ng(1);\ng(2);",
        "if (x) {\ng(1); return 7; }\ng(2);",
        "added f: +5",
    );
}

#[test]
fn computed_goto_with_another_table() {
    check_body(
        "static void *w[] = { &&one, &&two };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "static void *w[] = { &&two, &&one };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "modified w: -4 +4",
    );
}

#[test]
fn computed_goto_with_another_label() {
    check_body(
        "void *i = &&one, *j = &&two; if (x) i = j;\nif (y)\ni = &&one;\ngoto *i;\none: g(1);\ntwo: g(2);",
        "void *i = &&one, *j = &&two; if (x) i = j;\nif (y)\ni = &&two;\ngoto *i;\none: g(1);\ntwo: g(2);",
        "modified f: -6 +6",
    );
}

#[test]
fn computed_goto_after_a_new_statement() {
    check_body(
        "static void *w[] = { &&one, &&two };\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "static void *w[] = { &&one, &&two };\nif (y) g(y);\ngoto *w[x];\none: g(1);\ntwo: g(2);",
        "added f: +5",
    );
}
