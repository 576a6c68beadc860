#pragma once

#include <glib.h>

/* Where the daemon and the bus listen. */

#define SERVICE_NAME "org.defaultsd.Defaults1"
#define SERVICE_PATH "/org/defaultsd/Defaults1"

/* Each socket is connected, and has begun to authenticate. */

/* Connects to the daemon itself, if it is there at once: link_connect_directly takes this socket. So the
 * daemon examines this process while the program goes on. */
void link_prepare(void);

/* A socket that is connected to the daemon itself, or -1. The daemon may serve another bus: see
 * link_serves_session. */
int link_connect_directly(void);

/* Whether a daemon with this property BusAddress is that of the session. */
gboolean link_serves_session(const char *bus_address);

/* A socket that is connected to the session's bus, or -1. */
int link_connect_to_bus(void);
