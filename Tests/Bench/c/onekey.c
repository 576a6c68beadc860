/* onekey: how long it takes to read and to change one key, in a database that fill has filled.
 *
 * usage: onekey read|durable|acknowledged|xfconf-read|xfconf-write CALLS KEYS ARCHIVE OTHER-ARCHIVE
 *
 * The keys are picked from all over the KEYS that there are, other ones each time, so that no cache
 * has them. Each is written twice, as it was not and as it was, so that each write is a change.
 * durable waits for the disk, acknowledged for the reply only, which is all that xfconf tells. */
#include "measuring.h"
#include <unistd.h>

/* The first calls of a connection have the bus asked who it is, and are not counted. */
enum { KEYS_OF_DOMAIN = 1000, FIRST = 4 };
static struct archive archives[2];

static char *domain_of(int key) {
    static char domain[64];
    snprintf(domain, sizeof domain, "org.example.Domain%04d", key / KEYS_OF_DOMAIN);
    return domain;
}

static char *name_of(int key) {
    static char name[16];
    snprintf(name, sizeof name, "Key%04d", key % KEYS_OF_DOMAIN);
    return name;
}

static DBusMessage *read_key(int number, int key) {
    return (void)number, key_call("Get", domain_of(key), name_of(key));
}

static DBusMessage *change(int number, int key, dbus_bool_t durable) {
    struct transaction transaction = begin_apply(domain_of(key));
    apply_entry(&transaction, name_of(key), archives[~number & 1]);
    return end_apply(&transaction, durable);
}

static DBusMessage *change_durably(int number, int key) { return change(number, key, TRUE); }
static DBusMessage *change_soon(int number, int key) { return change(number, key, FALSE); }

/* All in one channel, which is the unit of its storage, in branches of 1 000. */
static DBusMessage *property_call(const char *member, int key) {
    char path[32];
    DBusMessage *message = new_call(XFCONF, member);
    snprintf(path, sizeof path, "/d%04d/k%04d", key / KEYS_OF_DOMAIN, key % KEYS_OF_DOMAIN);
    append_string(message, "bench");
    append_string(message, path);
    return message;
}

static DBusMessage *read_property(int number, int key) {
    return (void)number, property_call("GetProperty", key);
}

static DBusMessage *write_property(int number, int key) {
    DBusMessage *message = property_call("SetProperty", key);
    append_boolean(message, number & 1);
    return message;
}

static const struct kind {
    const char *name;
    DBusMessage *(*call)(int number, int key);
} kinds[] = {
    {"read", read_key}, {"durable", change_durably}, {"acknowledged", change_soon},
    {"xfconf-read", read_property}, {"xfconf-write", write_property},
};

int main(int count, char **arguments) {
    if (count != 6) return 64;
    int calls = atoi(arguments[2]), keys = atoi(arguments[3]);
    archives[0] = read_archive(arguments[4]);
    archives[1] = read_archive(arguments[5]);
    srandom(getpid());
    DBusConnection *bus = connect_to_bus();
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        if (strcmp(kinds[kind].name, arguments[1])) continue;
        for (int number = 0, key = 0; number < FIRST + calls + calls % 2; number++) {
            if (number % 2 == 0) key = (int)(random() % keys);
            double took = time_call(bus, kinds[kind].call(number, key));
            if (number >= FIRST) report(kinds[kind].name, took);
        }
        return 0;
    }
    return 64;
}
