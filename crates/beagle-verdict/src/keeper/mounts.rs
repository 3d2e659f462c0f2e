//! Makes all file systems read-only but for the private directories, in a namespace of mounts.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};

const NONE: Option<&str> = None;

/// Shows the processes of the namespace in `/proc`. In containers parts of it may be hidden, and then the
/// system refuses; only programs that look for their own number there notice.
pub(crate) fn mount_proc() -> io::Result<()> {
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(NONE, "/", NONE, private, NONE)?;
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    Ok(mount(Some("proc"), "/proc", Some("proc"), safe, NONE)?)
}

/// Leaves only these directories writable.
pub(crate) fn shut(writable: &[Vec<u8>]) -> io::Result<()> {
    let mut open = Vec::new();
    for directory in writable {
        let path = Path::new(std::ffi::OsStr::from_bytes(directory));
        mount(Some(path), path, NONE, MsFlags::MS_BIND, NONE)?;
        open.push(path.to_owned());
    }
    let table = std::fs::read("/proc/self/mountinfo")?;
    for (path, flags) in table.split(|&byte| byte == b'\n').filter_map(parse) {
        if open.contains(&path) || flags.contains(MsFlags::MS_RDONLY) {
            continue;
        }
        let flags = flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        match mount(NONE, &path, NONE, flags, NONE) {
            Ok(()) => {}
            // What lies hidden below another mount cannot be reached by programs either.
            Err(nix::Error::EINVAL | nix::Error::ENOENT | nix::Error::EACCES) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The path and the flags of a mount, from a line of `/proc/self/mountinfo`.
fn parse(line: &[u8]) -> Option<(PathBuf, MsFlags)> {
    let mut fields = line.split(|&byte| byte == b' ');
    let path = unescape(fields.nth(4)?);
    let mut flags = MsFlags::empty();
    for option in fields.next()?.split(|&byte| byte == b',') {
        flags |= match option {
            b"ro" => MsFlags::MS_RDONLY,
            b"nosuid" => MsFlags::MS_NOSUID,
            b"nodev" => MsFlags::MS_NODEV,
            b"noexec" => MsFlags::MS_NOEXEC,
            b"noatime" => MsFlags::MS_NOATIME,
            b"nodiratime" => MsFlags::MS_NODIRATIME,
            b"relatime" => MsFlags::MS_RELATIME,
            _ => MsFlags::empty(),
        };
    }
    Some((path, flags))
}

/// Spaces and the like are written as three octal digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let octal = tail.get(..3).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match (first, octal) {
            (b'\\', Some(byte)) => {
                path.push(byte);
                rest = &tail[3..];
            }
            _ => {
                path.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table_is_understood() {
        let line = br"36 35 98:0 /mnt1 /mnt\0402/x ro,noexec,relatime master:1 - ext3 /dev/root rw";
        let (path, flags) = parse(line).expect("a mount");
        assert_eq!(path, Path::new("/mnt 2/x"));
        let expected = MsFlags::MS_RDONLY | MsFlags::MS_NOEXEC | MsFlags::MS_RELATIME;
        assert_eq!(flags, expected);
        assert!(parse(b"").is_none());
    }
}
