/* pipeline: how many calls a second several clients get that do not wait for each reply.
 *
 * usage: pipeline KIND CLIENTS WINDOW CALLS ARCHIVE OTHER-ARCHIVE
 *
 * Each client is a process with a key of its own and has WINDOW calls under way, until it has made
 * CALLS. A kind that begins with "direct-" goes by the daemon's own socket. Prints the microseconds that a call took on average, of all clients together. */
#include "measuring.h"
#include <sys/wait.h>
#include <unistd.h>

static struct archive archives[2];

/* The messages that a client sends in turns: two where each is to be a change. */
static int prepare(const char *kind, const char *domain, DBusMessage *messages[2]) {
    if (!strcmp(kind, "Set")) {
        for (int i = 0; i < 2; i++) messages[i] = set_call(domain, "PlaySound", archives[i]);
        return 2;
    }
    messages[0] = !strcmp(kind, "Ping")         ? new_call(OUR_PEER, "Ping")
                  : !strcmp(kind, "floor-Ping") ? new_call(FLOOR_PEER, "Ping")
                  : !strcmp(kind, "floor-Give") ? carry_from_floor(archives[0].size)
                  : !strcmp(kind, "floor-Tell") ? carry_to_floor("Tell", archives[0])
                                                : key_call(kind, domain, "PlaySound");
    return 1;
}

/* Takes what has come; a reply that is an error ends the client. */
static int take_replies(DBusConnection *bus) {
    int replies = 0;
    DBusMessage *message;
    if (!dbus_connection_read_write(bus, -1)) end("bus", "has gone");
    while ((message = dbus_connection_pop_message(bus))) {
        int type = dbus_message_get_type(message);
        if (type == DBUS_MESSAGE_TYPE_ERROR) end("error", dbus_message_get_error_name(message));
        replies += type == DBUS_MESSAGE_TYPE_METHOD_RETURN;
        dbus_message_unref(message);
    }
    return replies;
}

static void run(DBusConnection *bus, DBusMessage **messages, int different, int window, int calls) {
    int sent = 0, answered = 0;
    while (answered < calls) {
        for (; sent < calls && sent - answered < window; sent++) {
            DBusMessage *message = dbus_message_copy(messages[sent % different]);
            dbus_connection_send(bus, message, NULL);
            dbus_message_unref(message);
        }
        answered += take_replies(bus);
    }
}

/* A client says that it is ready and waits until all are told to go: the pipe is closed. */
static void be_client(const char *kind, int number, int window, int calls, int ready, int go) {
    char domain[64], none;
    DBusMessage *messages[2];
    snprintf(domain, sizeof domain, "org.example.Client%d", number);
    int is_direct = !strncmp(kind, "direct-", 7);
    DBusConnection *bus = is_direct ? connect_directly() : connect_to_bus();
    int different = prepare(is_direct ? kind + 7 : kind, domain, messages);
    time_call(bus, set_call(domain, "PlaySound", archives[1]));
    if (write(ready, "", 1) != 1 || read(go, &none, 1) != 0) exit(1);
    run(bus, messages, different, window, calls);
    exit(0);
}

int main(int count, char **arguments) {
    if (count != 7) return 64;
    int clients = atoi(arguments[2]), window = atoi(arguments[3]), calls = atoi(arguments[4]);
    int ready[2], go[2], failures = 0;
    char byte;
    archives[0] = read_archive(arguments[5]);
    archives[1] = read_archive(arguments[6]);
    if (pipe(ready) || pipe(go)) return 1;
    for (int number = 0; number < clients; number++)
        if (!fork()) {
            close(go[1]);
            close(ready[0]);
            be_client(arguments[1], number, window, calls, ready[1], go[0]);
        }
    close(ready[1]);
    for (int number = 0; number < clients; number++)
        if (read(ready[0], &byte, 1) != 1) end("client", "has failed");
    double began = microseconds();
    close(go[1]);
    for (int status; wait(&status) > 0;) failures += status != 0;
    report(arguments[1], (microseconds() - began) / ((double)clients * calls));
    return failures != 0;
}
