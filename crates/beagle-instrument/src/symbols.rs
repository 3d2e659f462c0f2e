//! Which functions of the program others may call by name.
//!
//! A function that only the program itself calls can trust the slots in which its caller passes
//! shadows; one that a library or a plain object may call cannot. The linker decides that, so this
//! looks at what it will see.

use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use rustc_hash::FxHashSet;

use crate::Link;

/// Where the dynamic linker's libraries are, beside what `-L` names.
const DIRECTORIES: &[&str] = &[
    "/usr/local/lib",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
];

/// Options that make symbols of an executable visible to libraries.
const EXPORTING: &[&str] = &[
    "-rdynamic",
    "--export-dynamic",
    "-E",
    "--dynamic-list",
    "--export-dynamic-symbol",
    "-shared",
];

/// What others may call by name.
#[derive(Default)]
pub struct Outside {
    /// Names that libraries and plain objects define or need.
    pub names: FxHashSet<String>,
    /// Everything: it is exported on purpose, or an input cannot be read.
    pub everything: bool,
}

impl Outside {
    /// Looks at everything that is linked with the program.
    pub fn of(link: &Link) -> Self {
        let mut outside = Outside::default();
        let mut directories: Vec<PathBuf> = Vec::new();
        let mut libraries = vec!["c".to_owned()];
        let mut args = link.args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            let mut parts = arg.strip_prefix("-Wl,").unwrap_or(arg).split(',');
            if parts.any(|part| EXPORTING.iter().any(|option| starts(part, option))) {
                outside.everything = true;
            }
            match arg {
                "-o" | "-T" | "-u" | "-z" | "-Xlinker" => drop(args.next()),
                "-L" => directories.extend(args.next().map(|dir| link.dir.join(dir))),
                "-l" => libraries.extend(args.next().map(str::to_owned)),
                _ => {
                    if let Some(dir) = arg.strip_prefix("-L") {
                        directories.push(link.dir.join(dir));
                    } else if let Some(name) = arg.strip_prefix("-l") {
                        libraries.push(name.to_owned());
                    } else if !arg.starts_with('-') {
                        outside.input(&link.dir.join(arg));
                    }
                }
            }
        }
        directories.extend(DIRECTORIES.iter().map(PathBuf::from));
        for library in libraries {
            for path in candidates(&directories, &library) {
                if outside.read(&path) {
                    break;
                }
            }
        }
        outside
    }

    /// A file on the command line, which must be accounted for.
    fn input(&mut self, path: &Path) {
        if path.is_file() && !self.read(path) {
            self.everything = true;
        }
    }

    /// Adds the names in a file; false if it is none that has any.
    fn read(&mut self, path: &Path) -> bool {
        std::fs::read(path).is_ok_and(|bytes| self.bytes(&bytes))
    }

    /// Adds the names in an object, library or archive; false if it is none.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        if let Ok(archive) = ArchiveFile::parse(bytes) {
            for member in archive.members().flatten() {
                if let Ok(data) = member.data(bytes) {
                    self.object(data);
                }
            }
            return true;
        }
        self.object(bytes)
    }

    fn object(&mut self, bytes: &[u8]) -> bool {
        let Ok(file) = object::File::parse(bytes) else {
            return false;
        };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            if let Ok(name) = symbol.name()
                && (symbol.is_undefined() || symbol.is_global())
                && !name.is_empty()
            {
                self.names.insert(name.to_owned());
            }
        }
        true
    }
}

fn starts(part: &str, option: &str) -> bool {
    part.strip_prefix(option)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn candidates(directories: &[PathBuf], library: &str) -> Vec<PathBuf> {
    let names = match library.strip_prefix(':') {
        Some(file) => vec![file.to_owned()],
        // `libc.so` is a text for the linker; the library itself has the number.
        None => vec![
            format!("lib{library}.so"),
            format!("lib{library}.so.6"),
            format!("lib{library}.a"),
        ],
    };
    let join = |dir: &PathBuf| names.iter().map(|name| dir.join(name)).collect::<Vec<_>>();
    directories.iter().flat_map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(args: &[&str]) -> Outside {
        let args: Vec<_> = args.iter().map(|&arg| arg.to_owned()).collect();
        Outside::of(&Link {
            args: &args,
            dir: Path::new("/"),
        })
    }

    #[test]
    fn functions_of_libc_may_be_called_by_it() {
        let outside = outside(&["-lm"]);
        assert!(outside.names.contains("malloc") && outside.names.contains("sin"));
        assert!(!outside.names.contains("my_function"));
        assert!(!outside.everything);
    }

    #[test]
    fn exported_programs_are_open() {
        assert!(outside(&["-rdynamic"]).everything);
        assert!(outside(&["-Wl,--export-dynamic"]).everything);
        assert!(!outside(&["-Wl,--gc-sections", "-lEGL"]).everything);
    }
}
