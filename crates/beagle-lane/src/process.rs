//! One version as a process that runs batches of inputs.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use beagle_trace::Input;
use command_fds::{CommandFdExt, FdMapping};
use rustix::fs::MemfdFlags;

use crate::error::{Error, doing};
use crate::outcome::Outcome;
use crate::wire::{self, Compared, Header, Layout, Mark, Written};

/// How a version is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program of the fast lane.
    pub program: PathBuf,
    /// What it is told that it is called.
    pub argv0: OsString,
    /// Files and environment variables that every run has, unless its input has them, too.
    pub base: Input,
    /// What is known of each counter.
    pub marks: Vec<Mark>,
    /// How long a run may take, of the time that the processor works for it.
    pub time: Duration,
    /// How many bytes of each stream and file are looked at.
    pub most_output: u32,
}

/// How to run a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    /// Each run in a process of its own, forked before `main`: for programs that cannot be put back.
    pub fork: bool,
    /// Keep what the runs write.
    pub keep: bool,
    /// Note what the runs compare.
    pub compares: bool,
    /// What other runs without this did is new all the same, and the other way round.
    pub other: bool,
    /// What was done before is new again.
    pub forget: bool,
}

/// How often the program looks whether a run has taken too long.
const TICK: Duration = Duration::from_millis(4);
/// A batch takes no longer than this and what its runs may take; the machine may be busy.
const GRACE: Duration = Duration::from_secs(20);

/// Inputs that can be run together, as they lie in the memory.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    starts: Vec<u64>,
    bytes: Vec<u8>,
}

impl Batch {
    /// Adds an input; false if there is no more room.
    pub fn push(&mut self, input: &Input) -> Result<bool, Error> {
        const MOST: usize = 4 << 20;
        if self.starts.len() == wire::MOST_RUNS || self.bytes.len() > MOST {
            return Ok(false);
        }
        let encoded = input.encode()?;
        if encoded.len() > MOST {
            return Ok(false);
        }
        self.starts.push(self.bytes.len() as u64);
        self.bytes.extend(encoded);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        Ok(true)
    }

    /// How many inputs it has.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Takes all inputs out.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.bytes.clear();
    }

    /// The offsets, then the inputs.
    fn encode(&self, at: u64) -> Vec<u8> {
        let first = at + 8 * self.starts.len() as u64;
        let offsets = self.starts.iter().map(|start| first + start);
        let mut out: Vec<u8> = offsets.flat_map(u64::to_le_bytes).collect();
        out.extend_from_slice(&self.bytes);
        out
    }
}

/// A version, ready to run.
pub struct Process {
    setup: Setup,
    layout: Layout,
    memory: File,
    running: Running,
    /// The runs of the batch that is under way.
    pending: Option<(usize, Mode)>,
}

struct Running {
    child: Child,
    control: UnixStream,
}

impl Process {
    /// Starts it.
    pub fn start(setup: Setup) -> Result<Self, Error> {
        let base = setup.base.encode()?;
        let layout = Layout::new(base.len(), setup.marks.len());
        let memory = rustix::fs::memfd_create("beagle-lane", MemfdFlags::CLOEXEC);
        let memory = File::from(memory.map_err(doing("make memory to share"))?);
        memory
            .set_len(layout.total)
            .map_err(doing("make memory to share"))?;
        let write = |bytes: &[u8], at| {
            let written = memory.write_all_at(bytes, at);
            written.map_err(doing("write to shared memory"))
        };
        write(&base, layout.base)?;
        write(&wire::encode_marks(&setup.marks), layout.marks)?;
        write(&header(&setup, 0, Mode::default()).encode(&layout), 0)?;
        let running = Running::start(&setup, &memory, layout.total)?;
        let mut process = Self {
            setup,
            layout,
            memory,
            running,
            pending: None,
        };
        process.wait(GRACE)?;
        let mut found = [0; 4];
        process.read(&mut found, wire::COUNTERS_AT)?;
        let found = u32::from_le_bytes(found) as usize;
        let given = process.setup.marks.len();
        match found == given {
            true => Ok(process),
            false => Err(Error::Counters { given, found }),
        }
    }

    /// Starts it again after an error.
    pub fn restart(&mut self) -> Result<(), Error> {
        self.pending = None;
        self.running = Running::start(&self.setup, &self.memory, self.layout.total)?;
        self.wait(GRACE)
    }

    /// Runs inputs.
    pub fn run(&mut self, batch: &Batch, mode: Mode) -> Result<Vec<Outcome>, Error> {
        self.send(batch, mode)?;
        self.receive()
    }

    fn send(&mut self, batch: &Batch, mode: Mode) -> Result<(), Error> {
        let inputs = batch.encode(self.layout.inputs);
        let header = header(&self.setup, batch.len(), mode).encode(&self.layout);
        let write = |bytes: &[u8], at| {
            let written = self.memory.write_all_at(bytes, at);
            written.map_err(doing("write to shared memory"))
        };
        write(&inputs, self.layout.inputs)?;
        write(&header, 0)?;
        self.pending = Some((batch.len(), mode));
        match self.running.control.write_all(b"g") {
            Ok(()) => Ok(()),
            Err(_) => Err(self.running.ended()),
        }
    }

    /// Waits for the results of the inputs that it was given.
    fn receive(&mut self) -> Result<Vec<Outcome>, Error> {
        let Some((count, _)) = self.pending.take() else {
            return Ok(Vec::new());
        };
        let most = self.setup.time.saturating_mul(count as u32 * 2);
        self.wait(GRACE + most)?;
        let mut bytes = vec![0; count * wire::RESULT_SIZE];
        self.read(&mut bytes, self.layout.results)?;
        let results = bytes.chunks_exact(wire::RESULT_SIZE);
        Ok(results.map(wire::decode_result).collect())
    }

    /// What a run of the last batch wrote, if that was kept.
    pub fn written(&self, outcome: &Outcome) -> Result<Written, Error> {
        let end = self.layout.outputs + self.layout.outputs_size;
        let size = end.saturating_sub(outcome.outputs);
        if outcome.outputs < self.layout.outputs || size == 0 {
            return Ok(Written::default());
        }
        let mut bytes = vec![0; size as usize];
        self.read(&mut bytes, outcome.outputs)?;
        Ok(wire::decode_outputs(&bytes))
    }

    /// What the runs of the last batch compared, if that was noted.
    pub fn compares(&self, outcomes: &[Outcome]) -> Result<Vec<Vec<Compared>>, Error> {
        let sizes = || outcomes.iter().map(|outcome| outcome.compares as usize);
        let total = sizes()
            .sum::<usize>()
            .min(self.layout.compares_size as usize);
        let mut bytes = vec![0; total];
        self.read(&mut bytes, self.layout.compares)?;
        let mut rest = &bytes[..];
        let part = |size: usize| {
            let (part, after) = rest.split_at(size.min(rest.len()));
            rest = after;
            wire::decode_compares(part)
        };
        Ok(sizes().map(part).collect())
    }

    /// How long the processor has worked for it, to a hundredth of a second.
    pub fn processor_time(&self) -> Result<Duration, Error> {
        processor_time(&self.running.child.id().to_string())
    }

    fn read(&self, bytes: &mut [u8], at: u64) -> Result<(), Error> {
        let read = self.memory.read_exact_at(bytes, at);
        read.map_err(doing("read shared memory"))
    }

    /// Waits until it is its turn again.
    fn wait(&mut self, time: Duration) -> Result<(), Error> {
        let control = &mut self.running.control;
        let set = control.set_read_timeout(Some(time));
        set.map_err(doing("wait for the program of the fast lane"))?;
        let mut turn = [0];
        loop {
            match control.read(&mut turn) {
                Ok(1) => return Ok(()),
                Ok(_) => return Err(self.running.ended()),
                Err(error) => match error.kind() {
                    // With a time limit, the system does not resume a read by itself, not even where
                    // nothing handles the signal. If Beagle was stopped, nobody knows for how long: the
                    // time starts again.
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        self.running.stop();
                        return Err(Error::Stuck);
                    }
                    _ => return Err(self.running.ended()),
                },
            }
        }
    }
}

fn header(setup: &Setup, count: usize, mode: Mode) -> Header {
    let flag = |set: bool, bit: u32| if set { bit } else { 0 };
    let ticks = setup.time.as_micros() / TICK.as_micros();
    Header {
        count: count as u32,
        mode: flag(mode.fork, wire::MODE_FORK)
            | flag(mode.keep, wire::MODE_KEEP)
            | flag(mode.compares, wire::MODE_COMPARES)
            | flag(mode.other, wire::MODE_OTHER)
            | flag(mode.forget, wire::MODE_FORGET),
        ticks: u32::try_from(ticks).unwrap_or(u32::MAX).max(2),
        tick_us: TICK.as_micros() as u32,
        most_output: setup.most_output,
    }
}

/// How long the processor has worked for a process, by its number or as `self`.
pub fn processor_time(process: &str) -> Result<Duration, Error> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(path).map_err(doing("look at a process"))?;
    // The name, in parentheses, may hold spaces. Fields 14 and 15 are ticks, at 100 a second.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let fields = fields.split_whitespace().skip(11).take(2);
    let ticks = fields.filter_map(|field| field.parse::<u64>().ok());
    Ok(Duration::from_millis(10 * ticks.sum::<u64>()))
}

impl Running {
    fn start(setup: &Setup, memory: &File, size: u64) -> Result<Self, Error> {
        let program: &Path = &setup.program;
        let (control, theirs) = UnixStream::pair().map_err(doing("make a socket"))?;
        let memory = memory.try_clone().map_err(doing("share memory"))?;
        let mut command = Command::new(program);
        command
            .arg0(&setup.argv0)
            .env_clear()
            .env(wire::VARIABLE, size.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let map = |parent_fd: OwnedFd, child_fd| FdMapping {
            parent_fd,
            child_fd,
        };
        let mappings = vec![
            map(theirs.into(), wire::CONTROL_FD),
            map(memory.into(), wire::MEMORY_FD),
        ];
        command
            .fd_mappings(mappings)
            .map_err(|error| Error::System {
                doing: "pass files to the program of the fast lane",
                source: io::Error::other(error),
            })?;
        let child = command.spawn().map_err(|source| Error::NotStarted {
            program: program.to_owned(),
            source,
        })?;
        Ok(Self { child, control })
    }

    /// The error for a program that has gone.
    fn ended(&mut self) -> Error {
        self.stop();
        let mut text = Vec::new();
        if let Some(stderr) = &mut self.child.stderr {
            // There is nothing better to say if that fails.
            let _ = stderr.take(2000).read_to_end(&mut text);
        }
        let status = self.child.wait();
        Error::Ended {
            status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
            stderr: String::from_utf8_lossy(&text).into_owned(),
        }
    }

    fn stop(&mut self) {
        // It fails only if the process has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}
