#include "writer.h"
#include "archive.h"
#include "service.h"

#include <stdlib.h>

/* Calls under way, and writes after which the domain changes. A domain rests for some time, so that
 * copies of it are current for some time. */
enum { WINDOW = 24, BURST = 256, LARGE_EVERY = 16 };

/* The write of a key that is under way. A key has one at most: a call that is sent again must not
 * come after a later one. */
struct write {
    struct writer *writer;
    int domain, key;
    bool is_under_way, is_repeated;
    uint64_t number;
};

struct writer {
    struct shared *shared;
    const struct options *options;
    struct page page;
    DBusConnection *connection;
    uint64_t random, sent;
    int under_way, domain;
    struct write writes[DOMAINS][KEYS];
};

static void receive(DBusPendingCall *pending, void *data);

static void send_write(struct write *write) {
    static uint8_t bytes[ARCHIVE_SIZE(LARGE_SIZE)];
    bool is_large = write->domain == LARGE_DOMAIN && write->key == LARGE_KEY;
    int size = (int)archive_number(bytes, is_large ? LARGE_SIZE : 16, write->number);
    char key[16];
    name_key(key, write->key);
    const char *domain = domain_names[write->domain], *key_name = key;
    const uint8_t *archive = bytes;
    DBusMessage *call = new_call("Set");
    DBusPendingCall *pending = NULL;
    if (!dbus_message_append_args(call, DBUS_TYPE_STRING, &domain, DBUS_TYPE_STRING, &key_name,
                                  DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &archive, size,
                                  DBUS_TYPE_INVALID)
        || !dbus_connection_send_with_reply(write->writer->connection, call, &pending,
                                            DBUS_TIMEOUT_INFINITE)
        || !pending || !dbus_pending_call_set_notify(pending, receive, write, NULL))
        fail("a call cannot be sent: the bus is gone");
    dbus_pending_call_unref(pending);
    dbus_message_unref(call);
}

/* A first call is a change, which the page shows before it is acknowledged. One that was sent twice
 * may have been none the second time, and is answered with the generation of the database. */
static void check_page(const struct write *write, uint64_t generation) {
    const struct page page = write->writer->page;
    uint64_t slot = load_slot(page, slot_of(page, domain_names[write->domain]));
    if (!write->is_repeated && slot < generation)
        fail("a change of %s is acknowledged with generation %llu, and its slot has %llu",
             domain_names[write->domain], (unsigned long long)generation, (unsigned long long)slot);
}

static void receive(DBusPendingCall *pending, void *data) {
    struct write *write = data;
    struct writer *writer = write->writer;
    DBusMessage *reply = dbus_pending_call_steal_reply(pending);
    const char *error = dbus_message_get_error_name(reply);
    if (error) {
        if (!means_daemon_died(error))
            fail("Set: %s", error);
        write->is_repeated = true;
        send_write(write);
    } else {
        DBusMessageIter arguments;
        uint64_t generation;
        dbus_message_iter_init(reply, &arguments);
        take(&arguments, DBUS_TYPE_UINT64, &generation);
        check_page(write, generation);
        atomic_store(&writer->shared->acknowledged[write->domain][write->key], write->number);
        atomic_fetch_add(&writer->shared->writes, 1);
        write->is_under_way = false;
        writer->under_way--;
    }
    dbus_message_unref(reply);
}

static struct write *choose(struct writer *writer) {
    if (writer->sent % BURST == 0)
        writer->domain = (int)(next_random(&writer->random) % DOMAINS);
    int key = (int)(next_random(&writer->random) % KEYS);
    if (writer->domain == LARGE_DOMAIN && key == LARGE_KEY
        && next_random(&writer->random) % LARGE_EVERY != 0)
        key++;
    while (writer->writes[writer->domain][key].is_under_way)
        key = (key + 1) % KEYS;
    return &writer->writes[writer->domain][key];
}

static bool may_send(const struct writer *writer) {
    return writer->under_way < WINDOW && writer->sent < writer->options->writes
        && !is_ahead(atomic_load(&writer->shared->writes), writer->options->writes,
                     atomic_load(&writer->shared->reads), writer->options->reads);
}

void write_all(struct shared *shared, const struct options *options, struct page page) {
    static struct writer writer;
    writer.shared = shared;
    writer.options = options;
    writer.page = page;
    writer.random = options->seed;
    writer.connection = connect_to_bus();
    for (int domain = 0; domain < DOMAINS; domain++)
        for (int key = 0; key < KEYS; key++)
            writer.writes[domain][key] = (struct write){&writer, domain, key, false, false, 0};

    while (atomic_load(&shared->writes) < options->writes) {
        while (may_send(&writer)) {
            struct write *write = choose(&writer);
            write->number++;
            write->is_under_way = true;
            write->is_repeated = false;
            writer.under_way++;
            writer.sent++;
            send_write(write);
        }
        if (writer.under_way == 0)
            pause_a_moment();
        else if (!dbus_connection_read_write_dispatch(writer.connection, -1))
            fail("the bus is gone");
    }
}
