//! Things that others make from builds and want to find again, such as instrumented programs.
//!
//! Each is a directory. It is made under another name and then renamed, so that what is there is
//! complete; no lock is held meanwhile. Two that make the same thing at the same time both do the
//! work, and the first one's result is kept.

use std::path::{Path, PathBuf};

use crate::cache::key;
use crate::error::Doing;
use crate::tools::file_identity;
use crate::{BuildError, Cache};

impl Cache {
    /// The directory of the given kind that was made from `parts`: the one in the cache, or else
    /// the one that `make` fills. The key covers the parts and the running Beagle.
    pub fn keep<E: From<BuildError>>(
        &self,
        kind: &str,
        parts: &[&[u8]],
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let identity = self.identity();
        let parts = parts.iter().copied().chain([identity.as_bytes()]);
        let (kind, key) = (self.root.join(kind), key(parts));
        let place = kind.join(key);
        if place.is_dir() {
            return Ok(place);
        }
        fs_err::create_dir_all(&kind).doing(|| "use the cache".into())?;
        let scratch = tempfile::Builder::new()
            .prefix(".making")
            .tempdir_in(&kind)
            .doing(|| "use the cache".into())?;
        make(scratch.path())?;
        let result = fs_err::rename(scratch.path(), &place);
        // Somebody else may have been faster.
        match result {
            Err(_) if place.is_dir() => {}
            Err(error) => return Err(error).doing(|| "write to the cache".into())?,
            // There is nothing left to remove.
            Ok(()) => drop(scratch.keep()),
        }
        Ok(place)
    }

    /// A text for the parts of a key that changes when a file is replaced, without reading it.
    pub fn file_identity(path: &Path) -> String {
        file_identity(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &'static str) -> impl FnOnce(&Path) -> Result<(), BuildError> {
        move |dir| fs_err::write(dir.join("it"), text).doing(|| "write".into())
    }

    #[test]
    fn a_thing_is_made_once_for_the_same_parts() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path(), Path::new("/bin/true")).unwrap();
        let first = cache.keep("things", &[b"a", b"b"], write("one")).unwrap();
        let again = cache.keep("things", &[b"a", b"b"], write("two")).unwrap();
        assert_eq!(first, again);
        assert_eq!(std::fs::read_to_string(first.join("it")).unwrap(), "one");
        let other = cache.keep("things", &[b"ab"], write("two")).unwrap();
        assert_ne!(first, other);
        assert_eq!(
            std::fs::read_dir(dir.path().join("things"))
                .unwrap()
                .count(),
            2
        );
    }

    #[test]
    fn what_could_not_be_made_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path(), Path::new("/bin/true")).unwrap();
        let fail = |_: &Path| Err(BuildError::ToolMissing { name: "x".into() });
        assert!(cache.keep("things", &[b"a"], fail).is_err());
        assert_eq!(
            std::fs::read_dir(dir.path().join("things"))
                .unwrap()
                .count(),
            0
        );
        assert!(cache.keep("things", &[b"a"], write("one")).is_ok());
    }

    #[test]
    fn two_that_make_the_same_agree() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(dir.path(), Path::new("/bin/true")).unwrap();
        let outer = cache.keep("things", &[b"a"], |_: &Path| {
            // The other is faster.
            cache.keep("things", &[b"a"], write("inner")).map(|_| ())
        });
        let place = outer.unwrap();
        assert_eq!(std::fs::read_to_string(place.join("it")).unwrap(), "inner");
        assert_eq!(
            std::fs::read_dir(dir.path().join("things"))
                .unwrap()
                .count(),
            1
        );
    }
}
