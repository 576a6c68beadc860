#pragma once

#include <gio/gio.h>

#include "copies.h"
#include "outbox.h"
#include "page.h"

/* The calls of the contract: their arguments, and what their replies have. */

#define FETCH_REPLY_TYPE "(ha(sua{sv}asas)t)"
#define BATCH_REPLY_TYPE "(t)"
#define LARGE_REPLY_TYPE "(vt)"

/* The name of a domain in a layer; free it with g_free. */
char *name_in_layer(const Copy *copy, Layer layer);

/* The arguments of FollowValues and AttachValues for all layers of domains.
 *
 * - Parameter asks_for_locks: Whether the locks of all domains are asked for, too. */
GVariant *fetch_arguments(GPtrArray *copies, gboolean asks_for_locks);

/* What the reply has of one domain. The content is the caller's.
 *
 * - Parameter first: The index of its first layer in the reply.
 * - Returns: Whether the reply has it. */
gboolean fetch_content(GVariant *reply, unsigned first, Content *content, guint32 *word);

/* What the reply has of the locks of all domains; free it with g_strfreev. NULL if they were not asked for.
 *
 * - Parameter copies: The number of copies in the call. */
char **fetch_global_locks(GVariant *reply, unsigned copies);

/* The arguments of ApplyAllValues for a batch. */
GVariant *batch_arguments(const Batch *batch);
