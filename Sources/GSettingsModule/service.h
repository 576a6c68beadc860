#pragma once

#include <glib.h>

/* The thread that talks to the service: it fetches copies, sends changes and hears of those of others. */

/* Has the thread look for work, and starts it if necessary; with the store's lock held.
 *
 * - Returns: Whether there is such a thread. */
gboolean service_wake(void);

/* Whether the caller is this thread, which must not wait for itself. */
gboolean service_is_current_thread(void);
