//! Sections that Beagle adds to objects, programs and shared libraries, and how to read them.
//!
//! No tools are started for this, because every link asks about every object.

use std::fs::File;
use std::io;
use std::path::Path;

use object::read::archive::ArchiveFile;
use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, Object, ObjectSection, ReadCache, ReadRef, elf};

use crate::append::{SHF_EXCLUDE, Section, append};
use crate::bitcode::MAGIC;
use crate::record::{self, Missing, Record};
use crate::unit::{self, Unit};

/// Bitcode in an object. The name is the one that lld looks for.
pub(crate) const OBJECT_BITCODE: &str = ".llvm.lto";
/// Why an object has no bitcode.
pub(crate) const OBJECT_NOTE: &str = ".beagle.note";
/// How an object was compiled.
pub(crate) const OBJECT_UNIT: &str = ".beagle.unit";
/// The bitcode of a whole program or shared library.
pub(crate) const PROGRAM_BITCODE: &str = ".beagle.bc";
/// The record about it.
pub(crate) const PROGRAM_RECORD: &str = ".beagle.json";

/// Puts contents into sections of a file, instead of what is there under the same names.
pub(crate) fn add(file: &Path, sections: &[(&str, &[u8])]) -> io::Result<()> {
    let section = |&(name, content)| {
        // Linkers leave excluded sections out of what they make.
        let is_for_objects = [OBJECT_BITCODE, OBJECT_NOTE, OBJECT_UNIT].contains(&name);
        Section {
            name,
            content,
            flags: if is_for_objects { SHF_EXCLUDE } else { 0 },
        }
    };
    append(file, &sections.iter().map(section).collect::<Vec<_>>())
}

/// What an object says about its bitcode.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    pub bitcode: bool,
    pub notes: Vec<Missing>,
    /// How it was compiled, if that is known of all of it.
    pub units: Option<Vec<Unit>>,
}

/// What a file, or a member of an archive, says about its bitcode; `None` if it is neither an
/// object nor bitcode.
pub(crate) fn contents(path: &Path, member: Option<&str>) -> Option<Contents> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let Some(member) = member else {
        return contents_of(&cache);
    };
    let archive = ArchiveFile::parse(&cache).ok()?;
    // Members may share a name. All of them must have bitcode to be sure of one.
    let mut found: Option<Contents> = None;
    for entry in archive
        .members()
        .flatten()
        .filter(|entry| entry.name() == member.as_bytes())
    {
        let entry = if archive.is_thin() {
            contents(&path.with_file_name(member), None)?
        } else {
            let (start, size) = entry.file_range();
            contents_of(cache.range(start, size))?
        };
        let Some(found) = &mut found else {
            found = Some(entry);
            continue;
        };
        found.units = None;
        found.bitcode &= entry.bitcode;
        found.notes.extend(entry.notes);
    }
    found
}

fn contents_of<'a>(data: impl ReadRef<'a>) -> Option<Contents> {
    if data.read_bytes_at(0, 4).ok()? == MAGIC {
        return Some(Contents {
            bitcode: true,
            ..Contents::default()
        });
    }
    let file = object::File::parse(data).ok()?;
    let section = |name| file.section_by_name(name)?.data().ok();
    Some(Contents {
        bitcode: file.section_by_name(OBJECT_BITCODE).is_some(),
        notes: section(OBJECT_NOTE).map(record::notes).unwrap_or_default(),
        units: section(OBJECT_UNIT).and_then(unit::units),
    })
}

/// The content of a section.
pub(crate) fn section(path: &Path, name: &str) -> Option<Vec<u8>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    Some(file.section_by_name(name)?.data().ok()?.to_owned())
}

/// The record that a program or shared library carries.
pub(crate) fn record(path: &Path) -> Option<Record> {
    Record::from_json(&section(path, PROGRAM_RECORD)?)
}

/// Whether a path is a file that linkers and loaders would take.
pub(crate) fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    let is_file = path.metadata().is_ok_and(|data| data.is_file());
    is_file
        && File::open(path)
            .is_ok_and(|mut file| io::Read::read_exact(&mut file, &mut magic).is_ok())
        && magic == elf::ELFMAG
}

/// What a program or shared library tells the loader.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Dynamic {
    /// The names of the libraries it needs.
    pub needed: Vec<String>,
    /// Its own name, for libraries.
    pub soname: Option<String>,
    /// Whether it can be run.
    pub executable: bool,
}

/// Reads what a file tells the loader; `None` if it is no program or library.
pub(crate) fn dynamic(path: &Path) -> Option<Dynamic> {
    let cache = ReadCache::new(File::open(path).ok()?);
    match object::FileKind::parse(&cache).ok()? {
        object::FileKind::Elf32 => dynamic_of::<elf::FileHeader32<Endianness>>(&cache),
        object::FileKind::Elf64 => dynamic_of::<elf::FileHeader64<Endianness>>(&cache),
        _ => None,
    }
}

fn dynamic_of<H: FileHeader<Endian = Endianness>>(data: &ReadCache<File>) -> Option<Dynamic> {
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let kind = header.e_type(endian);
    if kind != elf::ET_EXEC && kind != elf::ET_DYN {
        return None;
    }
    let sections = header.sections(endian, data).ok()?;
    let has_interpreter = sections.section_by_name(endian, b".interp").is_some();
    let mut found = Dynamic {
        executable: kind == elf::ET_EXEC || has_interpreter,
        ..Dynamic::default()
    };
    let Some((entries, strings)) = sections.dynamic(endian, data).ok()? else {
        return Some(found);
    };
    let strings = sections.strings(endian, data, strings).ok()?;
    for entry in entries {
        let name =
            || Some(String::from_utf8_lossy(entry.string(endian, strings).ok()?).into_owned());
        match entry.tag(endian) {
            elf::DT_NEEDED => found.needed.extend(name()),
            elf::DT_SONAME => found.soname = name(),
            // A position-independent program without an interpreter is linked statically.
            elf::DT_FLAGS_1 => {
                let flags: u64 = entry.d_val(endian).into();
                found.executable |= flags & elf::DF_1_PIE.0 != 0;
            }
            _ => {}
        }
    }
    Some(found)
}
