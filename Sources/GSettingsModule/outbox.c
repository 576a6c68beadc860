/* Own changes, from the write to the acknowledgement.
 *
 * Invariants
 *
 * 1. Changes are sent in their order. A change of several keys is always in one batch.
 * 2. One batch is in flight. All later changes are merged into the next one.
 * 3. A batch keeps its token until it ends, so a batch that is sent twice is made once.
 * 4. A change is refused only for what is wrong with itself: the changes of a refused batch are sent
 *    one by one. */
#include "outbox.h"

#include <string.h>

enum {
    /* Changes that are kept apart. Beyond that, they are merged. */
    MOST_CHANGES = 64,
    LARGEST_BATCH = 4 << 20,
    /* In the bytes of GVariants. As a message, it may be somewhat larger: at most 64 MiB. */
    LARGEST_CHANGE = 32 << 20,
    LARGEST_OUTBOX = 64 << 20,
};

typedef struct {
    GHashTable *writes;
    guint64 number;
    size_t size;
} Change;

static GQueue changes = G_QUEUE_INIT;
/* The newest write of each path. */
static GHashTable *own;
static guint64 last_number;
static size_t total_size;
static Batch batch;
/* The number of changes in the batch, which are the first of the queue. */
static unsigned batch_changes;
/* The number of changes that are sent alone. */
static unsigned lone_changes;

Write *write_new(Copy *copy, const char *path, const char *key, Entry *entry) {
    Write *write = g_new(Write, 1);
    char *own_path = g_strdup(path);
    *write = (Write){
        .references = 1, .copy = copy, .path = own_path, .key = own_path + (key - path),
        .entry = entry_ref(entry),
        .is_in_host = g_hash_table_contains(copy->content.layers[LAYER_HOST], key)};
    return write;
}

gboolean write_changes(const Write *write, Layer layer) {
    if (layer == LAYER_HOST)
        return write->is_in_host;
    return layer == LAYER_DOMAIN && (!write->is_in_host || write->entry->form == NULL);
}

static Write *write_ref(Write *write) {
    write->references++;
    return write;
}

void write_unref(Write *write) {
    if (--write->references > 0)
        return;
    g_free(write->path);
    entry_unref(write->entry);
    g_free(write);
}

static size_t size_of(const Write *write) {
    size_t value = write->entry->form == NULL ? 0 : g_variant_get_size(write->entry->form);
    return value + strlen(write->path) + 64;
}

static GHashTable *writes_new(void) {
    return g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)write_unref);
}

static void put(GHashTable *writes, Write *write) {
    g_hash_table_replace(writes, write->path, write);
}

/* Forgets an own value, which the copy counts. */
static void own_free(Write *write) {
    write->copy->own_changes--;
    write_unref(write);
}

static void change_free(Change *change) {
    total_size -= change->size;
    g_hash_table_unref(change->writes);
    g_free(change);
}

void outbox_init(void) {
    own = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)own_free);
}

static void note_own(Write *write, guint64 number) {
    write->number = number;
    write->copy->own_changes++;
    g_hash_table_replace(own, write->path, write_ref(write));
}

/* Whether the second change can replace the first: both change the same key alone. */
static gboolean is_replaced_by(const Change *former, GPtrArray *writes) {
    const Write *write = writes->pdata[0];
    return writes->len == 1 && g_hash_table_size(former->writes) == 1
        && g_hash_table_contains(former->writes, write->path);
}

/* The change that takes in further writes of a size; NULL if a new one is to be made. */
static Change *change_for(GPtrArray *writes, size_t size) {
    Change *last = g_queue_peek_tail(&changes);
    unsigned length = g_queue_get_length(&changes);
    if (last == NULL || length <= MAX(batch_changes, lone_changes) || last->size + size > LARGEST_CHANGE)
        return NULL;
    return length > MOST_CHANGES || is_replaced_by(last, writes) ? last : NULL;
}

static Change *change_new(void) {
    Change *change = g_new0(Change, 1);
    change->writes = writes_new();
    g_queue_push_tail(&changes, change);
    return change;
}

static void add_to_change(Change *change, Write *write) {
    const Write *former = g_hash_table_lookup(change->writes, write->path);
    size_t size = size_of(write) - (former == NULL ? 0 : size_of(former));
    change->size += size;
    total_size += size;
    put(change->writes, write);
}

gboolean outbox_add(GPtrArray *writes) {
    size_t size = 0;
    for (unsigned index = 0; index < writes->len; index++)
        size += size_of(writes->pdata[index]);
    if (writes->len == 0 || size > LARGEST_CHANGE || total_size + size > LARGEST_OUTBOX)
        return writes->len == 0;
    Change *change = change_for(writes, size) ?: change_new();
    change->number = ++last_number;
    for (unsigned index = 0; index < writes->len; index++) {
        note_own(writes->pdata[index], change->number);
        add_to_change(change, writes->pdata[index]);
        writes->pdata[index] = NULL;
    }
    return TRUE;
}

Entry *outbox_entry(const char *path) {
    const Write *found = g_hash_table_size(own) == 0 ? NULL : g_hash_table_lookup(own, path);
    return found == NULL ? NULL : found->entry;
}

gboolean outbox_is_empty(void) {
    return g_queue_is_empty(&changes);
}

static void merge(GHashTable *into, GHashTable *writes) {
    GHashTableIter each;
    gpointer write;
    g_hash_table_iter_init(&each, writes);
    while (g_hash_table_iter_next(&each, NULL, &write))
        put(into, write_ref(write));
}

/* Takes as many changes as one call carries. */
static void fill_batch(void) {
    unsigned most = lone_changes > 0 ? 1 : G_MAXUINT;
    size_t size = 0;
    for (GList *each = changes.head; each != NULL && batch_changes < most; each = each->next) {
        const Change *change = each->data;
        size += change->size;
        if (batch_changes > 0 && size > LARGEST_BATCH)
            break;
        merge(batch.writes, change->writes);
        batch_changes++;
    }
}

const Batch *outbox_batch(void) {
    if (batch_changes == 0 && !outbox_is_empty()) {
        batch.writes = writes_new();
        char *token = g_uuid_string_random();
        g_strlcpy(batch.token, token, sizeof batch.token);
        g_free(token);
        fill_batch();
    }
    return batch_changes == 0 ? NULL : &batch;
}

/* Removes the changes of the batch, and returns the number of the last one. */
static guint64 remove_changes(void) {
    guint64 number = 0;
    for (; batch_changes > 0; batch_changes--) {
        Change *change = g_queue_pop_head(&changes);
        number = change->number;
        change_free(change);
        if (lone_changes > 0)
            lone_changes--;
    }
    return number;
}

static void forget_own(const Write *write, guint64 number) {
    const Write *newest = g_hash_table_lookup(own, write->path);
    if (newest != NULL && newest->number <= number)
        g_hash_table_remove(own, write->path);
}

GPtrArray *outbox_end(gboolean was_refused) {
    GPtrArray *ended = g_ptr_array_new_with_free_func((GDestroyNotify)write_unref);
    if (batch_changes == 0)
        return ended;
    GHashTable *writes = g_steal_pointer(&batch.writes);
    if (was_refused && batch_changes > 1) {
        lone_changes = batch_changes;
        batch_changes = 0;
        g_hash_table_unref(writes);
        return ended;
    }
    guint64 number = remove_changes();
    GHashTableIter each;
    gpointer write;
    g_hash_table_iter_init(&each, writes);
    while (g_hash_table_iter_next(&each, NULL, &write)) {
        g_hash_table_iter_steal(&each);
        forget_own(write, number);
        g_ptr_array_add(ended, write);
    }
    g_hash_table_unref(writes);
    return ended;
}
