/* victim: how long small changes of one caller take, one after another, until standard input ends.
 *
 * usage: victim ARCHIVE OTHER-ARCHIVE */
#include <poll.h>

#include "measuring.h"

int main(int count, char **arguments) {
    if (count != 3) return 64;
    struct archive archives[] = {read_archive(arguments[1]), read_archive(arguments[2])};
    DBusConnection *bus = connect_to_bus();
    // Whoever waits for the first line is to see it.
    setvbuf(stdout, NULL, _IOLBF, 0);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    for (int number = 0;; number++) {
        report("Set", time_call(bus, set_call("org.example.Small", "key", archives[number & 1])));
        if (poll(&input, 1, 1) != 0) return 0;
    }
}
