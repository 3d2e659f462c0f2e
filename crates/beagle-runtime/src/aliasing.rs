//! Whether two parts of the program's memory would have the same shadows.
//!
//! Shadows go by the low 40 bits of an address. With fixed addresses no two parts of a program share
//! them; where the system insists on random ones they might, once in some thousands of starts.

use crate::shadow::{ADDRESS_MASK, BASE, OBJECTS};
use crate::sys;

/// Room that heap and mappings may still grow into.
const MARGIN: usize = 1 << 30;
const MAX_RANGES: usize = 512;

/// The ranges of memory that the program may use, from the text of `/proc/self/maps`.
fn ranges(text: &[u8]) -> ([(usize, usize); MAX_RANGES], usize) {
    let mut found = [(0, 0); MAX_RANGES];
    let mut count = 0usize;
    for line in text.split(|b| *b == b'\n') {
        let mut ends = line.split(|b| *b == b'-' || *b == b' ');
        let (Some(from), Some(to)) = (ends.next().and_then(hex), ends.next().and_then(hex)) else {
            continue;
        };
        // Not the shadows themselves, nor the shared memory, nor what only the kernel uses.
        let ours = (BASE..OBJECTS + (1 << 40)).contains(&from);
        let shared = line.windows(6).any(|w| w == b"memfd:");
        if ours || shared || from > usize::MAX / 2 {
            continue;
        }
        // Neighbours are one: their shadows are neighbours, too.
        match count.checked_sub(1).and_then(|last| found.get_mut(last)) {
            Some((_, end)) if from - *end < 2 * MARGIN => *end = to,
            _ => {
                if let Some(slot) = found.get_mut(count) {
                    *slot = (from, to);
                    count += 1;
                }
            }
        }
    }
    (found, count)
}

fn hex(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0usize, |n, b| {
        Some(n << 4 | (*b as char).to_digit(16)? as usize)
    })
}

/// Whether any two of the ranges share shadows.
fn any_shared(ranges: &[(usize, usize)]) -> bool {
    let span = ADDRESS_MASK + 1;
    ranges.iter().enumerate().any(|(i, a)| {
        ranges.iter().take(i).any(|b| {
            // How far a starts after b, once round.
            let ahead = (a.0.wrapping_sub(b.0)) & ADDRESS_MASK;
            ahead < b.1 - b.0 + MARGIN || span - ahead < a.1 - a.0 + MARGIN
        })
    })
}

/// Whether this process has to be started again, at other addresses.
pub unsafe fn found() -> bool {
    const ROOM: usize = 1 << 18;
    let fd = sys::open(c"/proc/self/maps".as_ptr(), 0);
    let Some(text) = sys::map(ROOM) else {
        return false;
    };
    let mut len = 0;
    while fd >= 0 && len < ROOM {
        let n = sys::read(fd, text.add(len).cast(), ROOM - len);
        if n <= 0 {
            break;
        }
        len += n as usize;
    }
    sys::close(fd);
    let (ranges, count) = ranges(core::slice::from_raw_parts(text, len));
    sys::munmap(text.cast(), ROOM);
    any_shared(ranges.get(..count).unwrap_or(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &[u8] = b"\
555555554000-555555580000 r-xp 00000000 fe:00 1 /bin/p
555555580000-5555555a1000 rw-p 00000000 00:00 0 [heap]
100000000000-140000000000 rw-p 00000000 00:00 0
7ffff7a00000-7ffff7dff000 rw-s 00000000 00:01 9 /memfd:beagle (deleted)
7ffff7e00000-7ffff7fff000 r-xp 00000000 fe:00 2 /lib/libc.so.6
7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]
";

    #[test]
    fn fixed_addresses_share_nothing() {
        let (ranges, count) = ranges(MAPS);
        assert_eq!(count, 2, "program with heap, and libraries with stack");
        assert!(!any_shared(&ranges[..count]));
    }

    #[test]
    fn the_same_low_bits_are_found() {
        let program = (0x55aa_1234_5000, 0x55aa_1244_5000);
        let library = (0x7faa_1238_0000, 0x7faa_1239_0000);
        assert!(any_shared(&[program, library]));
        let elsewhere = (0x7fba_1238_0000, 0x7fba_1239_0000);
        assert!(!any_shared(&[program, elsewhere]));
        assert!(any_shared(&[
            (0x10_0000_0000, 0x10_0001_0000),
            (0x7f0f_ffff_0000, 0x7f10_0000_1000)
        ]));
    }
}
