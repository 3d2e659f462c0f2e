//! Shared memory from run to run, and memory in which a program wrote at random.

use std::os::fd::AsFd;
use std::time::Instant;

use beagle_trace::layout::{HEADER_SIZE, Header, PHASE_EXIT, STOP_NODES};
use beagle_trace::op::Op;
use beagle_trace::{
    Event, Input, Limits, Memory, Observed, Printer, Recording, Sizes, Stop, Trace, check,
    evaluate, event,
};

const SMALL: Sizes = Sizes {
    input: 4096,
    nodes: 1 << 16,
    events: 1 << 16,
    blobs: 1 << 14,
    outputs: 1 << 14,
};

/// Numbers that look random and are always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// The other side: writes as the traced program would.
fn write(memory: &Memory, offset: u64, bytes: &[u8]) {
    let written = rustix::io::pwrite(memory.fd().as_fd(), bytes, offset).expect("written");
    assert_eq!(written, bytes.len());
}

fn read_word(memory: &Memory, offset: u64) -> u32 {
    let mut bytes = [0; 4];
    rustix::io::pread(memory.fd().as_fd(), &mut bytes, offset).expect("read");
    u32::from_le_bytes(bytes)
}

fn write_words(memory: &Memory, offset: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    write(memory, offset, &bytes);
}

macro_rules! field {
    ($name:ident) => {
        std::mem::offset_of!(Header, $name) as u64
    };
}

fn events_offset(sizes: Sizes) -> u64 {
    HEADER_SIZE + sizes.input + sizes.nodes
}

/// Does everything that can be done with a trace.
fn use_up(trace: &Trace<'_>, input: &Input) {
    let values = evaluate(trace, input);
    let printer = Printer::new(trace, input);
    for id in 1..trace.nodes().len().min(50) as u32 {
        printer.print(id);
        printer.condition(id, false);
        values.get(id);
    }
    for event in trace.events() {
        if let Event::Output { pieces, .. } = event {
            assert!(pieces.count() < 1 << 20);
        }
    }
    for number in 0..=trace.blob_count() {
        trace.blob(number);
    }
    let observed = Observed {
        stdout: b"x",
        stderr: b"",
        exited: true,
    };
    check(trace, input, Some(observed), None).to_string();
    let recording = trace.to_recording();
    recording.trace().expect("a copy is as sound");
}

#[test]
fn an_untouched_memory_is_an_empty_trace() {
    let mut memory = Memory::new(SMALL).expect("memory");
    let input = Input::from_args("p", ["a"]);
    memory.prepare(&input, &Limits::default()).expect("fits");
    let trace = memory.trace().expect("sound");
    assert_eq!(trace.events().count(), 0);
    assert_eq!(trace.nodes().len(), 1);
    assert_eq!(trace.stop(), None);
    use_up(&trace, &input);
    let limits = Limits::default();
    assert_eq!(read_word(&memory, field!(max_table)), limits.table);
    assert!(read_word(&memory, field!(max_nodes)) < (SMALL.nodes / 32) as u32);
    assert_eq!(read_word(&memory, HEADER_SIZE), 2);
}

#[test]
fn nothing_of_a_run_is_left_for_the_next() {
    let mut memory = Memory::new(SMALL).expect("memory");
    let input = Input::from_args("p", ["a"]);
    let limits = Limits::default();
    memory.prepare(&input, &limits).expect("fits");
    let events = events_offset(SMALL);
    write_words(&memory, events, &[8, 16, 24]);
    // A killed process can leave words behind the end, near and far.
    write_words(&memory, events + 20, &[7]);
    write_words(&memory, events + 60_000, &[7]);
    write_words(&memory, field!(phase), &[PHASE_EXIT, STOP_NODES]);
    write_words(
        &memory,
        field!(losses),
        &[2, 5, u32::from_le_bytes(*b"func")],
    );
    let trace = memory.trace().expect("sound");
    assert_eq!(trace.words(), [8, 16, 24]);
    assert_eq!(trace.stop(), Some(Stop::Nodes));
    assert_eq!(
        trace.losses()[0].to_string(),
        "call of a function that is not followed: func"
    );
    memory.prepare(&input, &limits).expect("fits");
    let trace = memory.trace().expect("sound");
    assert_eq!(trace.events().count(), 0);
    assert_eq!(trace.stop(), None);
    assert!(trace.losses().is_empty());
    for offset in [0, 8, 20, 60_000] {
        assert_eq!(read_word(&memory, events + offset), 0);
    }
}

#[test]
fn an_input_that_does_not_fit_is_refused() {
    let mut memory = Memory::new(SMALL).expect("memory");
    let input = Input::from_args("p", [vec![b'x'; 5000]]);
    let error = memory
        .prepare(&input, &Limits::default())
        .expect_err("too large");
    assert_eq!(
        error.to_string(),
        "the input takes 5073 bytes, but there is room for 4096"
    );
}

#[test]
fn the_program_cannot_cut_the_memory() {
    let memory = Memory::new(SMALL).expect("memory");
    assert!(rustix::fs::ftruncate(memory.fd(), 0).is_err());
    assert!(rustix::fs::ftruncate(memory.fd(), 1 << 40).is_err());
}

#[test]
fn random_memory_never_hurts() {
    let mut memory = Memory::new(SMALL).expect("memory");
    let input = Input::from_args("p", ["abc"]).with_stdin("hello");
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut sound, mut damaged) = (0, 0);
    for round in 0..3000 {
        memory.prepare(&input, &Limits::default()).expect("fits");
        // Mostly small, so that some are sound.
        let most = 1 << random.below(6);
        let (count, blobs) = (random.below(most) as u32, random.below(12) as u32 / 10);
        let wild = random.below(4) == 0;
        let pick = |random: &mut Random| match wild {
            true => random.next() as u32,
            false => random.below(12) as u32,
        };
        let header = [pick(&mut random), pick(&mut random), pick(&mut random)];
        if wild {
            write_words(&memory, field!(node_count), &header);
        } else {
            write_words(&memory, field!(node_count), &[count, blobs, blobs * 64]);
        }
        write_words(&memory, field!(output_bytes), &[pick(&mut random), 0]);
        for node in 1..u64::from(count) {
            let op = if random.below(9) == 0 {
                random.next() as u32
            } else {
                let all = Op::ALL;
                let width = [1, 8, 32, 64, 128][random.below(5) as usize];
                all[random.below(all.len() as u64) as usize] as u32 | width << 16
            };
            let words = [
                op,
                pick(&mut random),
                pick(&mut random),
                pick(&mut random),
                u32::from(random.below(2) == 0),
            ];
            write_words(&memory, HEADER_SIZE + SMALL.input + node * 32, &words);
        }
        let words: Vec<u32> = (0..random.below(most))
            .map(|_| match random.below(4) {
                0 => random.next() as u32,
                1 => event::extended(random.below(8) as u32, random.below(9) as u32),
                _ => pick(&mut random),
            })
            .collect();
        write_words(&memory, events_offset(SMALL), &words);
        let blob = [
            pick(&mut random),
            pick(&mut random),
            0,
            64,
            0,
            0,
            pick(&mut random),
        ];
        let start = events_offset(SMALL) + SMALL.events;
        write_words(&memory, start, &blob);
        write_words(&memory, start + 64, &blob);
        match memory.trace() {
            Ok(trace) => {
                sound += 1;
                use_up(&trace, &input);
            }
            Err(error) => {
                damaged += 1;
                assert!(error.to_string().starts_with("the trace is damaged: "));
            }
        }
        assert_eq!(round + 1, sound + damaged);
    }
    assert!(sound > 20, "{sound} of 3000 were sound");
}

#[test]
fn a_sound_trace_with_one_wrong_word_never_hurts() {
    let mut r = Recording::new();
    let byte = r.node(Op::Var, 8, [1, 0, 0], 97);
    let wide = r.node(Op::ZExt, 64, [byte, 0, 0], 97);
    let table = r.push_table(16, &[5; 128], &[byte; 128]);
    let entry = r.node(Op::Lookup, 8, [wide, table, 0], 97);
    let conversion = r.push_conversion("%lld");
    r.node(Op::RenderByte, 8, [entry, conversion, 0], 57);
    let condition = r.node(Op::Ult, 1, [byte, entry, 0], 0);
    r.branch(1, false, condition);
    r.extended(event::EXT_BOUNDS, &[2, 1 << 8, wide, 0, 0, 200, 0]);
    let text = u32::from_le_bytes(*b"abc\0");
    r.extended(event::EXT_COMPARED, &[4, byte, byte, 1 << 1, 3, text]);
    let piece = beagle_trace::Piece {
        position: 0,
        length: 2,
        node: entry,
        conversion: Some(conversion),
    };
    r.output(3, beagle_trace::Channel::Stdout, b"97", &[piece]);
    let input = Input::from_args("p", ["a"]);
    let trace = r.trace().expect("sound");
    assert!(check(&trace, &input, None, None).is_ok());
    let mut random = Random(99);
    for _ in 0..5000 {
        let mut r = r.clone();
        let value = match random.below(3) {
            0 => random.next() as u32,
            1 => random.below(16) as u32,
            _ => 1 << random.below(32),
        };
        match random.below(4) {
            0 => {
                let index = random.below(r.events.len() as u64) as usize;
                r.events[index] = value;
            }
            1 => {
                let index = random.below(r.blobs.len() as u64 / 4) as usize * 4;
                r.blobs[index..index + 4].copy_from_slice(&value.to_le_bytes());
            }
            _ => {
                let index = 1 + random.below(r.nodes.len() as u64 - 1) as usize;
                let node = &mut r.nodes[index];
                match random.below(6) {
                    0 => node.op = value as u8,
                    1 => node.width = value as u16,
                    2 => node.a = value,
                    3 => node.b = value,
                    4 => node.c = value,
                    _ => node.value[0] = value.into(),
                }
            }
        }
        if let Ok(trace) = r.trace() {
            use_up(&trace, &input);
        }
    }
}

#[test]
fn events_are_read_and_checked_quickly() {
    let mut r = Recording::new();
    let byte = r.node(Op::Var, 8, [1, 0, 0], 0);
    let condition = r.node(Op::Eq, 1, [byte, byte, 0], 1);
    for site in 0..4_000_000 {
        r.branch(
            site % 1000 + 1,
            true,
            if site % 8 == 0 { condition } else { 0 },
        );
    }
    let start = Instant::now();
    let trace = r.trace().expect("sound");
    let checked = start.elapsed();
    let start = Instant::now();
    let symbolic = trace
        .events()
        .filter(|event| matches!(event, Event::Branch { node: Some(_), .. }))
        .count();
    let read = start.elapsed();
    assert_eq!(symbolic, 500_000);
    // 4.5 million words take some 20 ms each without optimisation; this is for busy machines.
    assert!(
        checked.as_secs() < 2 && read.as_secs() < 2,
        "{checked:?} {read:?}"
    );
}
