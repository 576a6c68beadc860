/* swarm: many clients that change the same keys at once, and one that hears of every change.
 *
 * usage: swarm counters|careless|values CLIENTS CHANGES DOMAINS KEYS SEED GENERATION
 *
 * Each client is a process with a connection of its own, and ends when it has made CHANGES.
 *
 * counters: each change adds one to a counter, drawn from the KEYS of each of the DOMAINS, by Get and
 * an Apply that expects the generation of what Get gave; where another one was faster, again.
 * careless: the same with nothing expected, so that updates are lost.
 * values: each client sets keys of its own, WINDOW calls at a time; a value is the number of the
 * change.
 *
 * GENERATION is that of the database before. A generation that was acknowledged twice, a signal that
 * comes late, twice, not at all, or with another origin or key than the change had, and every error
 * that is not to be expected ends the program with 1 and the facts. Otherwise it prints what is to be
 * in the database now, a line for each key: its domain, its name, its number and its generation, and
 * at last a line "changes N conflicts N signals N". */
#include "archive.h"
#include "measuring.h"
#include "shared.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WINDOW = 32, NUMBER_LENGTH = 16, LONGEST_BACK_OFF = 1 << 9, BACK_OFF_NANOSECONDS = 100000 };

/* How far the counter may jump in all. */
enum { SLACK = 1 << 16 };

/* What a change was, in one word: the connection that made it, and which key. */
typedef uint64_t origin_and_key;

/* How often a key was changed, and when last. */
struct counter {
    _Atomic uint64_t changes, generation;
};

static struct {
    bool is_careless;
    uint64_t clients, changes, domains, keys, seed, generation, generations;
} options;

/* In memory that all processes map. */
static struct counter *counters;
static _Atomic origin_and_key *acknowledged;
static _Atomic uint64_t *conflicts;

/* What the one that hears has heard. */
static origin_and_key *heard;
static uint64_t signals;

static uint64_t keys(void) {
    return options.domains * options.keys;
}

static void *share(size_t size) {
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                         -1, 0);
    if (address == MAP_FAILED) fail("no memory to share");
    return address;
}

static char *domain_of(uint64_t key) {
    static char name[64];
    snprintf(name, sizeof name, "org.example.Load%u", (unsigned)(key / options.keys));
    return name;
}

static char *name_of(uint64_t key) {
    static char name[16];
    snprintf(name, sizeof name, "Key%u", (unsigned)(key % options.keys));
    return name;
}

static struct archive archive_of(uint64_t number) {
    static uint8_t bytes[ARCHIVE_SIZE(NUMBER_LENGTH)];
    return (struct archive){bytes, (int)archive_number(bytes, NUMBER_LENGTH, number)};
}

/* The number of a connection that the bus has named :1.NUMBER. */
static uint64_t number_of(const char *name) {
    unsigned number;
    if (!name || sscanf(name, ":1.%u", &number) != 1) fail("'%s' is no unique name", name);
    return number;
}

static uint64_t index_of(uint64_t generation) {
    uint64_t index = generation - options.generation;
    if (generation <= options.generation || index > options.generations)
        fail("a change has the generation %llu, where the database began with %llu",
             (unsigned long long)generation, (unsigned long long)options.generation);
    return index;
}

/* Clients */

/* Notes a change that was acknowledged. */
static void note(DBusConnection *bus, uint64_t key, uint64_t generation) {
    origin_and_key change = number_of(dbus_bus_get_unique_name(bus)) << 32 | key;
    if (atomic_exchange(&acknowledged[index_of(generation)], change))
        fail("the generation %llu was acknowledged twice", (unsigned long long)generation);
    atomic_fetch_add(&counters[key].changes, 1);
    /* Of several clients the one that made the last change need not be the last to note it. */
    uint64_t last = counters[key].generation;
    while (last < generation
           && !atomic_compare_exchange_weak(&counters[key].generation, &last, generation)) {}
}

static uint64_t generation_in(DBusMessage *reply) {
    dbus_uint64_t generation;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_UINT64, &generation, DBUS_TYPE_INVALID))
        fail("a reply has the types '%s'", dbus_message_get_signature(reply));
    dbus_message_unref(reply);
    return generation;
}

/* Makes a call and gives back its reply, or NULL where the error is the one that may come. */
static DBusMessage *ask(DBusConnection *bus, DBusMessage *call, const char *passing) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, PATIENCE, &error);
    if (!reply && !dbus_error_has_name(&error, passing))
        fail("%s: %s: %s", dbus_message_get_member(call), error.name, error.message);
    dbus_error_free(&error);
    dbus_message_unref(call);
    return reply;
}

static void read_counter(DBusConnection *bus, uint64_t key, uint64_t *number,
                         uint64_t *generation) {
    DBusMessage *reply = ask(bus, key_call("Get", domain_of(key), name_of(key)),
                             "org.defaultsd.Defaults1.Error.NotFound");
    const uint8_t *bytes;
    int size;
    *number = *generation = 0;
    if (!reply) return;
    if (!dbus_message_get_args(reply, NULL, DBUS_TYPE_ARRAY, DBUS_TYPE_BYTE, &bytes, &size,
                               DBUS_TYPE_UINT64, generation, DBUS_TYPE_INVALID))
        fail("Get: the reply has the types '%s'", dbus_message_get_signature(reply));
    *number = number_in_archive(bytes, (size_t)size);
    dbus_message_unref(reply);
}

/* Whether the counter was still that of the generation; then it has another one. */
static bool write_counter(DBusConnection *bus, uint64_t key, uint64_t number,
                          uint64_t *generation) {
    struct transaction transaction = begin_apply(domain_of(key));
    apply_entry(&transaction, name_of(key), archive_of(number));
    if (!options.is_careless) expect_entry(&transaction, name_of(key), *generation);
    DBusMessage *reply =
        ask(bus, end_apply(&transaction, FALSE), "org.defaultsd.Defaults1.Error.Conflict");
    if (reply) *generation = generation_in(reply);
    return reply;
}

/* Those who lose wait, the longer the more often, so that one of so many gets on. */
static void back_off(unsigned *longest, uint64_t *random) {
    struct timespec pause = {
        .tv_nsec = (long)(next_random(random) % ((uint64_t)*longest * BACK_OFF_NANOSECONDS))};
    nanosleep(&pause, NULL);
    if (*longest < LONGEST_BACK_OFF) *longest *= 2;
}

static void count_up(DBusConnection *bus, uint64_t client, uint64_t *random) {
    unsigned longest = 1;
    (void)client;
    for (uint64_t change = 0; change < options.changes; change++) {
        uint64_t key = next_random(random) % keys(), number, generation;
        while (true) {
            read_counter(bus, key, &number, &generation);
            if (write_counter(bus, key, number + 1, &generation)) break;
            atomic_fetch_add(conflicts, 1);
            back_off(&longest, random);
        }
        note(bus, key, generation);
        if (longest > 1) longest /= 2;
    }
}

/* Takes what has come: replies, to the calls in their order. */
static uint64_t take_replies(DBusConnection *bus, uint64_t first_key, uint64_t own_keys,
                             uint64_t answered) {
    DBusMessage *message;
    if (!dbus_connection_read_write(bus, -1)) fail("the bus has gone");
    while ((message = dbus_connection_pop_message(bus))) {
        int type = dbus_message_get_type(message);
        if (type == DBUS_MESSAGE_TYPE_ERROR) fail("Set: %s", dbus_message_get_error_name(message));
        if (type == DBUS_MESSAGE_TYPE_METHOD_RETURN)
            note(bus, first_key + answered++ % own_keys, generation_in(message));
        else
            dbus_message_unref(message);
    }
    return answered;
}

static void set_values(DBusConnection *bus, uint64_t client, uint64_t *random) {
    uint64_t own_keys = keys() / options.clients, first = client * own_keys;
    (void)random;
    for (uint64_t sent = 0, answered = 0; answered < options.changes;) {
        for (; sent < options.changes && sent - answered < WINDOW; sent++) {
            uint64_t key = first + sent % own_keys;
            DBusMessage *call =
                set_call(domain_of(key), name_of(key), archive_of(1 + sent / own_keys));
            dbus_connection_send(bus, call, NULL);
            dbus_message_unref(call);
        }
        answered = take_replies(bus, first, own_keys, answered);
    }
}

static const struct kind {
    const char *name;
    void (*run)(DBusConnection *bus, uint64_t client, uint64_t *random);
} kinds[] = {{"counters", count_up}, {"careless", count_up}, {"values", set_values}, {0}};

static void be_client(const struct kind *kind, uint64_t client) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint64_t random = options.seed + client;
    kind->run(connect_to_bus(), client, &random);
    _exit(0);
}

/* The one that hears */

static uint64_t key_of(const char *domain, const char *name) {
    unsigned domain_number, key;
    if (sscanf(domain, "org.example.Load%u", &domain_number) != 1 || sscanf(name, "Key%u", &key) != 1
        || domain_number >= options.domains || key >= options.keys)
        fail("a signal tells of '%s' in '%s', which nobody has set", name, domain);
    return domain_number * options.keys + key;
}

static void hear(DBusMessage *signal) {
    static uint64_t last;
    const char *domain, *layer, *origin, **changed, **removed;
    int changed_count, removed_count;
    dbus_uint64_t generation;
    if (!dbus_message_get_args(
            signal, NULL, DBUS_TYPE_STRING, &domain, DBUS_TYPE_STRING, &layer, DBUS_TYPE_ARRAY,
            DBUS_TYPE_STRING, &changed, &changed_count, DBUS_TYPE_ARRAY, DBUS_TYPE_STRING, &removed,
            &removed_count, DBUS_TYPE_UINT64, &generation, DBUS_TYPE_STRING, &origin,
            DBUS_TYPE_INVALID))
        fail("a signal has the types '%s'", dbus_message_get_signature(signal));
    if (generation <= last)
        fail("the signal of %llu came after that of %llu", (unsigned long long)generation,
             (unsigned long long)last);
    if (changed_count != 1 || removed_count != 0)
        fail("the signal of %llu names %d keys changed and %d removed, where one was changed",
             (unsigned long long)generation, changed_count, removed_count);
    last = generation;
    heard[index_of(generation)] = number_of(origin) << 32 | key_of(domain, changed[0]);
    signals++;
    dbus_free_string_array((char **)changed);
    dbus_free_string_array((char **)removed);
}

static void take_signals(DBusConnection *bus) {
    DBusMessage *message;
    while ((message = dbus_connection_pop_message(bus))) {
        if (dbus_message_is_signal(message, "org.defaultsd.Defaults1", "Changed")) hear(message);
        dbus_message_unref(message);
    }
}

/* How many signals the service has still to send. */
static uint64_t waiting_signals(DBusConnection *bus) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *call = new_call("org.defaultsd.Defaults1", "/org/defaultsd/Defaults1",
                                 "org.defaultsd.Maintenance1", "GetStatistics");
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, -1, &error);
    if (!reply) fail("GetStatistics: %s", error.message);
    DBusMessageIter body, facts;
    dbus_message_iter_init(reply, &body);
    dbus_message_iter_recurse(&body, &facts);
    uint64_t count = UINT64_MAX;
    for (; dbus_message_iter_get_arg_type(&facts); dbus_message_iter_next(&facts)) {
        DBusMessageIter fact, value;
        const char *name;
        dbus_message_iter_recurse(&facts, &fact);
        dbus_message_iter_get_basic(&fact, &name);
        dbus_message_iter_next(&fact);
        dbus_message_iter_recurse(&fact, &value);
        if (!strcmp(name, "WaitingSignals")) dbus_message_iter_get_basic(&value, &count);
    }
    if (count == UINT64_MAX) fail("GetStatistics does not say how many signals wait");
    dbus_message_unref(call);
    dbus_message_unref(reply);
    return count;
}

/* Hears signals until nobody holds the other end of a pipe, and those of all changes made by then. */
static void listen_until_end(DBusConnection *bus, int pipe) {
    int socket;
    if (!dbus_connection_get_unix_fd(bus, &socket)) fail("the connection has no socket");
    struct pollfd events[] = {{.fd = socket, .events = POLLIN}, {.fd = pipe, .events = POLLIN}};
    while (!events[1].revents) {
        if (poll(events, 2, -1) < 0) fail("poll has failed");
        if (!dbus_connection_read_write(bus, 0)) fail("the bus has gone");
        take_signals(bus);
    }
    while (waiting_signals(bus)) take_signals(bus);
    take_signals(bus);
}

static void compare(void) {
    uint64_t changes = 0;
    for (uint64_t index = 1; index <= options.generations; index++) {
        unsigned long long generation = options.generation + index;
        changes += acknowledged[index] != 0;
        if (heard[index] == acknowledged[index]) continue;
        if (!heard[index]) fail("no signal tells of the change %llu", generation);
        if (!acknowledged[index]) fail("a signal tells of %llu, which nobody made", generation);
        fail("the signal of %llu has another origin or key than the change", generation);
    }
    if (changes != options.clients * options.changes)
        fail("%llu changes have a generation of their own, of %llu", (unsigned long long)changes,
             (unsigned long long)(options.clients * options.changes));
    for (uint64_t key = 0; key < keys(); key++)
        if (counters[key].changes)
            printf("%s %s %llu %llu\n", domain_of(key), name_of(key),
                   (unsigned long long)counters[key].changes,
                   (unsigned long long)counters[key].generation);
    printf("changes %llu conflicts %llu signals %llu\n", (unsigned long long)changes,
           (unsigned long long)*conflicts, (unsigned long long)signals);
}

static const struct kind *parse(int count, char **arguments) {
    uint64_t *const numbers[] = {&options.clients, &options.changes, &options.domains,
                                 &options.keys,    &options.seed,    &options.generation};
    const struct kind *kind = kinds;
    if (count != 8) fail("usage: swarm KIND CLIENTS CHANGES DOMAINS KEYS SEED GENERATION");
    while (kind->name && strcmp(kind->name, arguments[1])) kind++;
    if (!kind->name) fail("there is no kind '%s'", arguments[1]);
    options.is_careless = !strcmp(kind->name, "careless");
    for (int number = 0; number < 6; number++)
        *numbers[number] = strtoull(arguments[number + 2], NULL, 10);
    options.generations = options.clients * options.changes + SLACK;
    return kind;
}

int main(int count, char **arguments) {
    const struct kind *kind = parse(count, arguments);
    int clients_run[2], status;
    bool has_failed = false;
    counters = share(keys() * sizeof *counters);
    acknowledged = share((options.generations + 1) * sizeof *acknowledged);
    conflicts = share(sizeof *conflicts);
    heard = share((options.generations + 1) * sizeof *heard);
    DBusConnection *bus = connect_to_bus();
    dbus_bus_add_match(bus, "type='signal',interface='org.defaultsd.Defaults1'", NULL);
    dbus_connection_flush(bus);
    time_call(bus, new_call(OUR_PEER, "Ping"));
    if (pipe(clients_run)) fail("no pipe");
    for (uint64_t client = 0; client < options.clients; client++)
        if (!fork()) be_client(kind, client);
    close(clients_run[1]);
    listen_until_end(bus, clients_run[0]);
    while (wait(&status) > 0) has_failed |= status != 0;
    if (has_failed) return 1;
    compare();
    return 0;
}
