/* Invariants
 *
 * 1. All of this runs on the thread of the service, but for the functions of service.h. The store's lock
 *    is held for moments only, and never while a call is made or listeners are called.
 * 2. Nothing is sent to a daemon behind the socket, and nothing of it is used, before it has said that
 *    it serves the bus of this session. Only the request for copies is sent with that question.
 * 3. A process that needs nothing starts no daemon: after a loss it waits for the next one.
 * 4. The answers to calls of an earlier connection or daemon are ignored: the calls are forgotten. So a
 *    batch is in flight once. */
#include "service.h"

#include <string.h>

#include "backend.h"
#include "calls.h"
#include "link.h"
#include "page.h"
#include "store.h"
#include "wire.h"

enum {
    /* As long as a service manager that starts the daemon may take; then the bus is asked. */
    SOCKET_PATIENCE = 300,
    /* Items of a notice; if there are more, the whole path may have changed. */
    MOST_ITEMS = 64,
    /* Between two batches. */
    BATCH_PAUSE = 2,
    SHORTEST_PAUSE = 100,
    LONGEST_PAUSE = 60000,
};

/* A connection that ends sooner was refused. */
#define SHORTEST_USE (20 * G_TIME_SPAN_MILLISECOND)

/* How the daemon is reached. */
typedef enum {
    /* Not at all. */
    WAY_NONE,
    /* The bus is starting it. */
    WAY_STARTED,
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
/* A thread that needs its first copy does the work of the thread of the service, which does not exist
 * yet. */
static GThread *helper;
/* A thread waits for the end of all changes. */
static gboolean is_hurried;

/* --- State of the thread --- */

static Way way = WAY_NONE;
/* The connection to the daemon's socket, that to the bus, and the one of both that is used. */
static Wire *direct, *bus, *wire;
/* The name of this process on the bus. */
static char *own_name;
/* The daemon behind the socket is not the one of this session, or it closes connections at once. */
static gboolean is_barred;
/* When the connection to the socket was made. */
static gint64 direct_since;
static gboolean is_sending;
/* Domains in one request. */
static unsigned most_fetched = 64;
static Page *page;
static GSource *retry, *socket_timer, *batch_timer;
/* What the helper has left to tell. */
static GPtrArray *untold;
static unsigned pause_time = SHORTEST_PAUSE;

static void seek(void);
static void work(void);
static void tell(GPtrArray *notices);
static gboolean is_work(void);
static void seek_on_bus(void);
static void drop_wire(void);

/* Calls a method of the service. */
static void call_service(
    const char *member, GVariant *arguments, const char *reply_type, ReplyHandler handler,
    gpointer data, GDestroyNotify free_data) {
    wire_call(
        wire, wire == bus ? SERVICE_NAME : NULL, SERVICE_PATH, SERVICE_NAME, member, arguments,
        reply_type, handler, data, free_data);
}

static void call_bus(const char *member, GVariant *arguments, const char *type, ReplyHandler handler) {
    wire_call(
        bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member,
        arguments, type, handler, NULL, NULL);
}

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

/* --- The thread --- */

static gboolean run_work(gpointer unused) {
    (void)unused;
    store_lock();
    is_woken = FALSE;
    store_unlock();
    if (untold != NULL && g_thread_self() == thread)
        tell(g_steal_pointer(&untold));
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

/* Attaches a function that is called once, at once or after some milliseconds. */
static GSource *attach(GSourceFunc function, unsigned milliseconds) {
    GSource *source = milliseconds == 0 ? g_idle_source_new() : g_timeout_source_new(milliseconds);
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, function, NULL, NULL);
    g_source_attach(source, context);
    return source;
}

static gboolean has_context(void) {
    if (context == NULL)
        context = g_main_context_new();
    return context != NULL;
}

static gboolean has_thread(void) {
    if (thread == NULL && helper == NULL && has_context())
        thread = g_thread_try_new("defaultsd", run_thread, NULL, NULL);
    return thread != NULL || helper != NULL;
}

gboolean service_wake(gboolean hurries) {
    is_hurried |= hurries;
    if (!has_thread())
        return FALSE;
    if (!is_woken)
        g_source_unref(attach(run_work, 0));
    is_woken = TRUE;
    return TRUE;
}

gboolean service_exists(void) {
    return thread != NULL;
}

gboolean service_is_current_thread(void) {
    return g_thread_self() == thread || g_thread_self() == helper;
}

static gboolean run_nothing(gpointer unused) {
    (void)unused;
    return G_SOURCE_REMOVE;
}

void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end) {
    if (thread != NULL || helper != NULL || !has_context() || !g_main_context_acquire(context))
        return;
    helper = g_thread_self();
    g_main_context_push_thread_default(context);
    g_source_unref(attach(run_work, 0));
    gint64 left = (end - g_get_monotonic_time()) / G_TIME_SPAN_MILLISECOND;
    GSource *timer = attach(run_nothing, (unsigned)MAX(left, 1));
    while (!is_done(data) && g_get_monotonic_time() < end) {
        store_unlock();
        g_main_context_iteration(context, TRUE);
        store_lock();
    }
    g_source_destroy(timer);
    g_source_unref(timer);
    g_main_context_pop_thread_default(context);
    g_main_context_release(context);
    helper = NULL;
    service_wake(FALSE);
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
    retry = attach(run_retry, pause_time);
    pause_time = MIN(pause_time * 2, LONGEST_PAUSE);
}

static void end_timer(GSource **timer) {
    if (*timer == NULL)
        return;
    g_source_destroy(*timer);
    g_clear_pointer(timer, g_source_unref);
}

static void stop_retrying(void) {
    pause_time = SHORTEST_PAUSE;
    end_timer(&retry);
}

/* Notes that the service is not reached. This is said only if something is needed: at the end of a
 * session it is not. */
static void fail(const char *reason) {
    gboolean is_needed = is_work();
    store_lock();
    if (is_needed)
        say_once("The settings are not stored at the moment, and may have defaults: %s", reason);
    store_set_reach(REACH_FAILED);
    store_unlock();
    retry_later();
}

/* --- Telling the listeners --- */

/* Tells what has changed, and frees the notices. The helper is within a call of the program, which
 * expects no signals. */
static void tell(GPtrArray *notices) {
    if (g_thread_self() != thread) {
        if (untold == NULL)
            untold = notices;
        else
            g_ptr_array_extend_and_steal(untold, notices);
        return;
    }
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

/* Ends the use of a connection, and closes it if it is the daemon's own. On the bus, the answers for a
 * daemon that has ended may still come. */
static void drop_wire(void) {
    end_timer(&socket_timer);
    if (wire != NULL && wire == bus)
        wire_forget_calls(bus);
    g_clear_pointer(&direct, wire_free);
    g_clear_pointer(&page, page_unref);
    wire = NULL;
    way = WAY_NONE;
    forget_calls(FALSE);
}

static void close_bus(void) {
    GHashTableIter each;
    gpointer copy;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &copy))
        ((Copy *)copy)->is_heard = FALSE;
    store_unlock();
    g_clear_pointer(&bus, wire_free);
    g_clear_pointer(&own_name, g_free);
}

/* Goes on after the daemon has closed its connection. If there is nothing to do, the bus says when
 * there is another daemon. */
static void on_direct_closed(Wire *closed) {
    (void)closed;
    gboolean was_proven =
        way == WAY_DIRECT && g_get_monotonic_time() - direct_since > SHORTEST_USE;
    drop_wire();
    if (!was_proven)
        is_barred = TRUE;
    if (was_proven && is_work())
        seek();
    else
        seek_on_bus();
}

/* Notes that another program has changed a domain. */
static void note_change(GVariant *arguments) {
    const char *domain, *layer, *origin;
    guint64 generation;
    if (!g_variant_is_of_type(arguments, G_VARIANT_TYPE("(ssasasts)")))
        return;
    g_variant_get(arguments, "(&s&sasast&s)", &domain, &layer, NULL, NULL, &generation, &origin);
    if (own_name != NULL && g_strcmp0(origin, own_name) == 0)
        return;
    store_lock();
    Copy *copy = g_hash_table_lookup(store_copies(), domain);
    /* A lock may come or go without a change of a value, and so without a generation. */
    gboolean is_news = copy != NULL && copy->is_loaded
        && (generation > copy->generation || strcmp(layer, "managed") == 0);
    if (is_news)
        copy->is_wanted = TRUE;
    store_unlock();
    if (is_news)
        work();
}

static void on_direct_signal(
    Wire *from, const char *sender, const char *member, GVariant *arguments) {
    (void)from, (void)sender;
    if (g_strcmp0(member, "Changed") == 0)
        note_change(arguments);
}

/* Uses the bus, on which there is a daemon. */
static void use_bus(void) {
    wire = bus;
    way = WAY_BUS;
    forget_calls(TRUE);
    work();
}

/* Goes on over the bus, as the daemon behind the socket is not the one of this session. */
static void leave_socket(void) {
    is_barred = TRUE;
    drop_wire();
    seek_on_bus();
}

static gboolean run_socket_timer(gpointer unused) {
    (void)unused;
    leave_socket();
    return G_SOURCE_REMOVE;
}

static void limit_socket(void) {
    socket_timer = attach(run_socket_timer, SOCKET_PATIENCE);
}

static void on_bus_address(const Reply *reply, gpointer unused) {
    (void)unused;
    GVariant *address = NULL;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(v)", &address);
    gboolean is_ours = address != NULL && g_variant_is_of_type(address, G_VARIANT_TYPE_STRING)
        && link_serves_session(g_variant_get_string(address, NULL));
    g_clear_pointer(&address, g_variant_unref);
    if (is_ours) {
        end_timer(&socket_timer);
        way = WAY_DIRECT;
        close_bus();
        work();
    } else if (reply->body != NULL || reply->error != NULL) {
        leave_socket();
    }
}

/* Uses the daemon's socket, if a daemon listens there. */
static gboolean use_socket(void) {
    static const WireEvents events = {.signal = on_direct_signal, .closed = on_direct_closed};
    int descriptor = is_barred ? -1 : link_connect_directly();
    if (descriptor < 0)
        return FALSE;
    direct = wire = wire_new(descriptor, context, &events);
    way = WAY_UNPROVEN;
    direct_since = g_get_monotonic_time();
    forget_calls(TRUE);
    wire_call(
        wire, NULL, SERVICE_PATH, "org.freedesktop.DBus.Properties", "Get",
        g_variant_new("(ss)", SERVICE_NAME, "BusAddress"), "(v)", on_bus_address, NULL, NULL);
    limit_socket();
    work();
    return TRUE;
}

/* --- The bus --- */

static void on_daemon_started(const Reply *reply, gpointer unused) {
    (void)unused;
    if (way != WAY_STARTED || (reply->body == NULL && reply->error == NULL))
        return;
    way = WAY_NONE;
    if (reply->body == NULL)
        fail(reply->text);
    else if (!use_socket())
        use_bus();
}

static void start_daemon(void) {
    way = WAY_STARTED;
    call_bus(
        "StartServiceByName", g_variant_new("(su)", SERVICE_NAME, 0), "(u)", on_daemon_started);
}

static void go_on_with_owner(gboolean has_owner) {
    if (way == WAY_BUS)
        drop_wire();
    if (way != WAY_NONE)
        return;
    stop_retrying();
    if (!has_owner) {
        if (is_work())
            start_daemon();
        return;
    }
    forget_calls(TRUE);
    if (!use_socket())
        use_bus();
}

/* Notes the beginning and the end of daemons on the bus, and the changes. */
static void on_bus_signal(Wire *from, const char *sender, const char *member, GVariant *arguments) {
    (void)from;
    const char *name, *owner;
    if (g_strcmp0(member, "Changed") == 0) {
        note_change(arguments);
    } else if (
        g_strcmp0(sender, "org.freedesktop.DBus") == 0
        && g_strcmp0(member, "NameOwnerChanged") == 0
        && g_variant_is_of_type(arguments, G_VARIANT_TYPE("(sss)"))) {
        g_variant_get(arguments, "(&s&s&s)", &name, NULL, &owner);
        if (g_strcmp0(name, SERVICE_NAME) != 0)
            return;
        is_barred = FALSE;
        go_on_with_owner(owner[0] != 0);
    }
}

static void on_bus_closed(Wire *closed) {
    (void)closed;
    gboolean was_used = way == WAY_BUS || way == WAY_STARTED;
    close_bus();
    if (was_used)
        drop_wire();
    if (way == WAY_NONE)
        fail("The connection to the session's bus has ended.");
}

static void on_nothing(const Reply *reply, gpointer unused) {
    (void)reply, (void)unused;
}

static void on_hello(const Reply *reply, gpointer unused) {
    (void)unused;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(s)", &own_name);
}

/* Goes on if there is a daemon already: its beginning is not announced any more. */
static void on_owner_known(const Reply *reply, gpointer unused) {
    (void)unused;
    gboolean has_owner = FALSE;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(b)", &has_owner);
    if (has_owner && way == WAY_NONE)
        go_on_with_owner(TRUE);
}

static gboolean connect_bus(void) {
    static const WireEvents events = {.signal = on_bus_signal, .closed = on_bus_closed};
    int descriptor = link_connect_to_bus();
    if (descriptor < 0)
        return FALSE;
    bus = wire_new(descriptor, context, &events);
    call_bus("Hello", NULL, "(s)", on_hello);
    call_bus(
        "AddMatch",
        g_variant_new(
            "(s)",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
            "arg0='" SERVICE_NAME "'"),
        "()", on_nothing);
    call_bus("NameHasOwner", g_variant_new("(s)", SERVICE_NAME), "(b)", on_owner_known);
    return TRUE;
}

/* Goes on over the bus: it starts a daemon if there is something to do, and says when there is one. */
static void seek_on_bus(void) {
    if (bus == NULL && !connect_bus())
        fail("There is no way to the session's bus.");
    else if (is_work())
        start_daemon();
}

static void seek(void) {
    if (!use_socket())
        seek_on_bus();
}

/* Asks the bus for the changes of domains. */
static void hear_changes(GPtrArray *copies) {
    for (unsigned index = 0; index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        if (copy->is_heard)
            continue;
        copy->is_heard = TRUE;
        char *rule = g_strdup_printf(
            "type='signal',sender='" SERVICE_NAME "',interface='" SERVICE_NAME
            "',member='Changed',path='" SERVICE_PATH "',arg0='%s'",
            copy->name);
        call_bus("AddMatch", g_variant_new("(s)", rule), "()", on_nothing);
        g_free(rule);
    }
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
        page = page_map(reply->descriptors[index]);
}

static void take_copies(GPtrArray *copies, GVariant *reply, GPtrArray *notices) {
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
            work();
        else if (is_lost(reply))
            retry_later();
        else
            fail(reply->text);
        return;
    }
    /* The answer about the bus comes before. If the daemon is another one, this wire is freed. */
    GPtrArray *notices = notices_new();
    store_lock();
    use_page(reply);
    take_copies(copies, reply->body, notices);
    store_unlock();
    stop_retrying();
    tell(notices);
    work();
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
    if (way == WAY_BUS)
        hear_changes(copies);
    call_service(
        way == WAY_BUS ? "AttachValues" : "FollowValues", fetch_arguments(copies),
        FETCH_REPLY_TYPE, on_fetched, copies, (GDestroyNotify)g_ptr_array_unref);
    return TRUE;
}

/* --- Fetching large values --- */

static void on_large(const Reply *reply, gpointer data) {
    GVariant *form = NULL;
    if (is_lost(reply))
        return;
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
        call_service(
            "GetValue", g_variant_new("(ss)", name, large->key), LARGE_REPLY_TYPE, on_large, large,
            (GDestroyNotify)large_request_free);
        g_free(name);
    }
    g_ptr_array_unref(requests);
}

/* --- Sending changes --- */

static gboolean run_batch_timer(gpointer unused) {
    (void)unused;
    g_clear_pointer(&batch_timer, g_source_unref);
    work();
    return G_SOURCE_REMOVE;
}

/* Gives a program that makes many changes a moment to make more, so that fewer batches are sent. */
static void pause_batches(void) {
    store_lock();
    gboolean is_empty = outbox_is_empty(), is_urgent = is_hurried || is_empty;
    is_hurried &= !is_empty;
    store_unlock();
    if (is_urgent)
        work();
    else if (batch_timer == NULL)
        batch_timer = attach(run_batch_timer, BATCH_PAUSE);
}

static void on_batch_answered(const Reply *reply, gpointer unused) {
    (void)unused;
    guint64 generation = 0;
    is_sending = FALSE;
    if (is_lost(reply))
        return retry_later();
    if (reply->body != NULL)
        g_variant_get(reply->body, "(t)", &generation);
    stop_retrying();
    GPtrArray *notices = notices_new();
    store_lock();
    if (reply->body == NULL)
        say_once("A change of settings was refused: %s", reply->text);
    store_end_batch(generation, way == WAY_DIRECT, notices);
    store_unlock();
    tell(notices);
    pause_batches();
}

static void send_batch(void) {
    if (is_sending)
        return;
    end_timer(&batch_timer);
    store_lock();
    const Batch *batch = outbox_batch();
    GVariant *arguments = batch == NULL ? NULL : batch_arguments(batch);
    store_unlock();
    if (arguments == NULL)
        return;
    is_sending = TRUE;
    call_service(
        "ApplyAllValues", arguments, BATCH_REPLY_TYPE, on_batch_answered, NULL, NULL);
}

/* Does what there is to do, as far as the daemon is reached. */
static void work(void) {
    if (way == WAY_NONE && retry == NULL && is_work())
        return seek();
    if (way == WAY_NONE || way == WAY_STARTED)
        return;
    while (fetch_some())
        continue;
    if (way == WAY_UNPROVEN)
        return;
    fetch_large();
    store_lock();
    gboolean is_paused = batch_timer != NULL && !is_hurried;
    store_unlock();
    if (!is_paused)
        send_batch();
}
