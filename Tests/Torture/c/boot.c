// Preloaded into the daemon: it reads the identity of the boot from the file that BOOT_ID names, so
// that a start can be the first one of another boot.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *path_for(const char *path)
{
    const char *other = getenv("BOOT_ID");
    return other && !strcmp(path, "/proc/sys/kernel/random/boot_id") ? other : path;
}

#define OPENING(name) \
    int name(const char *path, int flags, ...) \
    { \
        static int (*next)(const char *, int, ...); \
        if (!next) \
            next = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return next(path_for(path), flags, mode); \
    }

OPENING(open)
OPENING(open64)
