/* The page that says which system calls of the daemon fail; faults.py writes it. */

#include <stdatomic.h>
#include <stdint.h>

enum { PAGE_SIZE = 4096, TIMES = 64 };

enum call {
    WRITE = 1, SYNC = 2, TRUNCATE = 4, OPEN = 8, RENAME = 16, UNLINK = 32, MKDIR = 64,
    ALLOCATE = 128, READ = 256,
};

enum manner {
    FAIL,      /* with the error */
    SHORT,     /* a write takes half of what it is given, and succeeds */
    TORN,      /* a write takes half of what it is given, and the next fails, as other calls do */
    DELAYED,   /* as ever, after a while */
    COUNTED,   /* as ever */
    LAST,      /* not at all: the process is killed before it */
};

struct page {
    _Atomic uint32_t is_armed;
    uint32_t calls;           /* Those that are meant, of enum call. */
    uint32_t manner;
    int32_t error;            /* A number of errno. */
    uint32_t skipped;         /* How many of them go well before. */
    uint32_t count;           /* How many then fail; 0 for all. */
    uint32_t milliseconds;    /* Of a delay. */
    _Atomic uint32_t is_torn; /* The next write fails. */
    _Atomic uint64_t seen;    /* How many were made of those that are meant. */
    _Atomic uint64_t hit;     /* How many of them failed. */
    _Atomic uint64_t times[TIMES]; /* When the first failed, in milliseconds. */
    char pattern[512];        /* Their files, as fnmatch(3) has it. */
};
