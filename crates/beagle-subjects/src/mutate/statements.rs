//! The operators on statements: negated conditions, dropped statements and dropped guards.

use tree_sitter::Node;

use super::{Edits, Operator};

/// Appends the changes of this one node.
pub(super) fn edits(node: Node<'_>, edits: &mut Edits<'_>) {
    match node.kind() {
        "if_statement" => {
            negate_condition(node, edits);
            drop_guard(node, edits);
        }
        "while_statement" | "do_statement" | "for_statement" | "conditional_expression" => {
            negate_condition(node, edits);
        }
        // An empty statement has no expression to drop.
        "expression_statement" if node.named_child_count() > 0 => {
            edits.replace(Operator::DroppedStatement, node, ";");
        }
        "break_statement" | "continue_statement" => {
            edits.replace(Operator::DroppedStatement, node, ";");
        }
        _ => {}
    }
}

/// `if (c)` becomes `if (!(c))`, and `if (!c)` becomes `if (c)`.
fn negate_condition(node: Node<'_>, edits: &mut Edits<'_>) {
    let Some(condition) = node
        .child_by_field_name("condition")
        .and_then(without_parentheses)
    else {
        return;
    };
    let negation = condition
        .child_by_field_name("operator")
        .is_some_and(|sign| sign.kind() == "!");
    let argument = condition
        .child_by_field_name("argument")
        .filter(|_| negation);
    let negated = match argument {
        Some(argument) => edits.text(argument).to_owned(),
        None => format!("!({})", edits.text(condition)),
    };
    edits.replace(Operator::NegatedCondition, condition, negated);
}

fn without_parentheses(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() == "parenthesized_expression" {
        let mut cursor = node.walk();
        node = node
            .named_children(&mut cursor)
            .find(|child| child.kind() != "comment")?;
    }
    Some(node)
}

/// `if (c) s` becomes `s`, as if the check had been forgotten, or nothing at all. One with an
/// `else` stays: what to do without it is not clear.
fn drop_guard(node: Node<'_>, edits: &mut Edits<'_>) {
    let Some(guarded) = node.child_by_field_name("consequence") else {
        return;
    };
    if node.child_by_field_name("alternative").is_some() {
        return;
    }
    edits.replace(Operator::DroppedGuard, node, ";");
    // Without its guard a jump makes all that follows dead, which nobody overlooks.
    if !ends_in_jump(guarded) {
        let text = edits.text(guarded);
        edits.replace(Operator::DroppedGuard, node, text);
    }
}

fn ends_in_jump(statement: Node<'_>) -> bool {
    match statement.kind() {
        "return_statement" | "break_statement" | "continue_statement" | "goto_statement" => true,
        "compound_statement" => {
            let mut cursor = statement.walk();
            let statements = statement.named_children(&mut cursor);
            let last = statements.filter(|child| child.kind() != "comment").last();
            last.is_some_and(ends_in_jump)
        }
        _ => false,
    }
}
