/* quiet: how long the calls of a client take that makes few of them.
 *
 * usage: quiet SECONDS
 *
 * It pings the bus, sets a key and gets it, one call after the other, and rests a moment. Prints for
 * each kind a line: its name, the number of calls, and the microseconds that half of them took at
 * most, 99 of 100, and the slowest. That of the bus tells what of the rest is not the service's. A
 * call that is refused ends it, and so does a value that is not the one that was set. */
#include "archive.h"
#include "measuring.h"
#include "shared.h"

#define BUS_PEER "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Peer"

static const char domain[] = "org.example.Quiet", key[] = "Number";

enum { LENGTH = 16, FIRST = 4, MOST = 1 << 20 };
enum { PING, SET, GET, KINDS };

static const char *const names[KINDS] = {"Ping", "Set", "Get"};
static double times[KINDS][MOST];

static double set(DBusConnection *bus, uint64_t number) {
    uint8_t bytes[ARCHIVE_SIZE(LENGTH)];
    struct archive archive = {bytes, (int)archive_number(bytes, LENGTH, number)};
    return time_call(bus, set_call(domain, key, archive));
}

static double get(DBusConnection *bus, uint64_t expected) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *call = key_call("Get", domain, key);
    const uint8_t *bytes;
    int size;
    double began = microseconds();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, PATIENCE, &error);
    double took = microseconds() - began;
    if (!reply) fail("Get: %s: %s", error.name, error.message);
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &bytes, &size,
                               DBUS_TYPE_INVALID))
        fail("Get: the reply has the types '%s'", dbus_message_get_signature(reply));
    uint64_t number = number_in_archive(bytes, (size_t)size);
    if (number != expected)
        fail("Get: expected %llu, got %llu", (unsigned long long)expected,
             (unsigned long long)number);
    dbus_message_unref(call);
    dbus_message_unref(reply);
    return took;
}

static int compare(const void *one, const void *other) {
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static void print(int kind, int count) {
    double *sorted = times[kind];
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    printf("%s %d %.0f %.0f %.0f\n", names[kind], count, sorted[count / 2],
           sorted[(int)(count * 0.99)], sorted[count - 1]);
}

int main(int count, char **arguments) {
    if (count != 2) fail("usage: quiet SECONDS");
    DBusConnection *bus = connect_to_bus();
    double end = microseconds() + atof(arguments[1]) * 1e6;
    int round = -FIRST;
    /* Those of a second daemon, or of one before, begin elsewhere. */
    uint64_t number = (uint64_t)microseconds();
    for (; round < MOST && (round <= 0 || microseconds() < end); round++, number++) {
        double ping = time_call(bus, new_call(BUS_PEER, "Ping"));
        double setting = set(bus, number), getting = get(bus, number);
        if (round < 0) continue;
        times[PING][round] = ping, times[SET][round] = setting, times[GET][round] = getting;
        pause_a_moment();
    }
    for (int kind = 0; kind < KINDS; kind++) print(kind, round);
    return 0;
}
