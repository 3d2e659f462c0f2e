//! For tests: whatever a replaced function says must hold under every other input that satisfies what
//! was assumed.

use std::ffi::c_void;

use beagle_trace::layout::Loss;
use beagle_trace::wire::{SOURCE_ARGUMENT, cell_index, cell_node};

pub use crate::harness::Random;
use crate::harness::{Recording, Source, eval, start};
use crate::{object, shadow};

/// One input of a case: bytes that are variables, of which those past the content are 0 at first, and
/// fixed bytes in between.
pub struct Text {
    /// The content.
    pub bytes: Vec<u8>,
    /// So many variables follow it.
    pub pad: u32,
    /// These places are fixed.
    pub fixed: Vec<usize>,
}

impl Text {
    /// All of it variable.
    pub fn new(bytes: impl Into<Vec<u8>>, pad: u32) -> Self {
        Self {
            bytes: bytes.into(),
            pad,
            fixed: Vec::new(),
        }
    }

    /// Some of it fixed.
    pub fn some(mut self, random: &mut Random) -> Self {
        let n = self.bytes.len() + self.pad as usize;
        self.fixed = (0..n).filter(|_| random.below(4) == 0).collect();
        self
    }
}

/// What was checked.
#[derive(Default, Debug)]
pub struct Tally {
    /// Cases with an expression as result, or in memory.
    pub followed: usize,
    /// Cases that were lost.
    pub lost: usize,
    /// Other inputs that satisfied the assumptions.
    pub agreed: usize,
    /// Of these, the ones with another result.
    pub different: usize,
    /// Cases in which nothing depends on the input.
    pub concrete: usize,
}

/// What the function under test is called with: where the texts lie, and a place for its output.
pub type Places<'a> = &'a [*mut u8];

/// Makes one case: calls the replaced function, then the real one under other inputs.
pub struct Case<'a> {
    /// The inputs.
    pub texts: Vec<Text>,
    /// Bytes of other inputs come from here.
    pub alphabet: &'a [u8],
    /// The replaced function.
    pub symbol: *const c_void,
    /// Calls it.
    pub call: &'a dyn Fn(Places) -> u64,
    /// Calls the real one.
    pub real: &'a dyn Fn(Places) -> u64,
    /// The place of this text gets output, of so many bytes.
    pub output: Option<(usize, usize)>,
    /// Shadows of arguments: text and byte whose variable, filled with zeros to so many bits, it is.
    pub args: Vec<Option<(usize, usize, u16)>>,
    /// How many other inputs.
    pub tries: usize,
}

const NO_SHADOW: u64 = 0;

impl Case<'_> {
    /// Runs it and checks all.
    pub fn check(self, random: &mut Random, tally: &mut Tally) {
        let sources: Vec<Source> = self
            .texts
            .iter()
            .map(|t| Source {
                kind: SOURCE_ARGUMENT,
                name: "",
                bytes: t.bytes.clone(),
                pad: t.pad,
            })
            .collect();
        let recording = start(&sources);
        let slices: Vec<&'static mut [u8]> = (0..self.texts.len())
            .map(|i| recording.buffer(i as u32))
            .collect();
        let places: Vec<*mut u8> = slices.into_iter().map(|s| s.as_mut_ptr()).collect();
        let sizes: Vec<usize> = self
            .texts
            .iter()
            .map(|t| t.bytes.len() + t.pad as usize)
            .collect();
        for ((p, size), text) in places.iter().zip(&sizes).zip(&self.texts) {
            for i in &text.fixed {
                unsafe { *shadow::cell_of(p.add(*i)) = NO_SHADOW as u32 };
            }
            if random.below(2) == 0 {
                unsafe { object::heap(*p, size + 64) };
            }
        }
        let room: Vec<Vec<u8>> = places
            .iter()
            .zip(&sizes)
            .map(|(p, n)| unsafe { std::slice::from_raw_parts(*p, n + 64).to_vec() })
            .collect();
        let args: Vec<u32> = self
            .args
            .iter()
            .map(|a| match a {
                Some((text, byte, width)) => {
                    let inside = crate::slots::enter().unwrap();
                    let v = crate::input::var(*text as u32, *byte as u64);
                    let v = crate::expr::zext(v, *width);
                    drop(inside);
                    v.id
                }
                None => 0,
            })
            .collect();
        recording.calling(self.symbol, &args);
        let result = (self.call)(&places);
        let id = recording.returned(self.symbol);
        self.compare(&recording, random, tally, &places, &room, result, id);
        for p in &places {
            unsafe { object::gone(*p) };
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn compare(
        &self,
        recording: &Recording,
        random: &mut Random,
        tally: &mut Tally,
        places: &[*mut u8],
        room: &[Vec<u8>],
        result: u64,
        id: u32,
    ) {
        let losses = recording.losses();
        assert!(!losses.contains_key(&(Loss::Mismatch as u32)), "{losses:?}");
        assert!(
            !losses.contains_key(&(Loss::Overwritten as u32)),
            "{losses:?}"
        );
        let lost = losses.contains_key(&(Loss::Model as u32));
        let out: Vec<u8> = self.output.map_or(Vec::new(), |(text, len)| unsafe {
            std::slice::from_raw_parts(places[text], len).to_vec()
        });
        let cells: Vec<u32> = self.output.map_or(Vec::new(), |(text, len)| {
            (0..len)
                .map(|i| unsafe { *shadow::cell_of(places[text].add(i)) })
                .collect()
        });
        let restore = |bytes: &[Vec<u8>]| {
            for (k, p) in places.iter().enumerate() {
                unsafe {
                    std::ptr::copy_nonoverlapping(room[k].as_ptr(), *p, room[k].len());
                    for (i, b) in bytes[k].iter().enumerate() {
                        *p.add(i) = *b;
                    }
                }
            }
        };
        let original: Vec<Vec<u8>> = self
            .texts
            .iter()
            .map(|t| {
                let mut all = t.bytes.clone();
                all.resize(t.bytes.len() + t.pad as usize, 0);
                all
            })
            .collect();
        restore(&original);
        assert_eq!(result, (self.real)(places), "the real result");
        if lost {
            tally.lost += 1;
        } else if id != 0 || cells.iter().any(|c| *c != 0) {
            tally.followed += 1;
        } else {
            tally.concrete += 1;
        }
        let assumptions = recording.assumptions();
        for t in 0..self.tries {
            let mut other = original.clone();
            for _ in 0..if t == 0 { 0 } else { 1 + random.below(4) } {
                let k = random.below(other.len());
                if other[k].is_empty() {
                    continue;
                }
                let i = random.below(other[k].len());
                if !self.texts[k].fixed.contains(&i) {
                    other[k][i] = self.alphabet[random.below(self.alphabet.len())];
                }
            }
            let views: Vec<&[u8]> = other.iter().map(|v| &v[..]).collect();
            if !assumptions.iter().all(|a| eval(*a, &views) == Some(1)) {
                assert!(t != 0, "assumptions hold under the input itself");
                continue;
            }
            restore(&other);
            let expected = (self.real)(places);
            tally.agreed += 1;
            tally.different += usize::from(expected != result);
            let show = || format!("{original:?} {other:?} args {:?}", self.args);
            if id != 0 {
                assert_eq!(eval(id, &views), Some(u128::from(expected)), "{}", show());
            } else if !lost {
                assert_eq!(expected, result, "concrete result; {}", show());
            }
            if lost {
                continue;
            }
            if let Some((text, _)) = self.output {
                for (i, cell) in cells.iter().enumerate() {
                    let now = unsafe { *places[text].add(i) };
                    let said = match cell {
                        0 => out[i],
                        c => (eval(cell_node(*c), &views).unwrap() >> (8 * cell_index(*c))) as u8,
                    };
                    assert_eq!(said, now, "byte {i} of the output; {}", show());
                }
            }
        }
    }
}
