//! Runs one program on one input, and looks at what it does.

use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use beagle_trace::{Input, SourceKind};

use crate::client::Client;
use crate::error::Error;
use crate::fault;
use crate::keeper::isolation::Isolation;
use crate::keeper::wire::{Answer, Ran, Request, Setup};
use crate::observation::{Circumstances, Observation};
use crate::room::Room;
use crate::setting::Setting;

/// How much more memory a program may use with sanitizers.
const SANITIZED_MEMORY: u64 = 3;

/// How a program was built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Plain,
    Sanitized,
}

/// The private directory, and the keeper.
pub(crate) struct Runner {
    // Dropped first, so that no process is left that uses the directory.
    client: Option<Client>,
    room: Room,
    setup: Setup,
    isolation: Isolation,
}

impl Runner {
    pub(crate) fn new(setting: &Setting) -> Result<Self, Error> {
        let room = Room::new(setting.fixture.clone(), setting.limits.output)?;
        let setup = Setup {
            writable: room.writable(),
            processes: setting.limits.processes,
            without_namespaces: setting.without_namespaces,
        };
        let client = Client::start(&setting.keeper, &setup)?;
        Ok(Self {
            isolation: client.isolation.clone(),
            client: Some(client),
            room,
            setup,
        })
    }

    pub(crate) fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Runs a program.
    pub(crate) fn run(
        &mut self,
        setting: &Setting,
        program: &Path,
        build: Build,
        input: &Input,
        time: Duration,
    ) -> Result<Observation, Error> {
        let request = self.request(setting, program, build, input, time);
        let lost = |source| Error::KeeperLost {
            program: program.to_owned(),
            source,
        };
        let start = seconds();
        let ran = match self.attempt(setting, input, &request)? {
            Ok(answer) => answer,
            // Once may be bad luck.
            Err(_) => self.attempt(setting, input, &request)?.map_err(lost)?,
        };
        let clock = (start, seconds());
        let Ran {
            pid,
            end,
            stdout,
            stderr,
            microseconds,
        } = match ran {
            Answer::Ended(ran) => ran,
            Answer::NotStarted(number, doing) => {
                return Err(Error::NotStarted {
                    doing,
                    program: program.to_owned(),
                    source: io::Error::from_raw_os_error(number),
                });
            }
        };
        let fault = match build {
            Build::Plain => None,
            Build::Sanitized => fault::parse(&self.room.reports()?),
        };
        Ok(Observation {
            end,
            stdout,
            stderr,
            files: self.room.changes(input)?,
            fault,
            time: Duration::from_micros(microseconds),
            circumstances: Circumstances { pid, clock },
        })
    }

    /// The outer error is about us, the inner one about the keeper, which is then started anew.
    fn attempt(
        &mut self,
        setting: &Setting,
        input: &Input,
        request: &Request,
    ) -> Result<io::Result<Answer>, Error> {
        self.room.prepare(input)?;
        let mut client = match self.client.take() {
            Some(client) => client,
            None => Client::start(&setting.keeper, &self.setup)?,
        };
        let answer = client.run(request);
        if answer.is_ok() {
            self.client = Some(client);
        }
        Ok(answer)
    }

    fn request(
        &self,
        setting: &Setting,
        program: &Path,
        build: Build,
        input: &Input,
        time: Duration,
    ) -> Request {
        let mut arguments: Vec<Vec<u8>> = Vec::new();
        let mut stdin = Vec::new();
        let mut environment: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut set = |name: &[u8], value: &[u8]| environment.push((name.into(), value.into()));
        set(b"PATH", b"/usr/local/bin:/usr/bin:/bin");
        set(b"HOME", self.room.work().as_os_str().as_bytes());
        set(b"TMPDIR", self.room.temporary().as_os_str().as_bytes());
        set(b"LC_ALL", b"C");
        set(b"TZ", b"UTC");
        for (name, value) in &setting.environment {
            set(name.as_bytes(), value.as_bytes());
        }
        for source in &input.sources {
            match source.kind {
                SourceKind::Argument => arguments.push(source.content().to_vec()),
                SourceKind::Environment => set(&source.name, source.content()),
                SourceKind::Stdin => stdin.clone_from(&source.bytes),
                SourceKind::File => {}
            }
        }
        if arguments.is_empty() {
            arguments.push(setting.argv0.as_bytes().to_vec());
        }
        let memory = setting.limits.memory;
        if build == Build::Sanitized {
            let log = self.room.logs().join("report");
            let memory = memory.saturating_mul(SANITIZED_MEMORY);
            for (name, value) in fault::options(&log.to_string_lossy(), memory) {
                set(name.as_bytes(), value.as_bytes());
            }
        }
        Request {
            program: bytes(program.to_owned()),
            arguments,
            environment,
            directory: bytes(self.room.work()),
            stdin,
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            // Sanitizers reserve far more addresses than they use; they watch the memory themselves.
            memory: (build == Build::Plain).then_some(memory),
            file_size: setting.limits.file_size,
            keep: setting.limits.output,
        }
    }
}

fn bytes(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_vec()
}

fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
