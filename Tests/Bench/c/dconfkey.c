/* dconfkey: dconf as a program uses it: one key read, or written and waited for.
 *
 * usage: dconfkey dconf-read|dconf-write CALLS KEYS
 *
 * The database is that of the environment; its keys stand in directories of 1 000. A read is done
 * in the process; a write goes to the service, whose reply says that the file has been written.
 * It ends after CALLS, or after the first of them that is made when ten seconds have passed. */
#include <dconf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEYS_OF_DIRECTORY = 1000, FIRST = 1 };
static const double LONGEST = 10e6;

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void use(DConfClient *client, const char *path, gboolean reads, int number) {
    GError *error = NULL;
    if (reads) {
        GVariant *value = dconf_client_read(client, path);
        if (!value) g_error("%s is not there", path);
        g_variant_unref(value);
    } else if (!dconf_client_write_sync(client, path, g_variant_new_boolean(number & 1), NULL, NULL,
                                        &error)) {
        g_error("%s", error->message);
    }
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    gboolean reads = !strcmp(arguments[1], "dconf-read");
    int calls = atoi(arguments[2]), keys = atoi(arguments[3]);
    DConfClient *client = dconf_client_new();
    double last = microseconds() + LONGEST;
    for (int number = 0, told = 0; told < calls && (!told || microseconds() < last); number++) {
        char path[64];
        // Each is written twice, as it was not and as it was.
        int key = (int)(number / 2 * 7919LL % keys);
        snprintf(path, sizeof path, "/bench/d%04d/k%04d", key / KEYS_OF_DIRECTORY,
                 key % KEYS_OF_DIRECTORY);
        double began = microseconds();
        use(client, path, reads, number);
        double took = microseconds() - began;
        if (number < FIRST) continue;
        printf("%s %.3f\n", arguments[1], took);
        told++;
    }
    g_object_unref(client);
    return 0;
}
