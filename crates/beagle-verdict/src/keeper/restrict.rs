//! Restrictions that a process puts on itself and its children: limits and seccomp.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::wire::Setup;

/// The limits that hold for all runs alike.
pub(crate) fn limits(setup: &Setup, namespaces: bool) -> io::Result<()> {
    let fixed = |value| Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(Resource::Core, fixed(0))?;
    // Outside a namespace the user's other processes count, too. The administrator has no such
    // limit at all; there the keeper itself counts.
    let others = if namespaces {
        2
    } else {
        u64::from(rustix::system::sysinfo().procs)
    };
    // It fails if the user has a lower limit already.
    let _ = setrlimit(Resource::Nproc, fixed(others + setup.processes));
    Ok(())
}

/// Refuses system calls by which a program could reach beyond its directory: the network, other
/// processes, the machine itself.
pub(crate) fn seccomp(namespaces: bool) -> Result<(), Box<dyn Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = [
        libc::SYS_connect,
        libc::SYS_ptrace,
        libc::SYS_process_vm_writev,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_fsopen,
        libc::SYS_mount_setattr,
        libc::SYS_chroot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_reboot,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_clock_adjtime,
        libc::SYS_adjtimex,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_acct,
        libc::SYS_quotactl,
        libc::SYS_syslog,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        // Does by itself what is refused here.
        libc::SYS_io_uring_setup,
    ]
    .map(|call| (call, Vec::new()))
    .into();
    // Sockets inside the machine only.
    let foreign = condition(0, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![foreign])?]);
    if !namespaces {
        // "All processes": outside a namespace these are the user's.
        let all = condition(0, SeccompCmpOp::Eq, (-1i32 as u32).into())?;
        rules.insert(libc::SYS_kill, vec![SeccompRule::new(vec![all])?]);
    }
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES as u32),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
