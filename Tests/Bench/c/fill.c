/* fill: puts many keys into the database, as domains of 1 000 keys.
 *
 * usage: fill KEYS ARCHIVE
 *
 * It waits for the disk often enough that what is pending never comes to its bound, and at the
 * end. */
#include "measuring.h"

enum { KEYS_OF_DOMAIN = 1000, DOMAINS_BETWEEN_WAITS = 50 };

int main(int count, char **arguments) {
    if (count != 3) return 64;
    int keys = atoi(arguments[1]);
    struct archive archive = read_archive(arguments[2]);
    DBusConnection *bus = connect_to_bus();
    for (int first = 0; first < keys; first += KEYS_OF_DOMAIN) {
        char domain[64], key[16];
        int number = first / KEYS_OF_DOMAIN;
        snprintf(domain, sizeof domain, "org.example.Domain%04d", number);
        struct transaction transaction = begin_apply(domain);
        for (int i = 0; i < KEYS_OF_DOMAIN && first + i < keys; i++) {
            snprintf(key, sizeof key, "Key%04d", i);
            apply_entry(&transaction, key, archive);
        }
        time_call(bus, end_apply(&transaction, FALSE));
        if (number % DOMAINS_BETWEEN_WAITS == DOMAINS_BETWEEN_WAITS - 1)
            time_call(bus, new_call(OURS, "Synchronize"));
    }
    time_call(bus, new_call(OURS, "Synchronize"));
    return 0;
}
