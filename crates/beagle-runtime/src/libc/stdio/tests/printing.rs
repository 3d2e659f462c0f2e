//! What is printed and stored.

use std::ffi::c_void;

use beagle_trace::wire::{cell_index, cell_node};
use beagle_trace::{Blob, Event, Piece, render};

use super::super::{channel, printf, real, sprintf};
use super::{Random, c, fresh_path, record};
use crate::expr::Val;
use crate::harness::{copied, eval};
use crate::variadic::VaList;
use crate::{expr, input, shadow};

/// Variadic arguments in memory, as a caller lays them out.
struct Arguments {
    save: [u64; 22],
    overflow: [u64; 32],
    general: usize,
    float: usize,
    memory: usize,
}

#[repr(C)]
struct List {
    gp_offset: u32,
    fp_offset: u32,
    overflow: *mut u8,
    save: *mut u8,
}

impl Arguments {
    fn new() -> Box<Self> {
        Box::new(Self {
            save: [0; 22],
            overflow: [0; 32],
            general: 0,
            float: 0,
            memory: 0,
        })
    }

    fn list(&mut self) -> VaList {
        let list = List {
            gp_offset: 0,
            fp_offset: 48,
            overflow: self.overflow.as_mut_ptr().cast(),
            save: self.save.as_mut_ptr().cast(),
        };
        unsafe { std::mem::transmute(list) }
    }

    fn place(&mut self, float: bool) -> *mut u8 {
        let at = if float && self.float < 8 {
            self.float += 1;
            &mut self.save[6 + 2 * (self.float - 1)]
        } else if !float && self.general < 6 {
            self.general += 1;
            &mut self.save[self.general - 1]
        } else {
            self.memory += 1;
            &mut self.overflow[self.memory - 1]
        };
        (at as *mut u64).cast()
    }

    fn push(&mut self, v: Val, float: bool) {
        let at = self.place(float);
        unsafe {
            *at.cast::<u64>() = v.value as u64;
            if v.id != 0 {
                shadow::store(at, v.width as usize / 8, v);
            }
        }
    }
}

/// One argument of a random `printf`: what it is made of.
#[derive(Clone, Copy, Debug)]
enum Made {
    /// An integer of so many bytes of the input from this offset on.
    Integer(usize, usize),
    /// A `double` from a byte of the input.
    Double(usize),
    /// The string in the input from this offset on.
    Text(usize),
    /// A number for `*`.
    Constant(i32),
}

fn format(random: &mut Random) -> (String, Vec<Made>) {
    let (mut text, mut made) = (String::new(), Vec::new());
    for _ in 0..1 + random.below(5) {
        text.push_str(["", "x", " = ", "%%", "\n"][random.below(5)]);
        text.push('%');
        let letter = b"ddiuoxXcssfegap"[random.below(15)];
        for flag in ["-", "+", " ", "#", "0"] {
            // Flags that a letter does not know are not defined.
            let known = match letter {
                b'd' | b'i' => flag != "#",
                b'u' => flag == "-" || flag == "0",
                b'c' | b's' | b'p' => flag == "-",
                b'o' | b'x' | b'X' => flag == "-" || flag == "#" || flag == "0",
                _ => true,
            };
            if known && random.below(5) == 0 {
                text.push_str(flag);
            }
        }
        match random.below(4) {
            0 => text.push_str(&format!("{}", 1 + random.below(12))),
            1 => {
                text.push('*');
                made.push(Made::Constant(random.below(20) as i32 - 8));
            }
            _ => {}
        }
        if letter != b'c' && letter != b'p' {
            match random.below(5) {
                0 => text.push_str(&format!(".{}", random.below(8))),
                1 => {
                    text.push_str(".*");
                    made.push(Made::Constant(random.below(9) as i32 - 2));
                }
                _ => {}
            }
        }
        let at = random.below(8);
        match letter {
            b's' => made.push(Made::Text(at)),
            b'f' | b'e' | b'g' | b'a' => made.push(Made::Double(at)),
            b'p' => made.push(Made::Constant(random.below(3) as i32)),
            b'c' => made.push(Made::Integer(at, 4)),
            _ => {
                let (modifier, bytes) = [
                    ("hh", 4),
                    ("h", 4),
                    ("", 4),
                    ("l", 8),
                    ("ll", 8),
                    ("z", 8),
                    ("j", 8),
                    ("t", 8),
                ][random.below(8)];
                text.push_str(modifier);
                made.push(Made::Integer(at, bytes));
            }
        }
        text.push(letter as char);
    }
    (text, made)
}

/// The arguments under an input in `text`, with shadows if these are wanted.
fn arguments(made: &[Made], text: &[u8], symbolic: bool) -> Box<Arguments> {
    let mut arguments = Arguments::new();
    let byte = |i: usize| {
        if symbolic {
            input::var(0, i as u64)
        } else {
            Val::concrete(text[i].into(), 8)
        }
    };
    for one in made {
        match *one {
            Made::Constant(n) => arguments.push(Val::concrete(n as u32 as u128, 64), false),
            Made::Integer(at, bytes) => {
                let low = expr::concat(byte(at + 1), byte(at));
                let value = expr::sext(low, bytes as u16 * 8);
                arguments.push(value, false);
            }
            Made::Double(at) => {
                use beagle_trace::op::Op;
                let number = byte(at);
                let real = f64::from(number.signed() as i32) / 8.0;
                let whole = f64::from(number.signed() as i32).to_bits().into();
                let v = if symbolic {
                    let whole = expr::make(Op::SiToFp, 64, number, None, 0, whole);
                    let eight = Val::concrete(8f64.to_bits().into(), 64);
                    expr::bin_with(Op::FDiv, whole, eight, real.to_bits().into())
                } else {
                    Val::concrete(real.to_bits().into(), 64)
                };
                arguments.push(v, true);
            }
            Made::Text(at) => {
                let p = text[at..].as_ptr() as usize;
                arguments.push(Val::concrete(p as u128, 64), false);
            }
        }
    }
    arguments
}

/// Outputs so far: bytes with their pieces.
pub fn outputs() -> Vec<(Vec<u8>, Vec<Piece>)> {
    let copy = copied();
    let trace = copy.trace().unwrap();
    trace
        .events()
        .filter_map(|event| match event {
            Event::Output { bytes, pieces, .. } => Some((bytes.to_vec(), pieces.collect())),
            _ => None,
        })
        .collect()
}

/// The output under another input, put together from its pieces.
fn explained(output: &(Vec<u8>, Vec<Piece>), other: &[u8]) -> Vec<u8> {
    let (text, pieces) = output;
    let copy = copied();
    let trace = copy.trace().unwrap();
    let mut made = Vec::new();
    let mut at = 0;
    for piece in pieces {
        made.extend_from_slice(&text[at..piece.position as usize]);
        at = (piece.position + piece.length) as usize;
        let value = eval(piece.node, &[other]).unwrap();
        match piece.conversion.map(|number| trace.blob(number).unwrap()) {
            Some(Blob::Conversion(conversion)) => {
                let width = expr::node(piece.node).width;
                made.extend_from_slice(&render(conversion, value, width).unwrap());
            }
            Some(other) => panic!("no conversion: {other:?}"),
            None => made.extend_from_slice(&value.to_le_bytes()[..piece.length as usize]),
        }
    }
    made.extend_from_slice(&text[at..]);
    made
}

/// Text of 12 bytes with zeros here and there, and one at the end.
fn text(random: &mut Random) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..12)
        .map(|_| match random.below(6) {
            0 => 0,
            1 => random.next() as u8,
            _ => b'a' + random.below(26) as u8,
        })
        .collect();
    bytes[11] = 0;
    bytes
}

fn other_text(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let fresh = text(random);
    bytes
        .iter()
        .zip(fresh)
        .map(|(b, f)| if random.below(3) == 0 { f } else { *b })
        .collect()
}

/// The bytes in memory as variables.
unsafe fn shadowed(bytes: &[u8]) -> &'static mut [u8] {
    let memory = Vec::leak(bytes.to_vec());
    for (i, b) in memory.iter().enumerate() {
        *shadow::cell_of(b) = input::var(0, i as u64).id;
    }
    memory
}

#[test]
fn what_is_printed_is_explained_under_every_input() {
    let mut random = Random(3);
    let path = fresh_path();
    let out_path = fresh_path();
    let (mut compared, mut pieces) = (0, 0);
    for round in 0..800 {
        let bytes = text(&mut random);
        let (format, made) = format(&mut random);
        let format_c = c(&format);
        let recording = record(path, &bytes);
        unsafe {
            let memory = shadowed(&bytes);
            let mut given = arguments(&made, memory, true);
            let file = real::fopen(c(out_path).as_ptr(), c"w".as_ptr());
            let f = printf::bg_x_vfprintf as *const c_void;
            recording.calling(f, &[]);
            let mut list = given.list();
            let result = printf::bg_x_vfprintf(file, format_c.as_ptr(), &mut list);
            let node = recording.returned(f);
            real::fclose(file);
            channel::forget_all();
            let printed = std::fs::read(out_path).unwrap();
            assert_eq!(result as usize, printed.len());
            let found = outputs();
            let all: Vec<u8> = found.iter().flat_map(|o| o.0.clone()).collect();
            assert_eq!(all, printed, "round {round}: {format:?}");
            assert!(
                recording.losses().is_empty(),
                "{format:?}: {:?}",
                recording.losses()
            );
            let now: Vec<u8> = found.iter().flat_map(|o| explained(o, &bytes)).collect();
            assert_eq!(
                now, printed,
                "round {round}: {format:?} under its own input"
            );
            pieces += found.iter().map(|o| o.1.len()).sum::<usize>();
            for _ in 0..6 {
                let other = other_text(&mut random, &bytes);
                if !recording.holds(&[&other]) {
                    continue;
                }
                let mut expected = vec![0u8; 4096];
                let n = real::vsnprintf(
                    expected.as_mut_ptr().cast(),
                    4096,
                    format_c.as_ptr(),
                    &mut arguments(&made, &other, false).list(),
                );
                expected.truncate(n as usize);
                let made: Vec<u8> = found.iter().flat_map(|o| explained(o, &other)).collect();
                assert_eq!(
                    made, expected,
                    "round {round}: {format:?} {bytes:?} {other:?}"
                );
                let length = match node {
                    0 => result,
                    id => eval(id, &[&other]).unwrap() as i32,
                };
                assert_eq!(length, n, "round {round}: length of {format:?}");
                compared += 1;
            }
            shadow::clear(memory.as_ptr(), memory.len());
        }
    }
    let _ = (std::fs::remove_file(path), std::fs::remove_file(out_path));
    assert!(compared > 1000 && pieces > 1000, "{compared} {pieces}");
}

#[test]
fn what_is_stored_is_explained_under_every_input() {
    let mut random = Random(5);
    let path = fresh_path();
    let (mut compared, mut symbolic) = (0, 0);
    for round in 0..800 {
        let bytes = text(&mut random);
        let (format, made) = format(&mut random);
        let format_c = c(&format);
        let size = [4096, 1 + random.below(12), 0][random.below(20).min(2)];
        let recording = record(path, &bytes);
        unsafe {
            let memory = shadowed(&bytes);
            let mut given = arguments(&made, memory, true);
            let mut to = vec![1u8; 4096];
            let f = sprintf::bg_x_vsnprintf as *const c_void;
            recording.calling(f, &[]);
            let mut list = given.list();
            let n =
                sprintf::bg_x_vsnprintf(to.as_mut_ptr().cast(), size, format_c.as_ptr(), &mut list);
            assert_eq!(recording.returned(f), 0);
            assert!(
                recording.losses().is_empty(),
                "{format:?}: {:?}",
                recording.losses()
            );
            for _ in 0..6 {
                let other = other_text(&mut random, &bytes);
                if !recording.holds(&[&other]) {
                    continue;
                }
                let mut expected = vec![1u8; 4096];
                let real = real::vsnprintf(
                    expected.as_mut_ptr().cast(),
                    size,
                    format_c.as_ptr(),
                    &mut arguments(&made, &other, false).list(),
                );
                assert_eq!(real, n, "round {round}: {format:?} {bytes:?} {other:?}");
                for (i, expected) in expected.iter().enumerate().take(64) {
                    let cell = *shadow::cell_of(&to[i]);
                    let explained = match cell_node(cell) {
                        0 => to[i],
                        id => {
                            symbolic += 1;
                            (eval(id, &[&other]).unwrap() >> (8 * cell_index(cell))) as u8
                        }
                    };
                    assert_eq!(explained, *expected, "round {round}: {format:?} byte {i}");
                }
                compared += 1;
            }
            shadow::clear(to.as_ptr(), to.len());
            shadow::clear(memory.as_ptr(), memory.len());
        }
    }
    let _ = std::fs::remove_file(path);
    assert!(compared > 700 && symbolic > 2000, "{compared} {symbolic}");
}
