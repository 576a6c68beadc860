#include "copies.h"

#include <string.h>

#include "names.h"
#include "values.h"

Entry *entry_new(GVariant *form) {
    Entry *entry = g_new0(Entry, 1);
    entry->references = 1;
    entry->form = form == NULL ? NULL : g_variant_ref(form);
    return entry;
}

Entry *entry_ref(Entry *entry) {
    entry->references++;
    return entry;
}

void entry_unref(Entry *entry) {
    if (--entry->references > 0)
        return;
    g_clear_pointer(&entry->form, g_variant_unref);
    g_clear_pointer(&entry->value, g_variant_unref);
    g_free(entry);
}

GVariant *entry_value(Entry *entry, const GVariantType *type) {
    if (entry->value != NULL && g_variant_is_of_type(entry->value, type))
        return g_variant_ref(entry->value);
    GVariant *value = entry->form == NULL ? NULL : value_of_form(entry->form, type);
    if (value == NULL)
        return NULL;
    g_clear_pointer(&entry->value, g_variant_unref);
    entry->value = g_variant_ref(value);
    return value;
}

void content_init(Content *content) {
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        content->layers[layer] = g_hash_table_new_full(
            g_str_hash, g_str_equal, g_free, (GDestroyNotify)entry_unref);
    content->locks = g_new0(char *, 1);
}

void content_clear(Content *content) {
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        g_clear_pointer(&content->layers[layer], g_hash_table_unref);
    g_clear_pointer(&content->locks, g_strfreev);
}

gboolean locks_cover(char *const *locks, const char *key) {
    for (char *const *lock = locks; *lock != NULL; lock++) {
        size_t length = strlen(*lock);
        gboolean is_prefix = length > 0 && (*lock)[length - 1] == '*';
        if (is_prefix ? strncmp(key, *lock, length - 1) == 0 : strcmp(key, *lock) == 0)
            return TRUE;
    }
    return FALSE;
}

Copy *copy_new(const char *domain) {
    Copy *copy = g_new0(Copy, 1);
    copy->name = g_strdup(domain);
    copy->path = path_of_domain(domain);
    content_init(&copy->content);
    return copy;
}

guint64 copy_counter(const Copy *copy) {
    return copy->page == NULL ? 0 : page_counter(copy->page, copy->word);
}

gboolean copy_is_current(const Copy *copy) {
    return copy->own_changes > 0 || copy->is_settling || copy_counter(copy) <= copy->generation;
}

void copy_use_counter(Copy *copy, Page *page, guint32 word) {
    Page *former = copy->page;
    copy->page = page == NULL ? NULL : page_ref(page);
    copy->word = word;
    g_clear_pointer(&former, page_unref);
}

static gboolean is_same(const Entry *former, const Entry *latter) {
    if (former->form == NULL || latter->form == NULL)
        return FALSE;
    return g_variant_equal(former->form, latter->form);
}

/* Adds the keys of a layer whose entry is another one or missing in the latter table. An entry that is
 * the same keeps its decoded value. */
static void add_differences(GHashTable *former, GHashTable *latter, GHashTable *keys) {
    GHashTableIter each;
    gpointer key, value;
    g_hash_table_iter_init(&each, former);
    while (g_hash_table_iter_next(&each, &key, &value)) {
        Entry *old = value, *new = g_hash_table_lookup(latter, key);
        if (new == NULL || !is_same(old, new))
            g_hash_table_add(keys, g_strdup(key));
        else
            g_hash_table_replace(latter, g_strdup(key), entry_ref(old));
    }
    g_hash_table_iter_init(&each, latter);
    while (g_hash_table_iter_next(&each, &key, &value))
        if (!g_hash_table_contains(former, key))
            g_hash_table_add(keys, g_strdup(key));
}

static GPtrArray *list_of_keys(GHashTable *keys) {
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter each;
    gpointer key;
    g_hash_table_iter_init(&each, keys);
    while (g_hash_table_iter_next(&each, &key, NULL)) {
        g_hash_table_iter_steal(&each);
        g_ptr_array_add(list, key);
    }
    return list;
}

/* Whether two layers have different keys. */
static gboolean has_other_keys(GHashTable *former, GHashTable *latter) {
    GHashTableIter each;
    gpointer key;
    if (g_hash_table_size(former) != g_hash_table_size(latter))
        return TRUE;
    g_hash_table_iter_init(&each, former);
    while (g_hash_table_iter_next(&each, &key, NULL))
        if (!g_hash_table_contains(latter, key))
            return TRUE;
    return FALSE;
}

GPtrArray *copy_replace(Copy *copy, Content *content, gboolean *locks_changed) {
    Content *former = &copy->content;
    GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        add_differences(former->layers[layer], content->layers[layer], keys);
    *locks_changed =
        !g_strv_equal(
            (const char *const *)former->locks, (const char *const *)content->locks)
        || has_other_keys(former->layers[LAYER_MANAGED], content->layers[LAYER_MANAGED]);
    content_clear(former);
    *former = *content;
    *content = (Content){0};
    GPtrArray *list = list_of_keys(keys);
    g_hash_table_unref(keys);
    return list;
}
