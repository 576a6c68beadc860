#include "attach.h"
#include "archive.h"
#include "service.h"

#include <stdio.h>
#include <string.h>

static int key_number(const char *name) {
    int key;
    if (sscanf(name, "Key%d", &key) != 1 || key < 0 || key >= KEYS)
        fail("there is a key '%s', which nobody has set", name);
    return key;
}

static uint64_t take_number(DBusMessageIter *iterator) {
    DBusMessageIter array = enter(iterator, DBUS_TYPE_ARRAY);
    const uint8_t *bytes = NULL;
    int size = 0;
    if (has_more(&array))
        dbus_message_iter_get_fixed_array(&array, &bytes, &size);
    return number_in_archive(bytes, (size_t)size);
}

/* A value that was named and not sent. It may be newer than the copy, and is never older. */
static uint64_t get(DBusConnection *connection, int domain, const char *key) {
    DBusMessage *call = new_call("Get");
    const char *name = domain_names[domain];
    dbus_message_append_args(call, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &key,
                             DBUS_TYPE_INVALID);
    DBusMessage *reply = call_service(connection, call);
    DBusMessageIter arguments;
    dbus_message_iter_init(reply, &arguments);
    uint64_t number = take_number(&arguments);
    dbus_message_unref(reply);
    return number;
}

static void take_entries(DBusMessageIter *iterator, struct copy *copy) {
    DBusMessageIter entries = enter(iterator, DBUS_TYPE_ARRAY);
    while (has_more(&entries)) {
        DBusMessageIter entry = enter(&entries, DBUS_TYPE_DICT_ENTRY);
        const char *key;
        take(&entry, DBUS_TYPE_STRING, &key);
        copy->values[key_number(key)] = take_number(&entry);
    }
}

static void take_large(
    DBusMessageIter *iterator, DBusConnection *connection, int domain, struct copy *copy) {
    DBusMessageIter names = enter(iterator, DBUS_TYPE_ARRAY);
    while (has_more(&names)) {
        const char *key;
        take(&names, DBUS_TYPE_STRING, &key);
        copy->values[key_number(key)] = get(connection, domain, key);
    }
}

static void take_removed(DBusMessageIter *iterator, struct copy *copy) {
    DBusMessageIter names = enter(iterator, DBUS_TYPE_ARRAY);
    while (has_more(&names)) {
        const char *key;
        take(&names, DBUS_TYPE_STRING, &key);
        copy->values[key_number(key)] = 0;
    }
}

/* A structure of Attach's reply: name, slot, entries, large, locked. */
static void take_domain(DBusMessageIter *iterator, struct attachment *attachment, int domain) {
    struct copy *copy = &attachment->copies[domain];
    DBusMessageIter fields = enter(iterator, DBUS_TYPE_STRUCT);
    const char *name;
    take(&fields, DBUS_TYPE_STRING, &name);
    if (strcmp(name, domain_names[domain]) != 0)
        fail("Attach answers for '%s' where '%s' was asked for", name, domain_names[domain]);
    take(&fields, DBUS_TYPE_UINT32, &copy->slot);
    if (copy->slot != slot_of(attachment->page, name))
        fail("Attach tells slot %u for '%s', and FNV-1a tells %u", copy->slot, name,
             slot_of(attachment->page, name));
    memset(copy->values, 0, sizeof copy->values);
    take_entries(&fields, copy);
    take_large(&fields, attachment->connection, domain, copy);
    enter(&fields, DBUS_TYPE_ARRAY);
}

static DBusMessage *call_attach(DBusConnection *connection, int count) {
    DBusMessage *call = new_call("Attach");
    DBusMessageIter arguments, names;
    dbus_message_iter_init_append(call, &arguments);
    dbus_message_iter_open_container(&arguments, DBUS_TYPE_ARRAY, "s", &names);
    for (int domain = 0; domain < count; domain++) {
        const char *name = domain_names[domain];
        dbus_message_iter_append_basic(&names, DBUS_TYPE_STRING, &name);
    }
    dbus_message_iter_close_container(&arguments, &names);
    return call_service(connection, call);
}

static void take_page(DBusMessageIter *iterator, struct attachment *attachment) {
    int descriptor;
    take(iterator, DBUS_TYPE_UNIX_FD, &descriptor);
    if (attachment->page.words)
        unmap_page(attachment->page);
    attachment->page = map_page(descriptor);
}

void begin(struct attachment *attachment) {
    DBusMessage *reply = call_attach(attachment->connection, 0);
    DBusMessageIter arguments;
    dbus_message_iter_init(reply, &arguments);
    take_page(&arguments, attachment);
    dbus_message_unref(reply);
    name_domains(slots_of(attachment->page));
    attach(attachment);
}

void attach(struct attachment *attachment) {
    DBusMessage *reply = call_attach(attachment->connection, DOMAINS);
    DBusMessageIter arguments;
    dbus_message_iter_init(reply, &arguments);
    take_page(&arguments, attachment);
    DBusMessageIter domains = enter(&arguments, DBUS_TYPE_ARRAY);
    for (int domain = 0; domain < DOMAINS; domain++)
        take_domain(&domains, attachment, domain);
    uint64_t generation;
    take(&arguments, DBUS_TYPE_UINT64, &generation);
    for (int domain = 0; domain < DOMAINS; domain++)
        attachment->copies[domain].generation = generation;
    dbus_message_unref(reply);
}

void refresh(struct attachment *attachment, int domain) {
    struct copy *copy = &attachment->copies[domain];
    DBusMessage *call = new_call("GetChanges");
    const char *name = domain_names[domain];
    dbus_message_append_args(call, DBUS_TYPE_STRING, &name, DBUS_TYPE_UINT64, &copy->generation,
                             DBUS_TYPE_INVALID);
    DBusMessage *reply = call_service(attachment->connection, call);
    /* The last argument tells whether the first ones are a difference or the whole. */
    dbus_bool_t complete;
    uint64_t generation;
    DBusMessageIter arguments;
    dbus_message_iter_init(reply, &arguments);
    for (int list = 0; list < 3; list++)
        enter(&arguments, DBUS_TYPE_ARRAY);
    take(&arguments, DBUS_TYPE_UINT64, &generation);
    take(&arguments, DBUS_TYPE_BOOLEAN, &complete);
    if (!complete)
        memset(copy->values, 0, sizeof copy->values);

    dbus_message_iter_init(reply, &arguments);
    take_entries(&arguments, copy);
    take_large(&arguments, attachment->connection, domain, copy);
    take_removed(&arguments, copy);
    copy->generation = generation;
    dbus_message_unref(reply);
}
