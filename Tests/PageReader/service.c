#include "service.h"
#include "shared.h"

#include <signal.h>
#include <string.h>

static const char name[] = "org.defaultsd.Defaults1";

DBusConnection *connect_to_bus(void) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *connection = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
    if (!connection)
        fail("no bus: %s", error.message);
    return connection;
}

DBusMessage *new_call(const char *method) {
    DBusMessage *message =
        dbus_message_new_method_call(name, "/org/defaultsd/Defaults1", name, method);
    if (!message)
        fail("no memory");
    return message;
}

bool means_daemon_died(const char *error_name) {
    static const char *const errors[] = {DBUS_ERROR_NO_REPLY, DBUS_ERROR_SERVICE_UNKNOWN,
                                         DBUS_ERROR_NAME_HAS_NO_OWNER};
    for (size_t index = 0; index < sizeof errors / sizeof *errors; index++)
        if (strcmp(error_name, errors[index]) == 0)
            return true;
    return false;
}

DBusMessage *call_service(DBusConnection *connection, DBusMessage *message) {
    while (true) {
        DBusError error = DBUS_ERROR_INIT;
        DBusMessage *again = dbus_message_copy(message);
        DBusMessage *reply = dbus_connection_send_with_reply_and_block(
            connection, again, DBUS_TIMEOUT_INFINITE, &error);
        dbus_message_unref(again);
        if (reply) {
            dbus_message_unref(message);
            return reply;
        }
        if (!means_daemon_died(error.name))
            fail("%s: %s: %s", dbus_message_get_member(message), error.name, error.message);
        dbus_error_free(&error);
    }
}

bool kill_daemon(DBusConnection *connection) {
    DBusMessage *message = dbus_message_new_method_call(
        DBUS_SERVICE_DBUS, DBUS_PATH_DBUS, DBUS_INTERFACE_DBUS, "GetConnectionUnixProcessID");
    const char *owner = name;
    dbus_message_append_args(message, DBUS_TYPE_STRING, &owner, DBUS_TYPE_INVALID);
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(
        connection, message, DBUS_TIMEOUT_INFINITE, NULL);
    dbus_message_unref(message);
    dbus_uint32_t process = 0;
    bool found = reply
        && dbus_message_get_args(reply, NULL, DBUS_TYPE_UINT32, &process, DBUS_TYPE_INVALID)
        && kill((pid_t)process, SIGKILL) == 0;
    if (reply)
        dbus_message_unref(reply);
    return found;
}

void take(DBusMessageIter *iterator, int type, void *value) {
    if (dbus_message_iter_get_arg_type(iterator) != type)
        fail("a reply has the type '%c' where '%c' is to be",
             dbus_message_iter_get_arg_type(iterator), type);
    dbus_message_iter_get_basic(iterator, value);
    dbus_message_iter_next(iterator);
}

DBusMessageIter enter(DBusMessageIter *iterator, int type) {
    if (dbus_message_iter_get_arg_type(iterator) != type)
        fail("a reply has the type '%c' where '%c' is to be",
             dbus_message_iter_get_arg_type(iterator), type);
    DBusMessageIter inner;
    dbus_message_iter_recurse(iterator, &inner);
    dbus_message_iter_next(iterator);
    return inner;
}

bool has_more(DBusMessageIter *iterator) {
    return dbus_message_iter_get_arg_type(iterator) != DBUS_TYPE_INVALID;
}
