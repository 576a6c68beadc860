/* What Swift's Glibc module leaves out of Linux. */
#ifndef DEFAULTSD_CLINUX_SHIM_H
#define DEFAULTSD_CLINUX_SHIM_H

#include <malloc.h>       /* mallopt and malloc_trim, which are GNU's own */
#include <pthread.h>      /* the stack of a thread, below */
#include <spawn.h>        /* the descriptors of a child, below */
#include <sys/auxv.h>     /* whether the program has more rights than its caller */
#include <sys/epoll.h>    /* waiting for very many descriptors, below */
#include <sys/inotify.h> /* changes of directories as a descriptor */
#include <sys/prctl.h>    /* the name of a thread, below */
#include <sys/socket.h>   /* sending a descriptor, below */
#include <sys/signalfd.h> /* signals as a descriptor, so that the event loop reads them */
#include <sys/statfs.h>   /* the type of a file system */
#include <sys/syscall.h>  /* dup3, memfd_create, pidfd_open and statx, below */
#include <sys/sysmacros.h> /* the parts of a device's number */
#include <linux/stat.h>    /* struct statx, which is not that of stat(2) */
#include <stdint.h>
#include <unistd.h>

/* prctl(2) takes variable arguments, and pthread_setname_np is declared for _GNU_SOURCE only; Swift
 * imports neither. */
static inline void clinux_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* dup3(2) is declared for _GNU_SOURCE only. With close-on-exec set: SFD_CLOEXEC is O_CLOEXEC, whose
 * header also has struct stat, and then Swift cannot tell whether that is Glibc's or ours. */
static inline int clinux_dup3(int descriptor, int number) {
    return (int)syscall(SYS_dup3, descriptor, number, SFD_CLOEXEC);
}

/* pidfd_open(2) is declared in a header that older C libraries do not have. With close-on-exec set, as
 * always. */
static inline int clinux_open_process(int process) {
    return (int)syscall(SYS_pidfd_open, process, 0U);
}

/* O_PATH is declared for _GNU_SOURCE only. See clinux_dup3 for the header. */
static inline int clinux_path_only(void) {
    return 010000000;
}

/* SEEK_DATA and SEEK_HOLE are declared for _GNU_SOURCE only. */
static inline int clinux_seek_data(void) {
    return 3;
}

static inline int clinux_seek_hole(void) {
    return 4;
}

/* The identity of an open file, as the kernel has it in memory: a program that serves the file system is
 * not asked. Gives 0, or -1 and errno. */
static inline int clinux_cached_identity(int descriptor, uint32_t *major, uint32_t *minor,
                                         uint64_t *inode) {
    struct statx status;
    if (syscall(SYS_statx, descriptor, "", 0x1000 /* AT_EMPTY_PATH */ | 0x4000 /* DONT_SYNC */,
                STATX_INO, &status) != 0)
        return -1;
    *major = status.stx_dev_major;
    *minor = status.stx_dev_minor;
    *inode = status.stx_ino;
    return 0;
}

/* epoll(7), whose events are a packed structure that Swift does not import. With close-on-exec set. */
static inline int clinux_make_epoll(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

/* Sets the events of a descriptor to wait for, whose bits are those of poll(2); 0 removes the descriptor.
 * The tag comes with the events. */
static inline int clinux_set_epoll(int epoll, int descriptor, uint32_t events, uint64_t tag,
                                   int is_new) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    int operation = events == 0 ? EPOLL_CTL_DEL : is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return epoll_ctl(epoll, operation, descriptor, &event);
}

/* Waits until descriptors are ready: the tags of at most 64 of them, and for what each is ready. */
static inline int clinux_wait_epoll(int epoll, uint64_t *tags, uint32_t *events, int milliseconds) {
    struct epoll_event found[64];
    int count = epoll_wait(epoll, found, 64, milliseconds);
    for (int i = 0; i < count; i++) {
        tags[i] = found[i].data.u64;
        events[i] = found[i].events;
    }
    return count;
}

/* memfd_create(2) is declared for _GNU_SOURCE only. With close-on-exec set. */
static inline int clinux_make_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */);
}

/* pipe2(2) is declared for _GNU_SOURCE only. With close-on-exec set, and neither end blocks: the flags of
 * signalfd(2) are the same numbers. */
static inline int clinux_make_pipe(int *ends) {
    return (int)syscall(SYS_pipe2, ends, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Declared here, because the header of fcntl(2) also has struct stat; see clinux_dup3. */
extern int fcntl(int descriptor, int command, ...);

/* As clinux_make_memory_file, but the size of the file can be sealed, see fcntl(2). The names of the seals
 * are declared for _GNU_SOURCE only. */
static inline int clinux_make_sealable_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 3U /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
}

/* Fixes the size of such a file for as long as it lives. Gives 0, or -1 and errno. */
static inline int clinux_seal_size(int descriptor) {
    return fcntl(descriptor, 1033 /* F_ADD_SEALS */,
                 7 /* F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW */);
}

/* Whether the seals of a file prevent everybody from cutting it. */
static inline int clinux_is_size_sealed(int descriptor) {
    int seals = fcntl(descriptor, 1034 /* F_GET_SEALS */);
    return seals >= 0 && (seals & 6) == 6;
}

/* Sends bytes to an address, and a descriptor with them if it is not -1. Swift does not import the macros
 * of cmsg(3). */
static inline ssize_t clinux_send(int socket, const void *address, socklen_t address_size,
                                  const void *bytes, size_t size, int descriptor) {
    struct iovec part = {(void *)bytes, size};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    __builtin_memset(&message, 0, sizeof message);
    message.msg_name = (void *)address;
    message.msg_namelen = address_size;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        __builtin_memset(&control, 0, sizeof control);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int));
        __builtin_memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* Receives bytes, and a descriptor that came with them (-1 if none did), with close-on-exec set. */
static inline ssize_t clinux_receive(int socket, void *bytes, size_t size, int *descriptor) {
    struct iovec part = {bytes, size};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    __builtin_memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    *descriptor = -1;
    ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count < 0 ? 0 : CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS
        && header->cmsg_len == CMSG_LEN(sizeof(int)))
        __builtin_memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    return count;
}

/* Swift does not import fork(2), because most programs have threads by then. */
static inline pid_t clinux_fork(void) {
    return fork();
}

/* close_range(2), which older C libraries do not have. Gives 0, or -1 and errno. */
static inline int clinux_close_range(unsigned first, unsigned last) {
    return (int)syscall(436 /* close_range */, first, last, 0U);
}

/* From now on, no program that this process runs can gain rights. */
static inline int clinux_gain_no_rights(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* landlock(7), whose calls the C library does not have, and whose header is often older than the
 * kernel. A kernel takes no notice of zeros that it does not know.
 *
 * The version of its interface, or -1 without Landlock. */
static inline int clinux_landlock_version(void) {
    return (int)syscall(444 /* landlock_create_ruleset */, (void *)0, (size_t)0, 1U /* VERSION */);
}

/* Makes rules that deny these rights on files, these uses of the network, and what leads out of the
 * process in these ways. Gives a descriptor, or -1 and errno. */
static inline int clinux_make_landlock(uint64_t files, uint64_t network, uint64_t ways) {
    struct {
        uint64_t files, network, ways;
    } denied = {files, network, ways};
    return (int)syscall(444 /* landlock_create_ruleset */, &denied, sizeof denied, 0U);
}

/* Grants rights on a file, or on a directory with all below it. Gives 0, or -1 and errno. */
static inline int clinux_grant_landlock(int rules, int file, uint64_t rights) {
    struct {
        uint64_t rights;
        int32_t file;
    } __attribute__((packed)) granted = {rights, file};
    return (int)syscall(445 /* landlock_add_rule */, rules, 1 /* PATH_BENEATH */, &granted, 0U);
}

/* The rules bind this thread from now on, and those that it makes. Gives 0, or -1 and errno. */
static inline int clinux_enforce_landlock(int rules) {
    return (int)syscall(446 /* landlock_restrict_self */, rules, 0U);
}

/* A step of the program of a filter: struct sock_filter, in whose headers Swift loses sight of others. */
struct clinux_filter_step {
    uint16_t code;
    uint8_t if_true, if_false;
    uint32_t value;
};

/* seccomp(2): the filter binds all threads of the process from now on. Gives 0, or -1 and errno; a
 * number above 0 is a thread that has another filter. */
static inline int clinux_filter_system_calls(const struct clinux_filter_step *steps,
                                             unsigned short count) {
    struct {
        unsigned short count;
        const struct clinux_filter_step *steps;
    } program = {count, steps};
    return (int)syscall(SYS_seccomp, 1 /* SET_MODE_FILTER */, 1 /* FILTER_FLAG_TSYNC */, &program);
}

/* Linux's number for the type of a file system, see statfs(2); 0 if the system does not say. The
 * field's type differs from machine to machine, and the number has 32 bits. */
static inline uint32_t clinux_type_of_file_system(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/* pthread_getattr_np is declared for _GNU_SOURCE only. Gives 0, or an error's number. */
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
static inline int clinux_stack_of_this_thread(uintptr_t *start, size_t *size) {
    pthread_attr_t attributes;
    void *address;
    int error = pthread_getattr_np(pthread_self(), &attributes);
    if (error != 0)
        return error;
    error = pthread_attr_getstack(&attributes, &address, size);
    pthread_attr_destroy(&attributes);
    *start = (uintptr_t)address;
    return error;
}

/* posix_spawn_file_actions_addclosefrom_np is declared for _GNU_SOURCE only. The child gets no
 * descriptor with this number or a higher one. Gives 0, or an error's number. */
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
static inline int clinux_close_from(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

/* Words of memory that other processes map. Swift's Atomic owns its storage, so it cannot stand for
 * a word that lives in a mapping; these are the compiler's own atomics on a pointer. */
static inline uint64_t clinux_load_acquire(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Raises a word to a value with release order. A word that is not below it does not
 * change. */
static inline void clinux_raise_release(uint64_t *word, uint64_t value) {
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (old < value
           && !__atomic_compare_exchange_n(word, &old, value, 1, __ATOMIC_RELEASE,
                                           __ATOMIC_RELAXED)) {
    }
}

#endif
