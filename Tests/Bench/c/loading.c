/* loading: what it takes to load a library, and the memory of the process then.
 *
 * usage: loading KIND LIBRARY
 *
 * KIND-load is the time of dlopen(3). KIND-private and KIND-resident are what the process has more than before,
 * in kB: memory that is its own and written, and all of it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

/* A line of the kernel's summary, in kB. */
static long memory(const char *name) {
    char line[256];
    long size = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name))) size = atol(line + strlen(name));
    if (file) fclose(file);
    return size;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    long private = memory("Private_Dirty:"), resident = memory("Rss:");
    double began = microseconds();
    if (!dlopen(arguments[2], RTLD_NOW)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%s-load %.2f\n", arguments[1], microseconds() - began);
    printf("%s-private %ld\n", arguments[1], memory("Private_Dirty:") - private);
    printf("%s-resident %ld\n", arguments[1], memory("Rss:") - resident);
    return 0;
}
