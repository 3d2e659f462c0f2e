//! Where things are in a syntax tree: functions, code that may be changed, conditions.

use tree_sitter::Node;

/// The text of a node.
pub(super) fn text<'s>(node: Node<'_>, source: &'s str) -> &'s str {
    // Nodes begin and end at tokens, and tokens at characters.
    source.get(node.byte_range()).unwrap_or_default()
}

/// The children of a node, with the names of their fields.
pub(super) fn children(node: Node<'_>) -> Vec<(Option<&str>, Node<'_>)> {
    let mut cursor = node.walk();
    let mut children = Vec::new();
    let mut more = cursor.goto_first_child();
    while more {
        children.push((cursor.field_name(), cursor.node()));
        more = cursor.goto_next_sibling();
    }
    children
}

/// All function definitions of a file, in order, also those between `#if` and `#endif`.
pub(super) fn functions(root: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    for (_, child) in children(root) {
        match child.kind() {
            "function_definition" => found.push(child),
            "preproc_if"
            | "preproc_ifdef"
            | "preproc_else"
            | "preproc_elif"
            | "preproc_elifdef"
            | "linkage_specification"
            | "declaration_list" => found.extend(functions(child)),
            _ => {}
        }
    }
    found
}

/// The name of a function definition.
pub(super) fn function_name<'s>(function: Node<'_>, source: &'s str) -> &'s str {
    let mut node = function;
    while let Some(inner) = node.child_by_field_name("declarator") {
        node = inner;
    }
    text(node, source)
}

/// Visits a node and all code below it, parents first.
pub(super) fn visit<'t>(node: Node<'t>, source: &str, see: &mut impl FnMut(Node<'t>)) {
    if is_off_limits(node, source) {
        return;
    }
    see(node);
    for (field, child) in children(node) {
        if !is_directive_part(node, field) {
            visit(child, source, see);
        }
    }
}

/// Code that is not to be changed: directives, strings, static assertions, and what the parser
/// did not understand.
pub(super) fn is_off_limits(node: Node<'_>, source: &str) -> bool {
    match node.kind() {
        "preproc_def"
        | "preproc_function_def"
        | "preproc_call"
        | "preproc_include"
        | "preproc_directive"
        | "string_literal"
        | "concatenated_string"
        | "comment"
        | "attribute_specifier"
        | "attribute_declaration"
        | "gnu_asm_expression" => true,
        "call_expression" => {
            let callee = node
                .child_by_field_name("function")
                .map(|callee| text(callee, source));
            matches!(callee, Some("_Static_assert" | "static_assert"))
        }
        "expression_statement" => node
            .named_child(0)
            .is_some_and(|inner| inner.kind() == "call_expression" && is_off_limits(inner, source)),
        _ => node.is_error() || node.is_missing(),
    }
}

/// Whether the child in this field belongs to the directive itself: `X` of `#if X`.
pub(super) fn is_directive_part(node: Node<'_>, field: Option<&str>) -> bool {
    match node.kind() {
        "preproc_if" | "preproc_elif" => field == Some("condition"),
        "preproc_ifdef" | "preproc_elifdef" => field == Some("name"),
        _ => false,
    }
}

/// Whether the node takes part in a decision: it is in the condition of an `if`, a loop, a `?:`
/// or a `switch`, in a `case` label, or in an operand of `&&`, `||` or `!`.
pub(super) fn decides(node: Node<'_>) -> bool {
    let mut node = node;
    while let Some(parent) = node.parent() {
        let is = |field: &str| parent.child_by_field_name(field).is_some_and(|c| c == node);
        match parent.kind() {
            "if_statement"
            | "while_statement"
            | "do_statement"
            | "for_statement"
            | "conditional_expression"
            | "switch_statement"
                if is("condition") =>
            {
                return true;
            }
            "case_statement" => return is("value"),
            "binary_expression" | "unary_expression" if is_logical(parent) => return true,
            kind if kind.ends_with("_statement") || kind == "declaration" => return false,
            _ => {}
        }
        node = parent;
    }
    false
}

/// Whether the expression is `&&`, `||` or `!`.
pub(super) fn is_logical(node: Node<'_>) -> bool {
    let operator = node
        .child_by_field_name("operator")
        .map(|operator| operator.kind());
    matches!(operator, Some("&&" | "||" | "!"))
}
