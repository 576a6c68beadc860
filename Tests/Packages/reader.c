/* Sets a number and reads it, by libdefaults as the packages have it. */

#include <defaults.h>
#include <stdio.h>

int main(void) {
    defaults_t *defaults = defaults_open("org.example.App");
    if (defaults == NULL || defaults_set_int64(defaults, "FromC", 7) != 0) {
        fprintf(stderr, "%s\n", defaults_error_message());
        return 1;
    }
    if (defaults_synchronize(defaults, 10000) != 0) {
        fprintf(stderr, "%s\n", defaults_error_message());
        return 1;
    }
    printf("%d %d\n", (int)defaults_get_int64(defaults, "FromC", 0), (int)defaults_get_int64(defaults, "Key", 0));
    defaults_close(defaults);
    return 0;
}
