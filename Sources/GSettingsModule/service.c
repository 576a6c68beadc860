/* Invariants
 *
 * 1. All of this runs on the thread of the service, but for the functions of service.h. The store's lock
 *    is held for moments only, and never while a call is made or listeners are called.
 * 2. Nothing is sent to a daemon behind the socket, and nothing of it is used, before it has said that
 *    it serves the bus of this session. Only the request for copies is sent with that question.
 * 3. A process that needs nothing starts no daemon: after a loss it waits for the next one.
 * 4. What comes from an earlier connection is ignored. */
#include "service.h"

#include <gio/gio.h>
#include <gio/gunixfdlist.h>

#include "backend.h"
#include "calls.h"
#include "link.h"
#include "page.h"
#include "store.h"

enum {
    CALL_PATIENCE = 25000,
    /* Domains in one request. */
    MOST_FETCHED = 64,
    /* Items of a notice; if there are more, the whole path may have changed. */
    MOST_ITEMS = 64,
    SHORTEST_PAUSE = 100,
    LONGEST_PAUSE = 60000,
};

/* How the daemon is reached. */
typedef enum {
    /* Not at all. */
    WAY_NONE,
    /* A connection is being made. */
    WAY_SOUGHT,
    /* Over its socket, and it has not said yet which bus it serves. */
    WAY_UNPROVEN,
    /* Over its socket. */
    WAY_DIRECT,
    /* Over the bus. */
    WAY_BUS,
} Way;

/* --- State of any thread, under the store's lock --- */

static GThread *thread;
static GMainContext *context;
static gboolean is_woken;

/* --- State of the thread --- */

static Way way = WAY_NONE;
static GDBusConnection *connection, *bus;
/* The number of the connection, which calls have. */
static unsigned attempt;
/* The daemon behind the socket is not the one of this session. */
static gboolean is_barred;
static gboolean is_sending;
static Page *page;
static GSource *retry;
static unsigned pause_time = SHORTEST_PAUSE;

/* What a reply is for. */
typedef struct {
    unsigned attempt;
    GPtrArray *copies;
    LargeRequest *large;
} Call;

static void seek(void);
static void work(void);
static void watch_for_daemon(void);
static void connect_bus(void);

static Call *call_new(GPtrArray *copies, LargeRequest *large) {
    Call *call = g_new(Call, 1);
    *call = (Call){.attempt = attempt, .copies = copies, .large = large};
    return call;
}

static void call_free(Call *call) {
    g_clear_pointer(&call->copies, g_ptr_array_unref);
    g_clear_pointer(&call->large, large_request_free);
    g_free(call);
}

/* --- The thread --- */

static gboolean run_work(gpointer unused) {
    (void)unused;
    store_lock();
    is_woken = FALSE;
    store_unlock();
    work();
    return G_SOURCE_REMOVE;
}

static gpointer run_thread(gpointer unused) {
    (void)unused;
    g_main_context_push_thread_default(context);
    GMainLoop *loop = g_main_loop_new(context, FALSE);
    g_main_loop_run(loop);
    return NULL;
}

static gboolean has_thread(void) {
    if (thread != NULL)
        return TRUE;
    context = g_main_context_new();
    thread = g_thread_try_new("defaultsd", run_thread, NULL, NULL);
    if (thread == NULL)
        g_clear_pointer(&context, g_main_context_unref);
    return thread != NULL;
}

gboolean service_wake(void) {
    if (is_woken || !has_thread())
        return is_woken;
    is_woken = TRUE;
    GSource *source = g_idle_source_new();
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, run_work, NULL, NULL);
    g_source_attach(source, context);
    g_source_unref(source);
    return TRUE;
}

gboolean service_is_current_thread(void) {
    return thread != NULL && g_thread_self() == thread;
}

/* --- Trying again --- */

static gboolean run_retry(gpointer unused) {
    (void)unused;
    g_clear_pointer(&retry, g_source_unref);
    work();
    return G_SOURCE_REMOVE;
}

/* Looks for work again after a pause, which becomes longer each time. */
static void retry_later(void) {
    if (retry != NULL)
        return;
    retry = g_timeout_source_new(pause_time);
    g_source_set_callback(retry, run_retry, NULL, NULL);
    g_source_attach(retry, context);
    pause_time = MIN(pause_time * 2, LONGEST_PAUSE);
}

static void stop_retrying(void) {
    pause_time = SHORTEST_PAUSE;
    if (retry == NULL)
        return;
    g_source_destroy(retry);
    g_clear_pointer(&retry, g_source_unref);
}

static void fail(const char *reason) {
    say_once("Settings are not stored, and are read as their defaults: %s", reason);
    store_lock();
    store_set_reach(REACH_FAILED);
    store_unlock();
    retry_later();
}

/* --- Telling the listeners --- */

/* Tells what has changed, and frees the notices. */
static void tell(GPtrArray *notices) {
    for (unsigned index = 0; index < notices->len; index++) {
        Notice *notice = notices->pdata[index];
        if (notice->writability_changed)
            backend_tell_writability(notice->path);
        if (notice->writability_changed || notice->items->len > MOST_ITEMS) {
            backend_tell_path(notice->path);
        } else if (notice->items->len > 0) {
            g_ptr_array_add(notice->items, NULL);
            backend_tell_items(notice->path, (const char *const *)notice->items->pdata);
        }
    }
    g_ptr_array_unref(notices);
}

/* --- Connections --- */

/* Marks what was asked on an earlier connection as not asked. */
static void forget_calls(gboolean asks_for_all) {
    GHashTableIter each;
    gpointer value;
    attempt++;
    is_sending = FALSE;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &value)) {
        Copy *copy = value;
        copy->is_wanted |= copy->is_fetching || (asks_for_all && copy->is_loaded);
        copy->is_fetching = FALSE;
    }
    store_unlock();
}

static gboolean is_work(void) {
    GHashTableIter each;
    gpointer copy;
    store_lock();
    gboolean found = !outbox_is_empty() || store_has_large_requests();
    g_hash_table_iter_init(&each, store_copies());
    while (!found && g_hash_table_iter_next(&each, NULL, &copy))
        found = ((Copy *)copy)->is_wanted;
    store_unlock();
    return found;
}

static void drop_connection(void) {
    if (connection != NULL && connection != bus) {
        g_signal_handlers_disconnect_by_data(connection, &connection);
        g_dbus_connection_close(connection, NULL, NULL, NULL);
    }
    g_clear_object(&connection);
    g_clear_pointer(&page, page_unref);
    way = WAY_NONE;
    forget_calls(FALSE);
}

static void lose_connection(void) {
    drop_connection();
    if (is_work())
        seek();
    else
        watch_for_daemon();
}

static void on_direct_closed(
    GDBusConnection *closed, gboolean remote, GError *error, gpointer data) {
    (void)remote, (void)error, (void)data;
    if (closed == connection)
        lose_connection();
}

/* Notes that another program has changed a domain. */
static void on_changed(
    GDBusConnection *from, const char *sender, const char *path, const char *interface,
    const char *member, GVariant *arguments, gpointer data) {
    (void)sender, (void)path, (void)interface, (void)member, (void)data;
    const char *domain, *origin;
    guint64 generation;
    if (from != connection || !g_variant_is_of_type(arguments, G_VARIANT_TYPE("(ssasasts)")))
        return;
    g_variant_get(arguments, "(&s&sasast&s)", &domain, NULL, NULL, NULL, &generation, &origin);
    if (g_strcmp0(origin, g_dbus_connection_get_unique_name(from)) == 0)
        return;
    store_lock();
    Copy *copy = g_hash_table_lookup(store_copies(), domain);
    gboolean is_news = copy != NULL && copy->is_loaded && generation > copy->generation;
    if (is_news)
        copy->is_wanted = TRUE;
    store_unlock();
    if (is_news)
        work();
}

static unsigned hear_changes(GDBusConnection *from, const char *sender, const char *domain) {
    return g_dbus_connection_signal_subscribe(
        from, sender, SERVICE_NAME, "Changed", SERVICE_PATH, domain, G_DBUS_SIGNAL_FLAGS_NONE,
        on_changed, NULL, NULL);
}

static void close_bus(void) {
    if (bus == NULL)
        return;
    GHashTableIter each;
    gpointer copy;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &copy))
        ((Copy *)copy)->rule = 0;
    store_unlock();
    g_signal_handlers_disconnect_by_data(bus, &bus);
    g_dbus_connection_close(bus, NULL, NULL, NULL);
    g_clear_object(&bus);
}

/* Uses the bus, on which there is a daemon. */
static void use_bus(void) {
    connection = g_object_ref(bus);
    way = WAY_BUS;
    forget_calls(TRUE);
    work();
}

static void on_bus_address(GObject *source, GAsyncResult *result, gpointer data) {
    Call *call = data;
    GError *error = NULL;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
    if (call->attempt == attempt && way == WAY_UNPROVEN) {
        GVariant *address = NULL;
        if (reply != NULL)
            g_variant_get(reply, "(v)", &address);
        gboolean is_ours = address != NULL && g_variant_is_of_type(address, G_VARIANT_TYPE_STRING)
            && link_serves_session(g_variant_get_string(address, NULL));
        g_clear_pointer(&address, g_variant_unref);
        if (is_ours) {
            way = WAY_DIRECT;
            close_bus();
            work();
        } else {
            is_barred = TRUE;
            drop_connection();
            connect_bus();
        }
    }
    g_clear_pointer(&reply, g_variant_unref);
    g_clear_error(&error);
    call_free(call);
}

/* Uses the daemon's socket, if a daemon listens there. */
static gboolean use_socket(void) {
    GDBusConnection *found = is_barred ? NULL : link_connect_directly();
    if (found == NULL)
        return FALSE;
    connection = found;
    way = WAY_UNPROVEN;
    g_signal_connect(found, "closed", G_CALLBACK(on_direct_closed), &connection);
    hear_changes(found, NULL, NULL);
    forget_calls(TRUE);
    g_dbus_connection_call(
        found, NULL, SERVICE_PATH, "org.freedesktop.DBus.Properties", "Get",
        g_variant_new("(ss)", SERVICE_NAME, "BusAddress"), G_VARIANT_TYPE("(v)"),
        G_DBUS_CALL_FLAGS_NONE, CALL_PATIENCE, NULL, on_bus_address, call_new(NULL, NULL));
    work();
    return TRUE;
}

static void on_daemon_started(GObject *source, GAsyncResult *result, gpointer data) {
    Call *call = data;
    GError *error = NULL;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
    if (call->attempt == attempt && G_DBUS_CONNECTION(source) == bus) {
        way = WAY_NONE;
        if (reply == NULL)
            fail(error->message);
        else if (!use_socket())
            use_bus();
    }
    g_clear_pointer(&reply, g_variant_unref);
    g_clear_error(&error);
    call_free(call);
}

static void start_daemon(void) {
    way = WAY_SOUGHT;
    g_dbus_connection_call(
        bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "StartServiceByName", g_variant_new("(su)", SERVICE_NAME, 0), G_VARIANT_TYPE("(u)"),
        G_DBUS_CALL_FLAGS_NONE, CALL_PATIENCE, NULL, on_daemon_started, call_new(NULL, NULL));
}

/* Notes the beginning and the end of daemons on the bus. */
static void on_owner_changed(
    GDBusConnection *from, const char *sender, const char *path, const char *interface,
    const char *member, GVariant *arguments, gpointer data) {
    (void)sender, (void)path, (void)interface, (void)member, (void)data;
    const char *owner;
    if (from != bus || !g_variant_is_of_type(arguments, G_VARIANT_TYPE("(sss)")))
        return;
    g_variant_get(arguments, "(&s&s&s)", NULL, NULL, &owner);
    if (way == WAY_BUS)
        drop_connection();
    if (way != WAY_NONE)
        return;
    is_barred = FALSE;
    stop_retrying();
    if (owner[0] != 0) {
        forget_calls(TRUE);
        if (!use_socket())
            use_bus();
    } else if (is_work()) {
        seek();
    }
}

static void on_bus_closed(GDBusConnection *closed, gboolean remote, GError *error, gpointer data) {
    (void)remote, (void)error, (void)data;
    if (closed != bus)
        return;
    close_bus();
    if (way == WAY_BUS || way == WAY_SOUGHT) {
        drop_connection();
        fail("The bus has ended.");
    } else if (way == WAY_NONE) {
        retry_later();
    }
}

static void on_bus_connected(GObject *source, GAsyncResult *result, gpointer data) {
    (void)source, (void)data;
    GError *error = NULL;
    bus = link_finish_bus(result, &error);
    way = WAY_NONE;
    if (bus == NULL) {
        fail(error->message);
        g_error_free(error);
        return;
    }
    g_signal_connect(bus, "closed", G_CALLBACK(on_bus_closed), &bus);
    g_dbus_connection_signal_subscribe(
        bus, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        "/org/freedesktop/DBus", SERVICE_NAME, G_DBUS_SIGNAL_FLAGS_NONE, on_owner_changed, NULL,
        NULL);
    if (is_work())
        start_daemon();
}

/* Goes on over the bus, which starts a daemon if there is something to do. */
static void connect_bus(void) {
    if (bus != NULL) {
        if (is_work())
            start_daemon();
        return;
    }
    way = WAY_SOUGHT;
    link_connect_to_bus(on_bus_connected);
}

/* Waits for the next daemon, and starts none. */
static void watch_for_daemon(void) {
    if (bus == NULL)
        connect_bus();
}

static void seek(void) {
    if (!use_socket())
        connect_bus();
}

/* --- Fetching copies --- */

/* The error of a call: it is repeated if it was lost. */
static void handle_error(const GError *error) {
    if (!link_is_lost(error))
        fail(error->message);
    else
        retry_later();
}

/* Uses the page of a reply, unless the one in use is valid. */
static void use_page(GUnixFDList *descriptors, gint32 index) {
    if (page != NULL && !page_is_void(page))
        return;
    g_clear_pointer(&page, page_unref);
    int count = descriptors == NULL ? 0 : g_unix_fd_list_get_length(descriptors);
    int descriptor = index >= 0 && index < count
        ? g_unix_fd_list_peek_fds(descriptors, NULL)[index]
        : -1;
    if (descriptor >= 0)
        page = page_map(descriptor);
}

static void take_reply(GPtrArray *copies, GVariant *reply, GPtrArray *notices) {
    guint64 generation;
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
    for (unsigned index = 0; index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        copy->is_fetching = FALSE;
        copy->is_wanted = TRUE;
    }
}

static void on_fetched(GObject *source, GAsyncResult *result, gpointer data) {
    Call *call = data;
    GError *error = NULL;
    GUnixFDList *descriptors = NULL;
    GVariant *reply = g_dbus_connection_call_with_unix_fd_list_finish(
        G_DBUS_CONNECTION(source), &descriptors, result, &error);
    gboolean is_used = call->attempt == attempt && way != WAY_UNPROVEN;
    if (is_used && reply != NULL) {
        GPtrArray *notices = notices_new();
        gint32 handle;
        g_variant_get_child(reply, 0, "h", &handle);
        store_lock();
        use_page(descriptors, handle);
        take_reply(call->copies, reply, notices);
        store_unlock();
        stop_retrying();
        tell(notices);
        work();
    } else if (call->attempt == attempt) {
        store_lock();
        put_back(call->copies);
        store_unlock();
        if (error != NULL)
            handle_error(error);
    }
    g_clear_pointer(&reply, g_variant_unref);
    g_clear_object(&descriptors);
    g_clear_error(&error);
    call_free(call);
}

/* Takes copies that are wanted, and marks them as being fetched. */
static GPtrArray *take_wanted(void) {
    GPtrArray *taken = g_ptr_array_new();
    GHashTableIter each;
    gpointer value;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (taken->len < MOST_FETCHED && g_hash_table_iter_next(&each, NULL, &value)) {
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

static void hear_changes_of(GPtrArray *copies) {
    for (unsigned index = 0; index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        if (copy->rule == 0)
            copy->rule = hear_changes(bus, SERVICE_NAME, copy->name);
    }
}

static gboolean fetch_some(void) {
    GPtrArray *copies = take_wanted();
    gboolean is_any = copies->len > 0;
    if (!is_any) {
        g_ptr_array_unref(copies);
        return FALSE;
    }
    if (way == WAY_BUS)
        hear_changes_of(copies);
    g_dbus_connection_call_with_unix_fd_list(
        connection, way == WAY_BUS ? SERVICE_NAME : NULL, SERVICE_PATH, SERVICE_NAME,
        way == WAY_BUS ? "AttachValues" : "FollowValues", fetch_arguments(copies),
        G_VARIANT_TYPE(FETCH_REPLY_TYPE), G_DBUS_CALL_FLAGS_NONE, CALL_PATIENCE, NULL, NULL,
        on_fetched, call_new(copies, NULL));
    return TRUE;
}

/* --- Fetching large values --- */

static void on_large(GObject *source, GAsyncResult *result, gpointer data) {
    Call *call = data;
    GError *error = NULL;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
    if (reply != NULL || !link_is_lost(error)) {
        GVariant *form = NULL;
        if (reply != NULL)
            g_variant_get(reply, "(vt)", &form, NULL);
        store_lock();
        store_put_large(call->large, form);
        store_unlock();
        g_clear_pointer(&form, g_variant_unref);
    }
    g_clear_pointer(&reply, g_variant_unref);
    g_clear_error(&error);
    call_free(call);
}

static void fetch_large(void) {
    store_lock();
    GPtrArray *requests = store_take_large_requests();
    store_unlock();
    g_ptr_array_set_free_func(requests, NULL);
    for (unsigned index = 0; index < requests->len; index++) {
        LargeRequest *large = requests->pdata[index];
        char *name = name_in_layer(large->copy, large->layer);
        g_dbus_connection_call(
            connection, way == WAY_BUS ? SERVICE_NAME : NULL, SERVICE_PATH, SERVICE_NAME,
            "GetValue", g_variant_new("(ss)", name, large->key), G_VARIANT_TYPE(LARGE_REPLY_TYPE),
            G_DBUS_CALL_FLAGS_NONE, CALL_PATIENCE, NULL, on_large, call_new(NULL, large));
        g_free(name);
    }
    g_ptr_array_unref(requests);
}

/* --- Sending changes --- */

static void end_batch(guint64 generation) {
    GPtrArray *notices = notices_new();
    store_lock();
    store_end_batch(generation, way == WAY_DIRECT, notices);
    store_unlock();
    tell(notices);
}

static void on_batch_answered(GObject *source, GAsyncResult *result, gpointer data) {
    Call *call = data;
    GError *error = NULL;
    guint64 generation = 0;
    GVariant *reply = g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, &error);
    if (call->attempt == attempt) {
        is_sending = FALSE;
        if (reply != NULL)
            g_variant_get(reply, "(t)", &generation);
        if (reply == NULL && link_is_lost(error)) {
            retry_later();
        } else {
            if (reply == NULL)
                say_once("A change of settings was refused: %s", error->message);
            stop_retrying();
            end_batch(generation);
            work();
        }
    }
    g_clear_pointer(&reply, g_variant_unref);
    g_clear_error(&error);
    call_free(call);
}

static void send_batch(void) {
    if (is_sending)
        return;
    store_lock();
    const Batch *batch = outbox_batch();
    GVariant *arguments = batch == NULL ? NULL : batch_arguments(batch);
    store_unlock();
    if (arguments == NULL)
        return;
    is_sending = TRUE;
    g_dbus_connection_call(
        connection, way == WAY_BUS ? SERVICE_NAME : NULL, SERVICE_PATH, SERVICE_NAME,
        g_variant_n_children(arguments) == 5 ? "ApplyValues" : "ApplyAllValues", arguments, G_VARIANT_TYPE(BATCH_REPLY_TYPE), G_DBUS_CALL_FLAGS_NONE,
        CALL_PATIENCE, NULL, on_batch_answered, call_new(NULL, NULL));
}

/* Does what there is to do, as far as the daemon is reached. */
static void work(void) {
    if (way == WAY_NONE && retry == NULL && is_work())
        return seek();
    if (way == WAY_NONE || way == WAY_SOUGHT)
        return;
    while (fetch_some())
        continue;
    if (way == WAY_UNPROVEN)
        return;
    fetch_large();
    send_batch();
}
