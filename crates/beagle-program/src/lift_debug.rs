//! The part of lifting that reads debug information: files, names of types, names of fields.

use std::path::{Component, Path, PathBuf};

use beagle_llvm::{Metadata, Tag};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::FileId;

/// Source files by number, each listed once.
#[derive(Default)]
pub(crate) struct Files<'m> {
    pub(crate) paths: Vec<String>,
    by_path: FxHashMap<String, FileId>,
    by_scope: FxHashMap<Metadata<'m>, Option<FileId>>,
}

impl<'m> Files<'m> {
    /// The file that a scope, variable or function belongs to.
    pub(crate) fn of(&mut self, scope: Metadata<'m>) -> Option<FileId> {
        if let Some(&known) = self.by_scope.get(&scope) {
            return known;
        }
        let id = scope.file().map(|(directory, name)| {
            let path = clean(&Path::new(&directory).join(name));
            *self.by_path.entry(path.clone()).or_insert_with(|| {
                self.paths.push(path);
                FileId(self.paths.len() as u32 - 1)
            })
        });
        self.by_scope.insert(scope, id);
        id
    }
}

/// Removes `.` and resolves `..` by name alone: the file may no longer exist.
fn clean(path: &Path) -> String {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(out.components().next_back(), Some(Component::Normal(_))) =>
            {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out.to_string_lossy().into_owned()
}

/// The structures of the source, by name and size, with the names of their fields by offset.
#[derive(Default)]
pub(crate) struct SourceStructs<'m> {
    named: FxHashMap<(String, u64), FxHashMap<u64, String>>,
    visited: FxHashSet<Metadata<'m>>,
}

impl<'m> SourceStructs<'m> {
    /// Notes every structure that a type is made from.
    pub(crate) fn add(&mut self, ty: Option<Metadata<'m>>) {
        // With a work list: types refer to each other, in circles and deeply.
        let mut work: Vec<_> = ty.into_iter().collect();
        while let Some(ty) = work.pop() {
            if !self.visited.insert(ty) {
                continue;
            }
            match ty.tag() {
                Tag::Structure | Tag::Union => {
                    self.note(ty, ty.name());
                    work.extend(ty.elements());
                }
                Tag::Typedef => {
                    let base = ty.base_type();
                    // Clang names the structure of `typedef struct { … } name` after the typedef.
                    if let Some(base) = base.filter(|base| base.name().is_none()) {
                        self.note(base, ty.name());
                    }
                    work.extend(base);
                }
                Tag::Subroutine => work.extend(ty.elements()),
                _ => work.extend(ty.base_type()),
            }
        }
    }

    fn note(&mut self, structure: Metadata<'m>, name: Option<String>) {
        let kind = match structure.tag() {
            Tag::Structure => "struct",
            Tag::Union => "union",
            _ => return,
        };
        let name = format!("{kind} {}", name.as_deref().unwrap_or("anon"));
        let mut fields = FxHashMap::default();
        for member in structure.elements() {
            if let Some(field) = member.name().filter(|_| member.tag() == Tag::Member) {
                fields.entry(member.offset_in_bits() / 8).or_insert(field);
            }
        }
        let size = structure.size_in_bits() / 8;
        self.named
            .entry((name, size))
            .and_modify(|known| {
                // Two types of the same name and size: keep only what they agree on.
                known.retain(|offset, field| fields.get(offset) == Some(field));
            })
            .or_insert(fields);
    }

    /// The name of the field at an offset.
    pub(crate) fn field(&self, name: &str, size: u64, offset: u64) -> Option<String> {
        // Cloning the key is cheap beside the debug information that it comes from.
        let fields = self.named.get(&(name.to_owned(), size))?;
        fields.get(&offset).cloned()
    }
}

/// `struct.foo.12` in LLVM is `struct foo` in the source: the number only tells apart equal
/// names from several files.
pub(crate) fn source_name(llvm_name: &str) -> String {
    let base = match llvm_name.rsplit_once('.') {
        Some((base, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            base
        }
        _ => llvm_name,
    };
    match base.split_once('.') {
        Some((kind @ ("struct" | "union" | "class"), name)) => format!("{kind} {name}"),
        _ => base.to_owned(),
    }
}

/// A type as the source would write it.
pub(crate) fn type_text(ty: Option<Metadata>) -> String {
    let mut suffix = String::new();
    let mut current = ty;
    // A bound, since recursive types can only be recursive through a name.
    for _ in 0..16 {
        let Some(ty) = current else {
            return format!("void{suffix}");
        };
        if let Some(name) = ty.name() {
            let kind = match ty.tag() {
                Tag::Structure => "struct ",
                Tag::Union => "union ",
                Tag::Enumeration => "enum ",
                _ => "",
            };
            return format!("{kind}{name}{suffix}");
        }
        match ty.tag() {
            Tag::Array => suffix.push_str("[]"),
            Tag::Derived => suffix.insert_str(0, if ty.size_in_bits() == 64 { " *" } else { "" }),
            Tag::Subroutine => return format!("function{suffix}"),
            Tag::Structure => return format!("struct{suffix}"),
            Tag::Union => return format!("union{suffix}"),
            Tag::Enumeration => return format!("enum{suffix}"),
            _ => return format!("?{suffix}"),
        }
        current = ty.base_type();
    }
    format!("?{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_llvm_appends_to_type_names_are_dropped() {
        assert_eq!(source_name("struct.foo.12"), "struct foo");
        assert_eq!(source_name("union.bar"), "union bar");
        assert_eq!(source_name("struct.anon.3"), "struct anon");
        assert_eq!(source_name("struct.v1.2x"), "struct v1.2x");
    }

    #[test]
    fn paths_are_cleaned_by_name() {
        assert_eq!(clean(Path::new("./src/../lib/a.c")), "lib/a.c");
        assert_eq!(clean(Path::new("/b/./a.c")), "/b/a.c");
        assert_eq!(clean(Path::new("../a.c")), "../a.c");
    }
}
