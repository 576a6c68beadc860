/* layers: what holds for an application, and how soon a changed file is told.
 *
 * usage: layers lookup CALLS
 *        layers changed TIMES DOMAIN FILE CONTENTS OTHER-CONTENTS
 *
 * lookup asks for a key that stands in one layer of org.example.One, and for one that only the last
 * of the eight layers of org.example.Eight has, in blocks that take turns. changed puts a file in its
 * place as a package manager does, and waits for the signal; the time is that from the rename on. */
#include "measuring.h"

enum { BLOCK = 100 };

static DBusMessage *ping(void) { return new_call(OUR_PEER, "Ping"); }
static DBusMessage *get(void) { return key_call("Get", "org.example.One", "Key"); }
static DBusMessage *look_up(void) { return key_call("Lookup", "org.example.One", "Key"); }
static DBusMessage *look_up_value(void) { return key_call("LookupValue", "org.example.One", "Key"); }
static DBusMessage *get_last(void) { return key_call("Get", "NSGlobalDomain@system", "Key"); }
static DBusMessage *look_up_last(void) { return key_call("Lookup", "org.example.Eight", "Key"); }

static DBusMessage *look_up_last_value(void) {
    return key_call("LookupValue", "org.example.Eight", "Key");
}

static const struct kind { const char *name; DBusMessage *(*call)(void); } kinds[] = {
    {"Ping", ping}, {"Get", get}, {"Lookup", look_up}, {"LookupValue", look_up_value},
    {"Get-last", get_last}, {"Lookup-last", look_up_last}, {"LookupValue-last", look_up_last_value},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void look_up_all(DBusConnection *bus, int calls) {
    for (int first = 0; first < calls; first += BLOCK)
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = first; i < first + BLOCK && i < calls; i++)
                report(kinds[kind].name, time_call(bus, kinds[kind].call()));
}

static void await_changed(DBusConnection *bus) {
    for (dbus_bool_t is_told = FALSE; !is_told;) {
        DBusMessage *message = dbus_connection_pop_message(bus);
        if (message) {
            is_told = dbus_message_is_signal(message, "org.defaultsd.Defaults1", "Changed");
            dbus_message_unref(message);
        } else if (!dbus_connection_read_write(bus, PATIENCE)) {
            end("bus", "has gone");
        }
    }
}

static void write_file(const char *path, struct archive contents) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(contents.bytes, 1, contents.size, file) != (size_t)contents.size
        || fclose(file))
        end(path, "cannot be written");
}

static void change(DBusConnection *bus, int times, char **arguments) {
    struct archive contents[] = {read_archive(arguments[2]), read_archive(arguments[3])};
    char rule[1024], new[4096];
    snprintf(rule, sizeof rule,
             "type='signal',interface='org.defaultsd.Defaults1',member='Changed',arg0='%s'",
             arguments[0]);
    snprintf(new, sizeof new, "%s.new", arguments[1]);
    DBusError error = DBUS_ERROR_INIT;
    dbus_bus_add_match(bus, rule, &error);
    if (dbus_error_is_set(&error)) end("match", error.message);
    for (int number = 0; number < times; number++) {
        report("Ping", time_call(bus, ping()));
        write_file(new, contents[~number & 1]);
        double began = microseconds();
        if (rename(new, arguments[1])) end(new, "cannot be renamed");
        await_changed(bus);
        report("changed", microseconds() - began);
    }
}

int main(int count, char **arguments) {
    if (count == 3 && !strcmp(arguments[1], "lookup")) {
        look_up_all(connect_to_bus(), atoi(arguments[2]));
    } else if (count == 7 && !strcmp(arguments[1], "changed")) {
        change(connect_to_bus(), atoi(arguments[2]), arguments + 3);
    } else {
        return 64;
    }
    return 0;
}
