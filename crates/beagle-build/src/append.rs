//! Adds sections to an ELF file without moving anything that is in it.
//!
//! The new contents, new section names and a new section table go to the end of the file; then
//! the header is pointed at the new table. No byte that is loaded or linked changes its place,
//! so this is safe for objects, libraries and programs of any linker, also for those that
//! `objcopy` refuses, and an interruption leaves the file as it was. The old table and replaced
//! contents stay as unused bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Tells linkers to leave a section out.
pub(crate) const SHF_EXCLUDE: u64 = 0x8000_0000;

const SHT_PROGBITS: u64 = 1;
/// Section counts from here on are kept in the first entry of the table.
const SHN_LORESERVE: u64 = 0xff00;
const SHN_XINDEX: u64 = 0xffff;
/// More sections than any real file has.
const MANY: u64 = 1 << 24;

/// A section to add.
pub(crate) struct Section<'a> {
    pub name: &'a str,
    pub content: &'a [u8],
    pub flags: u64,
}

/// Adds sections to a file, instead of any that are there under the same names.
pub(crate) fn append(path: &Path, sections: &[Section]) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let mut header = vec![0; 64];
    file.read_exact(&mut header)?;
    let layout = Layout::of(&header)?;
    let mut table = Table::read(layout, &header, &mut file)?;
    let mut end = file.seek(SeekFrom::End(0))?;
    for section in sections {
        end = write_aligned(&mut file, end, section.content)?;
        table.set(section, end - section.content.len() as u64);
    }
    end = write_aligned(&mut file, end, &table.names)?;
    table.finish(end - table.names.len() as u64);
    let bytes = table.entries.concat();
    end = write_aligned(&mut file, end, &bytes)?;
    layout.point_at(
        &mut header,
        end - bytes.len() as u64,
        table.entries.len() as u64,
    );
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header)
}

/// Writes at the end of the file, at a multiple of eight; returns the new end.
fn write_aligned(file: &mut File, end: u64, bytes: &[u8]) -> io::Result<u64> {
    let start = end.next_multiple_of(8);
    file.seek(SeekFrom::Start(start))?;
    file.write_all(bytes)?;
    Ok(start + bytes.len() as u64)
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not an ELF file with sections")
}

/// Where a number is in a header: its offset and its size.
type Field = (usize, usize);

/// The places of the numbers in the headers of a kind of ELF file.
#[derive(Clone, Copy)]
struct Layout {
    big_endian: bool,
    table_offset: Field,
    count: Field,
    names_index: Field,
    entry_size: usize,
    name: Field,
    kind: Field,
    flags: Field,
    offset: Field,
    size: Field,
    link: Field,
    alignment: Field,
}

impl Layout {
    fn of(header: &[u8]) -> io::Result<Self> {
        if !header.starts_with(b"\x7fELF") {
            return Err(damaged());
        }
        let big_endian = header[5] == 2;
        match header[4] {
            1 => Ok(Self {
                big_endian,
                table_offset: (0x20, 4),
                count: (0x30, 2),
                names_index: (0x32, 2),
                entry_size: 40,
                name: (0, 4),
                kind: (4, 4),
                flags: (8, 4),
                offset: (16, 4),
                size: (20, 4),
                link: (24, 4),
                alignment: (32, 4),
            }),
            2 => Ok(Self {
                big_endian,
                table_offset: (0x28, 8),
                count: (0x3c, 2),
                names_index: (0x3e, 2),
                entry_size: 64,
                name: (0, 4),
                kind: (4, 4),
                flags: (8, 8),
                offset: (24, 8),
                size: (32, 8),
                link: (40, 4),
                alignment: (48, 8),
            }),
            _ => Err(damaged()),
        }
    }

    fn get(self, bytes: &[u8], (at, size): Field) -> u64 {
        let bytes = &bytes[at..at + size];
        let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        if self.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        }
    }

    fn put(self, bytes: &mut [u8], (at, size): Field, value: u64) {
        let all = value.to_le_bytes();
        bytes[at..at + size].copy_from_slice(&all[..size]);
        if self.big_endian {
            bytes[at..at + size].reverse();
        }
    }

    fn point_at(self, header: &mut [u8], table: u64, count: u64) {
        self.put(header, self.table_offset, table);
        self.put(
            header,
            self.count,
            if count < SHN_LORESERVE { count } else { 0 },
        );
    }
}

/// The section table.
struct Table {
    layout: Layout,
    entries: Vec<Vec<u8>>,
    names: Vec<u8>,
    names_index: usize,
}

impl Table {
    fn read(layout: Layout, header: &[u8], file: &mut File) -> io::Result<Self> {
        let start = layout.get(header, layout.table_offset);
        if start == 0 {
            return Err(damaged());
        }
        let mut first = vec![0; layout.entry_size];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut first)?;
        let count = match layout.get(header, layout.count) {
            0 => layout.get(&first, layout.size),
            count => count,
        };
        let names_index = match layout.get(header, layout.names_index) {
            SHN_XINDEX => layout.get(&first, layout.link),
            index => index,
        };
        if names_index >= count || count > MANY {
            return Err(damaged());
        }
        let mut entries = vec![first];
        for _ in 1..count {
            let mut entry = vec![0; layout.entry_size];
            file.read_exact(&mut entry)?;
            entries.push(entry);
        }
        let names_index = usize::try_from(names_index).map_err(|_| damaged())?;
        let place = &entries[names_index];
        file.seek(SeekFrom::Start(layout.get(place, layout.offset)))?;
        let size = layout.get(place, layout.size);
        let mut names = Vec::new();
        if file.take(size).read_to_end(&mut names)? as u64 != size {
            return Err(damaged());
        }
        Ok(Self {
            layout,
            entries,
            names,
            names_index,
        })
    }

    fn set(&mut self, section: &Section, offset: u64) {
        let layout = self.layout;
        let index = self.entries.iter().skip(1).position(|entry| {
            let name = usize::try_from(layout.get(entry, layout.name)).unwrap_or(usize::MAX);
            let rest = self.names.get(name..).unwrap_or_default();
            rest.strip_prefix(section.name.as_bytes())
                .is_some_and(|end| end.first() == Some(&0))
        });
        let entry = match index {
            Some(index) => &mut self.entries[index + 1],
            None => {
                let name = self.names.len() as u64;
                self.names.extend(section.name.bytes().chain([0]));
                let mut entry = vec![0; layout.entry_size];
                layout.put(&mut entry, layout.name, name);
                layout.put(&mut entry, layout.kind, SHT_PROGBITS);
                layout.put(&mut entry, layout.alignment, 1);
                self.entries.push(entry);
                let last = self.entries.len() - 1;
                &mut self.entries[last]
            }
        };
        layout.put(entry, layout.flags, section.flags);
        layout.put(entry, layout.offset, offset);
        layout.put(entry, layout.size, section.content.len() as u64);
    }

    /// Notes where the names are now, and how many entries there are if the header cannot.
    fn finish(&mut self, names: u64) {
        let layout = self.layout;
        let entry = &mut self.entries[self.names_index];
        layout.put(entry, layout.offset, names);
        layout.put(entry, layout.size, self.names.len() as u64);
        let count = self.entries.len() as u64;
        if count >= SHN_LORESERVE {
            layout.put(&mut self.entries[0], layout.size, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::section;
    use crate::process::Run;
    use crate::tools::Tools;

    /// Compiles a program with these options and adds sections to it, twice.
    fn check(options: &[&str], runs: bool) {
        let dir = tempfile::tempdir().unwrap();
        let (source, output) = (dir.path().join("x.c"), dir.path().join("x"));
        std::fs::write(&source, "int x = 7; int main(void) { return x; }").unwrap();
        let run = Run::new(Tools::find().unwrap().clang).args(options);
        let run = run.args([&source]).args(["-o"]).args([&output]);
        assert!(run.capture().unwrap().status.success(), "{options:?}");
        for text in ["first", "second and longer"] {
            let content = text.as_bytes();
            let add = |name| Section {
                name,
                content,
                flags: SHF_EXCLUDE,
            };
            append(&output, &[add(".one"), add(".other")]).unwrap();
            assert_eq!(
                section(&output, ".one").as_deref(),
                Some(content),
                "{options:?}"
            );
            assert_eq!(
                section(&output, ".other").as_deref(),
                Some(content),
                "{options:?}"
            );
        }
        let listing = Run::new("readelf")
            .args(["-SW"])
            .args([&output])
            .capture()
            .unwrap();
        assert!(
            listing.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&listing.stderr)
        );
        assert_eq!(
            String::from_utf8_lossy(&listing.stdout)
                .matches(".one")
                .count(),
            1
        );
        if runs {
            assert_eq!(Run::new(&output).capture().unwrap().status.code(), Some(7));
        }
    }

    #[test]
    fn programs_of_all_kinds_run_afterwards() {
        for options in [
            &["-O1"][..],
            &["-static"],
            &["-static-pie"],
            &["-no-pie", "-s"],
        ] {
            check(options, true);
        }
    }

    #[test]
    fn objects_of_other_machines_can_be_extended() {
        for target in [
            "i386-linux-gnu",
            "mips-linux-gnu",
            "s390x-linux-gnu",
            "aarch64-linux-gnu",
        ] {
            check(&["-c", "-target", target], false);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(append(file.path(), &[]).is_err());
        std::fs::write(file.path(), [0; 100]).unwrap();
        assert!(append(file.path(), &[]).is_err());
    }
}
