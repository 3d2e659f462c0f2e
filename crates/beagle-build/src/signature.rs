//! What the parameters and the result of a function are, by clang's own account of the source.

use std::collections::HashMap;

use serde_json::Value;

/// A function, as far as a harness needs to know it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub parameters: Vec<Parameter>,
    pub result: Type,
}

/// A parameter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub name: String,
    pub ty: Type,
}

/// A type as it is written in the source, without qualifiers, and what kind of thing it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Type {
    pub text: String,
    pub kind: Kind,
    /// Whether it must not be written to.
    pub constant: bool,
}

/// Kinds of types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Void,
    Bool,
    Char,
    Integer,
    Real,
    /// A structure or union without pointers.
    Record,
    Pointer(Box<Type>),
    /// Anything whose values cannot be made up from bytes.
    Other,
}

/// The declarations of a source.
pub(crate) struct Declarations<'a> {
    functions: HashMap<&'a str, &'a Value>,
    typedefs: HashMap<&'a str, &'a Value>,
    /// By tag, and by number.
    records: HashMap<&'a str, &'a Value>,
}

impl<'a> Declarations<'a> {
    /// Reads what clang's `-ast-dump=json` says.
    pub fn of(dump: &'a Value) -> Self {
        let mut found = Self {
            functions: HashMap::new(),
            typedefs: HashMap::new(),
            records: HashMap::new(),
        };
        for declaration in inner(dump) {
            let name = text(declaration, "name");
            match text(declaration, "kind") {
                "FunctionDecl"
                    if inner(declaration).any(|it| text(it, "kind") == "CompoundStmt") =>
                {
                    found.functions.insert(name, declaration);
                }
                "TypedefDecl" => {
                    found.typedefs.insert(name, declaration);
                }
                "RecordDecl" if declaration["completeDefinition"] == true => {
                    found.records.insert(text(declaration, "id"), declaration);
                    found.records.insert(name, declaration);
                }
                _ => {}
            }
        }
        found
    }

    /// The functions that are defined, in order of their names.
    pub fn functions(&self) -> Vec<String> {
        let mut names: Vec<String> = self.functions.keys().map(|&name| name.into()).collect();
        names.sort();
        names
    }

    /// The signature of a function, if it is defined.
    pub fn signature(&self, name: &str) -> Option<Signature> {
        let function = self.functions.get(name)?;
        let parameters = inner(function)
            .filter(|it| text(it, "kind") == "ParmVarDecl")
            .enumerate()
            .map(|(number, it)| Parameter {
                name: match text(it, "name") {
                    "" => format!("argument{number}"),
                    name => name.into(),
                },
                ty: self.of_value(&it["type"]),
            })
            .collect();
        // `int (char *, long)`; what is returned comes first.
        let whole = text(&function["type"], "qualType");
        let result = whole.split('(').next().unwrap_or_default();
        Some(Signature {
            parameters,
            result: self.ty(result),
        })
    }

    /// A type as clang gives it, with a name that it stands for if it has one.
    fn of_value(&self, ty: &Value) -> Type {
        let written = self.ty(text(ty, "qualType"));
        match text(ty, "desugaredQualType") {
            "" => written,
            meant if written.kind == Kind::Other => Type {
                kind: self.ty(meant).kind,
                ..written
            },
            _ => written,
        }
    }

    fn ty(&self, written: &str) -> Type {
        self.ty_below(written, 0)
    }

    fn ty_below(&self, written: &str, depth: usize) -> Type {
        let (text, constant) = without_qualifiers(written);
        let kind = match text.strip_suffix('*') {
            // Types that are named after themselves do not occur, but nothing here may hang.
            _ if depth > 20 || text.contains(['(', '[']) => Kind::Other,
            Some(target) => Kind::Pointer(Box::new(self.ty_below(target, depth + 1))),
            None => self.simple(&text, depth),
        };
        Type {
            text,
            kind,
            constant,
        }
    }

    fn simple(&self, text: &str, depth: usize) -> Kind {
        match text {
            "void" => return Kind::Void,
            "_Bool" | "bool" => return Kind::Bool,
            "char" | "signed char" | "unsigned char" => return Kind::Char,
            "short" | "unsigned short" | "int" | "unsigned int" | "long" | "unsigned long"
            | "long long" | "unsigned long long" => return Kind::Integer,
            "float" | "double" => return Kind::Real,
            _ if text.starts_with("enum ") => return Kind::Integer,
            _ => {}
        }
        let tag = text
            .strip_prefix("struct ")
            .or_else(|| text.strip_prefix("union "));
        if let Some(record) = tag.and_then(|tag| self.records.get(tag)) {
            return self.record(record, depth);
        }
        let Some(typedef) = self.typedefs.get(text) else {
            return Kind::Other;
        };
        if let Some(record) = owned_record(typedef).and_then(|id| self.records.get(id)) {
            return self.record(record, depth);
        }
        self.ty_below(self::text(&typedef["type"], "qualType"), depth + 1)
            .kind
    }

    fn record(&self, record: &Value, depth: usize) -> Kind {
        let fields = inner(record).filter(|it| self::text(it, "kind") == "FieldDecl");
        let plain = |field: &Value| {
            let written = self::text(&field["type"], "qualType");
            let element = written.split('[').next().unwrap_or_default();
            let kind = self.ty_below(element, depth + 1).kind;
            !matches!(kind, Kind::Pointer(_) | Kind::Other | Kind::Void)
        };
        if depth <= 20 && fields.into_iter().all(plain) {
            Kind::Record
        } else {
            Kind::Other
        }
    }
}

/// The number of the structure without a tag that a typedef names.
fn owned_record(typedef: &Value) -> Option<&str> {
    let mut at = inner(typedef).next();
    while let Some(ty) = at {
        if let Some(id) = ty["ownedTagDecl"]["id"]
            .as_str()
            .or(ty["decl"]["id"].as_str())
        {
            return Some(id);
        }
        at = inner(ty).next();
    }
    None
}

/// The type without the qualifiers of its outermost part, and whether `const` was one of them.
fn without_qualifiers(written: &str) -> (String, bool) {
    const QUALIFIERS: [&str; 5] = ["const", "volatile", "restrict", "__restrict", "_Nonnull"];
    let mut text = written.trim();
    let mut constant = false;
    loop {
        let before = text;
        for qualifier in QUALIFIERS {
            // Those of a pointer stand behind it, those of anything else in front of it.
            let rest = match text.ends_with('*') {
                false => text
                    .strip_suffix(qualifier)
                    .filter(|rest| rest.ends_with([' ', '*'])),
                true => None,
            };
            let rest = rest.or_else(|| {
                let rest = text.strip_prefix(qualifier)?;
                (rest.starts_with(' ') && !text.contains('*')).then_some(rest)
            });
            if let Some(rest) = rest {
                text = rest.trim();
                constant |= qualifier == "const";
            }
        }
        if text == before {
            return (text.to_owned(), constant);
        }
    }
}

fn inner(value: &Value) -> impl Iterator<Item = &Value> {
    value["inner"].as_array().into_iter().flatten()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualifiers_belong_to_the_outermost_part() {
        let split = |text| without_qualifiers(text);
        assert_eq!(split("const int"), ("int".into(), true));
        assert_eq!(split("const char *"), ("const char *".into(), false));
        assert_eq!(split("const char *const"), ("const char *".into(), true));
        assert_eq!(split("int *restrict"), ("int *".into(), false));
        assert_eq!(split("constant"), ("constant".into(), false));
    }
}
