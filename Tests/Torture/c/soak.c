/* soak: very many calls of every kind, by clients that do not wait for each reply.
 *
 * usage: soak CLIENTS WINDOW CALLS STEP SEED
 *
 * Together they make CALLS; a line is printed after each STEP. What is read and removed may be absent;
 * any other error ends it. At last it prints how many calls there were of each kind. */
#include "archive.h"
#include "measuring.h"
#include "shared.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOAKED_DOMAINS = 16, SOAKED_KEYS = 64, SHORTEST = 16, LONGEST = 500, APPLIED = 3 };
/* How far back GetChanges looks. */
enum { BACK = 100 };

static struct totals {
    _Atomic uint64_t calls, of_kind[16];
} *totals;

static uint64_t client_random, last_generation, step, calls;

static uint64_t draw(uint64_t below) { return next_random(&client_random) % below; }

static const char *domain(void) {
    static char name[64];
    snprintf(name, sizeof name, "org.example.Soak%d", (int)draw(SOAKED_DOMAINS));
    return name;
}

static const char *key(void) {
    static char name[16];
    snprintf(name, sizeof name, "Key%d", (int)draw(SOAKED_KEYS));
    return name;
}

static struct archive archive(void) {
    static uint8_t bytes[ARCHIVE_SIZE(LONGEST)];
    size_t length = SHORTEST + draw(LONGEST - SHORTEST);
    return (struct archive){bytes, (int)archive_number(bytes, length, draw(UINT64_MAX))};
}

static DBusMessage *get(void) { return key_call("Get", domain(), key()); }
static DBusMessage *set(void) { return set_call(domain(), key(), archive()); }
static DBusMessage *remove_key(void) { return key_call("Remove", domain(), key()); }

static DBusMessage *set_value(void) {
    DBusMessage *message = key_call("SetValue", domain(), key());
    append_boolean(message, (dbus_bool_t)draw(2));
    return message;
}

static DBusMessage *apply(void) {
    struct transaction transaction = begin_apply(domain());
    uint64_t first = draw(SOAKED_KEYS - APPLIED);
    for (uint64_t number = first; number < first + APPLIED; number++) {
        char name[16];
        snprintf(name, sizeof name, "Key%d", (int)number);
        apply_entry(&transaction, name, archive());
    }
    return end_apply(&transaction, FALSE);
}

static DBusMessage *get_all(void) {
    DBusMessage *message = new_call(OURS, "GetAll");
    append_string(message, domain());
    return message;
}

static DBusMessage *get_changes(void) {
    dbus_uint64_t since = last_generation > BACK ? last_generation - BACK : 0;
    DBusMessage *message = new_call(OURS, "GetChanges");
    append_string(message, domain());
    dbus_message_append_args(message, DBUS_TYPE_UINT64, &since, DBUS_TYPE_INVALID);
    return message;
}

/* How many of a hundred calls are of each kind. */
static const struct kind {
    const char *name;
    DBusMessage *(*make)(void);
    int share;
} kinds[] = {
    {"Get", get, 38},     {"Set", set, 28},       {"SetValue", set_value, 10},
    {"Apply", apply, 8},  {"Remove", remove_key, 8}, {"GetChanges", get_changes, 5},
    {"GetAll", get_all, 3},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void send_one(DBusConnection *bus) {
    int kind = 0;
    for (int drawn = (int)draw(100); drawn >= kinds[kind].share; kind++) drawn -= kinds[kind].share;
    DBusMessage *message = kinds[kind].make();
    if (!dbus_connection_send(bus, message, NULL)) fail("no memory");
    dbus_message_unref(message);
    totals->of_kind[kind]++;
}

static void take(DBusMessage *message) {
    dbus_uint64_t generation;
    if (dbus_message_get_type(message) == DBUS_MESSAGE_TYPE_ERROR
        && !dbus_message_is_error(message, "org.defaultsd.Defaults1.Error.NotFound"))
        fail("%s", dbus_message_get_error_name(message));
    if (dbus_message_has_signature(message, "t")
        && dbus_message_get_args(message, NULL, DBUS_TYPE_UINT64, &generation, DBUS_TYPE_INVALID))
        last_generation = generation;
    uint64_t before = atomic_fetch_add(&totals->calls, 1);
    if ((before + 1) % step) return;
    printf("%llu\n", (unsigned long long)(before + 1));
    fflush(stdout);
}

static void be_client(uint64_t window, uint64_t own_calls) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    DBusConnection *bus = connect_to_bus();
    for (uint64_t sent = 0, answered = 0; answered < own_calls;) {
        for (; sent < own_calls && sent - answered < window; sent++) send_one(bus);
        DBusMessage *message;
        if (!dbus_connection_read_write(bus, -1)) fail("the bus has gone");
        while ((message = dbus_connection_pop_message(bus))) {
            int type = dbus_message_get_type(message);
            if (type != DBUS_MESSAGE_TYPE_SIGNAL) take(message), answered++;
            dbus_message_unref(message);
        }
    }
    _exit(0);
}

int main(int count, char **arguments) {
    uint64_t numbers[5];
    int status;
    bool has_failed = false;
    if (count != 6) fail("usage: soak CLIENTS WINDOW CALLS STEP SEED");
    for (int number = 0; number < 5; number++)
        numbers[number] = strtoull(arguments[number + 1], NULL, 10);
    calls = numbers[2], step = numbers[3];
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (totals == MAP_FAILED) fail("no memory to share");
    for (uint64_t client = 0; client < numbers[0]; client++) {
        client_random = numbers[4] + client;
        if (!fork()) be_client(numbers[1], calls / numbers[0]);
    }
    while (wait(&status) > 0) has_failed |= status != 0;
    if (has_failed) return 1;
    for (int kind = 0; kind < KINDS; kind++)
        printf("%s%s %llu", kind ? ", " : "", kinds[kind].name,
               (unsigned long long)totals->of_kind[kind]);
    putchar('\n');
    return 0;
}
