//! How inputs and blobs lie in shared memory.
//!
//! **Inputs**: a word with the number of sources, a word of 0, then a [`SourceEntry`] for each
//! source, then their names and bytes. Arguments come first, in order, the program's name included.
//!
//! **Blobs**: each starts at a multiple of 8 with a [`BlobEntry`]; its parts follow at the offsets it
//! names. Blobs are numbered from 1 in the order in which they lie.

/// An argument.
pub const SOURCE_ARGUMENT: u32 = 0;
/// An environment variable; the bytes are its value.
pub const SOURCE_ENVIRONMENT: u32 = 1;
/// Standard input.
pub const SOURCE_STDIN: u32 = 2;
/// A file; the name is its path, as the program would open it.
pub const SOURCE_FILE: u32 = 3;

/// [`SourceEntry::flags`]: its bytes are variables.
pub const SOURCE_SYMBOLIC: u32 = 1;

/// One source of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SourceEntry {
    /// One of the `SOURCE_` numbers.
    pub kind: u32,
    /// [`SOURCE_SYMBOLIC`] or 0.
    pub flags: u32,
    /// Where its name starts, from the start of the region.
    pub name: u32,
    /// How long its name is.
    pub name_len: u32,
    /// Where its bytes start, from the start of the region.
    pub bytes: u32,
    /// How many bytes it has.
    pub len: u32,
    /// How many bytes past its end are variables too (with the value 0). Only arguments and
    /// environment variables have such bytes in memory; the first of them is what ends the string.
    pub pad: u32,
    /// 0.
    pub reserved: u32,
}

/// A table: the content of an object when it was looked up.
pub const BLOB_TABLE: u32 = 1;
/// A conversion of `printf`, as text, such as `%5d`. The value is passed as `long long`, `unsigned
/// long long` or `double`, and the text has the length modifier `ll` for integers.
pub const BLOB_CONVERSION: u32 = 2;
/// A path.
pub const BLOB_PATH: u32 = 3;

/// The start of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct BlobEntry {
    /// One of the `BLOB_` numbers.
    pub kind: u32,
    /// Bytes of its content, which follows the entry.
    pub len: u32,
    /// For a table: 1 if a word for each byte follows the content (at the next multiple of 4): the
    /// shadow of the byte, `byte index << 29 | node`, or 0 where the content counts. Else 0.
    pub shadowed: u32,
    /// The size of the whole blob with this entry, a multiple of 8.
    pub size: u32,
    /// For a table: the address it was taken from.
    pub address: u64,
}

/// The shadow of a byte in memory: byte `index` (0 to 7) of node `id`.
pub const fn cell(id: u32, index: u32) -> u32 {
    index << 29 | id
}

/// The node of a byte's shadow.
pub const fn cell_node(cell: u32) -> u32 {
    cell & ((1 << 29) - 1)
}

/// The byte index of a byte's shadow.
pub const fn cell_index(cell: u32) -> u32 {
    cell >> 29
}
