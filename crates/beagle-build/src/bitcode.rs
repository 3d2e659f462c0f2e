//! The outside of LLVM bitcode: where a module ends, and which LLVM wrote it.
//!
//! A bitcode file is a magic number and a sequence of blocks. Linkers that know nothing of it
//! concatenate the sections of several objects, and so several files; the lengths in the block
//! headers let us take them apart again. Nothing inside a module is read here.

use std::path::Path;

use crate::BuildError;
use crate::error::Doing;
use crate::tools::LLVM_MAJOR;

pub(crate) const MAGIC: [u8; 4] = *b"BC\xC0\xDE";
const ENTER_BLOCK: u64 = 1;
const END_BLOCK: u64 = 0;
const DEFINE_ABBREVIATION: u64 = 2;
const UNABBREVIATED: u64 = 3;
const IDENTIFICATION_BLOCK: u64 = 13;
const PRODUCER_RECORD: u64 = 1;

/// The bitcode files that were concatenated to make this one; `None` when it is damaged.
pub(crate) fn split(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut files = Vec::new();
    while !bytes.is_empty() {
        let end = file_length(bytes)?;
        files.push(&bytes[..end]);
        bytes = &bytes[end..];
        // A linker may align what follows.
        let padding = bytes.iter().take_while(|&&byte| byte == 0).count();
        bytes = &bytes[padding..];
    }
    Some(files)
}

/// The length of the first bitcode file.
fn file_length(bytes: &[u8]) -> Option<usize> {
    bytes.starts_with(&MAGIC).then_some(())?;
    let mut end = MAGIC.len();
    // Top-level blocks are multiples of four bytes and start with the two bits of
    // `ENTER_BLOCK`; the magic number, as the start of the next file, does not.
    while let Some(block) = Block::at(&bytes[end..]) {
        end = end.checked_add(block.header + block.length)?;
        (end <= bytes.len()).then_some(())?;
    }
    (end > MAGIC.len()).then_some(end)
}

/// The header of a top-level block.
struct Block {
    id: u64,
    abbreviation_width: u32,
    header: usize,
    length: usize,
}

impl Block {
    fn at(bytes: &[u8]) -> Option<Self> {
        let mut bits = Bits { bytes, position: 0 };
        (bits.fixed(2)? == ENTER_BLOCK).then_some(())?;
        let id = bits.variable(8)?;
        let abbreviation_width = u32::try_from(bits.variable(4)?).ok()?;
        bits.align();
        let length = usize::try_from(bits.fixed(32)?).ok()?.checked_mul(4)?;
        Some(Self {
            id,
            abbreviation_width,
            header: bits.position / 8,
            length,
        })
    }
}

/// What the bitcode says wrote it, such as `LLVM19.1.7`.
pub(crate) fn producer(bytes: &[u8]) -> Option<String> {
    let bytes = bytes.strip_prefix(&MAGIC)?;
    let block = Block::at(bytes).filter(|block| block.id == IDENTIFICATION_BLOCK)?;
    let width = block.abbreviation_width;
    let mut bits = Bits {
        bytes: &bytes[block.header..],
        position: 0,
    };
    let mut abbreviations: Vec<Vec<Operand>> = Vec::new();
    loop {
        let record = match bits.fixed(width)? {
            END_BLOCK | ENTER_BLOCK => return None,
            DEFINE_ABBREVIATION => {
                abbreviations.push(bits.abbreviation()?);
                continue;
            }
            UNABBREVIATED => bits.unabbreviated()?,
            id => bits.abbreviated(abbreviations.get(usize::try_from(id - 4).ok()?)?)?,
        };
        if let Some((&PRODUCER_RECORD, text)) = record.split_first() {
            return text
                .iter()
                .map(|&byte| u8::try_from(byte).ok().map(char::from))
                .collect();
        }
    }
}

/// Fails unless LLVM 19 can read this bitcode: it reads its own and that of older versions.
pub(crate) fn check(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    if !bytes.starts_with(&MAGIC) {
        return Err(BuildError::NotBitcode {
            path: path.to_owned(),
        });
    }
    let producer = producer(bytes).unwrap_or_else(|| "an unknown LLVM".into());
    let version = producer.trim_start_matches(|c: char| !c.is_ascii_digit());
    let major = version
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|n| n.parse().ok());
    match major {
        Some(major) if (1..=LLVM_MAJOR).contains(&major) => Ok(()),
        _ => Err(BuildError::OtherLlvm {
            path: path.to_owned(),
            producer,
        }),
    }
}

/// Fails unless the file holds bitcode that Beagle's LLVM can read.
pub fn check_file(path: &Path) -> Result<(), BuildError> {
    let bytes = fs_err::read(path).doing(|| "read bitcode".into())?;
    check(path, &bytes)
}

/// How one operand of an abbreviated record is written.
#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    Array,
    Char6,
}

/// Reads bits, the lowest first.
struct Bits<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Bits<'_> {
    fn fixed(&mut self, width: u32) -> Option<u64> {
        let mut value = 0;
        for bit in 0..width.min(64) {
            let byte = *self.bytes.get(self.position / 8)?;
            value |= u64::from(byte >> (self.position % 8) & 1) << bit;
            self.position += 1;
        }
        Some(value)
    }

    /// Groups of `width` bits whose highest bit says that more follow.
    fn variable(&mut self, width: u32) -> Option<u64> {
        let mut value = 0;
        let mut shift = 0;
        loop {
            let group = self.fixed(width)?;
            let more = 1u64.checked_shl(width.checked_sub(1)?)?;
            value |= (group & (more - 1)).checked_shl(shift)?;
            shift += width - 1;
            if group & more == 0 {
                return Some(value);
            }
        }
    }

    fn align(&mut self) {
        self.position = self.position.next_multiple_of(32);
    }

    fn abbreviation(&mut self) -> Option<Vec<Operand>> {
        let count = self.variable(5)?;
        let mut operands = Vec::new();
        for _ in 0..count {
            operands.push(if self.fixed(1)? == 1 {
                Operand::Literal(self.variable(8)?)
            } else {
                match self.fixed(3)? {
                    1 => Operand::Fixed(u32::try_from(self.variable(5)?).ok()?),
                    2 => Operand::Variable(u32::try_from(self.variable(5)?).ok()?),
                    3 => Operand::Array,
                    4 => Operand::Char6,
                    _ => return None,
                }
            });
        }
        Some(operands)
    }

    /// The code and the operands of a record.
    fn unabbreviated(&mut self) -> Option<Vec<u64>> {
        let code = self.variable(6)?;
        let count = self.variable(6)?;
        let mut record = vec![code];
        for _ in 0..count {
            record.push(self.variable(6)?);
        }
        Some(record)
    }

    fn abbreviated(&mut self, operands: &[Operand]) -> Option<Vec<u64>> {
        let mut record = Vec::new();
        let mut operands = operands.iter();
        while let Some(&operand) = operands.next() {
            if matches!(operand, Operand::Array) {
                let element = *operands.next()?;
                for _ in 0..self.variable(6)? {
                    record.push(self.scalar(element)?);
                }
            } else {
                record.push(self.scalar(operand)?);
            }
        }
        Some(record)
    }

    fn scalar(&mut self, operand: Operand) -> Option<u64> {
        const CHAR6: &[u8; 64] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
        match operand {
            Operand::Literal(value) => Some(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Variable(width) => self.variable(width),
            Operand::Char6 => Some(u64::from(CHAR6[usize::try_from(self.fixed(6)?).ok()?])),
            Operand::Array => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Run;
    use crate::tools::Tools;

    fn clang_bitcode(source: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let (input, output) = (dir.path().join("x.c"), dir.path().join("x.bc"));
        std::fs::write(&input, source).unwrap();
        let run = Run::new(Tools::find().unwrap().clang).args(["-emit-llvm", "-c"]);
        assert!(
            run.args([&input])
                .args(["-o"])
                .args([&output])
                .capture()
                .unwrap()
                .status
                .success()
        );
        std::fs::read(output).unwrap()
    }

    #[test]
    fn concatenated_modules_are_taken_apart() {
        let (a, b) = (
            clang_bitcode("int a;"),
            clang_bitcode("int f(void) { return 1; }"),
        );
        let both = [a.clone(), b.clone()].concat();
        assert_eq!(split(&both).unwrap(), [&a[..], &b[..]]);
        let padded = [a.clone(), vec![0; 8], b.clone()].concat();
        assert_eq!(split(&padded).unwrap(), [&a[..], &b[..]]);
    }

    #[test]
    fn damaged_bitcode_is_not_split() {
        let a = clang_bitcode("int a;");
        assert!(split(&a[..a.len() - 8]).is_none());
        assert!(split(b"BC\xC0\xDE").is_none());
        assert!(split(b"\x7fELF....").is_none());
    }

    #[test]
    fn the_producer_is_read() {
        let bitcode = clang_bitcode("int a;");
        assert!(producer(&bitcode).unwrap().starts_with("LLVM19."));
        check(Path::new("x.bc"), &bitcode).unwrap();
    }

    #[test]
    fn bitcode_of_a_newer_llvm_is_refused() {
        // The Rust compiler brings a newer LLVM of its own.
        let dir = tempfile::tempdir().unwrap();
        let (input, output) = (dir.path().join("x.rs"), dir.path().join("x.bc"));
        std::fs::write(&input, "").unwrap();
        let run = Run::new("rustc").args(["--crate-type=lib", "--emit=llvm-bc", "-o"]);
        assert!(
            run.args([&output, &input])
                .capture()
                .unwrap()
                .status
                .success()
        );
        let error = check_file(&output).unwrap_err();
        assert!(matches!(error, BuildError::OtherLlvm { .. }), "{error}");
        assert_eq!(error.exit_code(), 3);
    }

    #[test]
    fn what_is_not_bitcode_is_refused() {
        let error = check(Path::new("x"), b"#include").unwrap_err();
        assert!(matches!(error, BuildError::NotBitcode { .. }));
    }
}
