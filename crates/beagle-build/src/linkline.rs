//! Link commands derived from the user's: one that makes bitcode, one to link it natively again.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::arguments::Arg;
use crate::options::is_lto;
use crate::process::starts_with;

/// How much of the user's command line the bitcode link follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    /// All that lld is known to understand.
    Everything,
    /// Only what decides which inputs are linked, for lines with options that lld refuses.
    Inputs,
}

/// Whether words for the linker are wrapped for a compiler driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through {
    Driver,
    Linker,
}

/// The user's arguments for a link that makes bitcode, without output and linker choice.
pub(crate) fn for_bitcode(args: &[Arg], follow: Follow, through: Through) -> Vec<OsString> {
    let mut line = Line {
        words: Vec::new(),
        through,
    };
    let mut filter = LinkerFilter {
        follow,
        skip: Skip::None,
    };
    for arg in args {
        match arg {
            Arg::Output(_) => {}
            Arg::Input(input) => line.words.push(input.path.clone().into()),
            Arg::Library(name) => line.joined("-l", name),
            Arg::SearchDir(dir) => line.joined("-L", dir.as_os_str()),
            Arg::Linker(word) => {
                if filter.keeps(word) {
                    line.linker(word);
                }
            }
            Arg::Option(words) if driver_keeps(words, follow) => {
                line.words.extend(words.iter().cloned())
            }
            Arg::Option(_) => {}
        }
    }
    line.words
}

/// The user's arguments for linking the bitcode natively again, absolute in `directory`.
/// `dropped` says which inputs and libraries the bitcode replaces.
pub(crate) fn for_relink(
    args: &[Arg],
    directory: &Path,
    through: Through,
    dropped: impl Fn(&Arg) -> bool,
) -> Vec<String> {
    let mut line = Line {
        words: Vec::new(),
        through: Through::Driver,
    };
    if through == Through::Linker {
        // The line names its own start-up objects and libraries.
        line.words.push("-nostdlib".into());
    }
    let mut filter = LinkerFilter {
        follow: Follow::Everything,
        skip: Skip::None,
    };
    for arg in args.iter().filter(|arg| !dropped(arg)) {
        match arg {
            Arg::Output(_) => {}
            Arg::Input(input) => line.words.push(directory.join(&input.path).into()),
            Arg::Library(name) => line.joined("-l", name),
            Arg::SearchDir(dir) => line.joined("-L", directory.join(dir).as_os_str()),
            Arg::Linker(word) => {
                if filter.keeps(word) {
                    line.linker(word);
                }
            }
            Arg::Option(words) if relink_keeps(words) => line.words.extend(words.iter().cloned()),
            Arg::Option(_) => {}
        }
    }
    line.words
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Whether a word of a link line names something to link, or where to look for it.
pub(crate) fn is_linked(word: &str) -> bool {
    word.starts_with("-l")
        || word.starts_with("-L")
        || word == "-pthread"
        || word.starts_with('/') && Path::new(word).is_file()
}

/// `-lNAME` for a library file such as `dir/libNAME.so.1`.
pub(crate) fn library_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?.strip_prefix("lib")?;
    Some(&name[..name.find(".so")?])
}

struct Line {
    words: Vec<OsString>,
    through: Through,
}

impl Line {
    fn joined(&mut self, prefix: &str, value: &OsStr) {
        let mut word = OsString::from(prefix);
        word.push(value);
        self.words.push(word);
    }

    fn linker(&mut self, word: &OsStr) {
        if self.through == Through::Driver {
            self.words.push("-Xlinker".into());
        }
        self.words.push(word.to_owned());
    }
}

/// Decides on the words for the linker one after the other, since some are values of others.
struct LinkerFilter {
    follow: Follow,
    skip: Skip,
}

enum Skip {
    None,
    /// The word is the value of an option that was dropped.
    Value,
    /// The word is the value of `-z`.
    Keyword,
}

impl LinkerFilter {
    fn keeps(&mut self, word: &OsStr) -> bool {
        match std::mem::replace(&mut self.skip, Skip::None) {
            Skip::Value if !starts_with(word, "-") => return false,
            // `-z` itself was held back until its value is known, and is not worth more: none
            // of the keywords changes which code is linked.
            Skip::Keyword => return false,
            _ => {}
        }
        if word == "-z" {
            self.skip = Skip::Keyword;
            return false;
        }
        let (keeps, has_value) = match self.follow {
            Follow::Everything => (!is_unwanted(word), takes_value(word)),
            Follow::Inputs => (selects_inputs(word), !word.to_string_lossy().contains('=')),
        };
        if !keeps && has_value {
            self.skip = Skip::Value;
        }
        keeps
    }
}

/// Long options may have one dash or two, and their value may follow an equals sign.
fn is_option(word: &OsStr, names: &[&str]) -> bool {
    let text = word.to_string_lossy();
    let name = text.split('=').next().unwrap_or(&text);
    let name = name.strip_prefix("--").or_else(|| name.strip_prefix('-'));
    text.starts_with('-') && name.is_some_and(|name| names.contains(&name))
}

/// Options of the linker that write other files, that print, that make harmless differences
/// fatal, or that only GNU linkers have.
fn is_unwanted(word: &OsStr) -> bool {
    const NAMES: [&str; 34] = [
        "Map",
        "M",
        "print-map",
        "cref",
        "t",
        "trace",
        "verbose",
        "stats",
        "dependency-file",
        "out-implib",
        "plugin",
        "plugin-opt",
        "fatal-warnings",
        "no-undefined",
        "error-unresolved-symbols",
        "no-allow-shlib-undefined",
        "no-undefined-version",
        "s",
        "S",
        "strip-all",
        "strip-debug",
        "reproduce",
        "print-memory-usage",
        "print-gc-sections",
        "print-output-format",
        "sort-section",
        "no-warn-rwx-segments",
        "warn-rwx-segments",
        "hash-size",
        "reduce-memory-overheads",
        "oformat",
        "require-defined",
        "compress-debug-sections",
        "orphan-handling",
    ];
    is_option(word, &NAMES) || starts_with(word, "-plugin-opt")
}

fn takes_value(word: &OsStr) -> bool {
    const NAMES: [&str; 9] = [
        "Map",
        "dependency-file",
        "out-implib",
        "plugin",
        "plugin-opt",
        "reproduce",
        "hash-size",
        "oformat",
        "require-defined",
    ];
    is_option(word, &NAMES) && !word.to_string_lossy().contains('=')
}

/// Options of the linker that decide what is linked; words that are no options are files.
fn selects_inputs(word: &OsStr) -> bool {
    const NAMES: [&str; 21] = [
        "start-group",
        "end-group",
        "(",
        ")",
        "whole-archive",
        "no-whole-archive",
        "Bstatic",
        "Bdynamic",
        "static",
        "dn",
        "dy",
        "non_shared",
        "call_shared",
        "as-needed",
        "no-as-needed",
        "push-state",
        "pop-state",
        "wrap",
        "shared",
        "e",
        "entry",
    ];
    !starts_with(word, "-") || is_option(word, &NAMES)
}

/// Options of the driver that do not choose another linker, add instrumentation or write files.
fn driver_keeps(words: &[OsString], follow: Follow) -> bool {
    const PREFIXES: [&str; 9] = [
        "-fsanitize",
        "-fprofile",
        "-fcs-profile",
        "-fcoverage",
        "-fuse-ld",
        "--ld-path",
        "-save-temps",
        "--save-temps",
        "-M",
    ];
    const EXACT: [&str; 8] = [
        "-v",
        "-s",
        "-coverage",
        "--coverage",
        "-pg",
        "-p",
        "-z",
        "-t",
    ];
    const INPUTS: [&str; 2] = ["-T", "-Wl"];
    let word = words[0].as_os_str();
    !(is_lto(word)
        || PREFIXES.iter().any(|prefix| starts_with(word, prefix))
        || EXACT.iter().any(|name| word == *name)
        || follow == Follow::Inputs && INPUTS.iter().any(|prefix| starts_with(word, prefix)))
}

fn relink_keeps(words: &[OsString]) -> bool {
    const PREFIXES: [&str; 4] = ["-M", "-save-temps", "--save-temps", "-W"];
    let word = words[0].as_os_str();
    !(is_lto(word) || word == "-v" || PREFIXES.iter().any(|prefix| starts_with(word, prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Plan;

    fn plan(line: &str) -> Plan {
        Plan::of_compiler(
            &line
                .split_whitespace()
                .map(OsString::from)
                .collect::<Vec<_>>(),
        )
    }

    fn check(line: &str, follow: Follow, expected: &str) {
        let words = for_bitcode(&plan(line).args, follow, Through::Driver);
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" "), expected, "{line}");
    }

    #[test]
    fn the_bitcode_link_follows_the_order_of_inputs() {
        check(
            "-o p a.o -Wl,--whole-archive libx.a -Wl,--no-whole-archive -L dir -lfoo -pthread",
            Follow::Everything,
            "a.o -Xlinker --whole-archive libx.a -Xlinker --no-whole-archive -Ldir -lfoo -pthread",
        );
    }

    #[test]
    fn files_prints_and_instrumentation_are_left_out() {
        check(
            "a.o -Wl,-Map=p.map -Wl,-Map,p.map -Wl,-z,defs -z now -fsanitize=address -flto -fuse-ld=gold -s \
             -Wl,--no-undefined -Wl,--fatal-warnings -Wl,-plugin,x -v --coverage",
            Follow::Everything,
            "a.o",
        );
    }

    #[test]
    fn a_second_try_keeps_what_selects_inputs() {
        check(
            "a.o -T s.ld -Wl,-rpath,dir -Wl,--odd=1 -Wl,--start-group,b.o,--end-group -Wl,--version-script,v.map -lm",
            Follow::Inputs,
            "a.o -Xlinker --start-group -Xlinker b.o -Xlinker --end-group -lm",
        );
    }

    #[test]
    fn a_relink_is_absolute_and_leaves_out_what_is_replaced() {
        let plan = plan("-o p a.o sub/b.o -Lsub -lm -Wl,-rpath,x -pthread -MD");
        let dropped =
            |arg: &Arg| matches!(arg, Arg::Input(input) if input.path == Path::new("a.o"));
        let words = for_relink(&plan.args, Path::new("/d"), Through::Driver, dropped);
        assert_eq!(
            words.join(" "),
            "/d/sub/b.o -L/d/sub -lm -Xlinker -rpath -Xlinker x -pthread"
        );
    }

    #[test]
    fn libraries_have_names() {
        assert_eq!(library_name(Path::new("d/libfoo.so.1.2")), Some("foo"));
        assert_eq!(library_name(Path::new("foo.so")), None);
    }
}
