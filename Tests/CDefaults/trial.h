/* What the trials share: how they fail, and how they ask the runner for something.
 *
 * A trial is a function without arguments. It ends the program with a line if something is not as it should
 * be. The sources are C99, and are compiled as C++, too. */
#ifndef TRIAL_H
#define TRIAL_H

#include <defaults.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOMAIN "org.defaultsd.test.c"
/* In milliseconds: longer than anything takes on a busy machine. */
#define PATIENCE 600000u

#define CHECK(condition)                                                                     \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "%s:%d: %s (%s: %s)\n", __FILE__, __LINE__, #condition,          \
                    defaults_error_name((int)defaults_last_error()), defaults_error_message()); \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)
#define CHECK_TEXT(text, expected)                                                           \
    do {                                                                                     \
        char *found_ = (text);                                                               \
        if (!found_ || strcmp(found_, (expected)) != 0) {                                    \
            fprintf(stderr, "%s:%d: %s is %s\n", __FILE__, __LINE__, #text,                  \
                    found_ ? found_ : "NULL");                                               \
            exit(1);                                                                         \
        }                                                                                    \
        defaults_free(found_);                                                               \
    } while (0)

/* Has the runner do something: it answers with a line. */
static inline void ask(const char *what) {
    char answer[64];
    printf("%s\n", what);
    fflush(stdout);
    CHECK(fgets(answer, sizeof answer, stdin) && strcmp(answer, "ok\n") == 0);
}

/* Opens the domain of the trials. */
static inline defaults_t *open_domain(void) {
    defaults_t *defaults = defaults_open(DOMAIN);
    CHECK(defaults);
    return defaults;
}

/* Waits until there is something to dispatch, and dispatches it. */
static inline void dispatch_once(defaults_t *defaults) {
    struct pollfd descriptor = {0, POLLIN, 0};
    descriptor.fd = defaults_fd(defaults);
    CHECK(descriptor.fd >= 0);
    CHECK(poll(&descriptor, 1, (int)PATIENCE) == 1);
    CHECK(defaults_dispatch(defaults) == DEFAULTS_OK);
}

/* Writes something from another process, by the tool. */
static inline void run_tool(const char *arguments) {
    char line[1024];
    snprintf(line, sizeof line, "\"$DEFAULTSCTL\" %s", arguments);
    CHECK(system(line) == 0);
}

#endif
