/* Reads or sets a number, and prints what the library says of it: the value, "default", "kept" or an error.
 *
 * usage: honest read | honest write NUMBER */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "defaults.h"

int main(int argc, char **argv) {
    defaults_t *defaults = defaults_open("org.example.App");
    if (defaults == NULL || argc < 2)
        return 1;
    if (strcmp(argv[1], "read") == 0) {
        long long value = defaults_get_int64(defaults, "Key", -1);
        if (defaults_last_error() != DEFAULTS_OK)
            printf("error %s\n", defaults_error_message());
        else if (value == -1)
            printf("default\n");
        else
            printf("%lld\n", value);
    } else {
        int error = defaults_set_int64(defaults, "Key", atoi(argv[2]));
        if (error == DEFAULTS_OK)
            error = defaults_flush(defaults, 3000);
        printf("%s\n", error == DEFAULTS_OK ? "kept" : defaults_error_message());
    }
    defaults_close(defaults);
    return 0;
}
