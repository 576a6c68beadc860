/* dconfclient: what dconf costs a program that uses its library.
 *
 * usage: dconfclient read|write COUNT
 *
 * A read is of a boolean that is there, and is printed as the mean of 1 000. A write does not wait for
 * the service; dconf-write is what it takes the caller, dconf-synced until the service has them all. */
#include <dconf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READS = 1000 };

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void measure_reads(DConfClient *client, int count) {
    GError *error = NULL;
    if (!dconf_client_write_sync(client, "/bench/flag", g_variant_new_boolean(TRUE), NULL, NULL,
                                 &error))
        g_error("%s", error->message);
    dconf_client_sync(client);
    for (int round = 0; round < count / READS; round++) {
        double began = microseconds();
        for (int number = 0; number < READS; number++) {
            GVariant *value = dconf_client_read(client, "/bench/flag");
            if (!value || !g_variant_get_boolean(value)) g_error("the flag is not there");
            g_variant_unref(value);
        }
        printf("dconf-read %.5f\n", (microseconds() - began) / READS);
    }
}

static void measure_writes(DConfClient *client, int count) {
    GError *error = NULL;
    double began = microseconds();
    for (int number = 0; number < count; number++)
        if (!dconf_client_write_fast(client, "/bench/count", g_variant_new_int64(number), &error))
            g_error("%s", error->message);
    double written = microseconds();
    dconf_client_sync(client);
    printf("dconf-write %.5f\ndconf-synced %.5f\n", (written - began) / count,
           (microseconds() - began) / count);
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    DConfClient *client = dconf_client_new();
    if (!strcmp(arguments[1], "read")) measure_reads(client, atoi(arguments[2]));
    else measure_writes(client, atoi(arguments[2]));
    g_object_unref(client);
    return 0;
}
