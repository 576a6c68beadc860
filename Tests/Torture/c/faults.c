/* Makes system calls fail, as a page of memory says that is shared with the one who breaks things.
 *
 * It is loaded before the C library (LD_PRELOAD), and FAULTS names the page's file. A call on a file
 * by descriptor is known by the name that the kernel has for it.
 */

#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct page *page;

__attribute__((constructor)) static void map_page(void) {
    const char *path = getenv("FAULTS");
    if (path == NULL) return;
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(NULL, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (mapped != MAP_FAILED) page = mapped;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static bool is_meant(enum call call, const char *path) {
    return page != NULL && atomic_load(&page->is_armed) && (page->calls & call)
        && fnmatch(page->pattern, path, 0) == 0;
}

/* Whether this call is one of those that go another way. */
static bool is_hit(enum call call, const char *path) {
    int saved = errno;
    bool hit = false;
    if (is_meant(call, path)) {
        uint64_t number = atomic_fetch_add(&page->seen, 1);
        uint64_t end = page->count == 0 ? UINT64_MAX : (uint64_t)page->skipped + page->count;
        hit = page->manner != COUNTED && number >= page->skipped && number < end;
    }
    if (hit) {
        uint64_t number = atomic_fetch_add(&page->hit, 1);
        if (number < TIMES) atomic_store(&page->times[number], now());
    }
    errno = saved;
    return hit;
}

/* Whether this call is to fail; a delay is over then. */
static bool fails(enum call call, const char *path) {
    if (!is_hit(call, path)) return false;
    if (page->manner == DELAYED) {
        struct timespec time = {page->milliseconds / 1000, page->milliseconds % 1000 * 1000000L};
        nanosleep(&time, NULL);
        return false;
    }
    if (page->manner == LAST) kill(getpid(), SIGKILL);
    errno = page->error;
    return page->manner == FAIL || page->manner == TORN;
}

static const char *name_of(int file, char name[PAGE_SIZE]) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, name, PAGE_SIZE - 1);
    name[length < 0 ? 0 : length] = 0;
    return name;
}

static bool is_armed(void) {
    return page != NULL && atomic_load(&page->is_armed);
}

static bool file_fails(enum call call, int file) {
    if (!is_armed()) return false;
    char name[PAGE_SIZE];
    int saved = errno;
    name_of(file, name);
    errno = saved;
    return fails(call, name);
}

/* How much of a write is taken; less than 0 where it fails. */
static ssize_t taken(int file, size_t size) {
    if (!is_armed()) return (ssize_t)size;
    if (page->manner != SHORT && page->manner != TORN)
        return file_fails(WRITE, file) ? -1 : (ssize_t)size;
    char name[PAGE_SIZE];
    name_of(file, name);
    if (!is_meant(WRITE, name)) return (ssize_t)size;
    if (page->manner == TORN && atomic_exchange(&page->is_torn, 0)) {
        errno = page->error;
        return -1;
    }
    if (size < 2 || !is_hit(WRITE, name)) return (ssize_t)size;
    if (page->manner == TORN) atomic_store(&page->is_torn, 1);
    return (ssize_t)size / 2;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED ssize_t write(int file, const void *bytes, size_t size) {
    ssize_t part = taken(file, size);
    return part < 0 ? -1 : syscall(SYS_write, file, bytes, part);
}

EXPORTED ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    ssize_t part = taken(file, size);
    return part < 0 ? -1 : syscall(SYS_pwrite64, file, bytes, part, offset);
}

EXPORTED ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
    return pwrite64(file, bytes, size, offset);
}

EXPORTED ssize_t pread64(int file, void *bytes, size_t size, off64_t offset) {
    if (file_fails(READ, file)) return -1;
    return syscall(SYS_pread64, file, bytes, size, offset);
}

EXPORTED ssize_t pread(int file, void *bytes, size_t size, off_t offset) {
    return pread64(file, bytes, size, offset);
}

EXPORTED int fsync(int file) {
    return file_fails(SYNC, file) ? -1 : (int)syscall(SYS_fsync, file);
}

EXPORTED int fdatasync(int file) {
    return file_fails(SYNC, file) ? -1 : (int)syscall(SYS_fdatasync, file);
}

EXPORTED int ftruncate64(int file, off64_t size) {
    return file_fails(TRUNCATE, file) ? -1 : (int)syscall(SYS_ftruncate, file, size);
}

EXPORTED int ftruncate(int file, off_t size) {
    return ftruncate64(file, size);
}

EXPORTED int posix_fallocate(int file, off_t offset, off_t size) {
    int saved = errno;
    if (file_fails(ALLOCATE, file)) {
        errno = saved;
        return page->error;
    }
    return syscall(SYS_fallocate, file, 0, offset, size) == 0 ? 0 : errno;
}

static int opened(int directory, const char *path, int flags, mode_t mode) {
    if (fails(OPEN, path)) return -1;
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & O_CREAT ? va_arg(rest, mode_t) : 0;
}

EXPORTED int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(AT_FDCWD, path, flags, mode);
}

EXPORTED int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(AT_FDCWD, path, flags, mode);
}

EXPORTED int openat(int directory, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(directory, path, flags, mode);
}

EXPORTED int rename(const char *path, const char *other) {
    return fails(RENAME, path) ? -1 : (int)syscall(SYS_rename, path, other);
}

EXPORTED int unlink(const char *path) {
    return fails(UNLINK, path) ? -1 : (int)syscall(SYS_unlink, path);
}

EXPORTED int mkdir(const char *path, mode_t mode) {
    return fails(MKDIR, path) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}
