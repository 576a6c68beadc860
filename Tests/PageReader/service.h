/* The service as this program calls it, over a daemon that is killed now and then. */
#ifndef PAGE_READER_SERVICE_H
#define PAGE_READER_SERVICE_H

#include <dbus/dbus.h>
#include <stdbool.h>
#include <stdint.h>

/* A connection of this process's own to the session bus. */
DBusConnection *connect_to_bus(void);

/* A call of a method of the contract, without arguments yet. */
DBusMessage *new_call(const char *method);

/* Sends a call and waits for its reply, again and again while the daemon died under it. Takes the
 * message over; any other error ends the process. */
DBusMessage *call_service(DBusConnection *connection, DBusMessage *message);

/* Whether an error says that the daemon died, or was not there: the call is sent again. */
bool means_daemon_died(const char *error_name);

/* Kills the daemon, if one runs, by SIGKILL. Returns whether one did. */
bool kill_daemon(DBusConnection *connection);

/* Takes one value of a type from a message; ends the process if it has another type. */
void take(DBusMessageIter *iterator, int type, void *value);

/* Goes into an array, a structure or an entry, and past it outside. */
DBusMessageIter enter(DBusMessageIter *iterator, int type);

/* Whether an array has another element. */
bool has_more(DBusMessageIter *iterator);

#endif
