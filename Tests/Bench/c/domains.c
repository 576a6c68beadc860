/* domains: how long a program takes that reads one setting of each of many domains, in microseconds. The
 * backend is in the environment.
 *
 * usage: domains set COUNT     Gives each of them a value before.
 *        domains read COUNT */
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    if (count != 3) return 64;
    int domains = atoi(arguments[2]), is_reading = strcmp(arguments[1], "read") == 0;
    double began = (double)g_get_monotonic_time();
    for (int index = 0; index < domains; index++) {
        char path[64];
        snprintf(path, sizeof path, "/org/example/bench/domain-%d/", index);
        GSettings *settings = g_settings_new_with_path("org.defaultsd.test.anywhere", path);
        if (!is_reading)
            g_settings_set_int(settings, "number", index + 1);
        else if (g_settings_get_int(settings, "number") != index + 1)
            return EXIT_FAILURE;
        g_object_unref(settings);
    }
    g_settings_sync();
    printf("domains %f\n", (double)g_get_monotonic_time() - began);
    return EXIT_SUCCESS;
}
