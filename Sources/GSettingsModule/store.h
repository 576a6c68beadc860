#pragma once

#include <glib.h>

#include "copies.h"
#include "outbox.h"

/* What this process knows of the settings: copies of the domains that it uses, and its own changes.
 *
 * The functions of the first part are for any thread, and take the lock themselves. Those of the
 * second part are for the thread of the service. */

/* Which of the values of a key is read. */
typedef enum { READ_EFFECTIVE, READ_DEFAULT, READ_USER } Reading;

void store_init(void);

/* The value of a key in this type; unref it. NULL if there is none, or if it has another type. It waits
 * for the first copy of the domain, and for no more than a moment otherwise. */
GVariant *store_read(const char *path, const GVariantType *type, Reading reading);

gboolean store_is_writable(const char *path);

/* Changes several keys as one change. The tree has values by path; NULL resets a key.
 *
 * - Returns: Whether all of them may be changed. If not, none is. */
gboolean store_write(GTree *tree);
gboolean store_write_one(const char *path, GVariant *value);

/* Begins to fetch the copy of a path's domain. */
void store_prefetch(const char *path);

/* Waits until the service has acknowledged all changes, also for the next daemon; always with a limit. */
void store_sync(void);

/* --- For the thread of the service --- */

/* How the service is reached, for those who wait. */
typedef enum { REACH_UNKNOWN, REACH_OPEN, REACH_FAILED } Reach;

/* A value that was left out of a copy and is needed. */
typedef struct {
    Copy *copy;
    Layer layer;
    char *key;
} LargeRequest;

void large_request_free(LargeRequest *request);

/* What has changed in one domain, for the listeners. */
typedef struct {
    char *path;
    /* Items below the path; with more than a few, all of them may have changed. */
    GPtrArray *items;
    gboolean writability_changed;
} Notice;

GPtrArray *notices_new(void);

void store_lock(void);
void store_unlock(void);

/* The following are called with the lock held. */

/* All copies. */
GHashTable *store_copies(void);

/* Whether something is to be fetched or sent, or being so. */
gboolean store_has_work(void);

/* Whether this process was forked. */
gboolean store_is_forked(void);
GPtrArray *store_take_large_requests(void);
/* Puts back a request that was not answered. */
void store_ask_again(const LargeRequest *large);
void store_set_reach(Reach reach);

/* Notes that a connection to the daemon has begun or ended. The time in which an answer is expected counts
 * from its beginning. */
void store_note_connection(gboolean is_open);

/* Replaces the locks of all domains, and adds the domains to `notices` if they have changed. Takes them. */
void store_replace_locks(char **locks, GPtrArray *notices);

/* Puts what was fetched into a copy, and adds what has changed to `notices`. Takes the content. */
void store_replace(Copy *copy, Content *content, guint64 generation, GPtrArray *notices);

/* Ends the batch in flight. The changes that the service has made become part of the copies. Those that
 * it has refused are undone, and are added to `notices`.
 *
 * - Parameter generation: That of the acknowledgement, or 0 if the batch was refused.
 * - Parameter is_ordered: Whether all earlier changes of others have come before the reply. */
void store_end_batch(guint64 generation, gboolean is_ordered, GPtrArray *notices);

/* Gives an entry its large value; NULL if it has none in the value form. */
void store_put_large(const LargeRequest *request, GVariant *form);

/* Prints a line once, when the lock is given up. The text has no values. */
void say_once(const char *format, ...) G_GNUC_PRINTF(1, 2);
