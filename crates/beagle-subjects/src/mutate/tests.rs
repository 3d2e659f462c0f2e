//! What each operator does to a small function, and what holds for all of them.

use std::path::Path;

use super::*;

/// The changes of one operator to the body of a function, as `original → replacement`.
fn changes(operator: Operator, source: &str) -> Vec<String> {
    all(source)
        .iter()
        .filter(|mutant| mutant.operator == operator)
        .map(|mutant| format!("{} → {}", mutant.original, mutant.replacement))
        .collect()
}

fn all(source: &str) -> Vec<Mutant> {
    candidates(Path::new("x.c"), source).unwrap()
}

#[test]
fn relations_move_their_boundary_and_their_direction() {
    let source = "int f(int a) { return a < 1 ? a == 2 : a >= 3; }";
    assert_eq!(
        changes(Operator::Relational, source),
        ["< → <=", "< → >", "== → !=", "== → <=", ">= → <=", ">= → >"]
    );
}

#[test]
fn and_becomes_or() {
    assert_eq!(
        changes(
            Operator::Logical,
            "int f(int a, int b) { return a && b || a; }"
        ),
        ["&& → ||", "|| → &&"]
    );
}

#[test]
fn conditions_are_negated() {
    let source = "void f(int a) { if (a > 1) {} while (!a) {} do {} while (a); for (; a;) {} }";
    assert_eq!(
        changes(Operator::NegatedCondition, source),
        ["a > 1 → !(a > 1)", "!a → a", "a → !(a)", "a → !(a)"]
    );
}

#[test]
fn arithmetic_signs_are_exchanged() {
    let source = "int f(int a) { a += a << 2; a++; return a * a % 7 - a; }";
    assert_eq!(
        changes(Operator::Arithmetic, source),
        [
            "+= → -=",
            "+= → =",
            "<< → >>",
            "++ → --",
            "* → /",
            "% → /",
            "- → +"
        ]
    );
}

#[test]
fn constants_change_to_their_neighbours_zero_and_the_other_sign() {
    assert_eq!(
        changes(Operator::Constant, "int f(int a) { return a-10 + -1; }"),
        [
            "10 → (-10)",
            "10 → 0",
            "10 → 11",
            "10 → 9",
            "-1 → -2",
            "-1 → 0",
            "-1 → 1"
        ]
    );
}

#[test]
fn one_clause_is_left() {
    assert_eq!(
        changes(
            Operator::DroppedClause,
            "int f(int a, int b) { return a > 0 && b(); }"
        ),
        ["a > 0 && b() → a > 0", "a > 0 && b() → b()"]
    );
}

#[test]
fn statements_without_a_value_are_dropped() {
    let source = "int f(int a) { g(a); a = 1; a++; ; while (a) { break; } return a; }";
    assert_eq!(
        changes(Operator::DroppedStatement, source),
        ["g(a); → ;", "a = 1; → ;", "a++; → ;", "break; → ;"]
    );
}

#[test]
fn a_guard_is_dropped_alone_or_with_what_it_guards() {
    let source = "int f(int a) { if (a) a = 2; if (!a) { return 1; } if (a) g(); else h(); }";
    assert_eq!(
        changes(Operator::DroppedGuard, source),
        [
            "if (a) a = 2; → ;",
            "if (a) a = 2; → a = 2;",
            "if (!a) { return 1; } → ;"
        ]
    );
}

#[test]
fn an_index_is_off_by_one() {
    assert_eq!(
        changes(
            Operator::OffByOneIndex,
            "int f(int *a, int i) { return a[i] + a[i / 2] + a[0]; }"
        ),
        [
            "i → i + 1",
            "i → i - 1",
            "i / 2 → (i / 2) + 1",
            "i / 2 → (i / 2) - 1"
        ]
    );
}

#[test]
fn another_variable_of_the_same_type_is_used() {
    let source = "
int limit; char *name; static int unused;
int f(int a, char *s) { int b = a; for (int i = b; i < limit; i++) g(s, name); return a; }";
    assert_eq!(
        changes(Operator::WrongVariable, source),
        [
            "a → limit",
            "b → a",
            "b → limit",
            "i → a",
            "i → b",
            "i → limit",
            "limit → a",
            "limit → b",
            "limit → i",
            "i → a",
            "i → b",
            "i → limit",
            "s → name",
            "name → s",
            "a → b",
            "a → limit",
        ]
    );
}

#[test]
fn a_hidden_variable_is_not_used() {
    let source = "void f(int a, long b) { { int b = 1; g(a, b); } h(a, b); }";
    assert_eq!(changes(Operator::WrongVariable, source), ["a → b", "b → a"]);
}

#[test]
fn directives_strings_and_static_assertions_stay() {
    let source = r#"
#define LIMIT (3 + 4)
int table[5 + 6];
void f(void) {
#if LIMIT > 2
    _Static_assert(sizeof(int) == 4, "1 < 2");
    static_assert(1 < 2, "x");
    puts("a < b && c");
#endif
}"#;
    let found: Vec<_> = all(source)
        .into_iter()
        .map(|mutant| mutant.original)
        .collect();
    assert_eq!(found, [r#"puts("a < b && c");"#]);
}

#[test]
fn a_change_is_classified_by_the_code_it_is_made_to() {
    let source = "int f(int a) { int b = a + 1; if (a > 2) b = 3; return a < 4 && b; }";
    let class = |original: &str| {
        all(source)
            .iter()
            .find(|mutant| mutant.original == original)
            .unwrap()
            .class
    };
    assert_eq!(class("+"), Class::Assignment);
    assert_eq!(class(">"), Class::Branch);
    assert_eq!(class("3"), Class::Assignment);
    assert_eq!(class("<"), Class::Branch);
    assert_eq!(class("b = 3;"), Class::MissingCode);
}

#[test]
fn a_mutant_says_where_it_is() {
    let found = all("\nint *f(int a)\n{\n    return p - a;\n}\n");
    let mutant = found.iter().find(|mutant| mutant.original == "-").unwrap();
    let Mutant {
        function,
        line,
        column,
        ..
    } = mutant;
    assert_eq!((function.as_str(), *line, *column), ("f", 4, 14));
}

#[test]
fn functions_between_directives_are_found() {
    let source = "#ifdef A\nint f(void) { return 5; }\n#else\nint g(void) { return 7; }\n#endif\n";
    let found = all(source);
    let functions: std::collections::BTreeSet<_> = found
        .iter()
        .map(|mutant| mutant.function.as_str())
        .collect();
    assert_eq!(functions.into_iter().collect::<Vec<_>>(), ["f", "g"]);
}

#[test]
fn code_that_is_not_c_gives_no_mutants_and_no_panic() {
    assert!(all("int f( { ] } = == ;; \u{1f415} \"").len() < 5);
    assert!(all("").is_empty());
}
