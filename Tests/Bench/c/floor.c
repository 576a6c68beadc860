/* floor: a service that does nothing, which is what any service costs.
 *
 * usage: floor
 *
 * Ping is answered by libdbus itself. Give replies as many bytes as it is asked for and a number,
 * Take takes bytes and replies a number, Tell does so and sends a signal like Changed after it:
 * what the bus and the library cost where a value is carried, and where everybody is told. */
#include "measuring.h"

static const char interface[] = "org.defaultsd.BenchFloor";

static void send_and_free(DBusConnection *bus, DBusMessage *message) {
    dbus_connection_send(bus, message, NULL);
    dbus_message_unref(message);
}

static void append_number(DBusMessage *message, dbus_uint64_t number) {
    dbus_message_append_args(message, DBUS_TYPE_UINT64, &number, DBUS_TYPE_INVALID);
}

static DBusMessage *changed(const char *origin) {
    DBusMessage *signal = dbus_message_new_signal("/", interface, "Changed");
    const char *key = "PlaySound", **keys = &key;
    append_string(signal, "org.example.Bench");
    append_string(signal, "domain");
    for (int count = 1; count >= 0; count--)
        dbus_message_append_args(signal, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &keys, count,
                                 DBUS_TYPE_INVALID);
    append_number(signal, 1);
    append_string(signal, origin);
    return signal;
}

static DBusMessage *give(DBusMessage *call, int size) {
    DBusMessage *reply = dbus_message_new_method_return(call);
    struct archive archive = {.bytes = calloc(size, 1), .size = size};
    DBusMessageIter arguments;
    dbus_message_iter_init_append(reply, &arguments);
    append_bytes(&arguments, archive);
    append_number(reply, 1);
    free(archive.bytes);
    return reply;
}

static DBusHandlerResult answer(DBusConnection *bus, DBusMessage *call, void *block) {
    dbus_uint32_t size = 0;
    dbus_bool_t tells = dbus_message_is_method_call(call, interface, "Tell");
    (void)block;
    if (tells || dbus_message_is_method_call(call, interface, "Take")) {
        DBusMessage *reply = dbus_message_new_method_return(call);
        append_number(reply, 1);
        send_and_free(bus, reply);
        if (tells) send_and_free(bus, changed(dbus_message_get_sender(call)));
    } else if (dbus_message_is_method_call(call, interface, "Give")
               && dbus_message_get_args(call, NULL, DBUS_TYPE_UINT32, &size, DBUS_TYPE_INVALID)) {
        send_and_free(bus, give(call, (int)size));
    } else {
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    }
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(void) {
    DBusConnection *bus = connect_to_bus();
    dbus_connection_add_filter(bus, answer, NULL, NULL);
    dbus_bus_request_name(bus, interface, 0, NULL);
    while (dbus_connection_read_write_dispatch(bus, -1)) {}
    return 0;
}
