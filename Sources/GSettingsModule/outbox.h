#pragma once

#include <glib.h>

#include "copies.h"

/* The own changes that the service has not acknowledged; to be used under the store's lock. */

/* A key that is changed, and its new value. Changes, batches and readers share it. */
typedef struct {
    int references;
    /* The number of its change. */
    guint64 number;
    Copy *copy;
    char *path;
    /* Points into `path`. */
    const char *key;
    /* An entry without a form resets the key. */
    Entry *entry;
    /* The layer of this machine has the key. */
    gboolean is_in_host;
} Write;

Write *write_new(Copy *copy, const char *path, const char *key, Entry *entry);
void write_unref(Write *write);

/* Whether a write changes a layer of the user. A value is set in the layer of this machine if that has the
 * key, so that the program sees what it sets. A reset removes the key from both. */
gboolean write_changes(const Write *write, Layer layer);

/* What is sent as one change: all or none of it is made. */
typedef struct {
    /* Write by path. */
    GHashTable *writes;
    /* The name of the change for the service. */
    char token[40];
} Batch;

void outbox_init(void);

/* Adds one change of several keys, and takes the writes of the list.
 *
 * - Returns: Whether there is room for it. */
gboolean outbox_add(GPtrArray *writes);

/* The value that a key has by the own changes; NULL if they do not have it. */
Entry *outbox_entry(const char *path);

gboolean outbox_is_empty(void);

/* The batch that is in flight, or to be sent next; NULL if there is none. */
const Batch *outbox_batch(void);

/* Ends the batch in flight after it was acknowledged or refused.
 *
 * - Parameter was_refused: Whether it was refused. If it consisted of several changes, each of them is
 *   sent alone then, and this is no end.
 * - Returns: The writes that ended; free the list. */
GPtrArray *outbox_end(gboolean was_refused);
