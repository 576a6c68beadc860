#pragma once

#include <glib.h>

#include "page.h"

/* The layers that a GSettings value may come from, the strongest first. */
typedef enum { LAYER_MANAGED, LAYER_HOST, LAYER_DOMAIN, LAYER_SYSTEM, LAYER_COUNT } Layer;

/* A value of one key in one layer. It is shared by copies and pending writes. */
typedef struct {
    int references;
    /* The value form; NULL if there is no value, or if it is large and was not fetched. */
    GVariant *form;
    /* The value as it was decoded last; NULL if it was not. */
    GVariant *value;
    /* The value was left out of the copy, because it is large or has no value form. */
    gboolean is_large;
} Entry;

Entry *entry_new(GVariant *form);
Entry *entry_ref(Entry *entry);
void entry_unref(Entry *entry);

/* The value of an entry in this type; unref it. NULL if it has another type. */
GVariant *entry_value(Entry *entry, const GVariantType *type);

/* What one copy has: the entries of each layer by their keys, and what is locked. */
typedef struct {
    GHashTable *layers[LAYER_COUNT];
    /* What the administrator has locked; see locks_cover. */
    char **locks;
} Content;

void content_init(Content *content);
void content_clear(Content *content);

/* Whether a key is one of these, of which those that end in '*' are prefixes. */
gboolean locks_cover(char *const *locks, const char *key);

/* The copy of one domain, in all layers. */
typedef struct {
    char *name;
    /* What all keys of the domain have before them. */
    char *path;
    Content content;
    /* The copy has all changes up to this generation. */
    guint64 generation;
    /* It has been fetched. */
    gboolean is_loaded;
    /* It was used before it was fetched. */
    gboolean was_missed;
    /* A program has asked for it, or it has changed. */
    gboolean is_wanted;
    gboolean is_fetching;
    /* The answers to fetches. */
    guint64 answers;
    /* Keys with own changes that the service has not acknowledged. Until then the counter is of no
     * use: it increases before the acknowledgement comes. */
    unsigned own_changes;
    /* Own changes were acknowledged. On the bus, others may have been made before, so the copy is
     * fetched again. */
    gboolean is_settling;
    /* The page, and the word of it that counts the changes. */
    Page *page;
    guint32 word;
    /* The service was asked to note that it has settings. */
    gboolean is_recorded;
    /* The bus has been asked for its changes. */
    gboolean is_heard;
} Copy;

Copy *copy_new(const char *domain);

/* Whether no other program has changed the domain since the copy was fetched. */
gboolean copy_is_current(const Copy *copy);

/* The counter of the domain's changes; 0 if there is no page. */
guint64 copy_counter(const Copy *copy);

/* Gives a copy the counter of its domain. */
void copy_use_counter(Copy *copy, Page *page, guint32 word);

/* Replaces the content by `content`, which is empty afterwards.
 *
 * - Returns: The keys whose value has changed in any layer, with their copies of the names. */
GPtrArray *copy_replace(Copy *copy, Content *content, gboolean *locks_changed);
