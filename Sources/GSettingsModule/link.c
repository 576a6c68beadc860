/* GDBus authenticates in several turns, and without a limit of time. On the daemon's own socket, all
 * lines are sent at once. GDBus gets a connection that is authenticated already. */
#include "link.h"

#include <errno.h>
#include <gio/gunixfdlist.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* As long as a service manager that starts the daemon may take; then the bus is asked. */
enum { PATIENCE = 300, BUS_PATIENCE = 10, LONGEST_ANSWER = 256 };

static gboolean fill_address(struct sockaddr_un *address) {
    const char *directory = g_getenv("XDG_RUNTIME_DIR");
    if (directory == NULL || directory[0] != '/')
        return FALSE;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(
        address->sun_path, sizeof address->sun_path, "%s/defaultsd/direct", directory);
    struct stat status;
    /* In a directory that is shared, another user may have been first. */
    return length > 0 && (size_t)length < sizeof address->sun_path
        && stat(address->sun_path, &status) == 0 && status.st_uid == geteuid();
}

static int connect_socket(void) {
    struct sockaddr_un address;
    if (!fill_address(&address))
        return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* A NUL byte, the name of the user as D-Bus writes it, and the end of the authentication. */
static gboolean send_lines(int descriptor) {
    char user[16], lines[LONGEST_ANSWER] = "";
    snprintf(user, sizeof user, "%u", (unsigned)geteuid());
    size_t length = 1 + (size_t)snprintf(lines + 1, sizeof lines - 1, "AUTH EXTERNAL ");
    for (const char *digit = user; *digit != 0; digit++)
        length += (size_t)snprintf(lines + length, sizeof lines - length, "%02x", *digit);
    length += (size_t)snprintf(
        lines + length, sizeof lines - length, "\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n");
    return send(descriptor, lines, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Reads the two lines of the answer. No message follows them, as none was sent. */
static gboolean read_answer(int descriptor) {
    char answer[LONGEST_ANSWER];
    size_t length = 0;
    gint64 end = g_get_monotonic_time() + PATIENCE * G_TIME_SPAN_MILLISECOND;
    while (length < sizeof answer - 1) {
        struct pollfd waited = {.fd = descriptor, .events = POLLIN};
        gint64 left = (end - g_get_monotonic_time()) / G_TIME_SPAN_MILLISECOND;
        if (left < 0 || poll(&waited, 1, (int)left) < 1)
            return FALSE;
        ssize_t count = recv(descriptor, answer + length, sizeof answer - 1 - length, 0);
        if (count <= 0)
            return FALSE;
        length += (size_t)count;
        answer[length] = 0;
        if (g_str_has_suffix(answer, "\r\nAGREE_UNIX_FD\r\n"))
            return g_str_has_prefix(answer, "OK ");
    }
    return FALSE;
}

static GDBusConnection *connection_over(int descriptor) {
    GSocket *socket = g_socket_new_from_fd(descriptor, NULL);
    if (socket == NULL) {
        close(descriptor);
        return NULL;
    }
    GSocketConnection *stream = g_socket_connection_factory_create_connection(socket);
    GDBusConnection *connection = g_dbus_connection_new_sync(
        G_IO_STREAM(stream), NULL, G_DBUS_CONNECTION_FLAGS_NONE, NULL, NULL, NULL);
    g_object_unref(stream);
    g_object_unref(socket);
    return connection;
}

GDBusConnection *link_connect_directly(void) {
    int descriptor = connect_socket();
    if (descriptor < 0)
        return NULL;
    if (send_lines(descriptor) && read_answer(descriptor))
        return connection_over(descriptor);
    close(descriptor);
    return NULL;
}

/* An address without the identifiers of servers. */
static char *without_identifiers(const char *address) {
    GString *result = g_string_new(NULL);
    char **places = g_strsplit(address, ";", -1);
    for (char **place = places; *place != NULL; place++) {
        char **parts = g_strsplit(*place, ",", -1);
        gboolean is_first = TRUE;
        if (**place != 0 && result->len > 0)
            g_string_append_c(result, ';');
        for (char **part = parts; *part != NULL; part++) {
            if (**part == 0 || g_str_has_prefix(*part, "guid="))
                continue;
            g_string_append_printf(result, "%s%s", is_first ? "" : ",", *part);
            is_first = FALSE;
        }
        g_strfreev(parts);
    }
    g_strfreev(places);
    return g_string_free(result, FALSE);
}

gboolean link_serves_session(const char *bus_address) {
    const char *given = g_getenv("DBUS_SESSION_BUS_ADDRESS");
    const char *directory = g_getenv("XDG_RUNTIME_DIR");
    char *address;
    if (given != NULL && given[0] != 0)
        address = without_identifiers(given);
    else
        address = g_strdup_printf("unix:path=%s/bus", directory == NULL ? "" : directory);
    gboolean is_same = strcmp(address, bus_address) == 0;
    g_free(address);
    return is_same;
}

static gboolean cancel(gpointer cancellable) {
    g_cancellable_cancel(cancellable);
    return G_SOURCE_REMOVE;
}

/* Has a connection attempt end after some time. */
static GCancellable *limited(void) {
    GCancellable *cancellable = g_cancellable_new();
    GSource *timer = g_timeout_source_new_seconds(BUS_PATIENCE);
    g_source_set_callback(timer, cancel, g_object_ref(cancellable), g_object_unref);
    g_source_attach(timer, g_main_context_get_thread_default());
    g_source_unref(timer);
    return cancellable;
}

/* The address of the session's bus; NULL if there is none. GDBus would start a bus for the program. */
static char *session_address(void) {
    const char *given = g_getenv("DBUS_SESSION_BUS_ADDRESS");
    if (given != NULL && given[0] != 0)
        return g_strdup(given);
    const char *directory = g_getenv("XDG_RUNTIME_DIR");
    char *path = directory == NULL ? NULL : g_build_filename(directory, "bus", NULL);
    char *address = NULL;
    if (path != NULL && access(path, R_OK | W_OK) == 0) {
        char *escaped = g_dbus_address_escape_value(path);
        address = g_strconcat("unix:path=", escaped, NULL);
        g_free(escaped);
    }
    g_free(path);
    return address;
}

void link_connect_to_bus(GAsyncReadyCallback completion) {
    GCancellable *cancellable = limited();
    char *address = session_address();
    /* An address without an entry fails, and says so in the usual way. */
    g_dbus_connection_new_for_address(
        address == NULL ? "unix:path=/nonexistent/bus" : address,
        G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT
            | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
        NULL, cancellable, completion, NULL);
    g_free(address);
    g_object_unref(cancellable);
}

GDBusConnection *link_finish_bus(GAsyncResult *result, GError **error) {
    return g_dbus_connection_new_for_address_finish(result, error);
}

gboolean link_is_lost(const GError *error) {
    static const char *const lost[] = {
        "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut", NULL};
    char *name = g_dbus_error_get_remote_error(error);
    gboolean is_lost = name == NULL || g_strv_contains(lost, name)
        || g_str_has_prefix(name, "org.freedesktop.DBus.Error.Spawn.");
    g_free(name);
    return is_lost;
}
