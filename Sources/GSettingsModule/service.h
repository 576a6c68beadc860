#pragma once

#include <glib.h>

#include "store.h"

/* The thread that talks to the service: it fetches copies, sends changes and hears of those of others. All
 * of this is called with the store's lock held. */

/* Has the thread look for work, and starts it if necessary.
 *
 * - Returns: Whether there is such a thread. */
gboolean service_wake(void);

/* Notes that a thread begins or ends to wait for the end of all changes. Meanwhile, changes are not
 * collected, and a daemon that is not reached is looked for often. */
void service_begin_hurry(void);
void service_end_hurry(void);
gboolean service_is_hurried(void);

/* Whether the caller is this thread, which must not wait for itself. */
gboolean service_is_current_thread(void);

/* Has the thread look for work, and starts it as soon as the program runs the caller's main loop, where it
 * hears of changes. So a program that only reads needs no thread. */
void service_listen(void);

/* Does the work of the thread until something is done, or until a time. If the thread exists already,
 * nothing is done. So the first reads of a program wait for no other thread. */
void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end);

/* --- For the work itself, on this thread and without the lock --- */

/* Looks for work again after a pause, which becomes longer each time. */
void service_retry_later(void);
void service_stop_retrying(void);
gboolean service_is_pausing(void);

/* Notes that the service is not reached, and looks for work later. This is said only if something is
 * needed: at the end of a session it is not. */
void service_fail(const char *reason);

/* Tells the listeners what has changed, and frees the notices. */
void service_tell(GPtrArray *notices);
