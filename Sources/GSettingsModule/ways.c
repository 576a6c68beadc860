/* How the daemon is reached: over its socket, over the bus, or as a daemon of this process alone.
 *
 * The search is in this order: the bus of the session, a daemon with the same database anywhere, a start by
 * the bus, a daemon of this process. A second session of the user has a bus of its own, and cron has none.
 *
 * Invariants
 *
 * 1. Nothing is sent to a daemon at the socket, and nothing of it is used, before it has said that
 *    it serves the bus of this session, or has the database of this user while that bus has no daemon. Only
 *    the request for copies is sent with that question.
 * 2. A process that needs nothing starts no daemon: after a loss it waits for the next one.
 * 3. The answers to calls of an earlier connection or daemon are ignored: the calls are forgotten. So a
 *    batch is in flight once.
 * 4. A daemon of this process runs only while there is something to do: it locks the database. */
#include "ways.h"

#include "exchange.h"
#include "link.h"
#include "loop.h"
#include "names.h"
#include "places.h"
#include "service.h"

/* As long as a service manager that starts the daemon may take, in milliseconds; then the bus is asked. */
enum { SOCKET_PATIENCE = 300 };

/* How long a daemon of this process is kept without work, in milliseconds. */
enum { IDLE_TIME = 100 };

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

static Way way = WAY_NONE;
/* The connection to the daemon's socket, that to the bus, and the one of both that is used. */
static Wire *direct, *bus, *wire;
/* The name of this process on the bus. */
static char *own_name;
/* The bus announces the locks of all domains. */
static gboolean hears_locks;
/* The daemon at the socket is not the one of this session, or it closes connections at once. */
static gboolean is_barred;
/* The daemon at a socket that another session may have is not one with this user's database. */
static gboolean is_elsewhere_barred;
/* The connection is to a daemon of another session, or of this process. */
static gboolean is_elsewhere, is_private;
/* The daemon at the socket has this user's database. */
static gboolean has_database;
static Timer idle_timer;
/* When the connection to the socket was made. */
static gint64 direct_since;
static Timer socket_timer;

static void seek(void);
static void seek_on_bus(void);
static gboolean connect_bus(void);

static void note_connection(gboolean is_open) {
    store_lock();
    store_note_connection(is_open);
    store_unlock();
}

gboolean way_is_open(void) {
    return way != WAY_NONE && way != WAY_STARTED;
}

gboolean way_is_proven(void) {
    return way == WAY_DIRECT || way == WAY_BUS;
}

gboolean way_is_direct(void) {
    return way == WAY_UNPROVEN || way == WAY_DIRECT;
}

const char *way_own_name(void) {
    return own_name;
}

void way_call(
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

/* Ends the use of a connection, and closes it if it is the daemon's own. On the bus, the answers for a
 * daemon that has ended may still come. */
static void drop_wire(void) {
    loop_end_timer(&socket_timer);
    loop_end_timer(&idle_timer);
    has_database = is_elsewhere = is_private = FALSE;
    if (wire != NULL && wire == bus)
        wire_forget_calls(bus);
    g_clear_pointer(&direct, wire_free);
    wire = NULL;
    way = WAY_NONE;
    note_connection(FALSE);
    exchange_forget(FALSE);
    exchange_drop_page();
}

static void close_bus(void) {
    GHashTableIter each;
    gpointer copy;
    store_lock();
    g_hash_table_iter_init(&each, store_copies());
    while (g_hash_table_iter_next(&each, NULL, &copy))
        ((Copy *)copy)->is_heard = FALSE;
    store_unlock();
    hears_locks = FALSE;
    g_clear_pointer(&bus, wire_free);
    g_clear_pointer(&own_name, g_free);
}

/* Goes on after the daemon has closed its connection. If there is nothing to do, the bus says when
 * there is another daemon. */
static void on_direct_closed(Wire *closed) {
    (void)closed;
    gboolean was_private = is_private, was_elsewhere = is_elsewhere;
    gboolean was_proven =
        way == WAY_DIRECT && g_get_monotonic_time() - direct_since > SHORTEST_USE;
    drop_wire();
    if (was_private)
        return service_fail("There is no settings service, and none can be run.");
    if (!was_proven && was_elsewhere)
        is_elsewhere_barred = TRUE;
    else if (!was_proven)
        is_barred = TRUE;
    if (was_proven && exchange_is_needed())
        seek();
    else
        seek_on_bus();
}

static void on_direct_signal(
    Wire *from, const char *sender, const char *member, GVariant *arguments) {
    (void)from, (void)sender;
    if (g_strcmp0(member, "Changed") == 0)
        exchange_note_change(arguments);
}

/* Uses the bus, on which there is a daemon. */
static void use_bus(void) {
    wire = bus;
    way = WAY_BUS;
    note_connection(TRUE);
    exchange_forget(TRUE);
    exchange_work();
}

/* Goes on over the bus, as the daemon at the socket is not the one of this session. */
static void leave_socket(void) {
    if (is_elsewhere)
        is_elsewhere_barred = TRUE;
    else
        is_barred = TRUE;
    drop_wire();
    seek_on_bus();
}

static void accept_socket(gboolean is_of_session) {
    loop_end_timer(&socket_timer);
    way = WAY_DIRECT;
    note_connection(TRUE);
    if (is_of_session)
        close_bus();
    exchange_work();
}

/* A bus that does not answer does not keep a daemon with this database from being used. */
static void run_socket_timer(gpointer unused) {
    (void)unused;
    if (has_database)
        accept_socket(FALSE);
    else
        leave_socket();
}

/* Uses the daemon at the socket, unless the bus of the session has another one. */
static void on_other_owner(const Reply *reply, gpointer unused) {
    (void)unused;
    gboolean has_owner = FALSE;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(b)", &has_owner);
    if (way != WAY_UNPROVEN || !has_database)
        return;
    if (has_owner)
        leave_socket();
    else
        accept_socket(FALSE);
}

static void on_database_path(const Reply *reply, gpointer unused) {
    (void)unused;
    GVariant *path = NULL;
    if (reply->body == NULL && reply->error == NULL)
        return;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(v)", &path);
    has_database = path != NULL && g_variant_is_of_type(path, G_VARIANT_TYPE_STRING)
        && places_have_database(g_variant_get_string(path, NULL));
    g_clear_pointer(&path, g_variant_unref);
    if (!has_database)
        leave_socket();
    else if (is_elsewhere || (bus == NULL && !connect_bus()))
        accept_socket(FALSE);
    else
        call_bus("NameHasOwner", g_variant_new("(s)", SERVICE_NAME), "(b)", on_other_owner);
}

static void ask_for(const char *property, ReplyHandler handler) {
    wire_call(
        wire, NULL, SERVICE_PATH, "org.freedesktop.DBus.Properties", "Get",
        g_variant_new("(ss)", SERVICE_NAME, property), "(v)", handler, NULL, NULL);
}

static void on_bus_address(const Reply *reply, gpointer unused) {
    (void)unused;
    GVariant *address = NULL;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(v)", &address);
    gboolean is_ours = address != NULL && g_variant_is_of_type(address, G_VARIANT_TYPE_STRING)
        && link_serves_session(g_variant_get_string(address, NULL));
    g_clear_pointer(&address, g_variant_unref);
    if (is_ours)
        accept_socket(TRUE);
    else if (reply->body != NULL)
        ask_for("DatabasePath", on_database_path);
    else if (reply->error != NULL)
        leave_socket();
}

/* Uses a socket that is connected to a daemon. */
static void use_descriptor(int descriptor) {
    static const WireEvents events = {.signal = on_direct_signal, .closed = on_direct_closed};
    direct = wire = wire_new(descriptor, &events);
    way = WAY_UNPROVEN;
    direct_since = g_get_monotonic_time();
    exchange_forget(TRUE);
}

/* Asks the daemon at the socket whether it is the right one. */
static void examine_socket(ReplyHandler handler, const char *property) {
    ask_for(property, handler);
    loop_set_timer(&socket_timer, SOCKET_PATIENCE, run_socket_timer, NULL);
    exchange_work();
}

/* Uses the daemon's socket, if a daemon listens there. */
static gboolean use_socket(void) {
    int descriptor = is_barred ? -1 : link_connect_directly();
    if (descriptor < 0)
        return FALSE;
    use_descriptor(descriptor);
    examine_socket(on_bus_address, "BusAddress");
    return TRUE;
}

/* Uses the daemon of another session, if it has the database of this user. */
static gboolean use_socket_elsewhere(void) {
    int descriptor = is_elsewhere_barred ? -1 : link_connect_elsewhere();
    if (descriptor < 0)
        return FALSE;
    use_descriptor(descriptor);
    is_elsewhere = TRUE;
    examine_socket(on_database_path, "DatabasePath");
    return TRUE;
}

/* --- A daemon of this process --- */

static void run_idle_timer(gpointer unused) {
    (void)unused;
    if (exchange_is_needed() || wire_has_calls(wire))
        loop_set_timer(&idle_timer, IDLE_TIME, run_idle_timer, NULL);
    else
        drop_wire();
}

/* Runs a daemon for this process alone. */
static gboolean use_private(void) {
    int descriptor = link_start_daemon();
    if (descriptor < 0)
        return FALSE;
    use_descriptor(descriptor);
    is_private = TRUE;
    store_lock();
    say_once("There is no settings service, so this program uses the settings by itself.");
    store_unlock();
    loop_set_timer(&idle_timer, IDLE_TIME, run_idle_timer, NULL);
    accept_socket(FALSE);
    return TRUE;
}

/* Goes on where no bus has a daemon or can start one. */
static void do_without_bus(const char *reason) {
    if (!use_socket_elsewhere() && !use_private())
        service_fail(reason);
}

/* --- The bus --- */

static void on_daemon_started(const Reply *reply, gpointer unused) {
    (void)unused;
    if (way != WAY_STARTED || (reply->body == NULL && reply->error == NULL))
        return;
    way = WAY_NONE;
    /* The bus does not know the service. */
    if (g_strcmp0(reply->error, "org.freedesktop.DBus.Error.ServiceUnknown") == 0)
        do_without_bus(reply->text);
    else if (reply->body == NULL)
        service_fail(reply->text);
    else if (!use_socket())
        use_bus();
}

/* Has the bus start a daemon, unless there is one somewhere. */
static void on_owner_sought(const Reply *reply, gpointer unused) {
    (void)unused;
    gboolean has_owner = FALSE;
    if (way != WAY_STARTED || (reply->body == NULL && reply->error == NULL))
        return;
    if (reply->body != NULL)
        g_variant_get(reply->body, "(b)", &has_owner);
    way = WAY_NONE;
    if (!has_owner && use_socket_elsewhere())
        return;
    way = WAY_STARTED;
    call_bus(
        "StartServiceByName", g_variant_new("(su)", SERVICE_NAME, 0), "(u)", on_daemon_started);
}

static void start_daemon(void) {
    way = WAY_STARTED;
    call_bus("NameHasOwner", g_variant_new("(s)", SERVICE_NAME), "(b)", on_owner_sought);
}

static void go_on_with_owner(gboolean has_owner) {
    if (way == WAY_BUS)
        drop_wire();
    if (way != WAY_NONE)
        return;
    service_stop_retrying();
    if (!has_owner) {
        if (exchange_is_needed())
            start_daemon();
        return;
    }
    exchange_forget(TRUE);
    if (!use_socket())
        use_bus();
}

/* Notes the beginning and the end of daemons on the bus, and the changes. */
static void on_bus_signal(Wire *from, const char *sender, const char *member, GVariant *arguments) {
    (void)from;
    const char *name, *owner;
    if (g_strcmp0(member, "Changed") == 0) {
        exchange_note_change(arguments);
    } else if (
        g_strcmp0(sender, "org.freedesktop.DBus") == 0
        && g_strcmp0(member, "NameOwnerChanged") == 0
        && g_variant_is_of_type(arguments, G_VARIANT_TYPE("(sss)"))) {
        g_variant_get(arguments, "(&s&s&s)", &name, NULL, &owner);
        if (g_strcmp0(name, SERVICE_NAME) != 0)
            return;
        is_barred = is_elsewhere_barred = FALSE;
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
        service_fail("The connection to the session's bus has ended.");
}

/* A bus has limits for rules. Without a rule, values are still read from the service when the page says so,
 * but nothing announces them. */
static void on_match(const Reply *reply, gpointer unused) {
    (void)unused;
    if (reply->error == NULL)
        return;
    store_lock();
    say_once("Changes of settings by other programs may not be announced: %s", reply->text);
    store_unlock();
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
    bus = wire_new(descriptor, &events);
    call_bus("Hello", NULL, "(s)", on_hello);
    call_bus(
        "AddMatch",
        g_variant_new(
            "(s)",
            "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',"
            "arg0='" SERVICE_NAME "'"),
        "()", on_match);
    call_bus("NameHasOwner", g_variant_new("(s)", SERVICE_NAME), "(b)", on_owner_known);
    return TRUE;
}

/* Goes on over the bus: it starts a daemon if there is something to do, and says when there is one. */
static void seek_on_bus(void) {
    if (bus == NULL && !connect_bus())
        do_without_bus("There is no way to the session's bus.");
    else if (exchange_is_needed())
        start_daemon();
}

static void seek(void) {
    is_elsewhere_barred = FALSE;
    if (!use_socket())
        seek_on_bus();
}

static void hear_domain(const char *domain) {
    char *rule = g_strdup_printf(
        "type='signal',sender='" SERVICE_NAME "',interface='" SERVICE_NAME
        "',member='Changed',path='" SERVICE_PATH "',arg0='%s'",
        domain);
    call_bus("AddMatch", g_variant_new("(s)", rule), "()", on_match);
    g_free(rule);
}

void way_hear_changes(GPtrArray *copies) {
    if (way == WAY_BUS && !hears_locks) {
        hear_domain(GLOBAL_DOMAIN);
        hears_locks = TRUE;
    }
    for (unsigned index = 0; way == WAY_BUS && index < copies->len; index++) {
        Copy *copy = copies->pdata[index];
        if (copy->is_heard)
            continue;
        copy->is_heard = TRUE;
        hear_domain(copy->name);
    }
}

void way_seek(void) {
    if (way == WAY_NONE && !service_is_pausing() && exchange_is_needed())
        seek();
}
