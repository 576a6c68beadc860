internal import CLinux
internal import Glibc

/// What the processes of the service call.
extension SystemCallFilter {
    /// For the daemon: files, local sockets, threads and timers.
    ///
    /// - Parameter process: The process that it is for.
    package static func ofDaemon(_ process: Int32) -> SystemCallFilter {
        SystemCallFilter(
            allowing(basic + files + changingFiles + waiting + sockets + threads)
                + memory + aborting(process) + [
                    // Of the kinds of sockets only those of this machine.
                    Rule(call: SYS_socket, argument: 0, values: [UInt32(AF_UNIX)]),
                    // A thread, and no process: all that clone(2) makes has these bits, and no others
                    // of a namespace.
                    Rule(
                        call: SYS_clone, argument: 0, mask: threadBits | namespaceBits,
                        values: [threadBits]),
                    // FIONREAD, FIONBIO and TCGETS.
                    Rule(call: SYS_ioctl, argument: 1, values: [0x541B, 0x5421, 0x5401]),
                    Rule(call: SYS_prctl, argument: 0, values: [UInt32(PR_SET_NAME)]),
                    // Its own limits.
                    Rule(call: SYS_prlimit64, argument: 0, values: [0]),
                ])
    }

    /// For the helper of the daemon: it looks at processes and opens files.
    ///
    /// - Parameter process: The process that it is for.
    package static func ofHelper(_ process: Int32) -> SystemCallFilter {
        SystemCallFilter(
            allowing(basic + files + changingFiles + [SYS_ppoll, SYS_sendmsg, SYS_recvmsg])
                + memory + aborting(process))
    }

    private static func allowing(_ calls: [Int32]) -> [Rule] {
        calls.map { Rule(call: $0) }
    }

    /// Nothing becomes code that was not code at the start.
    private static let memory =
        [SYS_mmap, SYS_mprotect].map { call in
            Rule(call: call, argument: 2, mask: UInt32(PROT_EXEC), values: [0])
        }

    /// abort(3), which sends a signal to its own process.
    private static func aborting(_ process: Int32) -> [Rule] {
        [Rule(call: SYS_tgkill, argument: 0, values: [UInt32(bitPattern: process)])]
    }

    /// CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND and CLONE_THREAD.
    private static let threadBits: UInt32 = 0x0001_0F00
    /// CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID and
    /// CLONE_NEWNET.
    private static let namespaceBits: UInt32 = 0x7E02_0000
}

// MARK: The calls

/// x86 has calls that others have replaced. The C library still makes them there.
extension SystemCallFilter {
    private static let basic: [Int32] = [
        SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_exit, SYS_exit_group,
        SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
        SYS_restart_syscall, SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_geteuid,
        SYS_getgid, SYS_getegid, SYS_getrandom, SYS_clock_gettime, SYS_clock_getres,
        SYS_gettimeofday, SYS_sched_yield, SYS_sched_getaffinity, SYS_uname, SYS_sysinfo,
    ]

    private static let files: [Int32] =
        [
            SYS_openat, SYS_close, SYS_read, SYS_readv, SYS_pread64, SYS_write,
            SYS_writev, SYS_pwrite64, SYS_lseek, SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs,
            SYS_readlinkat, SYS_faccessat, SYS_faccessat2, SYS_getdents64, SYS_getcwd, SYS_fcntl,
            SYS_dup, SYS_dup3, SYS_fsync, SYS_pidfd_open,
        ] + oldFiles

    private static let changingFiles: [Int32] =
        [
            SYS_mkdirat, SYS_renameat, SYS_renameat2, SYS_unlinkat, SYS_ftruncate, SYS_fallocate,
            SYS_fdatasync, SYS_flock, SYS_fchmod, SYS_fchown, SYS_utimensat, SYS_umask,
        ] + oldChangingFiles

    private static let waiting: [Int32] =
        [
            SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
            SYS_eventfd2, SYS_pipe2, SYS_signalfd4, SYS_inotify_init1, SYS_inotify_add_watch,
            SYS_inotify_rm_watch, SYS_memfd_create, SYS_nanosleep, SYS_clock_nanosleep,
            SYS_getrusage, SYS_times,
        ] + oldWaiting

    private static let sockets: [Int32] = [
        SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_getsockname,
        SYS_getpeername, SYS_getsockopt, SYS_setsockopt, SYS_sendto, SYS_sendmsg, SYS_recvfrom,
        SYS_recvmsg, SYS_shutdown,
    ]

    private static let threads: [Int32] = [
        SYS_set_robust_list, SYS_rseq, SYS_set_tid_address, SYS_sched_getparam,
        SYS_sched_getscheduler,
    ]

    #if arch(x86_64)
        private static let oldFiles: [Int32] = [
            SYS_open, SYS_stat, SYS_lstat, SYS_newfstatat, SYS_access, SYS_readlink, SYS_poll,
            SYS_time,
        ]
        private static let oldChangingFiles: [Int32] = [
            SYS_mkdir, SYS_rmdir, SYS_rename, SYS_unlink,
        ]
        private static let oldWaiting: [Int32] = [
            SYS_select, SYS_epoll_wait, SYS_getrlimit, SYS_dup2,
        ]
    #else
        private static let oldFiles: [Int32] = [SYS_newfstatat]
        private static let oldChangingFiles: [Int32] = []
        private static let oldWaiting: [Int32] = []
    #endif
}
