/* large: how long it takes to carry, to store and to read one value of many megabytes.
 *
 * usage: large ROUNDS ARCHIVE OTHER-ARCHIVE
 *
 * Take and Give carry as many bytes to and from a service that does nothing with them; a Set of a
 * domain that cannot be is refused by ours before it looks at the archive. What was set is on disk
 * before anything else is measured. */
#include "measuring.h"

static double time_refusal(DBusConnection *bus, struct archive archive) {
    DBusMessage *message = set_call("no domain", "Large", archive);
    DBusError error = DBUS_ERROR_INIT;
    double began = microseconds();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, PATIENCE, &error);
    double took = microseconds() - began;
    if (reply || !dbus_error_has_name(&error, "org.defaultsd.Defaults1.Error.InvalidDomain"))
        end("Set of no domain", "was not refused");
    dbus_error_free(&error);
    dbus_message_unref(message);
    return took;
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    int rounds = atoi(arguments[1]);
    struct archive archives[2] = {read_archive(arguments[2]), read_archive(arguments[3])};
    DBusConnection *bus = connect_to_bus();
    for (int round = -1; round < rounds; round++) {
        struct archive archive = archives[round & 1];
        double taken = time_call(bus, carry_to_floor("Take", archive));
        double refused = time_refusal(bus, archive);
        double set = time_call(bus, set_call("org.example.Large", "Large", archive));
        time_call(bus, new_call(OURS, "Synchronize"));
        double given = time_call(bus, carry_from_floor(archive.size));
        double got = time_call(bus, key_call("Get", "org.example.Large", "Large"));
        if (round < 0) continue;
        report("Take", taken), report("refused-Set", refused), report("Set", set);
        report("Give", given), report("Get", got);
    }
    return 0;
}
