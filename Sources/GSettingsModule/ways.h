#pragma once

#include "wire.h"

/* The way to the daemon, on the thread of the service. */

/* Begins to reach the daemon, if something is needed and nothing was begun. */
void way_seek(void);

/* Whether copies may be asked for. */
gboolean way_is_open(void);

/* Whether it is known that the daemon is that of the session. Then changes may be sent. */
gboolean way_is_proven(void);

/* Whether the way is without the bus, where the changes of others come in order with the replies. */
gboolean way_is_direct(void);

/* The name of this process on the bus; NULL if it has none. */
const char *way_own_name(void);

/* Calls a method of the service: see wire_call. */
void way_call(
    const char *member, GVariant *arguments, const char *reply_type, ReplyHandler handler,
    gpointer data, GDestroyNotify free_data);

/* On the bus, asks for the changes of domains. */
void way_hear_changes(GPtrArray *copies);
