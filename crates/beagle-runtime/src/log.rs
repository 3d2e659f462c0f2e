//! Writes events and counts losses.

use core::ffi::{CStr, c_char};

use beagle_trace::event::{
    ASSUME_VALUE, DECIDING, EXT_ASSUME, EXT_CHECK, EXT_COMPARED, EXT_END, EXT_OUTPUT, EXT_READ,
    EXT_UNWOUND, EXT_VALUE, MAX_EXTENDED, MOST_COMPARED, MOST_DECIDING, MOST_TEXT, extended,
};
use beagle_trace::layout::{Loss, MAX_LOSSES, STOP_EVENTS};
use beagle_trace::wire::{cell_index, cell_node};

use crate::expr::{self, Val};
use crate::shadow;
use crate::slots::slots;
use crate::state::{SCRATCH_WORDS, state, stop};

/// Writes one event: first word `head`, then `body`.
fn put(head: u32, body: &[u32]) {
    put_both(head, body, &[]);
}

/// Writes one event: first word `head`, then `body` and `rest`.
fn put_both(head: u32, body: &[u32], rest: &[u32]) {
    let words = 1 + body.len() + rest.len();
    let slots = slots();
    // SAFETY: the cursor lies in the events or the scratch memory, 64 words before whose end is `end`;
    // longer events are checked against the end of the events.
    unsafe {
        let mut cursor = (*slots).cursor;
        let room = ((*slots).end as usize).saturating_sub(cursor as usize) / 4 + 60;
        if cursor >= (*slots).end || words > room {
            cursor = full();
            if words > SCRATCH_WORDS - 64 {
                return;
            }
        }
        // The first word last: a reader after a crash sees the whole event or none.
        for (i, word) in body.iter().chain(rest).enumerate() {
            *cursor.add(1 + i) = *word;
        }
        *cursor = head;
        (*slots).cursor = cursor.add(words);
    }
}

/// There is no more room for events: gives memory to which they can go unread.
pub fn full() -> *mut u32 {
    let slots = slots();
    // SAFETY: this thread's own slots; the scratch memory is mapped from the start.
    unsafe {
        if (*slots).recording != 0 {
            stop(STOP_EVENTS);
        }
        (*slots).cursor = (*state()).scratch;
        (*slots).end = (*slots).cursor.wrapping_add(SCRATCH_WORDS - 64);
        (*slots).cursor
    }
}

/// A branch on a condition that depends on the input.
pub fn branch(site: u32, taken: u32, node: u32) {
    put(site << 3 | 2 | taken & 1, &[node]);
}

/// A switch on a value that depends on the input.
pub fn switch(site: u32, chosen: u32, node: u32) {
    put(site << 3 | 4, &[chosen << 1 | 1, node]);
}

/// An extended event.
pub fn extend(kind: u32, body: &[u32]) {
    if body.len() <= MAX_EXTENDED as usize {
        put(extended(kind, body.len() as u32), body);
    }
}

/// What follows holds only while `condition` (1 bit, true now) does.
pub fn assume(site: u32, reason: u32, condition: Val) {
    if condition.id != 0 && condition.value == 1 {
        extend(EXT_ASSUME, &[site, reason, condition.id]);
    }
}

/// What follows holds only while `value` is what it is.
pub fn pin(site: u32, reason: u32, value: Val) {
    if value.id != 0 && expr::mark_pinned(value.id) {
        let same = expr::eq(value, Val::concrete(value.value, value.width));
        assume(site, reason, same);
    }
}

/// As [`pin`], where no better reason is known.
pub fn pin_value(site: u32, value: Val) {
    pin(site, ASSUME_VALUE, value);
}

/// A check on the node that held now.
pub fn check(site: u32, what: u32, node: u32) {
    extend(EXT_CHECK, &[site, what, node]);
}

/// The end of the program.
pub fn end(site: u32, what: u32, value: u32, node: u32) {
    extend(EXT_END, &[site, what, value, node]);
}

/// The program read from an input source.
pub fn read(site: u32, source: u32, offset: u64, len: u32, wanted: u32) {
    extend(
        EXT_READ,
        &[
            site,
            source,
            offset as u32,
            (offset >> 32) as u32,
            len,
            wanted,
        ],
    );
}

/// Control came back to a function by `longjmp` or an exception.
pub fn unwound(function: u32) {
    extend(EXT_UNWOUND, &[0, function]);
}

/// A value was put into a variable that is watched.
pub fn watch(site: u32, place: u32, value: u64, node: u32) {
    if place & DECIDING != 0 {
        // SAFETY: the recorded thread alone uses the state.
        let deciding = unsafe { &mut (*state()).deciding };
        if *deciding == MOST_DECIDING {
            return;
        }
        *deciding += 1;
    }
    let (low, high) = (value as u32, (value >> 32) as u32);
    extend(EXT_VALUE, &[site, place, low, high, node]);
}

/// Whether more texts that are compared are to be recorded.
pub fn has_room_for_compared() -> bool {
    // SAFETY: the recorded thread alone uses the state.
    unsafe { (*state()).compared < MOST_COMPARED }
}

/// A text of so many bytes, of which these are the first and the last, was compared with another one.
pub fn compared(site: u32, (first, last): (u32, u32), length: usize, other: &[u8], both: bool) {
    // SAFETY: the recorded thread alone uses the state.
    unsafe { (*state()).compared += 1 };
    let mut words = [0; MOST_TEXT.div_ceil(4)];
    for (word, bytes) in words.iter_mut().zip(other.chunks(4)) {
        for (i, byte) in bytes.iter().enumerate() {
            *word |= u32::from(*byte) << (8 * i);
        }
    }
    let length = (length as u32) << 1 | u32::from(both);
    let body = [site, first, last, length, other.len() as u32];
    let words = words.get(..other.len().div_ceil(4)).unwrap_or(&[]);
    let head = extended(EXT_COMPARED, (body.len() + words.len()) as u32);
    put_both(head, &body, words);
}

/// A part of an output that depends on the input, as it lies in the event.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Piece {
    /// From the start of the output.
    pub position: u32,
    /// In bytes.
    pub len: u32,
    /// Its node.
    pub node: u32,
    /// The blob of its conversion, or 0 for the node's bytes.
    pub conversion: u32,
}

/// At most so many pieces go into one event; who has more makes several events.
pub const MAX_PIECES: usize = 256;

/// The bytes `text[..len]` were written to `channel`; the `pieces` (at most [`MAX_PIECES`]) of it
/// depend on the input.
pub unsafe fn output(site: u32, channel: u32, text: *const u8, len: usize, pieces: &[Piece]) {
    let state = state();
    let header = (*state).header;
    if header.is_null() || len == 0 {
        return;
    }
    let offset = (*header).output_bytes;
    // What is recorded is a beginning: nothing after a gap.
    if (*header).output_lost > 0 || offset + len as u64 > (*header).outputs.size {
        (*header).output_lost += len as u64;
        return;
    }
    core::ptr::copy_nonoverlapping(text, (*state).outputs.add(offset as usize), len);
    (*header).output_bytes = offset + len as u64;
    let body = [
        site,
        channel,
        offset as u32,
        (offset >> 32) as u32,
        len as u32,
    ];
    let pieces = pieces.get(..MAX_PIECES).unwrap_or(pieces);
    // A piece is four words.
    let words = core::slice::from_raw_parts(pieces.as_ptr().cast::<u32>(), 4 * pieces.len());
    put_both(
        extended(EXT_OUTPUT, (body.len() + words.len()) as u32),
        &body,
        words,
    );
}

/// As [`output`], for bytes in the program's memory, whose shadows say what depends on the input.
pub unsafe fn output_memory(site: u32, channel: u32, text: *const u8, len: usize) {
    if !shadow::any(text, len) {
        output(site, channel, text, len, &[]);
        return;
    }
    let mut from = 0;
    while from < len {
        let mut pieces = [Piece::default(); MAX_PIECES];
        let mut count = 0;
        let mut at = from;
        while at < len && count < MAX_PIECES && at - from < 1 << 30 {
            let cell = shadow::healed(text.add(at));
            if cell == 0 {
                at += 1;
                continue;
            }
            let (node, first) = (cell_node(cell), cell_index(cell));
            let mut run = 1;
            while at + run < len
                && first + (run as u32) < 8
                && shadow::healed(text.add(at + run)) == cell + ((run as u32) << 29)
            {
                run += 1;
            }
            let part = expr::extract(expr::node(node), first * 8, run as u16 * 8);
            if part.id != 0
                && let Some(piece) = pieces.get_mut(count)
            {
                *piece = Piece {
                    position: (at - from) as u32,
                    len: run as u32,
                    node: part.id,
                    conversion: 0,
                };
                count += 1;
            }
            at += run;
        }
        output(
            site,
            channel,
            text.add(from),
            at - from,
            pieces.get(..count).unwrap_or(&[]),
        );
        from = at;
    }
}

/// Counts a loss, outside the recorder: by other threads and in signal handlers.
pub fn count_outside(loss: Loss) {
    let state = state();
    // SAFETY: a null header means that nobody reads; the slot's count is only ever added to.
    unsafe {
        if (*state).header.is_null() || (*(*state).header).stop != 0 {
            return;
        }
    }
    lose_named(loss, b"");
}

/// Counts a loss.
pub fn lose(loss: Loss) {
    lose_named(loss, b"");
}

/// Counts a loss that concerns a function.
pub fn lose_in(loss: Loss, function: &CStr) {
    lose_named(loss, function.to_bytes());
}

/// As [`lose_in`], with the name as the instrumented program gives it.
pub unsafe fn lose_at(loss: Loss, function: *const c_char) {
    if function.is_null() {
        lose_named(loss, b"");
    } else {
        lose_named(loss, CStr::from_ptr(function).to_bytes());
    }
}

fn lose_named(loss: Loss, name: &[u8]) {
    let header = unsafe { (*state()).header };
    if header.is_null() {
        return;
    }
    // SAFETY: the header is mapped. Two threads may count at once; a count may then be too low by one,
    // which is why nothing but the report uses it.
    let losses = unsafe { &mut (*header).losses };
    let name = name.get(..56).unwrap_or(name);
    let last = MAX_LOSSES - 1;
    for (i, slot) in losses.iter_mut().enumerate() {
        if slot.cause == 0 {
            slot.cause = if i == last { Loss::Others } else { loss } as u32;
            if i != last {
                slot.name = [0; 56];
                if let Some(to) = slot.name.get_mut(..name.len()) {
                    to.copy_from_slice(name);
                }
            }
        }
        let known = slot.name.iter().position(|b| *b == 0).unwrap_or(56);
        if i == last || slot.cause == loss as u32 && slot.name.get(..known) == Some(name) {
            slot.count = slot.count.saturating_add(1);
            return;
        }
    }
}
