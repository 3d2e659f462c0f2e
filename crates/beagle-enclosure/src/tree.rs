//! Trees of files: copied and removed, with links and permissions, whatever a program has done to
//! them. Links are never followed.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err as fs;

/// Copies the content of a directory into another, which is there.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy(&source, &target)?;
            // After its content, for it may be read-only.
            fs::set_permissions(&target, fs::metadata(&source)?.permissions())?;
        } else if kind.is_symlink() {
            fs_err::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_file() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}

/// Removes everything in a directory. If the directory has gone, it is made again.
pub fn empty(path: &Path) -> io::Result<()> {
    match fs::read_dir(path).map(|mut entries| entries.next().is_none()) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return fs::create_dir_all(path),
        Err(_) => {}
    }
    if remove_content(path).is_ok() {
        return Ok(());
    }
    open_up(path);
    if remove_content(path).is_ok() {
        return Ok(());
    }
    // Directories in directories, deeper than files can be open at a time; this tool copes with them.
    std::process::Command::new("rm")
        .arg("-rf")
        .arg(path)
        .status()?;
    if !path.exists() {
        return fs::create_dir(path);
    }
    remove_content(path)
}

fn remove_content(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Gives us all directories back. If that fails, so does what comes next, with an error.
fn open_up(path: &Path) {
    let mut rest = vec![path.to_owned()];
    while let Some(directory) = rest.pop() {
        let _ = fs::set_permissions(&directory, PermissionsExt::from_mode(0o700));
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
        let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        rest.extend(directories.map(|entry| entry.path()));
    }
}
