//! What programs with the recorder have noted, read back.
//!
//! ```text
//! program          the name of the program whose runs are noted
//! enough           there if no more runs are noted; one byte for each that was not
//! PID-TIME-N/start number of arguments, arguments, directory, environment; each ends in a NUL
//! PID-TIME-N/notes what it did later: a letter and three texts, each ends in a NUL
//! PID-TIME-N/stdin standard input, if it was read
//! PID-TIME-N/fileN the content of a file that it opened
//! ```

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// More than this of a file or of standard input is not noted; `c/recorder/recorder.h` says so, too.
const MOST_BYTES: usize = 1 << 20;

/// One run of the program, as the test-suite started it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Its arguments, the name of the program first.
    pub arguments: Vec<OsString>,
    /// The directory in which it was started.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The environment variables that it asked for.
    pub asked: BTreeSet<OsString>,
    /// Standard input.
    pub stdin: Stdin,
    /// The files that it opened to read them, in the order in which it did.
    pub files: Vec<Opened>,
}

/// What a program got from standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// It did not read any.
    #[default]
    Unread,
    /// This.
    Content(Vec<u8>),
    /// More than can be kept.
    TooLarge,
    /// It came from a terminal, a socket or another device.
    Device,
}

/// A file that a program opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The path as the program gave it.
    pub given: PathBuf,
    /// The path as the system knows it.
    pub real: PathBuf,
    /// What was in it when it was first opened; `None` if that was too much.
    pub content: Option<Vec<u8>>,
}

/// The directories of runs that are over, or of all if the suite is.
pub(crate) fn finished(spool: &Path, all: bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(spool)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some((process, _)) = name.split_once('-') else {
            continue;
        };
        if all || !Path::new("/proc").join(process).exists() {
            found.push(entry.path());
        }
    }
    // Whatever the file system says, the order is that in which they were started.
    found.sort_by_cached_key(|path| order(path));
    Ok(found)
}

fn order(path: &Path) -> (u64, u64, u64) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut numbers = name.split('-').map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let (process, time, again) = (next(), next(), next());
    (time, process, again)
}

/// Reads the notes of one run.
pub(crate) fn read(dir: &Path) -> io::Result<Invocation> {
    let mut invocation = start(&fs_err::read(dir.join("start"))?)
        .ok_or_else(|| io::Error::other("its notes are not complete"))?;
    let notes = match fs_err::read(dir.join("notes")) {
        Ok(notes) => notes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(invocation),
        Err(error) => return Err(error),
    };
    for [kind, first, second, third] in notes_of(&notes) {
        match kind {
            b"e" => {
                invocation.asked.insert(text(first));
            }
            b"f" => invocation.files.push(Opened {
                given: text(first).into(),
                real: text(second).into(),
                content: match third {
                    b"" => None,
                    name => Some(fs_err::read(dir.join(OsStr::from_bytes(name)))?),
                },
            }),
            b"i" => invocation.stdin = stdin(dir, first)?,
            _ => {}
        }
    }
    Ok(invocation)
}

fn stdin(dir: &Path, kind: &[u8]) -> io::Result<Stdin> {
    Ok(match kind {
        b"large" => Stdin::TooLarge,
        b"device" => Stdin::Device,
        b"closed" => Stdin::Unread,
        _ => match fs_err::read(dir.join("stdin"))? {
            content if content.len() > MOST_BYTES => Stdin::TooLarge,
            content => Stdin::Content(content),
        },
    })
}

fn start(bytes: &[u8]) -> Option<Invocation> {
    let mut texts = bytes.strip_suffix(b"\0")?.split(|&byte| byte == 0);
    let count: usize = std::str::from_utf8(texts.next()?).ok()?.parse().ok()?;
    let arguments: Vec<OsString> = texts.by_ref().take(count).map(text).collect();
    let directory = text(texts.next()?).into();
    let environment = texts.filter_map(|variable| {
        let equals = variable.iter().position(|&byte| byte == b'=')?;
        Some((text(&variable[..equals]), text(&variable[equals + 1..])))
    });
    (arguments.len() == count).then(|| Invocation {
        arguments,
        directory,
        environment: environment.collect(),
        ..Invocation::default()
    })
}

/// The letter and the texts of each note. What is cut off at the end does not count.
fn notes_of(bytes: &[u8]) -> impl Iterator<Item = [&[u8]; 4]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (kind, mut left) = rest.split_at_checked(1)?;
        let mut texts = [&b""[..]; 3];
        for text in &mut texts {
            let end = left.iter().position(|&byte| byte == 0)?;
            *text = &left[..end];
            left = &left[end + 1..];
        }
        rest = left;
        let [first, second, third] = texts;
        Some([kind, first, second, third])
    })
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| fs_err::write(dir.path().join(name), text).unwrap();
        write("start", b"2\0p\0-x\0/w\0A=b=c\0B=\0");
        write(
            "notes",
            b"eHOME\0\0\0fdata\0/w/data\0file00\0fbig\0/w/big\0\0ipipe\0\0\0fcut",
        );
        write("file00", b"text");
        write("stdin", b"in");
        let read = read(dir.path()).unwrap();
        assert_eq!(read.arguments, ["p", "-x"]);
        assert_eq!(read.directory, Path::new("/w"));
        assert_eq!(
            read.environment,
            [("A".into(), "b=c".into()), ("B".into(), "".into())]
        );
        assert_eq!(read.asked, BTreeSet::from(["HOME".into()]));
        assert_eq!(read.stdin, Stdin::Content(b"in".to_vec()));
        let contents: Vec<_> = read.files.iter().map(|file| file.content.clone()).collect();
        assert_eq!(contents, [Some(b"text".to_vec()), None]);
    }

    #[test]
    fn what_is_not_complete_is_no_run() {
        for bytes in [&b""[..], b"2\0p\0", b"x\0", b"3\0a\0b\0/w\0"] {
            assert_eq!(start(bytes), None, "{bytes:?}");
        }
        assert!(start(b"0\0/w\0").is_some());
    }

    #[test]
    fn runs_come_in_the_order_in_which_they_were_started() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["7-30-0", "4000000000-20-1", "4000000000-20-0"] {
            fs_err::create_dir(dir.path().join(name)).unwrap();
        }
        fs_err::write(dir.path().join("program"), "").unwrap();
        let found = finished(dir.path(), true).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["4000000000-20-0", "4000000000-20-1", "7-30-0"]);
    }
}
