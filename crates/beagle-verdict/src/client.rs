//! Our end of the keeper.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::keeper::isolation::Isolation;
use crate::keeper::wire::{self, Answer, Hello, Request, Setup};
use crate::keeper::{FIRST, STAGE};
use crate::setting::KeeperCommand;

/// How long the keeper may take to get ready, and to answer after the end of a run.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// A keeper that is ready to run programs.
pub(crate) struct Client {
    process: Child,
    control: UnixStream,
    pub(crate) isolation: Isolation,
}

impl Client {
    /// Starts a keeper. If it cannot live with namespaces, it goes without.
    pub(crate) fn start(command: &KeeperCommand, setup: &Setup) -> Result<Self, Error> {
        let stage = if setup.without_namespaces { "" } else { FIRST };
        let result = match Self::try_start(command, setup, stage) {
            Err(error) if !setup.without_namespaces => {
                Self::try_start(command, setup, "").map(|mut client| {
                    let text = format!("no namespaces: {error}");
                    client.isolation.refused.push(text);
                    client
                })
            }
            other => other,
        };
        result.map_err(|source| Error::NoKeeper {
            program: command.program.clone(),
            source,
        })
    }

    fn try_start(command: &KeeperCommand, setup: &Setup, stage: &str) -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        control.set_read_timeout(Some(PATIENCE))?;
        let process = Command::new(&command.program)
            .args(&command.arguments)
            .env(STAGE, stage)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut client = Self {
            process,
            control,
            isolation: Isolation::default(),
        };
        wire::send(&client.control, setup)?;
        let hello: Hello = wire::receive(&client.control)?;
        client.isolation = hello.isolation;
        Ok(client)
    }

    /// Runs a program. After an error the keeper is of no use any more.
    pub(crate) fn run(&mut self, request: &Request) -> io::Result<Answer> {
        let patience = PATIENCE.saturating_add(Duration::from_millis(request.milliseconds));
        self.control.set_read_timeout(Some(patience))?;
        wire::send(&self.control, request)?;
        wire::receive(&self.control)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The keeper ends when it sees this; if it does not, it is ended.
        let _ = self.control.shutdown(Shutdown::Both);
        let deadline = Instant::now() + GRACE;
        let mut pause = Duration::from_micros(100);
        while Instant::now() < deadline {
            match self.process.try_wait() {
                Ok(None) => std::thread::sleep(pause),
                _ => return,
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
