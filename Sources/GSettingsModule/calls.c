#include "calls.h"

#include <string.h>

#include "names.h"

static const char *const suffixes[LAYER_COUNT] = {"@managed", "@host", "", "@system"};

char *name_in_layer(const Copy *copy, Layer layer) {
    return g_strconcat(copy->name, suffixes[layer], NULL);
}

GVariant *fetch_arguments(GPtrArray *copies, gboolean asks_for_locks) {
    GVariantBuilder names;
    g_variant_builder_init(&names, G_VARIANT_TYPE_STRING_ARRAY);
    for (unsigned index = 0; index < copies->len; index++)
        for (Layer layer = 0; layer < LAYER_COUNT; layer++) {
            char *name = name_in_layer(copies->pdata[index], layer);
            g_variant_builder_add(&names, "s", name);
            g_free(name);
        }
    if (asks_for_locks)
        g_variant_builder_add(&names, "s", GLOBAL_DOMAIN "@managed");
    return g_variant_new("(as)", &names);
}

char **fetch_global_locks(GVariant *reply, unsigned copies) {
    char **locks = NULL;
    GVariant *domains = g_variant_get_child_value(reply, 1);
    if (g_variant_n_children(domains) > copies * LAYER_COUNT)
        g_variant_get_child(
            domains, copies * LAYER_COUNT, "(&su@a{sv}^as^as)", NULL, NULL, NULL, NULL, &locks);
    g_variant_unref(domains);
    return locks;
}

static void read_entries(GHashTable *layer, GVariant *entries, char **large) {
    GVariantIter each;
    char *key;
    GVariant *form;
    g_variant_iter_init(&each, entries);
    while (g_variant_iter_next(&each, "{sv}", &key, &form)) {
        g_hash_table_replace(layer, key, entry_new(form));
        g_variant_unref(form);
    }
    for (char **name = large; *name != NULL; name++) {
        Entry *entry = entry_new(NULL);
        entry->is_large = TRUE;
        g_hash_table_replace(layer, g_strdup(*name), entry);
    }
}

gboolean fetch_content(GVariant *reply, unsigned first, Content *content, guint32 *word) {
    GVariant *domains = g_variant_get_child_value(reply, 1);
    gboolean is_complete = g_variant_n_children(domains) >= first + LAYER_COUNT;
    content_init(content);
    for (Layer layer = 0; is_complete && layer < LAYER_COUNT; layer++) {
        GVariant *entries;
        char **large, **locks;
        g_variant_get_child(
            domains, first + layer, "(&su@a{sv}^as^as)", NULL, word, &entries, &large, &locks);
        read_entries(content->layers[layer], entries, large);
        if (layer == LAYER_MANAGED) {
            g_strfreev(content->locks);
            content->locks = g_steal_pointer(&locks);
        }
        g_variant_unref(entries);
        g_strfreev(large);
        g_strfreev(locks);
    }
    g_variant_unref(domains);
    if (!is_complete)
        content_clear(content);
    return is_complete;
}

/* Adds a write to those of a domain in a layer, each list by its name. */
static void add_to_layer(GHashTable *domains, Write *write, Layer layer) {
    char *name = name_in_layer(write->copy, layer);
    GPtrArray *writes = g_hash_table_lookup(domains, name);
    if (writes == NULL) {
        writes = g_ptr_array_new();
        g_hash_table_insert(domains, g_strdup(name), writes);
    }
    g_ptr_array_add(writes, write);
    g_free(name);
}

/* The writes of a batch by the names of their domains, each a list. */
static GHashTable *writes_by_domain(const Batch *batch) {
    GHashTable *domains =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    GHashTableIter each;
    gpointer value;
    g_hash_table_iter_init(&each, batch->writes);
    while (g_hash_table_iter_next(&each, NULL, &value))
        for (Layer layer = LAYER_HOST; layer <= LAYER_DOMAIN; layer++)
            if (write_changes(value, layer))
                add_to_layer(domains, value, layer);
    return domains;
}

static GVariant *change_of_domain(const char *domain, GPtrArray *writes) {
    GVariantBuilder set, removed;
    g_variant_builder_init(&set, G_VARIANT_TYPE_VARDICT);
    g_variant_builder_init(&removed, G_VARIANT_TYPE_STRING_ARRAY);
    for (unsigned index = 0; index < writes->len; index++) {
        const Write *write = writes->pdata[index];
        if (write->entry->form == NULL)
            g_variant_builder_add(&removed, "s", write->key);
        else
            g_variant_builder_add(&set, "{sv}", write->key, write->entry->form);
    }
    return g_variant_new("(sa{sv}asa{st})", domain, &set, &removed, NULL);
}

GVariant *batch_arguments(const Batch *batch) {
    GVariantBuilder changes, options;
    g_variant_builder_init(&changes, G_VARIANT_TYPE("a(sa{sv}asa{st})"));
    GHashTable *domains = writes_by_domain(batch);
    GHashTableIter each;
    gpointer domain, writes;
    g_hash_table_iter_init(&each, domains);
    while (g_hash_table_iter_next(&each, &domain, &writes))
        g_variant_builder_add_value(&changes, change_of_domain(domain, writes));
    g_hash_table_unref(domains);
    g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
    g_variant_builder_add(&options, "{sv}", "token", g_variant_new_string(batch->token));
    return g_variant_new("(a(sa{sv}asa{st})a{sv})", &changes, &options);
}
