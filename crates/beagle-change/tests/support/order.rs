//! Puts the functions of a file into another order.

use tree_sitter::{Node, Parser, Tree};

/// Parses C.
pub fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .expect("the grammar fits the library");
    parser.parse(text, None).expect("nothing stops the parser")
}

/// Leaves a prototype in the place of each function and puts the functions at the end, the last
/// one first. What stands between them, as tables that refer to functions, stays where it is.
pub fn reverse_functions(text: &str) -> String {
    let tree = parse(text);
    let root = tree.root_node();
    let mut front = String::new();
    let mut definitions = Vec::new();
    let mut from = 0;
    let mut cursor = root.walk();
    for node in root.children(&mut cursor) {
        if node.kind() != "function_definition" || is_old_style(node) {
            continue;
        }
        let Some(body) = node.child_by_field_name("body") else {
            continue;
        };
        front += &text[from..node.start_byte()];
        front += text[node.start_byte()..body.start_byte()].trim_end();
        front += ";";
        definitions.push(&text[node.byte_range()]);
        from = node.end_byte();
    }
    front += &text[from..];
    for definition in definitions.iter().rev() {
        front += "\n";
        front += definition;
        front += "\n";
    }
    front
}

/// Whether the types of the parameters stand between the parentheses and the body.
fn is_old_style(definition: Node) -> bool {
    let mut cursor = definition.walk();
    definition
        .children(&mut cursor)
        .any(|child| child.kind() == "declaration")
}
