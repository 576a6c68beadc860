/* defaultsclient: what libdefaults costs a program; dconfclient measures the same of libdconf.
 *
 * usage: defaultsclient read|write COUNT
 *
 * A read is printed as the mean of 1 000. A write does not wait for the service; write is what it takes the
 * caller, synced until the service has them all. */
#include <defaults.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { READS = 1000, PATIENCE = 600000 };

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void require(bool condition) {
    if (condition) return;
    fprintf(stderr, "%s\n", defaults_error_message());
    exit(1);
}

static void measure_reads(defaults_t *defaults, int count) {
    require(!defaults_set_bool(defaults, "flag", true) && !defaults_set_string(defaults, "text", "words"));
    require(!defaults_flush(defaults, PATIENCE));
    for (int round = 0; round < count / READS; round++) {
        double began = microseconds();
        for (int number = 0; number < READS; number++)
            if (!defaults_get_bool(defaults, "flag", false)) require(false);
        double read = microseconds();
        for (int number = 0; number < READS; number++)
            defaults_free(defaults_get_string(defaults, "text", NULL));
        printf("c-read %.5f\nc-string %.5f\n", (read - began) / READS, (microseconds() - read) / READS);
    }
}

static void measure_writes(defaults_t *defaults, int count) {
    double began = microseconds();
    for (int number = 0; number < count; number++)
        require(!defaults_set_int64(defaults, "count", number));
    double written = microseconds();
    require(!defaults_flush(defaults, PATIENCE));
    printf("c-write %.5f\nc-synced %.5f\n", (written - began) / count, (microseconds() - began) / count);
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    defaults_t *defaults = defaults_open("org.example.bench");
    require(defaults && !defaults_load(defaults));
    if (!strcmp(arguments[1], "read")) measure_reads(defaults, atoi(arguments[2]));
    else measure_writes(defaults, atoi(arguments[2]));
    defaults_close(defaults);
    return 0;
}
