#pragma once

#include <glib.h>

/* The thread that talks to the service: it fetches copies, sends changes and hears of those of others. All
 * of this is called with the store's lock held. */

/* Has the thread look for work, and starts it if necessary.
 *
 * - Parameter hurries: A thread waits for the end of all changes.
 * - Returns: Whether there is such a thread. */
gboolean service_wake(gboolean hurries);

/* Whether the thread has been started. */
gboolean service_exists(void);

/* Whether the caller is this thread, which must not wait for itself. */
gboolean service_is_current_thread(void);

/* Does the work of the thread until something is done, or until a time; then the thread is started. If it
 * exists already, nothing is done. So the first read of a program waits for no other thread. */
void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end);
