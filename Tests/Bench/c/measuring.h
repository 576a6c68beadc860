/* What the programs of the bench share: a clock, a connection, calls, and archives.
 *
 * Each program makes a number of calls of a few kinds and prints one line for each time that it
 * took: the name of the kind and the microseconds. A call that is answered by an error ends it, as
 * a figure of refusals is none; so does the bus that is not there. */
#ifndef MEASURING_H
#define MEASURING_H

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OURS "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.defaultsd.Defaults1"
#define OUR_PEER "org.defaultsd.Defaults1", "/org/defaultsd/Defaults1", "org.freedesktop.DBus.Peer"
#define XFCONF "org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf"
#define FLOOR "org.defaultsd.BenchFloor", "/", "org.defaultsd.BenchFloor"
#define FLOOR_PEER "org.defaultsd.BenchFloor", "/", "org.freedesktop.DBus.Peer"

/* In milliseconds: longer than anything here takes on a busy machine. */
enum { PATIENCE = 30 * 60 * 1000 };

struct archive { unsigned char *bytes; int size; };

static inline double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static inline void report(const char *kind, double time) { printf("%s %.2f\n", kind, time); }

static inline void end(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static inline DBusConnection *connect_to_bus(void) {
    DBusError error = DBUS_ERROR_INIT;
    DBusConnection *bus = dbus_bus_get_private(DBUS_BUS_SESSION, &error);
    if (!bus) end("bus", error.message);
    return bus;
}

/* To the daemon itself, by its socket. */
static inline DBusConnection *connect_directly(void) {
    DBusError error = DBUS_ERROR_INIT;
    char address[256];
    snprintf(address, sizeof address, "unix:path=%s/defaultsd/direct", getenv("XDG_RUNTIME_DIR"));
    DBusConnection *daemon = dbus_connection_open_private(address, &error);
    if (!daemon) end(address, error.message);
    return daemon;
}

static inline struct archive read_archive(const char *path) {
    struct archive archive = {0};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) end(path, "cannot be read");
    long size = ftell(file);
    rewind(file);
    archive.bytes = malloc(size);
    archive.size = (int)fread(archive.bytes, 1, size, file);
    fclose(file);
    if (archive.size != size) end(path, "cannot be read");
    return archive;
}

/* The empty call of a method; what follows the path is as OURS and its like give it. */
static inline DBusMessage *new_call(const char *name, const char *path, const char *interface,
                                    const char *member) {
    return dbus_message_new_method_call(name, path, interface, member);
}

static inline void append_string(DBusMessage *message, const char *string) {
    dbus_message_append_args(message, DBUS_TYPE_STRING, &string, DBUS_TYPE_INVALID);
}

static inline void append_bytes(DBusMessageIter *to, struct archive archive) {
    DBusMessageIter array;
    dbus_message_iter_open_container(to, DBUS_TYPE_ARRAY, "y", &array);
    dbus_message_iter_append_fixed_array(&array, DBUS_TYPE_BYTE, &archive.bytes, archive.size);
    dbus_message_iter_close_container(to, &array);
}

static inline void append_boolean(DBusMessage *message, dbus_bool_t value) {
    DBusMessageIter arguments, variant;
    dbus_message_iter_init_append(message, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_VARIANT, "b", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &value);
    dbus_message_iter_close_container(&arguments, &variant);
}

/* A call about one key of ours, and the same with the archive that it is to have. */
static inline DBusMessage *key_call(const char *member, const char *domain, const char *key) {
    DBusMessage *message = new_call(OURS, member);
    append_string(message, domain);
    append_string(message, key);
    return message;
}

static inline DBusMessage *set_call(const char *domain, const char *key, struct archive archive) {
    DBusMessage *message = key_call("Set", domain, key);
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_bytes(&arguments, archive);
    return message;
}

/* Calls that only carry bytes: Take or Tell to the service that does nothing, Give from it. */
static inline DBusMessage *carry_to_floor(const char *member, struct archive archive) {
    DBusMessage *message = new_call(FLOOR, member);
    DBusMessageIter arguments;
    dbus_message_iter_init_append(message, &arguments);
    append_bytes(&arguments, archive);
    return message;
}

static inline DBusMessage *carry_from_floor(dbus_uint32_t size) {
    DBusMessage *message = new_call(FLOOR, "Give");
    dbus_message_append_args(message, DBUS_TYPE_UINT32, &size, DBUS_TYPE_INVALID);
    return message;
}

/* Apply: begun with the domain, then one entry after the other, then what is expected, if anything
 * is, then ended with what is the same for all: durable or not. Nothing is removed. */
struct transaction {
    DBusMessage *message;
    DBusMessageIter arguments, entries;
    dbus_bool_t is_expecting;
};

static inline struct transaction begin_apply(const char *domain) {
    struct transaction new = {.message = new_call(OURS, "Apply")};
    append_string(new.message, domain);
    dbus_message_iter_init_append(new.message, &new.arguments);
    dbus_message_iter_open_container(&new.arguments, DBUS_TYPE_ARRAY, "{say}", &new.entries);
    return new;
}

static inline void apply_entry(struct transaction *to, const char *key, struct archive archive) {
    DBusMessageIter entry;
    dbus_message_iter_open_container(&to->entries, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    append_bytes(&entry, archive);
    dbus_message_iter_close_container(&to->entries, &entry);
}

static inline void begin_expecting(struct transaction *of) {
    DBusMessageIter removed;
    if (of->is_expecting) return;
    of->is_expecting = TRUE;
    dbus_message_iter_close_container(&of->arguments, &of->entries);
    dbus_message_iter_open_container(&of->arguments, DBUS_TYPE_ARRAY, "s", &removed);
    dbus_message_iter_close_container(&of->arguments, &removed);
    dbus_message_iter_open_container(&of->arguments, DBUS_TYPE_ARRAY, "{st}", &of->entries);
}

static inline void expect_entry(struct transaction *of, const char *key, dbus_uint64_t generation) {
    DBusMessageIter entry;
    begin_expecting(of);
    dbus_message_iter_open_container(&of->entries, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_UINT64, &generation);
    dbus_message_iter_close_container(&of->entries, &entry);
}

static inline DBusMessage *end_apply(struct transaction *of, dbus_bool_t durable) {
    DBusMessageIter container, entry, variant;
    const char *option = "durable";
    begin_expecting(of);
    dbus_message_iter_close_container(&of->arguments, &of->entries);
    dbus_message_iter_open_container(&of->arguments, DBUS_TYPE_ARRAY, "{sv}", &container);
    dbus_message_iter_open_container(&container, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &option);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "b", &variant);
    dbus_message_iter_append_basic(&variant, DBUS_TYPE_BOOLEAN, &durable);
    dbus_message_iter_close_container(&entry, &variant);
    dbus_message_iter_close_container(&container, &entry);
    dbus_message_iter_close_container(&of->arguments, &container);
    return of->message;
}

/* Makes a call and gives its message back; the time is that from sending to the reply, without
 * the building of the message. */
static inline double time_call(DBusConnection *bus, DBusMessage *message) {
    DBusError error = DBUS_ERROR_INIT;
    double began = microseconds();
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, message, PATIENCE, &error);
    double took = microseconds() - began;
    if (!reply) end(dbus_message_get_member(message), error.message);
    dbus_message_unref(reply);
    dbus_message_unref(message);
    return took;
}

#endif
