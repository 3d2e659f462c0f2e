//! Renames local variables and parameters, each function for itself.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::order::parse;

/// Gives all locals and parameters of a text other names. `texts` are all files of the program:
/// names that macros use stay, because macros are not renamed with them.
pub fn rename_locals<'t>(text: &str, texts: impl Iterator<Item = &'t str>) -> String {
    let mut fixed = BTreeSet::new();
    for text in texts {
        words_of_directives(text, &mut fixed);
        words_of_assertions(text, &mut fixed);
    }
    let tree = parse(text);
    let root = tree.root_node();
    global_names(root, text, &mut fixed);
    let mut edits = Vec::new();
    for_each(root, &mut |node| {
        if node.kind() != "function_definition" {
            return;
        }
        let mut names = BTreeSet::new();
        for_each(node, &mut |inner| declared(inner, text, &mut names));
        if let Some(name) = function_name(node) {
            names.remove(&text[name.byte_range()]);
        }
        for_each(node, &mut |inner| {
            let name = &text[inner.byte_range()];
            if inner.kind() == "identifier" && names.contains(name) && !fixed.contains(name) {
                edits.push((inner.end_byte(), name.len()));
            }
        });
    });
    // A nested definition would be visited twice; C has none, but GNU C does.
    edits.sort();
    edits.dedup();
    let mut out = String::new();
    let mut from = 0;
    for (at, len) in edits {
        out += &text[from..at - len];
        // In front, so that names sort in another order, too.
        out += &format!("v{}_{}", len % 3, &text[at - len..at]);
        from = at;
    }
    out + &text[from..]
}

fn for_each<'t>(node: Node<'t>, visit: &mut impl FnMut(Node<'t>)) {
    visit(node);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        for_each(child, visit);
    }
}

/// Notes the variables or parameters that a node declares.
fn declared(node: Node, text: &str, names: &mut BTreeSet<String>) {
    if !matches!(node.kind(), "declaration" | "parameter_declaration") {
        // The bare names of a K&R definition.
        if node.kind() == "parameter_list" {
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                if child.kind() == "identifier" {
                    names.insert(text[child.byte_range()].to_owned());
                }
            }
        }
        return;
    }
    let mut cursor = node.walk();
    for declarator in node.children_by_field_name("declarator", &mut cursor) {
        if let Some(name) = declared_name(declarator) {
            names.insert(text[name.byte_range()].to_owned());
        }
    }
}

/// The name inside a declarator; `None` for functions, whose names are not local.
fn declared_name(declarator: Node) -> Option<Node> {
    match declarator.kind() {
        "identifier" => Some(declarator),
        "function_declarator" => {
            let inner = declarator.child_by_field_name("declarator")?;
            // A pointer to a function is a variable.
            (inner.kind() == "parenthesized_declarator")
                .then(|| declared_name(inner))
                .flatten()
        }
        "parenthesized_declarator" => declared_name(declarator.named_child(0)?),
        _ => declared_name(declarator.child_by_field_name("declarator")?),
    }
}

fn function_name(definition: Node) -> Option<Node> {
    let mut node = definition.child_by_field_name("declarator")?;
    while node.kind() != "identifier" {
        node = match node.kind() {
            "parenthesized_declarator" => node.named_child(0)?,
            _ => node.child_by_field_name("declarator")?,
        };
    }
    Some(node)
}

/// Names outside of functions: a local of the same name hides them, which is left alone.
fn global_names(root: Node, text: &str, names: &mut BTreeSet<String>) {
    for_each(root, &mut |node| {
        if node.kind() == "enumerator"
            && let Some(name) = node.child_by_field_name("name")
        {
            names.insert(text[name.byte_range()].to_owned());
        }
    });
    let mut cursor = root.walk();
    for node in root.children(&mut cursor) {
        declared(node, text, names);
        if let Some(name) = (node.kind() == "function_definition")
            .then(|| function_name(node))
            .flatten()
        {
            names.insert(text[name.byte_range()].to_owned());
        }
    }
}

fn words_of_directives(text: &str, words: &mut BTreeSet<String>) {
    let mut continued = false;
    for line in text.lines() {
        if continued || line.trim_start().starts_with('#') {
            words.extend(split(line));
            continued = line.ends_with('\\');
        }
    }
}

/// The text of a condition becomes a string.
fn words_of_assertions(text: &str, words: &mut BTreeSet<String>) {
    for statement in text.split(';').filter(|text| text.contains("assert")) {
        words.extend(split(statement));
    }
}

fn split(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .map(str::to_owned)
}
