//! What is read, and how much of it.

use std::ffi::{c_int, c_void};

use beagle_trace::wire::{cell_index, cell_node};

use super::super::real::{self, File};
use super::super::{channel, files, fwrite, getc, memory, read, seek, stat, stream};
use super::printing::outputs;
use super::{Random, c, fresh_path, record};
use crate::expr::Val;
use crate::harness::{Recording, eval, slots};
use crate::{shadow, sys};

#[derive(Clone, Copy, Debug)]
enum Step {
    Getc,
    PutBackLast,
    PutBack(u8),
    Block(usize, usize),
    Tell,
    AtEnd,
    Clear,
    Set(i64),
    FromEnd(i64),
    FromHere(i64),
    Rewind,
}

/// What a step gave: the result, and bytes that were read.
type Given = (i64, Vec<u8>);

fn steps(random: &mut Random) -> Vec<Step> {
    (0..1 + random.below(14))
        .map(|_| match random.below(20) {
            0..=6 => Step::Getc,
            7 | 8 => Step::PutBackLast,
            9 => Step::PutBack(random.next() as u8),
            10 | 11 => Step::Block(1 + random.below(3), random.below(6)),
            12 | 13 => Step::Tell,
            14 | 15 => Step::AtEnd,
            16 => Step::Clear,
            17 => Step::Set(random.below(8) as i64),
            18 => match random.below(3) {
                0 => Step::FromEnd(0),
                1 => Step::FromEnd(-(random.below(3) as i64)),
                _ => Step::FromHere(random.below(3) as i64),
            },
            _ => Step::Rewind,
        })
        .collect()
}

/// The steps on the real stream.
unsafe fn natively(path: &str, steps: &[Step]) -> Vec<Given> {
    let file = real::fopen(c(path).as_ptr(), c"r".as_ptr());
    assert!(!file.is_null());
    let mut last = -1;
    let given = steps
        .iter()
        .map(|step| {
            let mut bytes = Vec::new();
            let result = match *step {
                Step::Getc => {
                    last = real::getc(file);
                    last.into()
                }
                Step::PutBackLast => real::ungetc(last, file).into(),
                Step::PutBack(byte) => real::ungetc(byte.into(), file).into(),
                Step::Block(size, n) => {
                    bytes = vec![0; size * n];
                    let got = real::fread(bytes.as_mut_ptr().cast(), size, n, file);
                    bytes.truncate(got * size);
                    got as i64
                }
                Step::Tell => real::ftell(file),
                Step::AtEnd => real::feof(file).into(),
                Step::Clear => {
                    real::clearerr(file);
                    0
                }
                Step::Set(k) => real::fseeko(file, k, 0).into(),
                Step::FromHere(k) => real::fseeko(file, k, 1).into(),
                Step::FromEnd(k) => real::fseeko(file, k, 2).into(),
                Step::Rewind => {
                    real::rewind(file);
                    0
                }
            };
            (result, bytes)
        })
        .collect();
    real::fclose(file);
    given
}

/// The same, recorded: results with their nodes, and the cells of the bytes read.
unsafe fn recorded(
    recording: &Recording,
    path: &str,
    steps: &[Step],
) -> Vec<(i64, u32, Vec<(u8, u32)>)> {
    let file = real::fopen(c(path).as_ptr(), c"r".as_ptr());
    let (mut last, mut last_node) = (-1, 0);
    let call = |f: *const c_void, args: &[u32]| recording.calling(f, args);
    let given = steps
        .iter()
        .map(|step| {
            let mut bytes = Vec::new();
            let (result, node) = match *step {
                Step::Getc => {
                    let f = getc::bg_x_getc as *const c_void;
                    call(f, &[]);
                    last = getc::bg_x_getc(file);
                    last_node = recording.returned(f);
                    (last.into(), last_node)
                }
                Step::PutBackLast | Step::PutBack(_) => {
                    let f = getc::bg_x_ungetc as *const c_void;
                    let (value, node) = match *step {
                        Step::PutBack(byte) => (byte.into(), 0),
                        _ => (last, last_node),
                    };
                    call(f, &[node]);
                    let result = getc::bg_x_ungetc(value, file);
                    (result.into(), recording.returned(f))
                }
                Step::Block(size, n) => {
                    let f = getc::bg_x_fread as *const c_void;
                    let mut to = vec![0u8; size * n + 1];
                    call(f, &[]);
                    let got = getc::bg_x_fread(to.as_mut_ptr().cast(), size, n, file);
                    let node = recording.returned(f);
                    bytes = to[..got * size]
                        .iter()
                        .map(|b| (*b, *shadow::cell_of(b)))
                        .collect();
                    shadow::clear(to.as_ptr(), to.len());
                    (got as i64, node)
                }
                Step::Tell => {
                    let f = seek::bg_x_ftell as *const c_void;
                    call(f, &[]);
                    (seek::bg_x_ftell(file), recording.returned(f))
                }
                Step::AtEnd => {
                    let f = getc::bg_x_feof as *const c_void;
                    call(f, &[]);
                    (getc::bg_x_feof(file).into(), recording.returned(f))
                }
                Step::Clear => {
                    call(getc::bg_x_clearerr as *const c_void, &[]);
                    getc::bg_x_clearerr(file);
                    (0, 0)
                }
                Step::Set(k) | Step::FromHere(k) | Step::FromEnd(k) => {
                    let f = seek::bg_x_fseek as *const c_void;
                    let whence = match *step {
                        Step::Set(_) => 0,
                        Step::FromHere(_) => 1,
                        _ => 2,
                    };
                    call(f, &[]);
                    let result = seek::bg_x_fseek(file, k, whence);
                    (result.into(), recording.returned(f))
                }
                Step::Rewind => {
                    call(seek::bg_x_rewind as *const c_void, &[]);
                    seek::bg_x_rewind(file);
                    (0, 0)
                }
            };
            (result, node, bytes)
        })
        .collect();
    stream::forget(0, file);
    real::fclose(file);
    channel::forget_all();
    given
}

#[test]
fn streams_are_explained_for_sources_of_every_size() {
    let mut random = Random(7);
    let path = fresh_path();
    let (mut compared, mut symbolic, mut skipped) = (0, 0, 0);
    for round in 0..500 {
        let bytes = random.bytes(9);
        let steps = steps(&mut random);
        let recording = record(path, &bytes);
        let given = unsafe { recorded(&recording, path, &steps) };
        let losses = recording.losses();
        let native = unsafe { natively(path, &steps) };
        for ((result, _, read), (real, real_read)) in given.iter().zip(&native) {
            assert_eq!(result, real, "round {round}: {steps:?} on {bytes:?}");
            assert!(read.iter().map(|(b, _)| b).eq(real_read), "bytes read");
        }
        assert!(
            losses.is_empty(),
            "round {round}: {losses:?} {steps:?} {bytes:?}"
        );
        for _ in 0..6 {
            let mut other = random.bytes(11);
            for (o, b) in other.iter_mut().zip(&bytes) {
                if random.below(2) == 0 {
                    *o = *b;
                }
            }
            if !recording.holds(&[&other]) {
                skipped += 1;
                continue;
            }
            std::fs::write(path, &other).unwrap();
            let native = unsafe { natively(path, &steps) };
            for (i, ((result, node, read), (real, real_read))) in
                given.iter().zip(&native).enumerate()
            {
                let width = match steps[i] {
                    Step::Block(..) | Step::Tell => 64,
                    _ => 32,
                };
                let expected = if *node == 0 {
                    Val::concrete(*result as u64 as u128, width).value
                } else {
                    symbolic += 1;
                    eval(*node, &[&other]).unwrap()
                };
                assert_eq!(
                    expected,
                    Val::concrete(*real as u64 as u128, width).value,
                    "round {round} step {i} of {steps:?}: {bytes:?} explains {other:?}"
                );
                for ((byte, cell), real) in read.iter().zip(real_read) {
                    let explained = match cell_node(*cell) {
                        0 => *byte,
                        n => (eval(n, &[&other]).unwrap() >> (8 * cell_index(*cell))) as u8,
                    };
                    assert_eq!(explained, *real, "round {round}: byte of {steps:?}");
                    compared += 1;
                }
                compared += 1;
            }
        }
    }
    let _ = std::fs::remove_file(path);
    assert!(
        compared > 5_000 && symbolic > 2_000,
        "{compared} {symbolic} {skipped}"
    );
}

#[test]
fn descriptors_are_explained_for_sources_of_every_size() {
    let mut random = Random(11);
    let path = fresh_path();
    let mut compared = 0;
    for round in 0..300 {
        let bytes = random.bytes(9);
        // Read so many, or go to: start, here, end.
        let steps: Vec<(usize, i64)> = (0..1 + random.below(8))
            .map(|_| (random.below(6), random.below(6) as i64))
            .collect();
        let recording = record(path, &bytes);
        let natively = |f: &dyn Fn(c_int, usize, i64, *mut u8) -> i64| unsafe {
            let fd = sys::open(c(path).as_ptr(), 0);
            let given: Vec<_> = steps
                .iter()
                .map(|(kind, n)| {
                    let mut to = [0u8; 8];
                    let result = f(fd, *kind, *n, to.as_mut_ptr());
                    (result, to)
                })
                .collect();
            sys::close(fd);
            given
        };
        let plain = |fd, kind, n, to: *mut u8| unsafe {
            match kind {
                0..=2 => sys::read(fd, to.cast(), n as usize) as i64,
                3 => sys::lseek(fd, n, 0),
                4 => sys::lseek(fd, n / 3, 1),
                _ => sys::lseek(fd, 0, 2),
            }
        };
        let nodes = std::cell::RefCell::new(Vec::new());
        channel::forget_all();
        let given = natively(&|fd, kind, n, to| unsafe {
            let (result, node) = match kind {
                0..=2 => {
                    let f = read::bg_x_read as *const c_void;
                    recording.calling(f, &[]);
                    let got = read::bg_x_read(fd, to.cast(), n as usize) as i64;
                    (got, recording.returned(f))
                }
                _ => {
                    let f = seek::bg_x_lseek as *const c_void;
                    recording.calling(f, &[]);
                    let (n, whence) = match kind {
                        3 => (n, 0),
                        4 => (n / 3, 1),
                        _ => (0, 2),
                    };
                    let got = seek::bg_x_lseek(fd, n, whence);
                    (got, recording.returned(f))
                }
            };
            let cells: Vec<u32> = (0..8).map(|i| *shadow::cell_of(to.add(i))).collect();
            shadow::clear(to, 8);
            nodes.borrow_mut().push((node, cells));
            result
        });
        assert_eq!(given, natively(&plain), "round {round}: {steps:?}");
        assert!(recording.losses().is_empty());
        for _ in 0..6 {
            let other = random.bytes(11);
            if !recording.holds(&[&other]) {
                continue;
            }
            std::fs::write(path, &other).unwrap();
            let native = natively(&plain);
            let nodes = nodes.borrow();
            for ((now, (node, cells)), real) in given.iter().zip(nodes.iter()).zip(&native) {
                let explained = match *node {
                    0 => now.0,
                    n => eval(n, &[&other]).unwrap() as i64,
                };
                assert_eq!(
                    explained, real.0,
                    "round {round}: {steps:?} {bytes:?} {other:?}"
                );
                for (i, cell) in cells.iter().enumerate() {
                    if *cell != 0 && (i as i64) < real.0 {
                        let byte = eval(cell_node(*cell), &[&other]).unwrap() as u8;
                        assert_eq!(byte, real.1[i], "round {round}: byte");
                    }
                }
                compared += 1;
            }
        }
    }
    let _ = std::fs::remove_file(path);
    assert!(compared > 1000, "{compared}");
}

#[test]
fn sizes_of_files_are_sizes_of_sources() {
    let path = fresh_path();
    let recording = record(path, b"seven b");
    unsafe {
        let mut to = [0; 18];
        let f = stat::bg_x_stat as *const c_void;
        recording.calling(f, &[]);
        assert_eq!(stat::bg_x_stat(c(path).as_ptr(), &mut to), 0);
        let size = shadow::load(to.as_ptr().cast::<u8>().add(48), 8);
        assert_eq!(size.value, 7);
        assert_eq!(eval(size.id, &[b"xx"]), Some(2));
        shadow::clear(to.as_ptr().cast(), 144);
    }
    let _ = std::fs::remove_file(path);
}

#[test]
fn a_file_that_the_program_wrote_is_not_input() {
    let path = fresh_path();
    let recording = record(path, b"old content");
    unsafe {
        let name = c(path);
        let f = files::bg_x_fopen as *const c_void;
        recording.calling(f, &[]);
        let file: *mut File = files::bg_x_fopen(name.as_ptr(), c"w".as_ptr());
        let f = fwrite::bg_x_fputs as *const c_void;
        recording.calling(f, &[]);
        // The same bytes, but not from the input.
        fwrite::bg_x_fputs(c"old content".as_ptr(), file);
        real::fclose(file);
        channel::forget_all();
        let fd = sys::open(name.as_ptr(), 0);
        let mut to = [0u8; 4];
        let f = read::bg_x_read as *const c_void;
        recording.calling(f, &[]);
        assert_eq!(read::bg_x_read(fd, to.as_mut_ptr().cast(), 4), 4);
        assert_eq!(recording.returned(f), 0);
        assert!(!shadow::any(to.as_ptr(), 4));
        sys::close(fd);
        assert_eq!(outputs().len(), 1);
    }
    let _ = std::fs::remove_file(path);
}

#[test]
fn a_mapped_source_can_grow_within_its_page() {
    let path = fresh_path();
    let recording = record(path, b"abc");
    unsafe {
        let fd = sys::open(c(path).as_ptr(), 0);
        let f = memory::bg_x_mmap as *const c_void;
        recording.calling(f, &[]);
        let p = memory::bg_x_mmap(std::ptr::null_mut(), 3, 1, 2, fd, 0).cast::<u8>();
        let at = |i: usize| shadow::load(p.add(i), 1);
        assert_eq!(eval(at(1).id, &[b"xyz"]), Some(b'y'.into()));
        assert_eq!(at(5).value, 0);
        assert_eq!(eval(at(5).id, &[b"012345"]), Some(b'5'.into()));
        let f = memory::bg_x_munmap as *const c_void;
        recording.calling(f, &[]);
        assert_eq!(memory::bg_x_munmap(p.cast(), 3), 0);
        assert!(!shadow::any(p, 4096));
        sys::close(fd);
    }
    assert_eq!(unsafe { (*slots()).busy }, 0);
    let _ = std::fs::remove_file(path);
}
