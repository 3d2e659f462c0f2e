//! Limits: long strings, the ends of objects, sizes and addresses that depend on the input, the heap.

use std::ffi::c_void;

use beagle_trace::Event;
use beagle_trace::layout::Loss;
use beagle_trace::wire::SOURCE_STDIN;

use super::{compare, copy, heap, memory, search};
use crate::harness::{Recording, Source, copied, eval, start};
use crate::{expr, input, object, shadow, slots};

fn recording(bytes: &[u8]) -> Recording {
    start(&[Source {
        kind: SOURCE_STDIN,
        name: "",
        bytes: bytes.to_vec(),
        pad: 0,
    }])
}

fn lost(recording: &Recording) -> u32 {
    recording
        .losses()
        .get(&(Loss::Model as u32))
        .copied()
        .unwrap_or(0)
}

#[test]
fn the_length_of_a_long_string_is_assumed() {
    let text = vec![b'a'; 10_000];
    let recording = recording(&text);
    let p = recording.buffer(0).as_mut_ptr();
    let symbol = search::bg_x_strlen as *const c_void;
    recording.calling(symbol, &[]);
    assert_eq!(unsafe { search::bg_x_strlen(p.cast()) }, 10_000);
    assert_eq!(recording.returned(symbol), 0);
    assert_eq!(lost(&recording), 0);
    let assumptions = recording.assumptions();
    assert_eq!(assumptions.len(), 10_000usize.div_ceil(256));
    let mut other = text.clone();
    other[9_000] = 0;
    assert_eq!(eval(assumptions[9_000 / 256], &[&other]), Some(0));
    other[9_000] = b'z';
    assert_eq!(eval(assumptions[9_000 / 256], &[&other]), Some(1));
    // The second time there is nothing new to assume.
    recording.calling(symbol, &[]);
    unsafe { search::bg_x_strlen(p.cast()) };
    assert_eq!(recording.assumptions().len(), assumptions.len());
}

#[test]
fn what_is_too_long_is_counted() {
    let recording = recording(&[b'a'; 6000]);
    let p = recording.buffer(0).as_mut_ptr();
    let q = vec![b'a'; 6000].leak().as_ptr();
    for (symbol, call) in [
        (
            compare::bg_x_memcmp as *const c_void,
            (&|| unsafe { compare::bg_x_memcmp(p.cast(), q.cast(), 6000) == 0 })
                as &dyn Fn() -> bool,
        ),
        (search::bg_x_strchr as *const c_void, &|| unsafe {
            search::bg_x_strchr(p.cast(), i32::from(b'x')).is_null()
        }),
    ] {
        let before = lost(&recording);
        recording.calling(symbol, &[]);
        assert!(call());
        assert_eq!(recording.returned(symbol), 0);
        assert_eq!(lost(&recording), before + 1);
    }
}

#[test]
fn what_a_word_is_compared_with_is_recorded() {
    let recording =
        recording(b"in\0it is too long for a text that could take its place, as it has 70 bytes\0");
    let p = recording.buffer(0).as_mut_ptr();
    let compare = |p: *mut u8, text: &std::ffi::CStr| {
        recording.calling(compare::bg_x_strcmp as *const c_void, &[]);
        unsafe { compare::bg_x_strcmp(p.cast(), text.as_ptr()) };
    };
    compare(p, c"report");
    compare(p, c"in");
    compare(unsafe { p.add(3) }, c"in");
    let copy = copied();
    let trace = copy.trace().unwrap();
    let compared = trace.events().filter_map(|event| match event {
        Event::Compared {
            first,
            last,
            length,
            both,
            other,
            ..
        } => {
            let text: Vec<u8> = other.bytes().collect();
            let ends = [first, last].map(|node| eval(node, &[b"xy"]));
            assert_eq!(ends, [Some(u128::from(b'x')), Some(u128::from(b'y'))]);
            Some((length, both, text))
        }
        _ => None,
    });
    let expected = (2, false, b"report".to_vec());
    assert_eq!(compared.collect::<Vec<_>>(), [expected]);
}

/// A string at the very end of its object, ended by a variable: nothing behind it is read.
#[test]
fn nothing_is_read_behind_the_object() {
    let recording = recording(b"abc\0");
    let memory = recording.buffer(0);
    let p = memory.as_mut_ptr();
    unsafe { object::heap(p, 4) };
    memory[4..8].copy_from_slice(b"zzzz");
    let symbol = search::bg_x_strlen as *const c_void;
    recording.calling(symbol, &[]);
    assert_eq!(unsafe { search::bg_x_strlen(p.cast()) }, 3);
    let id = recording.returned(symbol);
    assert!(recording.holds(&[b"a\0c\0"]));
    assert_eq!(eval(id, &[b"a\0c\0"]), Some(1));
    assert!(!recording.holds(&[b"abcd"]));
    unsafe { object::gone(p) };
}

/// The same without knowledge of the object, at the end of the last page that can be read.
#[test]
fn nothing_is_read_behind_the_page() {
    let recording = recording(b"abc\0");
    unsafe {
        let pages = crate::sys::map(8192).unwrap();
        crate::sys::munmap(pages.add(4096).cast(), 4096);
        let p = pages.add(4092);
        std::ptr::copy_nonoverlapping(b"abc\0".as_ptr(), p, 4);
        {
            let _inside = slots::enter().unwrap();
            input::mark(p, 4, 0, 0);
        }
        let symbol = search::bg_x_strchr as *const c_void;
        recording.calling(symbol, &[]);
        assert!(search::bg_x_strchr(p.cast(), 122).is_null());
        let id = recording.returned(symbol);
        assert!(recording.holds(&[b"azc\0"]));
        assert_eq!(eval(id, &[b"azc\0"]), Some(p as u128 + 1));
        assert!(!recording.holds(&[b"abcd"]));
        let symbol = compare::bg_x_strcmp as *const c_void;
        recording.calling(symbol, &[]);
        assert_eq!(compare::bg_x_strcmp(p.cast(), c"abcd".as_ptr()), -100);
        let id = recording.returned(symbol);
        assert_eq!(eval(id, &[b"ab\0\0"]), Some(u128::from(-99i32 as u32)));
        crate::sys::munmap(pages.cast(), 4096);
    }
}

#[test]
fn sizes_are_assumed() {
    let recording = recording(&[5, b'x']);
    let inside = slots::enter().unwrap();
    let size = expr::zext(input::var(0, 0), 64).id;
    let byte = expr::zext(input::var(0, 1), 32).id;
    drop(inside);
    recording.calling(heap::bg_x_malloc as *const c_void, &[size]);
    let p = unsafe { heap::bg_x_malloc(5) };
    assert!(recording.holds(&[&[5, 0]]));
    assert!(!recording.holds(&[&[6, 0]]));
    recording.calling(memory::bg_x_memset as *const c_void, &[0, byte, 0]);
    unsafe { memory::bg_x_memset(p, i32::from(b'x'), 5) };
    unsafe {
        assert_eq!(
            object::find(p.cast::<u8>().add(2), 3).map(|o| o.size),
            Some(5)
        );
        assert_eq!(object::find(p.cast::<u8>().add(2), 4), None);
        let id = {
            let _inside = slots::enter().unwrap();
            shadow::load(p.cast::<u8>().add(1), 2).id
        };
        assert_eq!(eval(id, &[&[5, 0x41]]), Some(0x4141));
        // Growing moves the shadows, the rest is concrete, the old place is clean.
        recording.calling(heap::bg_x_realloc as *const c_void, &[]);
        let q = heap::bg_x_realloc(p, 500_000);
        assert_ne!(p, q);
        assert!(shadow::any(q.cast::<u8>().add(4), 1));
        assert!(!shadow::any(q.cast::<u8>().add(5), 499_995));
        assert!(!shadow::any(p.cast(), 5));
        assert_eq!(object::find(q.cast(), 1).map(|o| o.size), Some(500_000));
        recording.calling(heap::bg_x_free as *const c_void, &[]);
        heap::bg_x_free(q);
        assert_eq!(object::find(q.cast(), 1), None);
        assert!(!shadow::any(q.cast(), 500_000));
    }
}

#[test]
fn addresses_are_assumed() {
    let recording = recording(b"\x02hello");
    let p = recording.buffer(0).as_mut_ptr();
    let inside = slots::enter().unwrap();
    let offset = expr::zext(input::var(0, 0), 64);
    let base = expr::Val::concrete(p as u128, 64);
    let pointer = expr::add(base, offset).id;
    drop(inside);
    let symbol = search::bg_x_strlen as *const c_void;
    recording.calling(symbol, &[pointer]);
    assert_eq!(unsafe { search::bg_x_strlen(p.add(2).cast()) }, 4);
    let id = recording.returned(symbol);
    assert!(recording.holds(&[b"\x02he\0\0\0"]));
    assert_eq!(eval(id, &[b"\x02he\0\0\0"]), Some(1));
    assert!(!recording.holds(&[b"\x03hello"]));
}

/// Functions that are not recorded do what they do.
#[test]
fn without_recording() {
    unsafe {
        assert_eq!(search::bg_x_strlen(c"abc".as_ptr()), 3);
        assert_eq!(super::number::bg_x_atoi(c"-17".as_ptr()), -17);
        let mut to = [0; 8];
        let recording = recording(b"x");
        (*slots::slots()).recording = 0;
        copy::bg_x_strcpy(to.as_mut_ptr(), c"abc".as_ptr());
        assert_eq!(to[..4], [97, 98, 99, 0]);
        drop(recording);
    }
}
