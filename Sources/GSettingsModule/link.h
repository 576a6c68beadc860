#pragma once

#include <gio/gio.h>

/* The ways to the daemon. */

#define SERVICE_NAME "org.defaultsd.Defaults1"
#define SERVICE_PATH "/org/defaultsd/Defaults1"

/* Connects to the daemon's own socket; NULL if no daemon listens. It takes a third of a second at most.
 * The daemon may serve another bus: see link_serves_session. */
GDBusConnection *link_connect_directly(void);

/* Whether a daemon with this property BusAddress is that of the session. */
gboolean link_serves_session(const char *bus_address);

/* Connects to the session's bus. It calls back on this thread, also if it fails. */
void link_connect_to_bus(GAsyncReadyCallback completion);
GDBusConnection *link_finish_bus(GAsyncResult *result, GError **error);

/* Whether a call may not have been carried out, so that it is repeated. All other errors are the
 * service's answer. */
gboolean link_is_lost(const GError *error);
