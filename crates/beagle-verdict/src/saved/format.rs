//! `test.json` and the files it names. These types are the format; the others may change without it.

use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use beagle_trace::{Input, Source, SourceKind};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::{DESCRIPTION, Saved};
use crate::observation::{
    Circumstances, Effect, End, Entry, Fault, FileChange, Observation, Stream,
};

/// The version of the format.
const FORMAT: u32 = 1;

/// Text as it is, or bytes that are no text in base 64.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Base64 { base64: String },
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64 {
                base64: BASE64_STANDARD.encode(bytes),
            },
        }
    }
}

impl Bytes {
    fn into_vec(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Base64 { base64 } => BASE64_STANDARD.decode(base64).map_err(io::Error::other),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Test {
    format: u32,
    id: String,
    class: String,
    standing: Option<String>,
    aspects: Vec<String>,
    signature: String,
    cause: String,
    input: Vec<Part>,
    environment: Vec<(Bytes, Bytes)>,
    fixture: bool,
    old: Run,
    new: Run,
}

/// Only what is needed to know a test again.
#[derive(Deserialize)]
struct Identity {
    id: String,
}

/// One source of the input.
#[derive(Serialize, Deserialize)]
pub(super) struct Part {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Bytes>,
    /// Of arguments and environment variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<Bytes>,
    /// Of standard input and files: the file with the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    symbolic: bool,
    pad: u32,
}

#[derive(Serialize, Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Argument,
    Environment,
    Stdin,
    File,
}

#[derive(Serialize, Deserialize)]
struct Run {
    end: End,
    stdout: Content,
    stderr: Content,
    files: Vec<Change>,
    fault: Option<Fault>,
    pid: u32,
    clock: (u64, u64),
}

/// The first bytes are in a file; length and hash are of all.
#[derive(Serialize, Deserialize)]
struct Content {
    file: String,
    length: u64,
    blake3: String,
}

#[derive(Serialize, Deserialize)]
struct Change {
    path: Bytes,
    effect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<Node>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Node {
    File { mode: u32, content: Content },
    Directory { mode: u32 },
    Link { target: Bytes },
    Special,
}

/// Where the content of a file of the input lies.
pub(super) fn input_file(index: usize) -> String {
    format!("files/{index}")
}

/// The identity of the test with this description, if it is one.
pub(super) fn identity(description: &Path) -> Option<String> {
    let text = fs::read(description).ok()?;
    let found: Identity = serde_json::from_slice(&text).ok()?;
    Some(found.id)
}

pub(super) fn write(directory: &Path, test: &Saved, id: &str) -> io::Result<()> {
    let input = write_input(directory, &test.input)?;
    let description = Test {
        format: FORMAT,
        id: id.to_owned(),
        class: test.class.clone(),
        standing: test.standing.clone(),
        aspects: test.aspects.clone(),
        signature: test.signature.clone(),
        cause: test.cause.clone(),
        input,
        environment: test
            .environment
            .iter()
            .map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()))
            .collect(),
        fixture: test.fixture.is_some(),
        old: write_run(directory, "old", &test.old)?,
        new: write_run(directory, "new", &test.new)?,
    };
    let mut text = serde_json::to_vec_pretty(&description)?;
    text.push(b'\n');
    fs::write(directory.join(DESCRIPTION), text)
}

/// Writes the contents of an input; what is returned is for its description.
pub(super) fn write_input(directory: &Path, input: &Input) -> io::Result<Vec<Part>> {
    let sources = input.sources.iter().enumerate();
    let parts = sources.map(|(index, source)| write_part(directory, index, source));
    parts.collect()
}

fn write_part(directory: &Path, index: usize, source: &Source) -> io::Result<Part> {
    let kind = match source.kind {
        SourceKind::Argument => Kind::Argument,
        SourceKind::Environment => Kind::Environment,
        SourceKind::Stdin => Kind::Stdin,
        SourceKind::File => Kind::File,
    };
    let file = match kind {
        Kind::Stdin => Some("stdin".to_owned()),
        Kind::File => Some(input_file(index)),
        Kind::Argument | Kind::Environment => None,
    };
    if let Some(file) = &file {
        write_file(directory, file, source.content())?;
    }
    Ok(Part {
        kind,
        name: (!source.name.is_empty()).then(|| source.name[..].into()),
        value: file.is_none().then(|| source.content().into()),
        file,
        symbolic: source.symbolic,
        pad: source.pad,
    })
}

fn write_file(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = directory.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

fn write_run(directory: &Path, version: &str, run: &Observation) -> io::Result<Run> {
    let content = |name: String, stream: &Stream| {
        write_file(directory, &name, &stream.bytes)?;
        Ok::<_, io::Error>(Content {
            file: name,
            length: stream.length,
            blake3: blake3::Hash::from(stream.hash).to_hex().to_string(),
        })
    };
    let mut files = Vec::new();
    for (index, change) in run.files.iter().enumerate() {
        let (effect, entry) = match &change.effect {
            Effect::Created(entry) => ("created", Some(entry)),
            Effect::Changed(entry) => ("changed", Some(entry)),
            Effect::Deleted => ("deleted", None),
        };
        let entry = match entry {
            None => None,
            Some(Entry::File { mode, content: it }) => Some(Node::File {
                mode: *mode,
                content: content(format!("{version}/files/{index}"), it)?,
            }),
            Some(Entry::Directory { mode }) => Some(Node::Directory { mode: *mode }),
            Some(Entry::Link { target }) => Some(Node::Link {
                target: target[..].into(),
            }),
            Some(Entry::Special) => Some(Node::Special),
        };
        files.push(Change {
            path: change.path[..].into(),
            effect: effect.to_owned(),
            entry,
        });
    }
    Ok(Run {
        end: run.end,
        stdout: content(format!("{version}/stdout"), &run.stdout)?,
        stderr: content(format!("{version}/stderr"), &run.stderr)?,
        files,
        fault: run.fault.clone(),
        pid: run.circumstances.pid,
        clock: run.circumstances.clock,
    })
}

pub(super) fn read(directory: &Path) -> io::Result<Saved> {
    let text = fs::read(directory.join(DESCRIPTION))?;
    let test: Test = serde_json::from_slice(&text)?;
    if test.format != FORMAT {
        let text = format!("its format is {}, this Beagle reads {FORMAT}", test.format);
        return Err(io::Error::other(text));
    }
    let input = read_input(directory, test.input)?;
    let mut environment = Vec::new();
    for (name, value) in test.environment {
        let text = |bytes: Bytes| bytes.into_vec().map(OsStringExt::from_vec);
        environment.push((text(name)?, text(value)?));
    }
    Ok(Saved {
        class: test.class,
        standing: test.standing,
        aspects: test.aspects,
        signature: test.signature,
        cause: test.cause,
        input,
        environment,
        fixture: test.fixture.then(|| directory.join("fixture")),
        old: read_run(directory, test.old)?,
        new: read_run(directory, test.new)?,
    })
}

/// Reads an input by its description.
pub(super) fn read_input(directory: &Path, parts: Vec<Part>) -> io::Result<Input> {
    let sources = parts.into_iter().map(|part| read_part(directory, part));
    Ok(Input {
        sources: sources.collect::<io::Result<_>>()?,
    })
}

fn read_part(directory: &Path, part: Part) -> io::Result<Source> {
    let bytes = match (part.value, part.file) {
        (Some(value), _) => value.into_vec()?,
        (None, Some(file)) => fs::read(directory.join(file))?,
        (None, None) => Vec::new(),
    };
    Ok(Source {
        kind: match part.kind {
            Kind::Argument => SourceKind::Argument,
            Kind::Environment => SourceKind::Environment,
            Kind::Stdin => SourceKind::Stdin,
            Kind::File => SourceKind::File,
        },
        name: part.name.map_or(Ok(Vec::new()), Bytes::into_vec)?,
        bytes,
        symbolic: part.symbolic,
        pad: part.pad,
    })
}

fn read_run(directory: &Path, run: Run) -> io::Result<Observation> {
    let content = |content: Content| {
        Ok::<_, io::Error>(Stream {
            bytes: fs::read(directory.join(content.file))?,
            length: content.length,
            hash: *blake3::Hash::from_hex(content.blake3)
                .map_err(io::Error::other)?
                .as_bytes(),
        })
    };
    let mut files = Vec::new();
    for change in run.files {
        let entry = match change.entry {
            None => None,
            Some(Node::File { mode, content: it }) => Some(Entry::File {
                mode,
                content: content(it)?,
            }),
            Some(Node::Directory { mode }) => Some(Entry::Directory { mode }),
            Some(Node::Link { target }) => Some(Entry::Link {
                target: target.into_vec()?,
            }),
            Some(Node::Special) => Some(Entry::Special),
        };
        let effect = match (&change.effect[..], entry) {
            ("created", Some(entry)) => Effect::Created(entry),
            ("changed", Some(entry)) => Effect::Changed(entry),
            ("deleted", None) => Effect::Deleted,
            (other, _) => {
                return Err(io::Error::other(format!(
                    "`{other}` is no effect on a file"
                )));
            }
        };
        files.push(FileChange {
            path: change.path.into_vec()?,
            effect,
        });
    }
    Ok(Observation {
        end: run.end,
        stdout: content(run.stdout)?,
        stderr: content(run.stderr)?,
        files,
        fault: run.fault,
        time: Duration::ZERO,
        circumstances: Circumstances {
            pid: run.pid,
            clock: run.clock,
        },
    })
}
