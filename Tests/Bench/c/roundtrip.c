/* roundtrip: how long a method call takes, seen by a C caller over the session bus, and for kinds that
 * begin with "direct-" by the daemon's own socket.
 *
 * usage: roundtrip CALLS ARCHIVE OTHER-ARCHIVE [KIND...]
 *
 * Each kind of call, or each that is named (none of the direct ones), is made CALLS times, one after
 * another, in blocks that take turns, so that a machine that slows down slows all kinds alike. */
#include "measuring.h"

enum { BLOCK = 100 };
static struct archive archives[2];

/* What is called, the number of the call deciding so that each write is a change. */
static DBusMessage *ping_floor(int number) { return (void)number, new_call(FLOOR_PEER, "Ping"); }
static DBusMessage *ping(int number) { return (void)number, new_call(OUR_PEER, "Ping"); }

static DBusMessage *give(int number) { return carry_from_floor(archives[number & 1].size); }
static DBusMessage *tell(int number) { return carry_to_floor("Tell", archives[number & 1]); }

static DBusMessage *get(int number) {
    return (void)number, key_call("Get", "org.example.Bench", "PlaySound");
}

static DBusMessage *set(int number) {
    return set_call("org.example.Bench", "PlaySound", archives[number & 1]);
}

static DBusMessage *get_value(int number) {
    return (void)number, key_call("GetValue", "org.example.Bench", "PlaySound");
}

static DBusMessage *set_value(int number) {
    DBusMessage *message = key_call("SetValue", "org.example.Bench", "PlaySound");
    append_boolean(message, number & 1);
    return message;
}

static DBusMessage *get_property(int number) {
    DBusMessage *message = new_call(XFCONF, "GetProperty");
    append_string(message, "bench");
    append_string(message, "/PlaySound");
    return (void)number, message;
}

static DBusMessage *set_property(int number) {
    DBusMessage *message = new_call(XFCONF, "SetProperty");
    append_string(message, "bench");
    append_string(message, "/PlaySound");
    append_boolean(message, number & 1);
    return message;
}

static const struct kind { const char *name; DBusMessage *(*call)(int); } kinds[] = {
    {"floor-Ping", ping_floor}, {"floor-Give", give}, {"floor-Tell", tell},
    {"Ping", ping}, {"Set", set}, {"Get", get},
    {"SetValue", set_value}, {"GetValue", get_value},
    {"direct-Ping", ping}, {"direct-Set", set}, {"direct-Get", get},
    {"direct-SetValue", set_value}, {"direct-GetValue", get_value},
    {"xfconf-SetProperty", set_property}, {"xfconf-GetProperty", get_property},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_direct(const char *name) { return !strncmp(name, "direct-", 7); }

static int is_asked(const char *name, int count, char **asked) {
    for (int i = 0; i < count; i++)
        if (!strcmp(asked[i], name)) return 1;
    return !count;
}

int main(int count, char **arguments) {
    if (count < 4) return 64;
    int calls = atoi(arguments[1]);
    archives[0] = read_archive(arguments[2]);
    archives[1] = read_archive(arguments[3]);
    DBusConnection *bus = connect_to_bus();
    /* The daemon listens when it has answered. */
    time_call(bus, ping(0));
    DBusConnection *daemon = count > 4 ? NULL : connect_directly();
    for (int first = 0; first < calls; first += BLOCK)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = first; i < first + BLOCK && i < calls; i++)
                if (is_asked(kinds[kind].name, count - 4, arguments + 4))
                    report(kinds[kind].name, time_call(is_direct(kinds[kind].name) ? daemon : bus,
                                                       kinds[kind].call(i)));
    return 0;
}
