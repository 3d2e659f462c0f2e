//! What is known of a run in the fast lane.

/// How a run of one version went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// As `wait` has it: the exit status times 256, or the number of a signal.
    pub end: u32,
    /// More about it.
    pub flags: Flags,
    /// For a run that was refused: the system call, or the number of a signal as a negative number.
    pub reason: u32,
    /// The smallest distance to a change of all that was executed; the largest number if there is none.
    pub near: u16,
    /// A hash of standard output.
    pub out: u64,
    /// A hash of standard error.
    pub err: u64,
    /// A hash of the files that were written.
    pub files: u64,
    /// Which blocks close to a change were executed; comparable between the versions.
    pub path: u64,
    /// Which blocks were executed, and about how often; comparable between the versions.
    pub whole: u64,
    /// How long it took, in units that only mean something to each other.
    pub work: u64,
    pub(crate) outputs: u64,
    pub(crate) compares: u32,
}

/// What else is to be said about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub(crate) u32);

impl Outcome {
    /// It was stopped because its time was up.
    pub fn timed_out(&self) -> bool {
        self.flags.0 & 1 != 0
    }

    /// It did what cannot be done here.
    pub fn refused(&self) -> bool {
        self.flags.0 & 2 != 0
    }

    /// It executed something as often as no run before.
    pub fn fresh(&self) -> bool {
        self.flags.0 & 4 != 0
    }

    /// It executed a change.
    pub fn changed(&self) -> bool {
        self.flags.0 & 8 != 0
    }

    /// What others can see of the run.
    pub fn seen(&self) -> (u32, bool, u64, u64, u64) {
        (self.end, self.timed_out(), self.out, self.err, self.files)
    }

    /// Whether the run tells anything about the program.
    pub fn counts(&self) -> bool {
        !self.refused()
    }
}
