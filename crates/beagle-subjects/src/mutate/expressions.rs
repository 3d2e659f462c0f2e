//! The operators on expressions: relational, logical and arithmetic ones, constants, clauses and
//! indices.

use tree_sitter::Node;

use super::{Edits, Operator, constants};

/// Appends the changes of this one node.
pub(super) fn edits(node: Node<'_>, edits: &mut Edits<'_>) {
    match node.kind() {
        "binary_expression" => {
            operator_edits(node, edits);
            clause_edits(node, edits);
        }
        "assignment_expression" | "update_expression" => operator_edits(node, edits),
        "number_literal" | "char_literal" => constant_edits(node, edits),
        "subscript_expression" => index_edits(node, edits),
        _ => {}
    }
}

/// Replaces the operator sign, and nothing else.
fn operator_edits(node: Node<'_>, edits: &mut Edits<'_>) {
    let Some(sign) = node.child_by_field_name("operator") else {
        return;
    };
    let text = edits.text(sign);
    for (kind, others) in [
        (Operator::Relational, relational(text)),
        (Operator::Logical, logical(text)),
        (Operator::Arithmetic, arithmetic(text)),
    ] {
        for &other in others {
            edits.replace(kind, sign, other);
        }
    }
}

/// The boundary first, then the direction.
fn relational(sign: &str) -> &'static [&'static str] {
    match sign {
        "<" => &["<=", ">"],
        "<=" => &["<", ">="],
        ">" => &[">=", "<"],
        ">=" => &[">", "<="],
        "==" => &["!=", "<="],
        "!=" => &["==", "<"],
        _ => &[],
    }
}

fn logical(sign: &str) -> &'static [&'static str] {
    match sign {
        "&&" => &["||"],
        "||" => &["&&"],
        _ => &[],
    }
}

fn arithmetic(sign: &str) -> &'static [&'static str] {
    match sign {
        "+" => &["-"],
        "-" => &["+"],
        "*" => &["/"],
        "/" => &["*", "%"],
        "%" => &["/"],
        "&" => &["|"],
        "|" => &["&"],
        "^" => &["|"],
        "<<" => &[">>"],
        ">>" => &["<<"],
        "+=" => &["-=", "="],
        "-=" => &["+=", "="],
        "*=" => &["/="],
        "/=" => &["*="],
        "%=" => &["/="],
        "&=" => &["|="],
        "|=" => &["&="],
        "^=" => &["|="],
        "<<=" => &[">>="],
        ">>=" => &["<<="],
        "++" => &["--"],
        "--" => &["++"],
        _ => &[],
    }
}

/// `a && b` becomes `a` or `b`.
fn clause_edits(node: Node<'_>, edits: &mut Edits<'_>) {
    let sign = node.child_by_field_name("operator").map(|sign| sign.kind());
    if !matches!(sign, Some("&&" | "||")) {
        return;
    }
    for side in ["left", "right"] {
        if let Some(clause) = node.child_by_field_name(side) {
            let text = edits.text(clause);
            edits.replace(Operator::DroppedClause, node, text);
        }
    }
}

fn constant_edits(node: Node<'_>, edits: &mut Edits<'_>) {
    // `- 1` is a constant of its own: its neighbours are -2 and 0, not -(1 + 1) and -(1 - 1).
    let negative = node.parent().filter(|parent| {
        parent.kind() == "unary_expression"
            && parent
                .child_by_field_name("operator")
                .is_some_and(|sign| sign.kind() == "-")
    });
    let whole = negative.unwrap_or(node);
    for other in constants::variants(edits.text(whole)) {
        // `x-1` with -1 for 1 would be a decrement.
        let after_minus = edits.source[..whole.start_byte()].ends_with('-');
        let other = if after_minus && other.starts_with('-') {
            format!("({other})")
        } else {
            other
        };
        edits.replace(Operator::Constant, whole, other);
    }
}

/// `a[i]` becomes `a[i + 1]` and `a[i - 1]`. Constant indices are for [`constant_edits`].
fn index_edits(node: Node<'_>, edits: &mut Edits<'_>) {
    let Some(index) = node.child_by_field_name("index") else {
        return;
    };
    let text = edits.text(index);
    let operand = match index.kind() {
        "number_literal" | "char_literal" => return,
        "identifier"
        | "field_expression"
        | "call_expression"
        | "subscript_expression"
        | "parenthesized_expression"
        | "update_expression"
        | "pointer_expression" => text.to_owned(),
        _ => format!("({text})"),
    };
    edits.replace(Operator::OffByOneIndex, index, format!("{operand} + 1"));
    edits.replace(Operator::OffByOneIndex, index, format!("{operand} - 1"));
}
