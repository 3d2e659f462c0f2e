//! The operator that uses another variable: one that is visible there, was declared with the same
//! type and is used elsewhere in the same function.
//!
//! Types are compared as they are written (array sizes and storage classes aside): without the
//! preprocessor and the headers there is no telling what a name stands for, and people confuse
//! variables that look alike.

use std::collections::HashSet;

use tree_sitter::Node;

use super::{Edits, Operator, place};

/// A declared variable.
#[derive(Clone)]
pub(super) struct Variable {
    name: String,
    ty: String,
}

/// A use of a variable, and the others it could be taken for.
struct Use<'t> {
    node: Node<'t>,
    others: Vec<String>,
}

/// The variables declared outside of functions.
pub(super) fn globals(root: Node<'_>, source: &str) -> Vec<Variable> {
    let mut found = Vec::new();
    for (_, child) in place::children(root) {
        match child.kind() {
            "declaration" => found.extend(declared(child, source)),
            "preproc_if" | "preproc_ifdef" | "preproc_else" => found.extend(globals(child, source)),
            _ => {}
        }
    }
    found
}

/// Appends the changes of a whole function.
pub(super) fn edits(function: Node<'_>, globals: &[Variable], edits: &mut Edits<'_>) {
    let source = edits.source;
    let mut scan = Scan {
        source,
        scopes: vec![globals.to_vec(), Vec::new()],
        uses: Vec::new(),
    };
    let Some(body) = function.child_by_field_name("body") else {
        return;
    };
    scan.parameters(function);
    scan.walk(body);
    let used: HashSet<&str> = scan
        .uses
        .iter()
        .map(|u| place::text(u.node, source))
        .collect();
    for Use { node, others } in &scan.uses {
        for other in others.iter().filter(|other| used.contains(other.as_str())) {
            edits.replace(Operator::WrongVariable, *node, other.as_str());
        }
    }
}

/// A walk through a function with the scopes open at the current point, innermost last.
struct Scan<'s, 't> {
    source: &'s str,
    scopes: Vec<Vec<Variable>>,
    uses: Vec<Use<'t>>,
}

impl<'t> Scan<'_, 't> {
    fn parameters(&mut self, function: Node<'t>) {
        let mut declarator = function.child_by_field_name("declarator");
        while let Some(node) = declarator {
            if let Some(list) = node.child_by_field_name("parameters") {
                for (_, parameter) in place::children(list) {
                    self.declare(declared(parameter, self.source));
                }
                return;
            }
            declarator = node.child_by_field_name("declarator");
        }
    }

    fn walk(&mut self, node: Node<'t>) {
        if place::is_off_limits(node, self.source) {
            return;
        }
        match node.kind() {
            "compound_statement" | "for_statement" => {
                self.scopes.push(Vec::new());
                self.walk_children(node);
                self.scopes.pop();
            }
            "declaration" => {
                self.walk_initialisers(node);
                self.declare(declared(node, self.source));
            }
            "identifier" => self.record(node),
            // Names of types, members and labels are no variables.
            "type_descriptor" | "struct_specifier" | "union_specifier" | "enum_specifier"
            | "type_definition" => {}
            _ => self.walk_children(node),
        }
    }

    fn walk_children(&mut self, node: Node<'t>) {
        for (field, child) in place::children(node) {
            // The name of a called function is no variable either, and if it is a pointer, then
            // one that is rarely taken for another.
            let callee = node.kind() == "call_expression"
                && field == Some("function")
                && child.kind() == "identifier";
            if !callee && !place::is_directive_part(node, field) {
                self.walk(child);
            }
        }
    }

    /// The expressions in a declaration: initial values and array sizes.
    fn walk_initialisers(&mut self, node: Node<'t>) {
        for (field, child) in place::children(node) {
            match field {
                Some("value" | "size") => self.walk(child),
                Some("declarator") => self.walk_initialisers(child),
                _ => {}
            }
        }
    }

    fn declare(&mut self, variables: Vec<Variable>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(variables);
        }
    }

    fn record(&mut self, node: Node<'t>) {
        let name = place::text(node, self.source);
        let mut visible: Vec<&Variable> = Vec::new();
        for variable in self
            .scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.iter().rev())
        {
            // An inner one hides an outer one of the same name.
            if !visible.iter().any(|seen| seen.name == variable.name) {
                visible.push(variable);
            }
        }
        let Some(this) = visible.iter().find(|variable| variable.name == name) else {
            return;
        };
        let others = visible
            .iter()
            .filter(|other| other.ty == this.ty && other.name != name);
        let others = others.map(|other| other.name.clone()).collect();
        self.uses.push(Use { node, others });
    }
}

/// The variables of a declaration (or the parameter of a parameter declaration).
fn declared(declaration: Node<'_>, source: &str) -> Vec<Variable> {
    let children = place::children(declaration);
    let mut base = String::new();
    for (field, child) in &children {
        if *field == Some("type") || child.kind() == "type_qualifier" {
            base.extend(place::text(*child, source).split_whitespace());
            base.push(' ');
        }
    }
    let declarators = children
        .iter()
        .filter(|(field, _)| *field == Some("declarator"));
    declarators
        .filter_map(|(_, declarator)| {
            let (name, shape) = shape(*declarator, source)?;
            Some(Variable {
                name,
                ty: format!("{base}{shape}"),
            })
        })
        .collect()
}

/// The name that a declarator gives, and what it makes of the type. None if it is no variable.
fn shape(declarator: Node<'_>, source: &str) -> Option<(String, String)> {
    let inner = || declarator.child_by_field_name("declarator");
    match declarator.kind() {
        "identifier" => Some((place::text(declarator, source).to_owned(), String::new())),
        "init_declarator" => shape(inner()?, source),
        "pointer_declarator" => {
            let (name, shape) = shape(inner()?, source)?;
            Some((name, format!("*{shape}")))
        }
        "array_declarator" => {
            let (name, shape) = shape(inner()?, source)?;
            Some((name, format!("{shape}[]")))
        }
        _ => None,
    }
}
