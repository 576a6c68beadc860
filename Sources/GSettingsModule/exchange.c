/* What is asked of the service and sent to it. */
#include "exchange.h"

#include <string.h>

#include "calls.h"
#include "loop.h"
#include "names.h"
#include "page.h"
#include "service.h"
#include "ways.h"

/* Between two batches, in milliseconds. */
enum { BATCH_PAUSE = 2 };
/* How often a batch may be refused for want of room before it is given up. */
enum { MOST_REFUSALS = 5 };

static gboolean is_sending;
/* How often the first batch was refused for want of room. */
static unsigned refusals;
/* Domains in one request. */
static unsigned most_fetched = 64;
/* The locks of all domains are to be fetched with the next copy. */
static gboolean wants_locks = TRUE;
static Page *page;
static Timer batch_timer;

/* Whether a call may not have been carried out, so that it is repeated. All other errors are the
 * service's answer. */
static gboolean is_lost(const Reply *reply) {
    static const char *const lost[] = {
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut", NULL};
    if (reply->body != NULL)
        return FALSE;
    return reply->error == NULL || g_strv_contains(lost, reply->error)
        || g_str_has_prefix(reply->error, "org.freedesktop.DBus.Error.Spawn.");
}

/* Whether the service has only no room for the call now. That says nothing about the settings. */
static gboolean may_pass(const Reply *reply) {
    static const char *const passing[] = {
        "org.freedesktop.DBus.Error.LimitsExceeded", "org.freedesktop.DBus.Error.NoMemory", NULL};
    return reply->body == NULL && reply->error != NULL && g_strv_contains(passing, reply->error);
}

void exchange_forget(gboolean asks_for_all) {
    GHashTableIter each;
    gpointer value;
    is_sending = FALSE;
    wants_locks = TRUE;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &value)) {
        Copy *copy = value;
        copy->is_wanted |= copy->is_fetching || (asks_for_all && copy->is_loaded);
        copy->is_fetching = FALSE;
        copy->is_recorded = FALSE;
    }
    store_unlock();
}

gboolean exchange_is_needed(void) {
    store_lock();
    gboolean found = store_has_work();
    store_unlock();
    return found;
}

/* A copy that was fetched; NULL if there is none. */
static Copy *any_copy(void) {
    GHashTableIter each;
    gpointer value;
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &value))
        if (((Copy *)value)->is_loaded)
            return value;
    return NULL;
}

void exchange_note_change(GVariant *arguments) {
    const char *domain, *layer, *origin;
    guint64 generation;
    if (!g_variant_is_of_type(arguments, G_VARIANT_TYPE("(ssasasts)")))
        return;
    g_variant_get(arguments, "(&s&sasast&s)", &domain, &layer, NULL, NULL, &generation, &origin);
    if (g_strcmp0(origin, way_own_name()) == 0)
        return;
    gboolean is_managed = strcmp(layer, "managed") == 0;
    gboolean is_global = strcmp(domain, GLOBAL_DOMAIN) == 0;
    if (is_global && !is_managed)
        return;
    wants_locks |= is_global;
    store_lock();
    Copy *copy = is_global ? any_copy() : g_hash_table_lookup(store_copies(), domain);
    /* A lock may come or go without a change of a value, and so without a generation. */
    gboolean is_news =
        copy != NULL && copy->is_loaded && (generation > copy->generation || is_managed);
    if (is_news)
        copy->is_wanted = TRUE;
    store_unlock();
    if (is_news)
        exchange_work();
}

void exchange_drop_page(void) {
    g_clear_pointer(&page, page_unref);
}

/* --- Fetching copies --- */

/* Uses the page of a reply, unless the one in use is valid. */
static void use_page(const Reply *reply) {
    if (page != NULL && !page_is_void(page))
        return;
    g_clear_pointer(&page, page_unref);
    gint32 index;
    g_variant_get_child(reply->body, 0, "h", &index);
    if (index >= 0 && (size_t)index < reply->descriptor_count)
        page = page_open(reply->descriptors[index]);
}

static void take_copies(GPtrArray *copies, GVariant *reply, GPtrArray *notices) {
    guint64 generation;
    char **locks = fetch_global_locks(reply, copies->len);
    if (locks != NULL)
        store_replace_locks(locks, notices);
    g_variant_get_child(reply, 2, "t", &generation);
    for (unsigned index = 0; index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        Content content;
        guint32 word;
        copy->is_fetching = FALSE;
        copy->is_settling = FALSE;
        if (!fetch_content(reply, index * LAYER_COUNT, &content, &word))
            continue;
        store_replace(copy, &content, generation, notices);
        copy_use_counter(copy, page, word);
    }
}

static void put_back(GPtrArray *copies) {
    wants_locks = TRUE;
    store_lock();
    for (unsigned index = 0; index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        copy->is_fetching = FALSE;
        copy->is_wanted = TRUE;
    }
    store_unlock();
}

static void on_fetched(const Reply *reply, gpointer data) {
    GPtrArray *copies = data;
    if (reply->body == NULL) {
        /* A domain may be refused, or all together may be too large. */
        gboolean were_several = !is_lost(reply) && copies->len > 1;
        if (were_several)
            most_fetched = 1;
        put_back(copies);
        if (were_several)
            exchange_work();
        else if (is_lost(reply) || may_pass(reply))
            service_retry_later();
        else
            service_fail(reply->text);
        return;
    }
    if (!way_is_proven())
        return put_back(copies);
    GPtrArray *notices = notices_new();
    store_lock();
    use_page(reply);
    take_copies(copies, reply->body, notices);
    store_unlock();
    service_stop_retrying();
    service_tell(notices);
    exchange_work();
}

/* Takes copies that are wanted, and marks them as being fetched. */
static GPtrArray *take_wanted(void) {
    GPtrArray *taken = g_ptr_array_new();
    GHashTableIter each;
    gpointer value;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (taken->len < most_fetched && g_hash_table_iter_next(&each, NULL, &value)) {
        Copy *copy = value;
        if (!copy->is_wanted || copy->is_fetching)
            continue;
        copy->is_wanted = FALSE;
        copy->is_fetching = TRUE;
        g_ptr_array_add(taken, copy);
    }
    store_unlock();
    return taken;
}

static gboolean fetch_some(void) {
    GPtrArray *copies = take_wanted();
    if (copies->len == 0) {
        g_ptr_array_unref(copies);
        return FALSE;
    }
    way_hear_changes(copies);
    GVariant *arguments = fetch_arguments(copies, wants_locks);
    wants_locks = FALSE;
    way_call(
        way_is_direct() ? "FollowValues" : "AttachValues", arguments, FETCH_REPLY_TYPE,
        on_fetched, copies, (GDestroyNotify)g_ptr_array_unref);
    return TRUE;
}

/* --- Fetching large values --- */

static void on_large(const Reply *reply, gpointer data) {
    GVariant *form = NULL;
    if (is_lost(reply) || may_pass(reply)) {
        store_lock();
        store_ask_again(data);
        store_unlock();
        return service_retry_later();
    }
    if (reply->body != NULL)
        g_variant_get(reply->body, "(vt)", &form, NULL);
    store_lock();
    store_put_large(data, form);
    store_unlock();
    g_clear_pointer(&form, g_variant_unref);
}

static void fetch_large(void) {
    store_lock();
    GPtrArray *requests = store_take_large_requests();
    store_unlock();
    g_ptr_array_set_free_func(requests, NULL);
    for (unsigned index = 0; index < requests->len; index++) {
        LargeRequest *large = requests->pdata[index];
        char *name = name_in_layer(large->copy, large->layer);
        way_call(
            "GetValue", g_variant_new("(ss)", name, large->key), LARGE_REPLY_TYPE, on_large, large,
            (GDestroyNotify)large_request_free);
        g_free(name);
    }
    g_ptr_array_unref(requests);
}

/* --- Sending changes --- */

static void run_batch_timer(gpointer unused) {
    (void)unused;
    exchange_work();
}

/* Gives a program that makes many changes a moment to make more, so that fewer batches are sent. */
static void pause_batches(void) {
    store_lock();
    gboolean is_urgent = service_is_hurried() || outbox_is_empty();
    store_unlock();
    if (is_urgent)
        exchange_work();
    else if (!batch_timer.is_set)
        loop_set_timer(&batch_timer, BATCH_PAUSE, run_batch_timer, NULL);
}

static void on_batch_answered(const Reply *reply, gpointer unused) {
    (void)unused;
    guint64 generation = 0;
    is_sending = FALSE;
    /* A quota refuses a change with the same error as a service without room. */
    if (is_lost(reply) || (may_pass(reply) && ++refusals < MOST_REFUSALS))
        return service_retry_later();
    refusals = 0;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(t)", &generation);
    service_stop_retrying();
    GPtrArray *notices = notices_new();
    if (reply->body == NULL) {
        /* Before the batch has ended: a program that waits for that may end at once. */
        store_lock();
        say_once("A change of settings was refused: %s", reply->text);
        store_unlock();
    }
    store_lock();
    store_end_batch(generation, way_is_direct(), notices);
    store_unlock();
    service_tell(notices);
    pause_batches();
}

/* The domains in which a batch sets something, and which the service was not told yet. */
static GPtrArray *take_unrecorded(const Batch *batch) {
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter each;
    gpointer value;
    g_hash_table_iter_init(&each, batch->writes);
    while (g_hash_table_iter_next(&each, NULL, &value)) {
        const Write *write = value;
        if (write->copy->is_recorded || write->entry->form == NULL)
            continue;
        write->copy->is_recorded = TRUE;
        g_ptr_array_add(names, write->copy->name);
    }
    return names;
}

/* A change is not refused because its domain cannot be noted. */
static void on_recorded(const Reply *reply, gpointer unused) {
    (void)reply, (void)unused;
}

static void record(GPtrArray *names) {
    for (unsigned index = 0; index < names->len; index++)
        way_call(
            "SetValue",
            g_variant_new("(ssv)", RECORD_DOMAIN, names->pdata[index], g_variant_new_boolean(TRUE)),
            BATCH_REPLY_TYPE, on_recorded, NULL, NULL);
    g_ptr_array_unref(names);
}

static void send_batch(void) {
    if (is_sending)
        return;
    loop_end_timer(&batch_timer);
    store_lock();
    const Batch *batch = outbox_batch();
    GVariant *arguments = batch == NULL ? NULL : batch_arguments(batch);
    GPtrArray *unrecorded = batch == NULL ? NULL : take_unrecorded(batch);
    store_unlock();
    if (arguments == NULL)
        return;
    is_sending = TRUE;
    record(unrecorded);
    way_call(
        "ApplyAllValues", arguments, BATCH_REPLY_TYPE, on_batch_answered, NULL, NULL);
}

void exchange_work(void) {
    if (!way_is_open())
        return way_seek();
    while (fetch_some())
        continue;
    if (!way_is_proven())
        return;
    fetch_large();
    store_lock();
    gboolean is_paused = batch_timer.is_set && !service_is_hurried();
    store_unlock();
    if (!is_paused)
        send_batch();
}
