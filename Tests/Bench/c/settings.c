/* A program with settings: how long its first read, its reads and its writes take, in microseconds, and
 * how much memory it has to itself after the first read, in kB. The backend is in the environment. */
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

enum { READS = 20000, WRITES = 2000 };

static double now(void) {
    return (double)g_get_monotonic_time();
}

static void print_memory(void) {
    char line[256];
    long size;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Private_Dirty: %ld", &size) == 1)
            printf("memory %ld\n", size);
    if (file != NULL)
        fclose(file);
}

static void print_reads(GSettings *settings) {
    double began = now();
    for (int index = 0; index < READS; index++)
        g_free(g_settings_get_string(settings, "text"));
    printf("read %f\n", (now() - began) / READS);
}

static void print_writes(GSettings *settings) {
    double began = now();
    for (int index = 1; index <= WRITES; index++)
        g_settings_set_int(settings, "number", index);
    printf("write %f\n", (now() - began) / WRITES);
    g_settings_sync();
    printf("stored %f\n", (now() - began) / WRITES);
}

int main(void) {
    double began = now();
    GSettings *settings = g_settings_new("org.defaultsd.test.plain");
    g_free(g_settings_get_string(settings, "text"));
    printf("first %f\n", now() - began);
    /* What the other threads still have to do. */
    g_usleep(50000);
    print_memory();
    print_reads(settings);
    print_writes(settings);
    g_object_unref(settings);
    return EXIT_SUCCESS;
}
