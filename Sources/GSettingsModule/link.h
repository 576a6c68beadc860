#pragma once

#include <glib.h>

/* Where the daemon and the buses listen. */

#define SERVICE_NAME "org.defaultsd.Defaults1"
#define SERVICE_PATH "/org/defaultsd/Defaults1"

/* Each socket is connected, and has begun to authenticate. */

/* Connects to the daemon itself, if it is there at once: link_connect_directly takes this socket. So the
 * daemon examines this process while the program goes on. */
void link_prepare(void);

/* A socket that is connected to the daemon itself, or -1. The daemon may serve another bus: see
 * link_serves_session. */
int link_connect_directly(void);

/* A socket that is connected to a daemon that another session may have, or -1. It may have another database:
 * see places_have_database. */
int link_connect_elsewhere(void);

/* Whether a daemon with this property BusAddress is that of the session. */
gboolean link_serves_session(const char *bus_address);

/* A socket that is connected to the session's bus, or if there is none to the user's own bus, or -1. */
int link_connect_to_bus(void);

/* A socket that is connected to a daemon which this process runs for itself, or -1. It ends when the socket is
 * closed. */
int link_start_daemon(void);
