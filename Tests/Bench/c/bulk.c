/* bulk: what one call for many keys saves.
 *
 * usage: bulk ROUNDS KEYS ARCHIVE OTHER-ARCHIVE
 *
 * In each round: KEYS Sets and one Apply of as many, KEYS Gets and one GetAll, and for a domain
 * of 100 keys some Attaches and as many Pings. Each write is a change. */
#include "measuring.h"

#define SINGLY "org.example.Singly"
#define TOGETHER "org.example.Together"
#define ATTACHED "org.example.Attached"
enum { ATTACHED_KEYS = 100, ATTACHES = 50 };

static char *key(int number) {
    static char name[16];
    snprintf(name, sizeof name, "Key%07d", number);
    return name;
}

static DBusMessage *apply(const char *domain, int keys, struct archive archive) {
    struct transaction transaction = begin_apply(domain);
    for (int number = 0; number < keys; number++) apply_entry(&transaction, key(number), archive);
    return end_apply(&transaction, FALSE);
}

static DBusMessage *get_all(const char *domain) {
    DBusMessage *message = new_call(OURS, "GetAll");
    append_string(message, domain);
    return message;
}

static DBusMessage *attach(const char *domain) {
    DBusMessage *message = new_call(OURS, "Attach");
    const char **domains = &domain;
    dbus_message_append_args(message, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &domains, 1,
                             DBUS_TYPE_INVALID);
    return message;
}

static void set_and_get(DBusConnection *bus, int keys, struct archive archive) {
    double sets = 0, gets = 0;
    for (int number = 0; number < keys; number++)
        sets += time_call(bus, set_call(SINGLY, key(number), archive));
    report("Sets", sets);
    report("Apply", time_call(bus, apply(TOGETHER, keys, archive)));
    for (int number = 0; number < keys; number++)
        gets += time_call(bus, key_call("Get", TOGETHER, key(number)));
    report("Gets", gets);
    report("GetAll", time_call(bus, get_all(TOGETHER)));
}

int main(int count, char **arguments) {
    if (count != 5) return 64;
    int rounds = atoi(arguments[1]), keys = atoi(arguments[2]);
    struct archive archives[2] = {read_archive(arguments[3]), read_archive(arguments[4])};
    DBusConnection *bus = connect_to_bus();
    time_call(bus, apply(ATTACHED, ATTACHED_KEYS, archives[0]));
    for (int round = 0; round < rounds; round++) {
        set_and_get(bus, keys, archives[round & 1]);
        for (int i = 0; i < ATTACHES; i++)
            report("Ping", time_call(bus, new_call(OUR_PEER, "Ping")));
        for (int i = 0; i < ATTACHES; i++) report("Attach", time_call(bus, attach(ATTACHED)));
        for (int i = 0; i < ATTACHES; i++)
            report("GetAll-100", time_call(bus, get_all(ATTACHED)));
    }
    return 0;
}
