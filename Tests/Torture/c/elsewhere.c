// Has a program live in other circumstances than those of this machine; preloaded.
//
// TORTURE_CLOCK names a file with a 64-bit number of seconds: so much later is it for the program, or
// earlier, from the moment on that the number is written. TORTURE_FILE_SYSTEM is the number of the
// file system that every file is on, and TORTURE_LOCK_ERROR the error of every flock.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t standing;
static const volatile int64_t *shift = &standing;
static long file_system, lock_error;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TORTURE_CLOCK");
    if (path != NULL) {
        int file = open(path, O_RDONLY | O_CLOEXEC);
        void *page = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
        if (page == MAP_FAILED)
            abort();
        shift = page;
        close(file);
    }
    const char *number = getenv("TORTURE_FILE_SYSTEM");
    file_system = number == NULL ? 0 : strtol(number, NULL, 0);
    number = getenv("TORTURE_LOCK_ERROR");
    lock_error = number == NULL ? 0 : strtol(number, NULL, 0);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        time->tv_sec += *shift;
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL)
        *result = now.tv_sec;
    return now.tv_sec;
}

int fstatfs(int descriptor, struct statfs *status) {
    int result = (int)syscall(SYS_fstatfs, descriptor, status);
    if (result == 0 && file_system != 0)
        status->f_type = file_system;
    return result;
}

int flock(int descriptor, int operation) {
    if (lock_error != 0) {
        errno = (int)lock_error;
        return -1;
    }
    return (int)syscall(SYS_flock, descriptor, operation);
}
