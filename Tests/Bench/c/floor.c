/* floor: a service that does nothing, which is what any service costs.
 *
 * usage: floor
 *
 * Ping is answered by libdbus itself. Give replies as many bytes as it is asked for, Take takes
 * bytes and replies nothing: what the bus and the library cost where a large value is carried. */
#include "measuring.h"

static DBusHandlerResult answer(DBusConnection *bus, DBusMessage *call, void *block) {
    DBusMessage *reply = NULL;
    dbus_uint32_t size = 0;
    (void)block;
    if (dbus_message_is_method_call(call, "org.defaultsd.BenchFloor", "Take")) {
        reply = dbus_message_new_method_return(call);
    } else if (dbus_message_is_method_call(call, "org.defaultsd.BenchFloor", "Give")
               && dbus_message_get_args(call, NULL, DBUS_TYPE_UINT32, &size, DBUS_TYPE_INVALID)) {
        struct archive archive = {.bytes = calloc(size, 1), .size = (int)size};
        DBusMessageIter arguments;
        reply = dbus_message_new_method_return(call);
        dbus_message_iter_init_append(reply, &arguments);
        append_bytes(&arguments, archive);
        free(archive.bytes);
    }
    if (!reply) return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    dbus_connection_send(bus, reply, NULL);
    dbus_message_unref(reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(void) {
    DBusConnection *bus = connect_to_bus();
    dbus_connection_add_filter(bus, answer, NULL, NULL);
    dbus_bus_request_name(bus, "org.defaultsd.BenchFloor", 0, NULL);
    while (dbus_connection_read_write_dispatch(bus, -1)) {}
    return 0;
}
