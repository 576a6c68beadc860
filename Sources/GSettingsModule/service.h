#pragma once

#include <glib.h>

#include "store.h"

/* The thread that talks to the service: it fetches copies, sends changes and hears of those of others. All
 * of this is called with the store's lock held. */

/* Has the thread look for work, and starts it if necessary.
 *
 * - Parameter hurries: A thread waits for the end of all changes.
 * - Returns: Whether there is such a thread. */
gboolean service_wake(gboolean hurries);

/* Whether the caller is this thread, which must not wait for itself. */
gboolean service_is_current_thread(void);

/* Has the thread look for work, and starts it as soon as the program runs the caller's main loop, where it
 * hears of changes. So a program that only reads needs no thread. */
void service_listen(void);

/* Does the work of the thread until something is done, or until a time. If the thread exists already,
 * nothing is done. So the first reads of a program wait for no other thread. */
void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end);

/* --- For the work itself, on this thread and without the lock --- */

/* Has a function called once, at once or after some milliseconds. Unref the source. */
GSource *service_attach(GSourceFunc function, unsigned milliseconds);

/* Ends a timer, if there is one. */
void service_end_timer(GSource **timer);

/* Looks for work again after a pause, which becomes longer each time. */
void service_retry_later(void);
void service_stop_retrying(void);
gboolean service_is_pausing(void);

/* Notes that the service is not reached, and looks for work later. This is said only if something is
 * needed: at the end of a session it is not. */
void service_fail(const char *reason);

/* Whether a thread waits for the end of all changes; with the store's lock held.
 *
 * - Parameter ends: Whether all changes have ended. */
gboolean service_takes_hurry(gboolean ends);

/* Tells the listeners what has changed, and frees the notices. */
void service_tell(GPtrArray *notices);
