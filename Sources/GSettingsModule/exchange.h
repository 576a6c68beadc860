#pragma once

#include <glib.h>

/* What is asked of the service and sent to it, on its thread: copies are fetched, and changes sent. */

/* Does what there is to do, as far as the daemon is reached. */
void exchange_work(void);

/* Whether there is something to do. */
gboolean exchange_is_needed(void);

/* Marks what was asked on an earlier connection as not asked.
 *
 * - Parameter asks_for_all: Whether all copies are fetched again. */
void exchange_forget(gboolean asks_for_all);

/* Forgets the page, which another daemon may not update. The copies keep it until they are fetched. */
void exchange_drop_page(void);

/* Notes that another program has changed a domain, with the arguments of the signal Changed. */
void exchange_note_change(GVariant *arguments);
