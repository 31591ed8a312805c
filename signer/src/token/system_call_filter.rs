//! System calls that no PKCS#11 module needs, and that a taken-over one would want.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::config::SystemCalls;
use super::protocol::{HardeningStep, OpenFailure};

/// Refuses the calls below with EPERM from now on, in this process and its threads.
pub(super) fn apply(calls: SystemCalls) -> Result<(), OpenFailure> {
    let refused = || OpenFailure::Hardening(HardeningStep::SystemCalls);
    let denied = match calls {
        SystemCalls::Unfiltered => return Ok(()),
        SystemCalls::Network => denied_always(),
        SystemCalls::Local => {
            let mut denied = denied_always();
            denied.insert(libc::SYS_socket, network_sockets().map_err(|_| refused())?);
            denied
        }
    };
    let program = compile(denied).map_err(|_| refused())?;
    seccompiler::apply_filter(&program).map_err(|_| refused())
}

fn compile(
    denied: BTreeMap<i64, Vec<SeccompRule>>,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let filter = SeccompFilter::new(
        denied,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    filter.try_into()
}

fn denied_always() -> BTreeMap<i64, Vec<SeccompRule>> {
    DENIED.iter().map(|call| (*call, Vec::new())).collect()
}

/// Every socket but local ones, which the C library's system log wants.
fn network_sockets() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let family = SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        u64::from(libc::AF_UNIX.unsigned_abs()),
    )?;
    Ok(vec![SeccompRule::new(vec![family])?])
}

const DENIED: &[i64] = &[
    // Other programs and processes.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Ways around this very filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_personality,
    // Kernel keyrings, which outlive the process.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // Time, on which every certificate depends.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_with_and_without_network() {
        assert!(!compile(denied_always()).unwrap().is_empty());
        let mut local = denied_always();
        local.insert(libc::SYS_socket, network_sockets().unwrap());
        assert!(!compile(local).unwrap().is_empty());
    }
}
