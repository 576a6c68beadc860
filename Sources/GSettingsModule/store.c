/* Invariants
 *
 * 1. All state is used under one lock. Listeners are called, and forms are sent, without it.
 * 2. A thread waits only for the first copy of a domain, for a copy that another program has made
 *    stale, for a large value, and in store_sync; always with a limit. A read that has waited in vain is the
 *    last one that waits until the service answers.
 * 3. In a process that was forked there is no thread of the service. It reads what it has, waits for
 *    nothing and changes nothing. */
#include "store.h"

#include <pthread.h>
#include <string.h>

#include "names.h"
#include "service.h"
#include "values.h"

enum {
    MOST_COPIES = 16000,
    MOST_PLACES = 8192,
    MOST_LINES = 100,
    LONGEST_LINE = 400,
    LARGEST_VALUE = 16 << 20,
};

/* How long a read waits, in microseconds: for the first copy, while the daemon may have to be started,
 * for a newer copy from a daemon that is connected, and for one from a daemon that is not reached but
 * seems to run. */
#define FIRST_WAIT (10 * G_TIME_SPAN_SECOND)
#define SIGN_WAIT (1 * G_TIME_SPAN_SECOND)
#define STALE_WAIT (250 * G_TIME_SPAN_MILLISECOND)
#define SYNC_WAIT (10 * G_TIME_SPAN_SECOND)

/* Where a path is stored; `key` points into the path by which it is found. */
typedef struct {
    Copy *copy;
    const char *key;
} Place;

static GMutex lock;
static GCond has_news;
static GHashTable *copies, *places, *said;
static GPtrArray *large_requests;
/* What the administrator has locked in all domains. */
static char **global_locks;
/* The lines that are to be printed. They are owned by the set of those that were. */
static GPtrArray *unsaid;
static Reach reach;
/* When the connection to the daemon was made; 0 if there is none. */
static gint64 connected_since;
/* The service has not answered in time, and no answer has come since. */
static gboolean is_silent;
static gboolean is_forked;

void store_lock(void) {
    g_mutex_lock(&lock);
}

/* Prints lines without the lock: a program may have a handler of its own for them, which uses settings.
 * They are neither warnings nor critical messages, which end programs that run tests. */
static void print_lines(GPtrArray *lines) {
    for (unsigned index = 0; index < lines->len; index++)
        g_log("defaultsd", G_LOG_LEVEL_MESSAGE, "%s", (const char *)lines->pdata[index]);
    g_ptr_array_unref(lines);
}

void store_unlock(void) {
    GPtrArray *lines = NULL;
    if (unsaid->len > 0) {
        lines = unsaid;
        unsaid = g_ptr_array_new();
    }
    g_mutex_unlock(&lock);
    if (lines != NULL)
        print_lines(lines);
}

static void unlock_parent(void) {
    g_mutex_unlock(&lock);
}

static void note_fork(void) {
    is_forked = TRUE;
    g_mutex_unlock(&lock);
}

void store_init(void) {
    static gsize is_done;
    if (!g_once_init_enter(&is_done))
        return;
    copies = g_hash_table_new(g_str_hash, g_str_equal);
    places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    large_requests = g_ptr_array_new_with_free_func((GDestroyNotify)large_request_free);
    unsaid = g_ptr_array_new();
    global_locks = g_new0(char *, 1);
    outbox_init();
    /* The lock is free in the child, and what it protects is whole. */
    pthread_atfork(store_lock, unlock_parent, note_fork);
    g_once_init_leave(&is_done, 1);
}

void say_once(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *line = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (strlen(line) > LONGEST_LINE)
        memcpy(line + LONGEST_LINE - 3, "...", 4);
    if (g_hash_table_size(said) >= MOST_LINES || g_hash_table_contains(said, line)) {
        g_free(line);
        return;
    }
    g_hash_table_add(said, line);
    g_ptr_array_add(unsaid, line);
}

/* --- Places --- */

static Copy *copy_named(const char *domain) {
    Copy *copy = g_hash_table_lookup(copies, domain);
    if (copy != NULL || g_hash_table_size(copies) >= MOST_COPIES)
        return copy;
    copy = copy_new(domain);
    g_hash_table_insert(copies, copy->name, copy);
    return copy;
}

/* The place of a path; NULL if it cannot be stored. It is valid until the lock is given up. */
static Place *place_of(const char *path) {
    Place *place = g_hash_table_lookup(places, path);
    if (place != NULL)
        return place;
    if (g_hash_table_size(places) >= MOST_PLACES)
        g_hash_table_remove_all(places);
    char *own_path = g_strdup(path);
    const char *key;
    char *domain = domain_of_path(own_path, &key);
    Copy *copy = domain == NULL ? NULL : copy_named(domain);
    g_free(domain);
    if (copy == NULL) {
        g_free(own_path);
        return NULL;
    }
    place = g_new(Place, 1);
    *place = (Place){.copy = copy, .key = key};
    g_hash_table_insert(places, own_path, place);
    return place;
}

/* --- Waiting --- */

static gboolean may_wait(void) {
    return !is_forked && !is_silent && reach != REACH_FAILED && !service_is_current_thread();
}

/* Waits for news until a time.
 *
 * - Returns: Whether there may be more news by then. */
static gboolean wait_for_news(gint64 end) {
    if (g_cond_wait_until(&has_news, &lock, end))
        return may_wait();
    is_silent = TRUE;
    say_once("The settings service does not answer. Settings may be outdated or have defaults.");
    return FALSE;
}

static gboolean request(Copy *copy) {
    copy->is_wanted = TRUE;
    return service_wake() && may_wait();
}

static gboolean is_fetched(gpointer copy) {
    return ((Copy *)copy)->is_loaded || reach == REACH_FAILED;
}

static void wait_for_first(Copy *copy) {
    gint64 end = g_get_monotonic_time() + FIRST_WAIT;
    copy->is_wanted = TRUE;
    service_help(is_fetched, copy, end);
    if (copy->is_loaded)
        return;
    gboolean goes_on = request(copy);
    while (goes_on && !copy->is_loaded)
        goes_on = wait_for_news(end);
}

/* When a daemon should have answered a request of a time. If it has ended, the next one is still to be
 * found or started. */
static gint64 end_of_patience(gint64 begin) {
    if (connected_since != 0)
        return MAX(begin, connected_since) + STALE_WAIT;
    return begin + (reach == REACH_FAILED ? SIGN_WAIT : FIRST_WAIT);
}

/* Whether a newer copy is worth a wait. The page of a daemon that is not reached shows that there is one: it
 * counts changes, or the page is void. */
static gboolean may_become_newer(const Copy *copy) {
    return !is_forked && !is_silent && !service_is_current_thread()
        && (reach != REACH_FAILED || copy_counter(copy) > copy->generation);
}

/* Waits for a copy with all changes that have been made before the call. */
static void wait_for_newer(Copy *copy) {
    guint64 least = copy_counter(copy), answers = copy->answers;
    gint64 begin = g_get_monotonic_time();
    copy->is_wanted = TRUE;
    gboolean goes_on = may_become_newer(copy);
    if (goes_on && reach == REACH_FAILED)
        service_begin_hurry();
    gboolean is_hurried = goes_on && reach == REACH_FAILED;
    goes_on = service_wake() && goes_on;
    while (goes_on && copy->generation < least && (least != G_MAXUINT64 || copy->answers == answers)) {
        wait_for_news(end_of_patience(begin));
        goes_on = may_become_newer(copy);
    }
    if (is_hurried)
        service_end_hurry();
}

static void make_current(Copy *copy) {
    if (is_forked)
        return;
    if (!copy->is_loaded)
        wait_for_first(copy);
    else if (!copy_is_current(copy))
        wait_for_newer(copy);
    copy->was_missed |= !copy->is_loaded;
}

/* --- Reading --- */

static Entry *entry_in(const Place *place, Layer layer) {
    GHashTable *entries = place->copy->content.layers[layer];
    return g_hash_table_size(entries) == 0 ? NULL : g_hash_table_lookup(entries, place->key);
}

/* The entry that a read finds, and its layer. An own change hides what the user's layers have. */
static Entry *find_entry(const char *path, const Place *place, Reading reading, Layer *layer) {
    Entry *changed = reading == READ_DEFAULT ? NULL : outbox_entry(path);
    for (*layer = 0; *layer < LAYER_COUNT; (*layer)++) {
        gboolean is_of_user = *layer == LAYER_HOST || *layer == LAYER_DOMAIN;
        if (reading == (is_of_user ? READ_DEFAULT : READ_USER))
            continue;
        Entry *found = is_of_user && changed != NULL ? changed : entry_in(place, *layer);
        if (found != NULL && (found != changed || found->form != NULL))
            return found;
    }
    return NULL;
}

/* Whether the value of a key is fetched already. */
static gboolean is_asked(const Place *place, Layer layer) {
    for (unsigned index = 0; index < large_requests->len; index++) {
        const LargeRequest *asked = large_requests->pdata[index];
        if (asked->copy == place->copy && asked->layer == layer && strcmp(asked->key, place->key) == 0)
            return TRUE;
    }
    return FALSE;
}

static void ask_for_large(const Place *place, Layer layer) {
    LargeRequest *asked = g_new(LargeRequest, 1);
    *asked = (LargeRequest){.copy = place->copy, .layer = layer, .key = g_strdup(place->key)};
    g_ptr_array_add(large_requests, asked);
}

/* Fetches the value of an entry that the copy has without it. */
static Entry *find_large(const char *path, Reading reading, Entry *entry, Layer layer) {
    Place *place = place_of(path);
    if (!may_wait())
        return entry;
    if (!is_asked(place, layer))
        ask_for_large(place, layer);
    gint64 end = g_get_monotonic_time() + FIRST_WAIT;
    gboolean goes_on = service_wake();
    while (goes_on && entry != NULL && entry->is_large && entry->form == NULL) {
        goes_on = wait_for_news(end);
        place = place_of(path);
        entry = find_entry(path, place, reading, &layer);
    }
    return entry;
}

static GVariant *read_entry(const char *path, const GVariantType *type, Reading reading) {
    Place *place = place_of(path);
    if (place == NULL)
        return NULL;
    make_current(place->copy);
    /* Waiting gives up the lock. */
    place = place_of(path);
    Layer layer;
    Entry *entry = find_entry(path, place, reading, &layer);
    if (entry != NULL && entry->is_large && entry->form == NULL)
        entry = find_large(path, reading, entry, layer);
    GVariant *value = entry == NULL ? NULL : entry_value(entry, type);
    if (entry != NULL && value == NULL)
        say_once(
            "The value of %s is not of type %.*s. The default is used.", path,
            (int)g_variant_type_get_string_length(type), g_variant_type_peek_string(type));
    return value;
}

GVariant *store_read(const char *path, const GVariantType *type, Reading reading) {
    store_lock();
    GVariant *value = read_entry(path, type, reading);
    store_unlock();
    return value;
}

void store_prefetch(const char *path) {
    char *key = g_str_has_suffix(path, "/") ? g_strconcat(path, "-", NULL) : g_strdup(path);
    store_lock();
    Place *place = place_of(key);
    if (place != NULL && !place->copy->is_loaded && !is_forked) {
        place->copy->is_wanted |= !place->copy->is_fetching;
        service_listen();
    }
    store_unlock();
    g_free(key);
}

/* --- Writing --- */

static gboolean is_writable(const char *path) {
    Place *place = is_forked ? NULL : place_of(path);
    if (place == NULL)
        return FALSE;
    make_current(place->copy);
    place = place_of(path);
    /* What cannot be read cannot be kept, either: the service was never reached. */
    return place->copy->is_loaded && entry_in(place, LAYER_MANAGED) == NULL
        && !locks_cover(place->copy->content.locks, place->key)
        && !locks_cover(global_locks, place->key);
}

gboolean store_is_writable(const char *path) {
    store_lock();
    gboolean found = is_writable(path);
    store_unlock();
    return found;
}

/* Whether the value that a key has says its type. Then the service would give a value without one that
 * type, which may be another one than the schema has by now. */
static gboolean has_typed_value(const char *path, const Place *place) {
    Entry *changed = outbox_entry(path);
    for (Layer layer = LAYER_HOST; layer <= LAYER_DOMAIN; layer++) {
        const Entry *stored = entry_in(place, layer);
        if (stored != NULL && (stored->form == NULL || form_says_type(stored->form)))
            return TRUE;
    }
    return changed != NULL && changed->form != NULL && form_says_type(changed->form);
}

/* The entry of a value, or of a reset if it is NULL. NULL if the value has no form or is too large. */
static Entry *entry_of_value(const char *path, GVariant *value) {
    if (value == NULL)
        return entry_new(NULL);
    gboolean is_small = g_variant_get_size(value) <= LARGEST_VALUE;
    GVariant *form = is_small ? form_of_value(value, has_typed_value(path, place_of(path))) : NULL;
    if (form == NULL)
        return NULL;
    Entry *entry = entry_new(form);
    entry->value = g_variant_ref(value);
    g_variant_unref(form);
    return entry;
}

static gboolean add_write(gpointer key, gpointer value, gpointer user_data) {
    GPtrArray *writes = user_data;
    const char *path = key;
    Entry *entry = is_writable(path) ? entry_of_value(path, value) : NULL;
    if (entry == NULL) {
        if (is_forked)
            say_once("A process that was forked cannot change settings.");
        else if (place_of(path) != NULL && !place_of(path)->copy->is_loaded)
            say_once("Settings cannot be changed: the settings service is not reached.");
        g_ptr_array_set_size(writes, 0);
        return TRUE;
    }
    Place *place = place_of(path);
    g_ptr_array_add(writes, write_new(place->copy, path, path + strlen(path) - strlen(place->key), entry));
    entry_unref(entry);
    return FALSE;
}

static void free_write_if_any(gpointer write) {
    if (write != NULL)
        write_unref(write);
}

/* Adds a change of a number of writes; all of them, or the change is not made. */
static gboolean add_change(GPtrArray *writes, unsigned count) {
    gboolean is_made = writes->len == count && (count == 0 || outbox_add(writes));
    if (is_made && count > 0)
        service_wake();
    return is_made;
}

static gboolean store_write_all(GTree *tree, const char *path, GVariant *value) {
    GPtrArray *writes = g_ptr_array_new_with_free_func(free_write_if_any);
    unsigned count = tree == NULL ? 1 : (unsigned)g_tree_nnodes(tree);
    store_lock();
    if (tree == NULL)
        add_write((gpointer)path, value, writes);
    else
        g_tree_foreach(tree, add_write, writes);
    gboolean is_made = add_change(writes, count);
    store_unlock();
    g_ptr_array_unref(writes);
    return is_made;
}

gboolean store_write(GTree *tree) {
    return store_write_all(tree, NULL, NULL);
}

gboolean store_write_one(const char *path, GVariant *value) {
    return store_write_all(NULL, path, value);
}

void store_sync(void) {
    store_lock();
    gint64 end = g_get_monotonic_time() + SYNC_WAIT;
    service_begin_hurry();
    gboolean goes_on = !outbox_is_empty() && !is_forked && !service_is_current_thread() && service_wake();
    while (goes_on && !outbox_is_empty())
        goes_on = g_cond_wait_until(&has_news, &lock, end);
    service_end_hurry();
    if (!outbox_is_empty() && !is_forked)
        say_once("Changes of settings are not stored yet: the settings service does not answer.");
    store_unlock();
}

/* --- For the thread of the service --- */

void large_request_free(LargeRequest *large) {
    g_free(large->key);
    g_free(large);
}

static void notice_free(Notice *notice) {
    g_free(notice->path);
    g_ptr_array_unref(notice->items);
    g_free(notice);
}

GPtrArray *notices_new(void) {
    return g_ptr_array_new_with_free_func((GDestroyNotify)notice_free);
}

/* The notice of a domain, which is added if it is missing. */
static Notice *notice_for(GPtrArray *notices, const Copy *copy) {
    for (unsigned index = 0; index < notices->len; index++) {
        Notice *notice = notices->pdata[index];
        if (strcmp(notice->path, copy->path) == 0)
            return notice;
    }
    Notice *notice = g_new(Notice, 1);
    *notice = (Notice){
        .path = g_strdup(copy->path), .items = g_ptr_array_new_with_free_func(g_free)};
    g_ptr_array_add(notices, notice);
    return notice;
}

GHashTable *store_copies(void) {
    return copies;
}

void store_ask_again(const LargeRequest *large) {
    LargeRequest *asked = g_new(LargeRequest, 1);
    *asked = *large;
    asked->key = g_strdup(large->key);
    g_ptr_array_add(large_requests, asked);
}

GPtrArray *store_take_large_requests(void) {
    GPtrArray *taken = large_requests;
    large_requests = g_ptr_array_new_with_free_func((GDestroyNotify)large_request_free);
    return taken;
}

gboolean store_has_work(void) {
    GHashTableIter each;
    gpointer value;
    gboolean found = !outbox_is_empty() || large_requests->len > 0;
    g_hash_table_iter_init(&each, copies);
    while (!found && g_hash_table_iter_next(&each, NULL, &value)) {
        const Copy *copy = value;
        found = copy->is_wanted || copy->is_fetching;
    }
    return found;
}

gboolean store_is_forked(void) {
    return is_forked;
}

void store_set_reach(Reach new) {
    reach = new;
    if (new == REACH_OPEN)
        is_silent = FALSE;
    g_cond_broadcast(&has_news);
}

void store_note_connection(gboolean is_open) {
    connected_since = is_open ? g_get_monotonic_time() : 0;
    g_cond_broadcast(&has_news);
}

void store_replace_locks(char **locks, GPtrArray *notices) {
    GHashTableIter each;
    gpointer value;
    char **former = global_locks;
    global_locks = locks;
    gboolean is_news = !g_strv_equal((const char *const *)former, (const char *const *)locks);
    g_strfreev(former);
    g_hash_table_iter_init(&each, copies);
    while (is_news && g_hash_table_iter_next(&each, NULL, &value)) {
        const Copy *copy = value;
        if (copy->is_loaded || copy->was_missed)
            notice_for(notices, copy)->writability_changed = TRUE;
    }
}

void store_replace(Copy *copy, Content *content, guint64 generation, GPtrArray *notices) {
    gboolean locks_changed;
    /* What was not read yet does not change. */
    gboolean is_news = copy->is_loaded || copy->was_missed;
    GPtrArray *keys = copy_replace(copy, content, &locks_changed);
    /* Nothing could be changed before. */
    locks_changed |= !copy->is_loaded && copy->was_missed;
    copy->generation = MAX(generation, copy->generation);
    copy->is_loaded = TRUE;
    copy->answers++;
    if (is_news && (keys->len > 0 || locks_changed)) {
        Notice *notice = notice_for(notices, copy);
        notice->writability_changed |= locks_changed;
        for (unsigned index = 0; index < keys->len; index++)
            g_ptr_array_add(
                notice->items, g_strdup(item_of_key(copy->name, keys->pdata[index])));
    }
    g_ptr_array_unref(keys);
    store_set_reach(REACH_OPEN);
}

/* Makes an acknowledged write part of the copy. */
static void keep(const Write *write) {
    for (Layer layer = LAYER_HOST; layer <= LAYER_DOMAIN; layer++) {
        GHashTable *entries = write->copy->content.layers[layer];
        if (!write_changes(write, layer))
            continue;
        if (write->entry->form == NULL)
            g_hash_table_remove(entries, write->key);
        else
            g_hash_table_replace(entries, g_strdup(write->key), entry_ref(write->entry));
    }
}

static void conclude(
    const Write *write, guint64 generation, gboolean is_ordered, GPtrArray *notices) {
    Copy *copy = write->copy;
    if (generation == 0) {
        if (outbox_entry(write->path) == NULL)
            g_ptr_array_add(
                notice_for(notices, copy)->items, g_strdup(item_of_key(copy->name, write->key)));
        return;
    }
    keep(write);
    /* If changes of others are known and not fetched yet, a fetch is under way. */
    if (is_ordered && !copy->is_wanted && !copy->is_fetching) {
        copy->generation = MAX(copy->generation, generation);
    } else if (!is_ordered) {
        copy->is_wanted = TRUE;
        copy->is_settling = TRUE;
    }
}

void store_end_batch(guint64 generation, gboolean is_ordered, GPtrArray *notices) {
    GPtrArray *ended = outbox_end(generation == 0);
    for (unsigned index = 0; index < ended->len; index++)
        conclude(ended->pdata[index], generation, is_ordered, notices);
    g_ptr_array_unref(ended);
    store_set_reach(REACH_OPEN);
}

void store_put_large(const LargeRequest *large, GVariant *form) {
    Entry *entry = g_hash_table_lookup(large->copy->content.layers[large->layer], large->key);
    if (entry != NULL && entry->is_large && entry->form == NULL) {
        entry->form = form == NULL ? NULL : g_variant_ref(form);
        entry->is_large = form != NULL;
    }
    store_set_reach(REACH_OPEN);
}
