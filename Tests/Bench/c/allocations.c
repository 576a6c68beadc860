/* Counts the allocations of a program that it is loaded into before others, and prints their number
 * on the standard error at the program's end. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

/* What glibc's own functions are called when a program has others of their name. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong count;

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    count++;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    count++;
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}

__attribute__((destructor)) static void tell(void) { fprintf(stderr, "%lu\n", count); }
