//! What is a change: expressions.

use super::{check, check_body};

#[test]
fn wrong_local() {
    check_body("g(x);", "g(y);", "modified f: -4 +4");
}

#[test]
fn wrong_global() {
    check_body("g(a);", "g(b);", "modified f: -4 +4");
}

#[test]
fn wrong_target() {
    check_body("x = z;", "y = z;", "modified f: -4 +4");
}

#[test]
fn swapped_operands() {
    check_body("a = x - y;", "a = y - x;", "modified f: -4 +4");
}

#[test]
fn swapped_arguments() {
    check_body("h(x, y);", "h(y, x);", "modified f: -4 +4");
}

#[test]
fn swapped_parameters() {
    check(
        "int f(int x,\n int y) {\nreturn x - y;\n}",
        "int f(int y,\n int x) {\nreturn x - y;\n}",
        "modified f: -1-2 +1-2",
    );
}

#[test]
fn operator() {
    check_body("a = x + y;", "a = x - y;", "modified f: -4 +4");
}

#[test]
fn comparison_operator() {
    check_body("if (x < y) g(1);", "if (x <= y) g(1);", "modified f: -4 +4");
}

#[test]
fn increment_before_instead_of_after() {
    check_body("a = x++;", "a = ++x;", "modified f: -4 +4");
}

#[test]
fn increment_in_an_expression_or_before_it() {
    check_body("a = x++;", "x++; a = x;", "modified f: -4 +4");
}

#[test]
fn increment_in_an_expression_or_after_it() {
    check_body("a = x++;", "a = x; x++;", "added f: +4\ndeleted f: -4");
}

#[test]
fn index() {
    check_body("a = t[x];", "a = t[x + 1];", "modified f: -4 +4");
}

#[test]
fn constant_index() {
    check_body("a = t[0];", "a = t[1];", "modified f: -4 +4");
}

#[test]
fn pointer_or_what_it_points_to() {
    check_body("p++;", "(*p)++;", "modified f: -4 +4");
}

#[test]
fn ternary_operands_swapped() {
    check_body("a = c ? x : y;", "a = c ? y : x;", "modified f: -4 +4");
}

#[test]
fn ternary_condition_negated() {
    check_body("a = c ? x : y;", "a = !c ? x : y;", "modified f: -4 +4");
}

#[test]
fn ternary_with_constants_negated() {
    check_body("a = c ? 1 : 2;", "a = !c ? 1 : 2;", "modified f: -4 +4");
}

#[test]
fn dropped_clause() {
    check_body("if (x && y) g(1);", "if (x) g(1);", "deleted f: -4");
}

#[test]
fn dropped_first_clause() {
    check_body("if (x && y) g(1);", "if (y) g(1);", "deleted f: -4");
}

#[test]
fn dropped_clause_of_a_value() {
    check_body("a = x || y || z;", "a = x || z;", "modified f: -4 +4");
}

#[test]
fn and_becomes_or() {
    check_body(
        "if (x && y) g(1);",
        "if (x || y) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn and_becomes_or_in_a_value() {
    check_body("a = x && y;", "a = x || y;", "modified f: -4 +4");
}

#[test]
fn clauses_group_otherwise() {
    check_body(
        "if ((x && y) || z) g(1);",
        "if (x && (y || z)) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn clauses_of_a_value_group_otherwise() {
    check_body(
        "a = (x && y) || z;",
        "a = x && (y || z);",
        "modified f: -4 +4\nmodified f: -4 +4",
    );
}

#[test]
fn negated_condition() {
    check_body("if (x) g(1);", "if (!x) g(1);", "modified f: -4 +4");
}

#[test]
fn clause_negated_inside() {
    check_body(
        "if (x && y) g(1);",
        "if (x && !y) g(1);",
        "modified f: -4 +4",
    );
}

#[test]
fn clause_of_a_value_negated() {
    check_body("a = x && y;", "a = !x && y;", "modified f: -4 +4");
}

#[test]
fn negation_of_a_whole_value() {
    check_body("a = x && y;", "a = !(x && y);", "modified f: -4 +4");
}

#[test]
fn bitwise_instead_of_logical() {
    check_body("if (x && y) g(1);", "if (x & y) g(1);", "modified f: -4 +4");
}

#[test]
fn assignment_instead_of_comparison() {
    check_body("if (x == y) g(1);", "if (x = y) g(1);", "modified f: -4 +4");
}

#[test]
fn other_function_called() {
    check(
        "int g(int); int h(int);\nint f(int x) {\nreturn g(x);\n}",
        "int g(int); int h(int);\nint f(int x) {\nreturn h(x);\n}",
        "modified f: -3 +3",
    );
}

#[test]
fn callee_becomes_another_one_that_does_the_same() {
    check(
        "int one(int x) { return x + 1; }\nint two(int x) { return x + 1; }\nint f(int x) {\nreturn one(x);\n}",
        "int one(int x) { return x + 1; }\nint two(int x) { return x + 1; }\nint f(int x) {\nreturn two(x);\n}",
        "modified f: -4 +4",
    );
}

#[test]
fn argument() {
    check_body("h(x, 1);", "h(x, 2);", "modified f: -4 +4");
}

#[test]
fn one_more_argument_for_a_variadic_function() {
    check_body("v(s, x);", "v(s, x, y);", "modified f: -4 +4");
}

#[test]
fn type_of_a_variadic_argument() {
    check_body("v(s, x);", "v(s, (long)x);", "modified f: -4 +4");
}

#[test]
fn call_in_a_chain() {
    check_body("g(g(x) + 1);", "g(g(x + 1));", "modified f: -4 +4");
}

#[test]
fn result_of_the_other_call() {
    check_body(
        "int i = g(1), j = g(2); a = i;",
        "int i = g(1), j = g(2); a = j;",
        "modified f: -4 +4",
    );
}

#[test]
fn results_are_exchanged() {
    check_body(
        "a = g(x) - h(x, y);",
        "a = -h(x, y) + g(x);",
        "added f: +4\nmodified f: -4 +4",
    );
}

#[test]
fn result_is_thrown_away() {
    check_body("x = g(x);", "g(x);", "deleted f: -4");
}

#[test]
fn order_of_evaluation() {
    check_body(
        "a = b; b = g(b);",
        "b = g(b); a = b;",
        "deleted f: -4\nadded f: +4",
    );
}

#[test]
fn division_that_nobody_uses() {
    check_body("g(x);", "x / y;\ng(x);", "added f: +4");
}

#[test]
fn load_that_nobody_uses() {
    check_body("g(x);", "(void)*(volatile char *)s;\ng(x);", "added f: +4");
}
