//! Well-known libraries, built with no change to their build files, and their own checks.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use beagle_build::{Built, Cache, Config, Heard, Next, Stdin, Suite, VersionSpec, build};
use common::{BEAGLE, assert_has, defined_in, relink};

/// The sources that a crate carries.
fn sources(name: &str, version: &str, below: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{version}"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-crate.sh");
    let status = Command::new(script)
        .args([name, version])
        .arg(&dir)
        .status()
        .unwrap();
    assert!(status.success(), "{name} {version} cannot be fetched");
    dir.join(below)
}

/// Builds a directory; the build itself runs the project's own checks.
fn built(dir: &Path, command: &str, program: &str) -> Built {
    let cache = tempfile::tempdir().unwrap().keep();
    let cache = Cache::at(&cache, Path::new(BEAGLE)).unwrap();
    let config = Config {
        build: Some(command.into()),
        program: Some(program.into()),
        ..Config::default()
    };
    let spec = VersionSpec::parse(dir.to_str().unwrap(), Path::new("/")).unwrap();
    let built = build(&spec, &config, &cache, &mut |_| {});
    let built = built.unwrap_or_else(|error| panic!("{error}\n{:?}", error.hint()));
    assert_eq!(built.missing, []);
    built
}

/// Runs the bitcode, linked natively again.
fn run(built: &Built, args: &[&str]) -> String {
    let output = Command::new(relink(built))
        .args(args)
        .current_dir(&built.tree)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn clean(built: &Built) {
    let root = built.log.ancestors().nth(2).unwrap();
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn zlib_with_its_configure_script() {
    let dir = sources("libz-sys", "1.1.12", "src/zlib");
    // `examplesh` is linked to the shared library.
    let built = built(&dir, "./configure && make -j2 && make test", "examplesh");
    assert!(
        std::fs::read_to_string(&built.log)
            .unwrap()
            .contains("zlib shared test OK")
    );
    assert_has(
        &defined_in(&built),
        &["main", "deflate", "inflate", "inflate_fast", "crc32"],
    );
    assert!(run(&built, &[]).contains("inflate with dictionary: hello, hello!"));
    clean(&built);
}

#[test]
fn bzip2_with_its_makefile() {
    let dir = sources("bzip2-sys", "0.1.13+1.0.8", "bzip2-1.0.8");
    let built = built(&dir, "make CC=\"$CC\" && make CC=\"$CC\" test", "bzip2");
    assert_has(
        &defined_in(&built),
        &["main", "BZ2_blockSort", "BZ2_decompress"],
    );
    assert!(run(&built, &["-dc", "sample1.bz2"]).contains('P'));
    clean(&built);
}

#[test]
fn libdeflate_with_cmake() {
    let dir = sources("libdeflate-sys", "1.26.1", "libdeflate");
    let command =
        "cmake -B out -DLIBDEFLATE_BUILD_TESTS=ON && cmake --build out -j2 && cd out && ctest";
    let built = built(&dir, command, "out/programs/test_checksums");
    assert!(
        std::fs::read_to_string(&built.log)
            .unwrap()
            .contains("100% tests passed")
    );
    assert_has(
        &defined_in(&built),
        &["main", "libdeflate_crc32", "libdeflate_adler32"],
    );
    clean(&built);
}

/// A project of 8,000 lines, whose suite reads from files and checks what comes out.
#[test]
fn the_test_suite_of_bzip2_is_recorded() {
    let dir = sources("bzip2-sys", "0.1.13+1.0.8", "bzip2-1.0.8");
    let cache = tempfile::tempdir().unwrap();
    let cache = Cache::at(cache.path(), Path::new(BEAGLE)).unwrap();
    let config = Config {
        build: Some("make CC=\"$CC\" bzip2".into()),
        program: Some("bzip2".into()),
        ..Config::default()
    };
    let spec = VersionSpec::parse(dir.to_str().unwrap(), Path::new("/")).unwrap();
    let suite = Suite::prepare(&spec, &config, &cache, &mut |_| {}).unwrap();
    let mut runs = Vec::new();
    let command = ["make", "test"].map(Into::into);
    let ended = suite.run(&command, 100, &mut |heard| {
        match heard {
            Heard::Invocation(run) => runs.push(*run),
            Heard::Lost(cause) => panic!("{cause}"),
            Heard::Nothing => {}
        }
        Next::GoOn
    });
    assert_eq!(ended.unwrap().code, 0);
    let seen: Vec<_> = runs
        .iter()
        .map(|run| {
            let Stdin::Content(content) = &run.stdin else {
                panic!("{:?}", run.stdin);
            };
            let words = run.arguments[1..].join(" ".as_ref());
            (words.into_string().unwrap(), content.len())
        })
        .collect();
    let size = |name: &str| dir.join(name).metadata().unwrap().len() as usize;
    let expected = [
        ("-1", "sample1.ref"),
        ("-2", "sample2.ref"),
        ("-3", "sample3.ref"),
        ("-d", "sample1.bz2"),
        ("-d", "sample2.bz2"),
        ("-ds", "sample3.bz2"),
    ];
    assert_eq!(
        seen,
        expected.map(|(word, name)| (word.to_owned(), size(name)))
    );
}
