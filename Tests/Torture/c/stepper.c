// Runs a program, and kills it with SIGKILL at one of its steps.
//
//     stepper LOG STEP PROGRAM [ARGUMENT...]
//
// A step is the beginning or the end of a system call that others can see the effect of: one that
// changes a file, a directory, a lock or a mapping, or that sends something. The steps of all
// threads are counted together, from the start of the program, and told in LOG, one a line. Where a
// call begins, it has no effect yet. With 0 for STEP the program is left alone.
//
// The program runs in the process that this one was started in, and is traced by a child of it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 77 };

// Where a call names its file.
enum place { DESCRIPTOR, PATH, PATH_AT, NOWHERE };

static const struct call {
    long number;
    const char *name;
    enum place place;
} calls[] = {
#ifdef SYS_open
    {SYS_open, "open", PATH},
    {SYS_rename, "rename", PATH},
    {SYS_unlink, "unlink", PATH},
    {SYS_mkdir, "mkdir", PATH},
    {SYS_rmdir, "rmdir", PATH},
    {SYS_link, "link", PATH},
    {SYS_chmod, "chmod", PATH},
#endif
    {SYS_openat, "openat", PATH_AT},
    {SYS_renameat, "renameat", PATH_AT},
    {SYS_renameat2, "renameat2", PATH_AT},
    {SYS_unlinkat, "unlinkat", PATH_AT},
    {SYS_mkdirat, "mkdirat", PATH_AT},
    {SYS_linkat, "linkat", PATH_AT},
    {SYS_truncate, "truncate", PATH},
    {SYS_ftruncate, "ftruncate", DESCRIPTOR},
    {SYS_fallocate, "fallocate", DESCRIPTOR},
    {SYS_write, "write", DESCRIPTOR},
    {SYS_writev, "writev", DESCRIPTOR},
    {SYS_pwrite64, "pwrite", DESCRIPTOR},
    {SYS_pwritev, "pwritev", DESCRIPTOR},
    {SYS_fsync, "fsync", DESCRIPTOR},
    {SYS_fdatasync, "fdatasync", DESCRIPTOR},
    {SYS_fchmod, "fchmod", DESCRIPTOR},
    {SYS_flock, "flock", DESCRIPTOR},
    {SYS_fcntl, "fcntl", DESCRIPTOR},
    {SYS_sendto, "sendto", DESCRIPTOR},
    {SYS_sendmsg, "sendmsg", DESCRIPTOR},
    {SYS_connect, "connect", DESCRIPTOR},
    {SYS_mmap, "mmap", NOWHERE},
    {SYS_exit_group, "exit_group", NOWHERE},
};

// The call that a thread is in, where it is one that counts.
static struct thread {
    pid_t id;
    const struct call *call;
    char file[256];
} threads[256];

static FILE *log_file;
static long target;
static long step;
static pid_t process;

static struct thread *thread_of(pid_t id)
{
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        if (threads[i].id == id || threads[i].id == 0) {
            threads[i].id = id;
            return &threads[i];
        }
    }
    fputs("stepper: too many threads\n", stderr);
    exit(EXIT_FAILURE);
}

static bool is_seen(uint64_t number, const uint64_t arguments[])
{
    switch (number) {
#ifdef SYS_open
    case SYS_open:
        return arguments[1] & (O_CREAT | O_TRUNC);
#endif
    case SYS_openat:
        return arguments[2] & (O_CREAT | O_TRUNC);
    case SYS_mmap:
        return arguments[3] & MAP_SHARED;
    case SYS_fcntl:
        return arguments[1] == F_SETLK || arguments[1] == F_SETLKW;
    default:
        return true;
    }
}

static const struct call *counted(uint64_t number, const uint64_t arguments[])
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if ((uint64_t)calls[i].number == number)
            return is_seen(number, arguments) ? &calls[i] : NULL;
    return NULL;
}

// Puts the last part of the name of a call's file into the thread's record.
static void note_file(struct thread *thread, const uint64_t arguments[])
{
    char path[4096] = "";
    ssize_t length = 0;
    if (thread->call->place == DESCRIPTOR) {
        char link[64];
        snprintf(link, sizeof link, "/proc/%d/fd/%d", process, (int)arguments[0]);
        length = readlink(link, path, sizeof path - 1);
    } else if (thread->call->place != NOWHERE) {
        uint64_t address = arguments[thread->call->place == PATH_AT];
        // A read across the end of the memory that is there gives what is before it.
        for (size_t chunk = sizeof path - 1; chunk > 0 && length <= 0; chunk /= 2) {
            struct iovec here = {path, chunk}, there = {(void *)(uintptr_t)address, chunk};
            length = process_vm_readv(process, &here, 1, &there, 1, 0);
        }
    }
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    snprintf(thread->file, sizeof thread->file, "%.200s", slash ? slash + 1 : path);
}

static void take_step(const struct thread *thread, const char *side)
{
    step++;
    fprintf(log_file, "%ld %s %s %s\n", step, side, thread->call->name, thread->file);
    fflush(log_file);
    if (step == target)
        kill(process, SIGKILL);
}

static void look_at_call(pid_t id)
{
    struct __ptrace_syscall_info info;
    // It fails where the process was killed meanwhile.
    if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0)
        return;
    struct thread *thread = thread_of(id);
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        uint64_t arguments[6];
        memcpy(arguments, info.entry.args, sizeof arguments);
        thread->call = counted(info.entry.nr, arguments);
        if (!thread->call)
            return;
        note_file(thread, arguments);
        take_step(thread, "before");
    } else if (thread->call) {
        take_step(thread, "after");
        thread->call = NULL;
    }
}

// Follows every thread until none is left.
static void trace(int is_ready)
{
    bool is_counting = false;
    for (;;) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        if (!WIFSTOPPED(status))
            continue;
        int number = WSTOPSIG(status), event = status >> 16, deliver = 0;
        if (number == (SIGTRAP | 0x80)) {
            if (is_counting)
                look_at_call(id);
        } else if (event == PTRACE_EVENT_EXEC) {
            is_counting = true;
        } else if (event == 0) {
            deliver = number;
        }
        ptrace(PTRACE_SYSCALL, id, 0, deliver);
        if (is_ready >= 0) {
            // The first stop is the one that was asked for: from now on every call stops.
            close(is_ready);
            is_ready = -1;
        }
    }
}

int main(int count, char *arguments[])
{
    if (count < 4) {
        fputs("usage: stepper LOG STEP PROGRAM [ARGUMENT...]\n", stderr);
        return EXIT_FAILURE;
    }
    log_file = fopen(arguments[1], "we");
    int ready[2], may_be_traced[2];
    if (!log_file || pipe2(ready, O_CLOEXEC) || pipe2(may_be_traced, O_CLOEXEC)) {
        perror("stepper");
        return EXIT_FAILURE;
    }
    target = strtol(arguments[2], NULL, 10);
    process = getpid();
    pid_t tracer = fork();
    if (tracer < 0) {
        perror("stepper: fork");
        return EXIT_FAILURE;
    }
    char byte;
    if (tracer == 0) {
        close(ready[0]);
        close(may_be_traced[1]);
        (void)!read(may_be_traced[0], &byte, 1);
        long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC
            | PTRACE_O_EXITKILL;
        if (ptrace(PTRACE_SEIZE, process, 0, options) || ptrace(PTRACE_INTERRUPT, process, 0, 0)) {
            (void)!write(ready[1], "", 1);
            _exit(CANNOT_TRACE);
        }
        trace(ready[1]);
        _exit(EXIT_SUCCESS);
    }
    close(ready[1]);
    close(may_be_traced[0]);
    // Where only parents may trace, this lets our child do it.
    prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
    close(may_be_traced[1]);
    if (read(ready[0], &byte, 1) == 1) {
        fputs("stepper: the system does not allow tracing\n", stderr);
        return CANNOT_TRACE;
    }
    execvp(arguments[3], arguments + 3);
    perror("stepper: exec");
    return EXIT_FAILURE;
}
