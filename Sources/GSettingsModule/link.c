#include "link.h"

#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "places.h"

/* How often a full queue of connections is tried, and the pause in milliseconds. */
enum { MOST_ATTEMPTS = 50, PAUSE = 10 };

/* Sends a NUL byte, the number of the user as D-Bus writes it, and the end of the authentication. A new
 * socket has room for that. */
static gboolean send_lines(int descriptor) {
    char user[16], digits[32], lines[128];
    int length = snprintf(user, sizeof user, "%u", (unsigned)geteuid());
    for (int index = 0; index < length; index++)
        snprintf(digits + 2 * index, 3, "%02x", user[index]);
    length = snprintf(
        lines, sizeof lines, "%cAUTH EXTERNAL %s\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n", 0, digits);
    return send(descriptor, lines, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) == length;
}

/* Connects at once, or when the queue of connections has room, as at a log-in. */
static int connect_socket(const struct sockaddr_un *address, socklen_t size, int attempts) {
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    while (connect(descriptor, (const struct sockaddr *)address, size) != 0) {
        if (errno != EAGAIN || --attempts == 0) {
            close(descriptor);
            return -1;
        }
        poll(NULL, 0, PAUSE);
    }
    if (send_lines(descriptor))
        return descriptor;
    close(descriptor);
    return -1;
}

static int connect_path(const char *path, int attempts) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    strcpy(address.sun_path, path);
    return connect_socket(&address, sizeof address, attempts);
}

/* A name that is not in the file system begins with a NUL, and has no NUL at its end. */
static int connect_abstract(const char *name) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(name);
    if (length >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path + 1, name, length);
    return connect_socket(
        &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length), MOST_ATTEMPTS);
}

/* Connects to the daemon whose socket is in a runtime directory. */
static int connect_in(const char *directory, int attempts) {
    if (directory == NULL || directory[0] != '/')
        return -1;
    char *path = g_build_filename(directory, "defaultsd", "direct", NULL);
    struct stat status;
    /* In a directory that is shared, another user may have been first. */
    gboolean is_ours = stat(path, &status) == 0 && status.st_uid == geteuid();
    int descriptor = is_ours ? connect_path(path, attempts) : -1;
    g_free(path);
    return descriptor;
}

static int connect_directly(int attempts) {
    return connect_in(g_getenv("XDG_RUNTIME_DIR"), attempts);
}

int link_connect_elsewhere(void) {
    char *runtime = places_runtime_of_holder();
    int descriptor = connect_in(runtime, MOST_ATTEMPTS);
    g_free(runtime);
    /* A service manager may start the daemon there. */
    if (descriptor < 0 && places_are_standard()) {
        runtime = places_own_runtime();
        descriptor = connect_in(runtime, MOST_ATTEMPTS);
        g_free(runtime);
    }
    return descriptor;
}

/* The socket that was connected in advance, and by which process. */
static struct {
    Descriptor descriptor;
    pid_t process;
    gboolean is_made;
} prepared;

void link_prepare(void) {
    prepared.descriptor = descriptor_of(connect_directly(1));
    prepared.process = getpid();
    __atomic_store_n(&prepared.is_made, TRUE, __ATOMIC_RELEASE);
}

/* The socket of link_prepare, or -1. Meanwhile, the program may have forked or closed all files, or the
 * daemon may have ended. */
static int take_prepared(void) {
    char byte;
    if (!__atomic_exchange_n(&prepared.is_made, FALSE, __ATOMIC_ACQUIRE))
        return -1;
    int number = prepared.descriptor.number;
    if (!descriptor_is_ours(&prepared.descriptor))
        return -1;
    if (prepared.process == getpid() && recv(number, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        return number;
    descriptor_close(&prepared.descriptor);
    return -1;
}

int link_connect_directly(void) {
    int descriptor = take_prepared();
    return descriptor >= 0 ? descriptor : connect_directly(MOST_ATTEMPTS);
}

/* An address of a bus without the identifiers of servers. */
static char *without_identifiers(const char *address) {
    char **places = g_strsplit(address, ";", -1);
    GPtrArray *kept_places = g_ptr_array_new_with_free_func(g_free);
    for (char **place = places; *place != NULL; place++) {
        if (**place == 0)
            continue;
        GPtrArray *kept = g_ptr_array_new();
        char **parts = g_strsplit(*place, ",", -1);
        for (char **part = parts; *part != NULL; part++)
            if (**part != 0 && !g_str_has_prefix(*part, "guid="))
                g_ptr_array_add(kept, *part);
        g_ptr_array_add(kept, NULL);
        g_ptr_array_add(kept_places, g_strjoinv(",", (char **)kept->pdata));
        g_ptr_array_unref(kept);
        g_strfreev(parts);
    }
    g_ptr_array_add(kept_places, NULL);
    char *result = g_strjoinv(";", (char **)kept_places->pdata);
    g_ptr_array_unref(kept_places);
    g_strfreev(places);
    return result;
}

/* The address of the session's bus; free it with g_free. */
static char *session_address(void) {
    const char *given = g_getenv("DBUS_SESSION_BUS_ADDRESS");
    const char *directory = g_getenv("XDG_RUNTIME_DIR");
    if (given != NULL && given[0] != 0)
        return g_strdup(given);
    return directory == NULL ? g_strdup("") : g_strdup_printf("unix:path=%s/bus", directory);
}

gboolean link_serves_session(const char *bus_address) {
    char *given = session_address();
    char *address = without_identifiers(given);
    gboolean is_same = strcmp(address, bus_address) == 0;
    g_free(address);
    g_free(given);
    return is_same;
}

/* Connects to one place of an address, such as "unix:path=/run/user/1000/bus". */
static int connect_place(const char *place) {
    if (!g_str_has_prefix(place, "unix:"))
        return -1;
    int descriptor = -1;
    char **parts = g_strsplit(place + strlen("unix:"), ",", -1);
    for (char **part = parts; *part != NULL && descriptor < 0; part++) {
        char *equals = strchr(*part, '=');
        char *value = equals == NULL ? NULL : g_uri_unescape_string(equals + 1, NULL);
        if (value != NULL && g_str_has_prefix(*part, "path="))
            descriptor = connect_path(value, MOST_ATTEMPTS);
        else if (value != NULL && g_str_has_prefix(*part, "abstract="))
            descriptor = connect_abstract(value);
        g_free(value);
    }
    g_strfreev(parts);
    return descriptor;
}

/* Connects to the first place of an address that takes it. */
static int connect_address(const char *address) {
    char **places = g_strsplit(address, ";", -1);
    int descriptor = -1;
    for (char **place = places; *place != NULL && descriptor < 0; place++)
        descriptor = connect_place(*place);
    g_strfreev(places);
    return descriptor;
}

int link_connect_to_bus(void) {
    char *address = session_address();
    int descriptor = connect_address(address);
    g_free(address);
    if (descriptor < 0 && places_are_standard()) {
        char *runtime = places_own_runtime();
        address = g_strdup_printf("%s/bus", runtime);
        struct stat status;
        if (lstat(address, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid())
            descriptor = connect_path(address, MOST_ATTEMPTS);
        g_free(address);
        g_free(runtime);
    }
    return descriptor;
}

/* --- A daemon of this process --- */

/* The daemon gets all signals, which the thread here does not, but not those of the program's terminal. */
static void set_signals(posix_spawnattr_t *attributes) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
}

/* Runs the program with a socket as its input. A shell is between both, so that the daemon is not a child of
 * the program, which may wait for its own children. */
static gboolean spawn(const char *program, int socket) {
    static const char script[] = "exec 3<&0; \"$0\" --peer 3 --priorities &";
    char *const words[] = {"sh", "-c", (char *)script, (char *)program, NULL};
    /* A service manager watches this process, and not the daemon. */
    char **variables = g_environ_unsetenv(g_get_environ(), "NOTIFY_SOCKET");
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t shell;
    int status = 1;
    set_signals(&attributes);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    gboolean is_run = posix_spawn(&shell, "/bin/sh", &actions, &attributes, words, variables) == 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    g_strfreev(variables);
    if (is_run)
        while (waitpid(shell, &status, 0) < 0 && errno == EINTR)
            continue;
    return is_run;
}

int link_start_daemon(void) {
    int ends[2];
    char *program = places_daemon_program();
    if (program == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        g_free(program);
        return -1;
    }
    gboolean is_begun = send_lines(ends[0]) && spawn(program, ends[1]);
    g_free(program);
    close(ends[1]);
    if (is_begun)
        return ends[0];
    close(ends[0]);
    return -1;
}
