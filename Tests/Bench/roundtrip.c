/* roundtrip: how long a method call takes, seen by a C caller over the session bus.
 *
 * usage: roundtrip CALLS ARCHIVE OTHER-ARCHIVE
 *
 * Each kind of call is made CALLS times, one after another, in blocks that take turns, so that a
 * machine that slows down slows all kinds alike. Prints one line for each: its name, the median
 * and the 99th percentile in microseconds, and how many calls answered with an error. */
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OURS "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1"
#define XFCONF "org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf"
enum { BLOCK = 100, LARGEST = 1 << 20 };

struct archive { unsigned char bytes[LARGEST]; int size; };
static struct archive archives[2];

/* What goes into a call, the number of the call deciding so that each write is a change. */
static void nothing(DBusMessage *call, int number) { (void)call, (void)number; }

static void append_names(DBusMessage *call, const char *first, const char *second) {
    dbus_message_append_args(call, DBUS_TYPE_STRING, &first, DBUS_TYPE_STRING, &second,
                             DBUS_TYPE_INVALID);
}

static void append_boolean(DBusMessage *call, dbus_bool_t value) {
    DBusMessageIter arguments, variant;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_VARIANT, "b", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &value);
    dbus_message_iter_close_container(&arguments, &variant);
}

static void key(DBusMessage *call, int number) {
    (void)number;
    append_names(call, "org.example.Bench", "PlaySound");
}

static void key_and_archive(DBusMessage *call, int number) {
    const struct archive *archive = &archives[number & 1];
    const unsigned char *bytes = archive->bytes;
    DBusMessageIter arguments, array;
    key(call, number);
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &bytes, archive->size);
    dbus_message_iter_close_container(&arguments, &array);
}

static void key_and_boolean(DBusMessage *call, int number) {
    key(call, number);
    append_boolean(call, number & 1);
}

static void property(DBusMessage *call, int number) {
    (void)number;
    append_names(call, "bench", "/PlaySound");
}

static void property_and_boolean(DBusMessage *call, int number) {
    property(call, number);
    append_boolean(call, number & 1);
}

static const struct kind {
    const char *name, *destination, *path, *interface, *member;
    void (*fill)(DBusMessage *, int);
} kinds[] = {
    {"Ping", "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.freedesktop.DBus.Peer",
     "Ping", nothing},
    {"Set", OURS, "Set", key_and_archive},
    {"Get", OURS, "Get", key},
    {"SetValue", OURS, "SetValue", key_and_boolean},
    {"GetValue", OURS, "GetValue", key},
    {"xfconf-SetProperty", XFCONF, "SetProperty", property_and_boolean},
    {"xfconf-GetProperty", XFCONF, "GetProperty", property},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void read_archive(const char *path, struct archive *archive) {
    FILE *file = fopen(path, "rb");
    if (!file) { perror(path); exit(1); }
    archive->size = (int)fread(archive->bytes, 1, LARGEST, file);
    fclose(file);
}

/* The time of one call, the building of its message left out; errors are counted. */
static double time_call(DBusConnection *bus, const struct kind *kind, int number, int *errors) {
    DBusMessage *call = dbus_message_new_method_call(kind->destination, kind->path,
                                                     kind->interface, kind->member);
    kind->fill(call, number);
    DBusError error = DBUS_ERROR_INIT;
    double began = microseconds();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, 10000, &error);
    double took = microseconds() - began;
    if (reply) {
        dbus_message_unref(reply);
    } else {
        if (!(*errors)++) fprintf(stderr, "%s: %s\n", kind->name, error.message);
        dbus_error_free(&error);
    }
    dbus_message_unref(call);
    return took;
}

int main(int count, char **arguments) {
    if (count != 4) return 64;
    int calls = atoi(arguments[1]), errors[KINDS] = {0};
    read_archive(arguments[2], &archives[0]);
    read_archive(arguments[3], &archives[1]);
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *bus = dbus_bus_get(DBUS_BUS_SESSION, &error);
    if (!bus) { fprintf(stderr, "%s\n", error.message); return 1; }
    double *times[KINDS];
    for (int kind = 0; kind < KINDS; kind++) times[kind] = calloc(calls, sizeof(double));
    for (int first = 0; first < calls; first += BLOCK)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = first; i < first + BLOCK && i < calls; i++)
                times[kind][i] = time_call(bus, &kinds[kind], i, &errors[kind]);
    for (int kind = 0; kind < KINDS; kind++) {
        qsort(times[kind], calls, sizeof(double), ascending);
        printf("%s %.1f %.1f %d\n", kinds[kind].name, times[kind][calls / 2],
               times[kind][calls * 99 / 100], errors[kind]);
    }
    return 0;
}
