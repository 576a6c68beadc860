/* offender: a client that does what nobody should, as much as it can, until SIGTERM.
 *
 * usage: offender bus|socket KIND LEAST
 *
 * It uses the bus or the daemon's socket. Before it has sent LEAST messages it does not end. Then it
 * prints what came of it, a line each: the messages that it "sent", the "replies", each error by its
 * name, and how often it was "disconnected".
 *
 * Messages are made by libdbus, and written to its sockets by this program, so that it may write and
 * not read, or write half of a message, which libdbus never does. */
#include "archive.h"
#include "measuring.h"
#include "shared.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum { HEAD = 16, MOST_NAMES = 32, LARGEST_ARRAY = 64 << 20, NAMES = 1000, EXPECTATIONS = 100000 };
enum { MADE_DOMAINS = 100000, BETWEEN_LISTS = 1000, ATTACHED = 1 << 14, VARIANTS = 60 };

/* In seconds, how long it waits at the end. */
enum { UNREAD_FOR = 2, LAST_REPLY = 20 };

/* A message as it is written, but for its serial number, which is in its head. */
struct wire { char *bytes; int size; };

struct client {
    DBusConnection *bus;
    int socket, under_way, written;
    struct wire message;
    char head[HEAD];
    uint64_t sent;
    /* Whether it sends nothing, and reads nothing. */
    bool is_deaf;
};

struct kind {
    const char *name;
    DBusMessage *(*make)(uint64_t number);
    /* How many different messages there are, which are made once; 0: a new one each time. */
    int different;
    /* How many calls are under way. */
    int window;
    int connections;
    /* How many connections more listen to all signals, or follow the domain, and read none. */
    int deaf;
    /* Whether replies are not read. */
    bool reads_nothing;
    /* Whether a connection is closed after each message, or after half of one. */
    bool leaves, sends_half;
};

static const struct kind *kind;
static bool is_direct;
static struct { char name[256]; uint64_t count; } results[MOST_NAMES];
static volatile sig_atomic_t is_over;

static void note(const char *name) {
    int result = 0;
    while (result < MOST_NAMES - 1 && results[result].count && strcmp(results[result].name, name))
        result++;
    snprintf(results[result].name, sizeof results[result].name, "%s", name);
    results[result].count++;
}

/* What is sent */

static const char domain[] = "org.example.Offence";

static struct archive archive_of(uint64_t number) {
    static uint8_t bytes[ARCHIVE_SIZE(64)];
    return (struct archive){bytes, (int)archive_number(bytes, 64, number)};
}

static struct archive zeros(int size) {
    return (struct archive){calloc((size_t)size, 1), size};
}

static DBusMessage *get_large(uint64_t number) {
    return (void)number, key_call("Get", domain, "Large");
}

static DBusMessage *set(uint64_t number) {
    return set_call(domain, "Small", archive_of(number));
}

static DBusMessage *set_64_mebibytes(uint64_t number) {
    struct archive archive = zeros(LARGEST_ARRAY);
    DBusMessage *message = set_call(domain, "Huge", archive);
    free(archive.bytes);
    return (void)number, message;
}

/* The most that a message can have. */
static DBusMessage *set_128_mebibytes(uint64_t number) {
    struct archive archive = zeros(LARGEST_ARRAY - 1024);
    DBusMessage *message = set_call(domain, "Huge", archive);
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_bytes(&arguments, archive);
    free(archive.bytes);
    return (void)number, message;
}

static DBusMessage *apply_to_many(uint64_t number) {
    struct transaction transaction = begin_apply(domain);
    for (int key = 0; key < NAMES; key++) {
        char name[64];
        snprintf(name, sizeof name, "%055d", key);
        apply_entry(&transaction, name, archive_of(number));
    }
    return end_apply(&transaction, FALSE);
}

static DBusMessage *expect_many(uint64_t number) {
    struct transaction transaction = begin_apply(domain);
    apply_entry(&transaction, "Expecting", archive_of(number));
    for (int key = 0; key < EXPECTATIONS; key++) {
        char name[32];
        snprintf(name, sizeof name, "Absent %d", key);
        expect_entry(&transaction, name, 0);
    }
    return end_apply(&transaction, FALSE);
}

static DBusMessage *make_domain(uint64_t number) {
    if (number % BETWEEN_LISTS == BETWEEN_LISTS - 1) return new_call(OURS, "ListDomains");
    uint64_t made = number - number / BETWEEN_LISTS;
    char name[64];
    snprintf(name, sizeof name, "org.example.Domain%u", (unsigned)(made % MADE_DOMAINS));
    return set_call(name, "Small", archive_of(made / MADE_DOMAINS));
}

static void append_nested(DBusMessageIter *to, int depth) {
    DBusMessageIter variant;
    dbus_message_iter_open_container(to, DBUS_TYPE_VARIANT, depth > 1 ? "v" : "b", &variant);
    if (depth > 1)
        append_nested(&variant, depth - 1);
    else
        dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &(dbus_bool_t){TRUE});
    dbus_message_iter_close_container(to, &variant);
}

static DBusMessage *set_nested(uint64_t number) {
    DBusMessage *message = key_call("SetValue", domain, "Nested");
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_nested(&arguments, 1 + (int)(number % VARIANTS));
    return message;
}

static DBusMessage *set_or_synchronize(uint64_t number) {
    return number % 2 ? new_call(OURS, "Synchronize") : set(number / 2);
}

static DBusMessage *about_domain(const char *method, int count) {
    DBusMessage *message = new_call(OURS, method);
    const char **names = malloc((size_t)count * sizeof *names);
    for (int number = 0; number < count; number++) names[number] = domain;
    dbus_message_append_args(message, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &names, count,
                             DBUS_TYPE_INVALID);
    free(names);
    return message;
}

static DBusMessage *attach_one(uint64_t number) { return (void)number, about_domain("Attach", 1); }
static DBusMessage *attach_many(uint64_t number) {
    return (void)number, about_domain("Attach", ATTACHED);
}

static DBusMessage *follow(void) { return about_domain("Follow", 1); }

/* As many as one connection may follow. */
static DBusMessage *follow_many(uint64_t number) {
    DBusMessage *message = new_call(OURS, "Follow");
    DBusMessageIter arguments, names;
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "s", &names);
    for (int followed = 0; followed < ATTACHED; followed++) {
        char text[64], *name = text;
        snprintf(text, sizeof text, "org.example.Followed%d", followed);
        dbus_message_iter_append_basic(&names, DBUS_TYPE_STRING, &name);
    }
    dbus_message_iter_close_container(&arguments, &names);
    return (void)number, message;
}

static DBusMessage *get_all(uint64_t number) {
    static const char *const methods[] = {"GetAll", "GetAllValues", "ListKeys"};
    DBusMessage *message = new_call(OURS, methods[number % 3]);
    append_string(message, "org.example.Bulk");
    return message;
}

/* The bus looks through all the calls of a caller that are unanswered at each one more, so that very
 * many keep it, and not the service, busy. These are more than the service lets wait. */
enum { UNREAD = 6000 };

static const struct kind kinds[] = {
    {"unread-replies", get_large, 1, UNREAD, 1, .deaf = 0, .reads_nothing = true},
    {"unread-descriptors", attach_one, 1, UNREAD / 4, 4, .deaf = 0, .reads_nothing = true},
    {"unread-signals", apply_to_many, 2, 4, 1, .deaf = 32},
    {"64-MiB", set_64_mebibytes, 1, 1, 1, .deaf = 0},
    {"128-MiB", set_128_mebibytes, 1, 1, 1, .deaf = 0},
    {"unread-by-many", get_large, 1, 2, 300, .deaf = 0, .reads_nothing = true},
    {"held-halves", set_64_mebibytes, 1, 1, 20, .deaf = 0, .sends_half = true},
    {"follow-many", follow_many, 1, 1, 250, .deaf = 0},
    {"half-messages", set_64_mebibytes, 1, 1, 1, .deaf = 0, .leaves = true, .sends_half = true},
    {"connections", set, 2, 1, 1000, .deaf = 0},
    {"one-call-each", set, 2, 1, 16, .deaf = 0, .leaves = true},
    {"domains", make_domain, 0, 64, 1, .deaf = 0},
    {"nested", set_nested, VARIANTS, 64, 4, .deaf = 0},
    {"synchronize", set_or_synchronize, 4, 64, 8, .deaf = 0},
    {"expectations", expect_many, 2, 4, 1, .deaf = 0},
    {"attach", attach_one, 1, 64, 4, .deaf = 0},
    {"attach-many", attach_many, 1, 4, 1, .deaf = 0},
    {"bulk", get_all, 3, 8, 4, .deaf = 0},
    {0},
};

/* How it is sent */

static struct wire marshal(DBusMessage *message) {
    struct wire wire;
    dbus_message_set_serial(message, 1);
    if (!dbus_message_marshal(message, &wire.bytes, &wire.size)) fail("no memory");
    dbus_message_unref(message);
    return wire;
}

static struct wire message_of(uint64_t number) {
    static struct wire made[VARIANTS];
    if (!kind->different) return marshal(kind->make(number));
    struct wire *wire = &made[number % (uint64_t)kind->different];
    if (!wire->bytes) *wire = marshal(kind->make(number % (uint64_t)kind->different));
    return *wire;
}

/* Only after an answer may others than libdbus write to its socket. */
static DBusConnection *greet_daemon(void) {
    DBusConnection *daemon = connect_directly();
    DBusMessage *ping = new_call(NULL, "/", "org.freedesktop.DBus.Peer", "Ping");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(daemon, ping, -1, NULL);
    dbus_message_unref(ping);
    if (reply) dbus_message_unref(reply);
    return daemon;
}

static void open_client(struct client *client) {
    client->bus = is_direct ? greet_daemon() : connect_to_bus();
    if (!dbus_connection_get_unix_fd(client->bus, &client->socket)) fail("no socket");
    dbus_connection_set_exit_on_disconnect(client->bus, FALSE);
    if (client->is_deaf && is_direct) {
        dbus_connection_send(client->bus, follow(), NULL);
        dbus_connection_flush(client->bus);
    } else if (client->is_deaf) {
        dbus_bus_add_match(client->bus, "type='signal'", NULL);
        dbus_connection_flush(client->bus);
    }
}

static void close_client(struct client *client) {
    dbus_connection_close(client->bus);
    dbus_connection_unref(client->bus);
    client->bus = NULL;
    client->under_way = client->written = 0;
}

static bool has_to_send(const struct client *client) {
    return !client->is_deaf && (client->written > 0 || client->under_way < kind->window);
}

static void begin_message(struct client *client, uint64_t number) {
    /* Past those of libdbus. */
    uint32_t serial = (uint32_t)(1000 + ++client->sent);
    client->message = message_of(number);
    memcpy(client->head, client->message.bytes, HEAD);
    memcpy(client->head + 8, &serial, sizeof serial);
}

static uint64_t messages_sent;
/* Whether somebody was thrown off, who may never come to the end of a message. */
static bool is_thrown_off;

static void end_message(struct client *client) {
    client->written = 0;
    messages_sent++;
    client->under_way++;
    note("sent");
    if (!kind->different) dbus_free(client->message.bytes);
    if (!kind->leaves) return;
    close_client(client);
    open_client(client);
}

static void send_some(struct client *client, uint64_t *number) {
    if (client->written == 0) begin_message(client, (*number)++);
    int size = client->message.size / (kind->sends_half ? 2 : 1), written = client->written;
    int in_head = written < HEAD ? HEAD - written : 0;
    struct iovec parts[] = {
        {client->head + HEAD - in_head, (size_t)in_head},
        {client->message.bytes + written + in_head, (size_t)(size - written - in_head)}};
    ssize_t result = writev(client->socket, parts, 2);
    if (result > 0) client->written += (int)result;
    if (client->written == size) end_message(client);
}

static void take(struct client *client) {
    DBusMessage *message;
    dbus_connection_read_write(client->bus, 0);
    while ((message = dbus_connection_pop_message(client->bus))) {
        int type = dbus_message_get_type(message);
        if (type == DBUS_MESSAGE_TYPE_ERROR) note(dbus_message_get_error_name(message));
        if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN) note("replies");
        if (type != DBUS_MESSAGE_TYPE_SIGNAL) client->under_way--;
        dbus_message_unref(message);
    }
    if (dbus_connection_get_is_connected(client->bus)) return;
    note("disconnected");
    is_thrown_off = true;
    close_client(client);
    open_client(client);
}

/* What is still to come, or stands unread and makes room for more, for a while. */
static void take_last(struct client *clients, int count) {
    double end = microseconds() + (kind->reads_nothing ? UNREAD_FOR : LAST_REPLY) * 1e6;
    for (bool is_due = true; is_due && microseconds() < end;) {
        is_due = false;
        for (int number = 0; number < count; number++) {
            struct pollfd event = {.fd = clients[number].socket, .events = POLLIN};
            if (clients[number].under_way <= 0) continue;
            is_due = true;
            if (poll(&event, 1, 10) > 0) take(&clients[number]);
        }
    }
}

static void run(struct client *clients, struct pollfd *events, int count, uint64_t least) {
    for (uint64_t message = 0; !is_over || (messages_sent < least && !is_thrown_off);) {
        for (int number = 0; number < count; number++) {
            struct client *client = &clients[number];
            bool reads = !kind->reads_nothing && !client->is_deaf;
            events[number] = (struct pollfd){
                .fd = reads || has_to_send(client) ? client->socket : -1,
                .events = (short)((reads ? POLLIN : 0) | (has_to_send(client) ? POLLOUT : 0))};
        }
        if (poll(events, (nfds_t)count, -1) < 0 && errno != EINTR) fail("poll has failed");
        for (int number = 0; number < count; number++) {
            short happened = events[number].revents;
            /* What was thrown off reads its end, whether it reads or not. */
            if (happened & (POLLHUP | POLLERR) || (happened & POLLIN)) take(&clients[number]);
            else if (happened & POLLOUT) send_some(&clients[number], &message);
        }
    }
}

static void end_it(int number) { (void)number, is_over = 1; }

int main(int count, char **arguments) {
    struct rlimit files = {.rlim_cur = 4096, .rlim_max = 4096};
    struct sigaction action = {.sa_handler = end_it};
    if (count != 4) fail("usage: offender bus|socket KIND LEAST");
    is_direct = strcmp(arguments[1], "socket") == 0;
    for (kind = kinds; kind->name && strcmp(kind->name, arguments[2]);) kind++;
    if (!kind->name) fail("there is no kind '%s'", arguments[2]);
    setrlimit(RLIMIT_NOFILE, &files);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    int senders = kind->connections, all = senders + kind->deaf;
    struct client *clients = calloc((size_t)all, sizeof *clients);
    struct pollfd *events = calloc((size_t)all, sizeof *events);
    for (int number = 0; number < all; number++) {
        clients[number].is_deaf = number >= senders;
        open_client(&clients[number]);
    }
    if (kind->different) message_of(0);
    puts("ready");
    fflush(stdout);
    run(clients, events, all, strtoull(arguments[3], NULL, 10));
    take_last(clients, senders);
    for (int result = 0; result < MOST_NAMES && results[result].count; result++)
        printf("%s %llu\n", results[result].name, (unsigned long long)results[result].count);
    return 0;
}
