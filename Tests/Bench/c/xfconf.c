/* xfconf: how long the calls of programs of Xfce take.
 *
 * usage: xfconf fill PROPERTIES    Sets properties, of the four usual types in turn.
 *        xfconf measure CALLS      Calls GetProperty and SetProperty so often, and GetAllProperties
 *                                  a tenth as often. */
#include "measuring.h"

static DBusMessage *channel_call(const char *member, const char *property) {
    DBusMessage *message = new_call(XFCONF, member);
    append_string(message, "bench");
    append_string(message, property);
    return message;
}

static DBusMessage *set(int number, int value) {
    char property[32], text[32];
    const char *words = text;
    dbus_bool_t truth = value & 1;
    dbus_int32_t integer = value;
    double real = value + 0.5;
    struct { int type; const char *signature; const void *value; } types[] = {
        {DBUS_TYPE_BOOLEAN, "b", &truth}, {DBUS_TYPE_INT32, "i", &integer},
        {DBUS_TYPE_DOUBLE, "d", &real}, {DBUS_TYPE_STRING, "s", &words}};
    snprintf(property, sizeof property, "/group-%d/name-%d", number / 20, number);
    snprintf(text, sizeof text, "value %d", value);
    DBusMessage *message = channel_call("SetProperty", property);
    DBusMessageIter arguments, variant;
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(
        &arguments, DBUS_TYPE_VARIANT, types[number % 4].signature, &variant);
    dbus_message_iter_append_basic(&variant, types[number % 4].type, types[number % 4].value);
    dbus_message_iter_close_container(&arguments, &variant);
    return message;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    int number = atoi(arguments[2]);
    DBusConnection *bus = connect_to_bus();
    if (!strcmp(arguments[1], "fill")) {
        for (int i = 0; i < number; i++) time_call(bus, set(i, i));
        return 0;
    }
    /* Each run sets other values than the one before. */
    int other = (int)(microseconds() / 1e3) % 1000000;
    for (int i = 0; i < number; i++) {
        report("get", time_call(bus, channel_call("GetProperty", "/group-0/name-3")));
        report("set", time_call(bus, set(i % 4, 2 * (other + i) + (i / 4) % 2)));
        if (i % 10 == 0) report("all", time_call(bus, channel_call("GetAllProperties", "/")));
    }
    return 0;
}
