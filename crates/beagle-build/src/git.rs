//! What is asked of git. Nothing here writes to the user's repository, index or working tree.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::BuildError;
use crate::error::Doing;
use crate::process::{Run, first_error};
use crate::tools::in_path;

/// Runs git in a repository and returns what it prints, or what it complains about.
fn git<A: AsRef<OsStr>>(
    repo: &Path,
    env: &[(&str, &Path)],
    args: impl IntoIterator<Item = A>,
) -> Result<Result<Vec<u8>, String>, BuildError> {
    let git = in_path("git").ok_or_else(|| BuildError::ToolMissing { name: "git".into() })?;
    let mut run = Run::new(git)
        .args(["-C".as_ref(), repo.as_os_str()])
        .args(args);
    for (name, value) in env {
        run = run.env(name, value);
    }
    // Messages are compared, and taking the index's lock would disturb the user's own git.
    let run = run.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0");
    let output = run.capture().doing(|| "run git".into())?;
    Ok(if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(first_error(&output.stderr))
    })
}

/// Like `git`, where a failure is an error.
fn must<A: AsRef<OsStr>>(
    repo: &Path,
    env: &[(&str, &Path)],
    command: &str,
    args: impl IntoIterator<Item = A>,
) -> Result<Vec<u8>, BuildError> {
    git(
        repo,
        env,
        [OsString::from(command)]
            .into_iter()
            .chain(args.into_iter().map(|a| a.as_ref().to_owned())),
    )?
    .map_err(|message| BuildError::Git {
        command: command.into(),
        message,
    })
}

/// The root of the working tree around a directory, or the repository itself if it is bare.
pub(crate) fn repository(dir: &Path) -> Result<Option<PathBuf>, BuildError> {
    for question in ["--show-toplevel", "--absolute-git-dir"] {
        match git(dir, &[], ["rev-parse", question])? {
            Ok(answer) => return Ok(Some(path(answer.trim_ascii_end()))),
            // Anything else, such as a repository of another owner, the user must know about.
            Err(message)
                if !message.contains("not a git repository") && !message.contains("work tree") =>
            {
                return Err(BuildError::Git {
                    command: "rev-parse".into(),
                    message,
                });
            }
            Err(_) => {}
        }
    }
    Ok(None)
}

/// The full hash of the commit that a text names.
pub(crate) fn commit(repo: &Path, text: &str) -> Result<Option<String>, BuildError> {
    let name = format!("{text}^{{commit}}");
    let answer = git(
        repo,
        &[],
        [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &name,
        ],
    )?;
    Ok(answer
        .ok()
        .map(|hash| String::from_utf8_lossy(hash.trim_ascii()).into_owned()))
}

/// The hash of the tree of a commit.
pub(crate) fn tree(repo: &Path, commit: &str) -> Result<String, BuildError> {
    let hash = must(
        repo,
        &[],
        "rev-parse",
        ["--verify", &format!("{commit}^{{tree}}")],
    )?;
    Ok(String::from_utf8_lossy(hash.trim_ascii()).into_owned())
}

/// A commit, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its full hash.
    pub hash: String,
    /// The first line of its message.
    pub subject: String,
}

/// The commits after one and up to another, oldest first; of merged branches only the merge. It is
/// empty if the second does not come from the first.
pub fn commits(repo: &Path, after: &str, last: &str) -> Result<Vec<Commit>, BuildError> {
    let range = format!("{after}..{last}");
    let args = [
        "--first-parent",
        "--reverse",
        "--format=%H %s",
        &range,
        "--",
    ];
    let listing = must(repo, &[], "log", args)?;
    let listing = String::from_utf8_lossy(&listing);
    let commits = listing.lines().filter_map(|line| {
        let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
        (!hash.is_empty()).then(|| Commit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
        })
    });
    Ok(commits.collect())
}

/// Writes all files of a commit into a directory, by way of an index of its own.
pub(crate) fn export(repo: &Path, commit: &str, dest: &Path) -> Result<(), BuildError> {
    let scratch = tempfile::tempdir().doing(|| "make a temporary directory".into())?;
    let index = scratch.path().join("index");
    let env = [("GIT_INDEX_FILE", index.as_path())];
    must(repo, &env, "read-tree", [commit])?;
    // The prefix is put before each name as it is, so it has to end in a slash.
    let mut prefix = OsString::from("--prefix=");
    prefix.push(dest);
    prefix.push("/");
    must(repo, &env, "checkout-index", [OsStr::new("--all"), &prefix])?;
    Ok(())
}

/// The submodules of a commit: where they are, and which commit of theirs belongs to it.
pub(crate) fn submodules(repo: &Path, commit: &str) -> Result<Vec<(PathBuf, String)>, BuildError> {
    let listing = must(repo, &[], "ls-tree", ["-r", "-z", "--full-tree", commit])?;
    let entries = listing
        .split(|&byte| byte == 0)
        .filter(|entry| entry.starts_with(b"160000 "));
    Ok(entries
        .filter_map(|entry| {
            let tab = entry.iter().position(|&byte| byte == b'\t')?;
            let hash = entry[..tab].rsplit(|&byte| byte == b' ').next()?;
            Some((
                path(&entry[tab + 1..]),
                String::from_utf8_lossy(hash).into_owned(),
            ))
        })
        .collect())
}

/// The files of the working tree that git tracks or would offer to add.
pub(crate) fn files(repo: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let args = [
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "--deduplicate",
    ];
    let listing = must(repo, &[], "ls-files", args)?;
    Ok(listing
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(path)
        .collect())
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
