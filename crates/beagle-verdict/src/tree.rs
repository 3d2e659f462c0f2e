//! Trees of files: listed and added to, whatever a program has done to them. Links are never followed.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::observation::{Entry, Stream};

/// What lies at each path below a directory.
pub(crate) type Listing = BTreeMap<Vec<u8>, Entry>;

/// How much of all files together is kept, as a multiple of what is kept of one.
const KEEP_TOTAL: u64 = 16;

/// The longest path that the system takes, with some room.
const LONGEST: usize = 4000;

/// Lists a tree, with at most the given number of bytes of each file.
pub(crate) fn list(root: &Path, keep: u64) -> io::Result<Listing> {
    let mut listing = Listing::new();
    let mut room = keep.saturating_mul(KEEP_TOTAL);
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in read_directory(&root.join(&directory))? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            let full = root.join(&path);
            if full.as_os_str().len() > LONGEST {
                listing.insert(path.into_os_string().into_vec(), Entry::Special);
                continue;
            }
            let metadata = fs::symlink_metadata(&full)?;
            let mode = metadata.permissions().mode() & 0o7777;
            let kind = metadata.file_type();
            let found = if kind.is_dir() {
                directories.push(path.clone());
                Entry::Directory { mode }
            } else if kind.is_symlink() {
                let target = fs::read_link(&full)?.into_os_string().into_vec();
                Entry::Link { target }
            } else if kind.is_file() {
                let content = read_file(&full, keep.min(room))?;
                room -= content.bytes.len() as u64;
                Entry::File { mode, content }
            } else {
                Entry::Special
            };
            listing.insert(path.into_os_string().into_vec(), found);
        }
    }
    Ok(listing)
}

/// Programs change permissions, too; this gets us in again.
fn read_directory(path: &Path) -> io::Result<fs::ReadDir> {
    match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(path, PermissionsExt::from_mode(0o700))?;
            fs::read_dir(path)
        }
        other => other,
    }
}

fn read_file(path: &Path, keep: u64) -> io::Result<Stream> {
    let open = || {
        std::fs::OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)
    };
    let mut file = match open() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(path, PermissionsExt::from_mode(0o600))?;
            open()?
        }
        other => other?,
    };
    let mut bytes = Vec::new();
    file.by_ref().take(keep).read_to_end(&mut bytes)?;
    let mut hasher = blake3::Hasher::new();
    hasher.update(&bytes);
    let rest = io::copy(&mut file, &mut hasher)?;
    Ok(Stream {
        length: bytes.len() as u64 + rest,
        hash: *hasher.finalize().as_bytes(),
        bytes,
    })
}

/// Writes a file below a directory, and makes the directories on its way. Returns `None` if the path
/// leads out of the directory, also by a link.
pub(crate) fn write_below(root: &Path, path: &[u8], bytes: &[u8]) -> io::Result<Option<()>> {
    use std::path::Component;
    let mut normal = Vec::new();
    for component in Path::new(std::ffi::OsStr::from_bytes(path)).components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Ok(None),
        }
    }
    let Some((name, directories)) = normal.split_last() else {
        return Ok(None);
    };
    let mut directory = root.to_owned();
    for name in directories {
        directory.push(name);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => {}
            Ok(found) if found.is_symlink() => match fs::canonicalize(&directory) {
                Ok(real) if real.starts_with(root) => directory = real,
                _ => return Ok(None),
            },
            Ok(_) => return Ok(None),
            Err(_) => fs::create_dir(&directory)?,
        }
    }
    let file = directory.join(name);
    match fs::symlink_metadata(&file) {
        Ok(found) if found.is_dir() => return Ok(None),
        // Never written through: it might be a link.
        Ok(_) => fs::remove_file(&file)?,
        Err(_) => {}
    }
    fs::write(&file, bytes)?;
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644))?;
    Ok(Some(()))
}
