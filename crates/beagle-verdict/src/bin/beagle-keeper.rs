//! `beagle-keeper`: the keeper of the sandbox without the rest of Beagle.

fn main() -> std::process::ExitCode {
    beagle_verdict::keeper::main()
}
