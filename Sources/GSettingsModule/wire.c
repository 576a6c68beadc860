/* Invariants
 *
 * 1. Every call gets one reply, unless the wire is freed first.
 * 2. What is received is bounded: messages by LARGEST_MESSAGE, descriptors by MOST_DESCRIPTORS. A peer
 *    that sends more has lost the connection.
 * 3. An idle wire has no timer.
 * 4. If the program has closed the descriptor, the connection is lost. */
#define _GNU_SOURCE
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"

enum {
    LARGEST_MESSAGE = 64 << 20,
    LARGEST_LINES = 512,
    MOST_DESCRIPTORS = 16,
    READ_SIZE = 16 << 10,
    /* The first bytes of a message, which say how long it is. */
    HEADER_SIZE = 16,
    /* In seconds: a call without a reply has lost its connection. */
    PATIENCE = 25,
};

typedef struct {
    ReplyHandler handler;
    gpointer data;
    GDestroyNotify free_data;
    const char *reply_type;
    gint64 end;
} PendingCall;

struct Wire {
    /* The socket, and what it is waited for. */
    Watch watch;
    Timer timer;
    const WireEvents *events;
    gboolean is_authenticated, is_lost;
    GByteArray *received, *unsent;
    int descriptors[MOST_DESCRIPTORS];
    size_t descriptor_count;
    guint32 last_serial;
    GHashTable *calls;
    /* Handlers that run and use the wire: it is freed after them. */
    unsigned users;
    gboolean is_freed;
};

static void call_free(PendingCall *call) {
    if (call->free_data != NULL)
        call->free_data(call->data);
    g_free(call);
}

static void close_descriptors(Wire *wire, size_t count) {
    for (size_t index = 0; index < count; index++)
        close(wire->descriptors[index]);
    wire->descriptor_count -= count;
    memmove(
        wire->descriptors, wire->descriptors + count, wire->descriptor_count * sizeof(int));
}

static void release(Wire *wire) {
    if (wire->users > 0 || !wire->is_freed)
        return;
    close_descriptors(wire, wire->descriptor_count);
    g_byte_array_unref(wire->received);
    g_byte_array_unref(wire->unsent);
    g_hash_table_unref(wire->calls);
    g_free(wire);
}

static void hang_up(Wire *wire) {
    loop_end_watch(&wire->watch);
    loop_end_timer(&wire->timer);
    descriptor_close(&wire->watch.descriptor);
}

void wire_free(Wire *wire) {
    hang_up(wire);
    wire->is_freed = TRUE;
    release(wire);
}

gboolean wire_has_calls(const Wire *wire) {
    return g_hash_table_size(wire->calls) > 0;
}

void wire_forget_calls(Wire *wire) {
    g_hash_table_remove_all(wire->calls);
}

/* --- Losing the connection --- */

static void fail_calls(Wire *wire) {
    GHashTableIter each;
    gpointer value;
    const Reply lost = {0};
    for (;;) {
        g_hash_table_iter_init(&each, wire->calls);
        if (wire->is_freed || !g_hash_table_iter_next(&each, NULL, &value))
            return;
        PendingCall *call = value;
        g_hash_table_iter_steal(&each);
        call->handler(&lost, call->data);
        call_free(call);
    }
}

static void run_loss(gpointer data) {
    Wire *wire = data;
    wire->users++;
    fail_calls(wire);
    if (!wire->is_freed)
        wire->events->closed(wire);
    wire->users--;
    release(wire);
}

/* Notes the loss. The handlers are called later, and not from within a call. */
static void lose(Wire *wire) {
    if (wire->is_lost || wire->is_freed)
        return;
    hang_up(wire);
    wire->is_lost = TRUE;
    loop_set_timer(&wire->timer, 0, run_loss, wire);
}

static gint64 earliest_end(Wire *wire) {
    GHashTableIter each;
    gpointer call;
    gint64 earliest = G_MAXINT64;
    g_hash_table_iter_init(&each, wire->calls);
    while (g_hash_table_iter_next(&each, NULL, &call))
        earliest = MIN(earliest, ((PendingCall *)call)->end);
    return earliest;
}

static void limit_time(Wire *wire);

static void check_time(gpointer data) {
    Wire *wire = data;
    if (g_hash_table_size(wire->calls) == 0)
        return;
    if (earliest_end(wire) > g_get_monotonic_time())
        limit_time(wire);
    else
        lose(wire);
}

static void limit_time(Wire *wire) {
    if (!wire->timer.is_set)
        loop_set_timer(&wire->timer, PATIENCE * 1000 / 2, check_time, wire);
}

/* --- Sending --- */

/* Sends what the socket takes, and waits for room for the rest. */
static void flush(Wire *wire) {
    ssize_t sent = 0;
    if (wire->is_lost || wire->is_freed)
        return;
    if (!descriptor_is_ours(&wire->watch.descriptor))
        return lose(wire);
    if (wire->unsent->len > 0)
        sent = send(
            wire->watch.descriptor.number, wire->unsent->data, wire->unsent->len,
            MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return lose(wire);
    if (sent > 0)
        g_byte_array_remove_range(wire->unsent, 0, (unsigned)sent);
    wire->watch.events = wire->unsent->len == 0 ? POLLIN : POLLIN | POLLOUT;
}

static gboolean put_message(Wire *wire, GDBusMessage *message) {
    gsize size;
    g_dbus_message_set_serial(message, ++wire->last_serial);
    guchar *bytes =
        g_dbus_message_to_blob(message, &size, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, NULL);
    if (bytes != NULL)
        g_byte_array_append(wire->unsent, bytes, (unsigned)size);
    g_free(bytes);
    return bytes != NULL;
}

void wire_call(
    Wire *wire, const char *destination, const char *path, const char *interface, const char *member,
    GVariant *arguments, const char *reply_type, ReplyHandler handler, gpointer data,
    GDestroyNotify free_data) {
    GDBusMessage *message = g_dbus_message_new_method_call(destination, path, interface, member);
    g_dbus_message_set_body(message, arguments);
    gboolean is_message = put_message(wire, message);
    g_object_unref(message);
    PendingCall *call = g_new(PendingCall, 1);
    *call = (PendingCall){
        .handler = handler, .data = data, .free_data = free_data, .reply_type = reply_type,
        .end = g_get_monotonic_time() + PATIENCE * G_TIME_SPAN_SECOND};
    g_hash_table_insert(wire->calls, GUINT_TO_POINTER(wire->last_serial), call);
    if (!is_message)
        return lose(wire);
    limit_time(wire);
    if (!(wire->watch.events & POLLOUT))
        flush(wire);
}

/* --- Receiving --- */

static void handle_reply(Wire *wire, GDBusMessage *message) {
    gpointer serial = GUINT_TO_POINTER(g_dbus_message_get_reply_serial(message)), value;
    if (!g_hash_table_steal_extended(wire->calls, serial, NULL, &value))
        return;
    PendingCall *call = value;
    /* A reply without values has no body. */
    g_autoptr(GVariant) unit = g_variant_ref_sink(g_variant_new_tuple(NULL, 0));
    GVariant *body = g_dbus_message_get_body(message) ?: unit;
    Reply reply = {
        .descriptors = wire->descriptors,
        .descriptor_count = MIN(wire->descriptor_count, g_dbus_message_get_num_unix_fds(message))};
    if (g_dbus_message_get_message_type(message) == G_DBUS_MESSAGE_TYPE_ERROR) {
        reply.error = g_dbus_message_get_error_name(message);
        reply.text = g_dbus_message_get_arg0(message) ?: "";
    } else if (g_variant_is_of_type(body, G_VARIANT_TYPE(call->reply_type))) {
        reply.body = body;
    } else {
        reply.error = "org.freedesktop.DBus.Error.InvalidSignature";
        reply.text = "The reply has another type.";
    }
    call->handler(&reply, call->data);
    call_free(call);
}

static void handle_message(Wire *wire, GDBusMessage *message) {
    switch (g_dbus_message_get_message_type(message)) {
    case G_DBUS_MESSAGE_TYPE_METHOD_RETURN:
    case G_DBUS_MESSAGE_TYPE_ERROR: handle_reply(wire, message); break;
    case G_DBUS_MESSAGE_TYPE_SIGNAL:
        if (g_dbus_message_get_body(message) != NULL)
            wire->events->signal(
                wire, g_dbus_message_get_sender(message), g_dbus_message_get_member(message),
                g_dbus_message_get_body(message));
        break;
    default: break;
    }
    close_descriptors(
        wire, MIN(wire->descriptor_count, g_dbus_message_get_num_unix_fds(message)));
}

/* Handles the first message that was received.
 *
 * - Returns: Whether there was a whole one. */
static gboolean take_message(Wire *wire) {
    GByteArray *received = wire->received;
    if (wire->is_freed || wire->is_lost || received->len < HEADER_SIZE)
        return FALSE;
    gssize size = g_dbus_message_bytes_needed(received->data, received->len, NULL);
    if (size < HEADER_SIZE || size > LARGEST_MESSAGE) {
        lose(wire);
        return FALSE;
    }
    if (received->len < (size_t)size)
        return FALSE;
    GDBusMessage *message = g_dbus_message_new_from_blob(
        received->data, (size_t)size, G_DBUS_CAPABILITY_FLAGS_UNIX_FD_PASSING, NULL);
    g_byte_array_remove_range(received, 0, (unsigned)size);
    if (message == NULL) {
        lose(wire);
        return FALSE;
    }
    handle_message(wire, message);
    g_object_unref(message);
    return TRUE;
}

/* Takes the two lines that answer the authentication: OK and a number, and the consent to pass
 * descriptors. */
static gboolean take_lines(Wire *wire) {
    static const char consent[] = "\r\nAGREE_UNIX_FD\r\n";
    GByteArray *received = wire->received;
    if (received->len == 0)
        return FALSE;
    const char *end = memmem(received->data, received->len, consent, strlen(consent));
    gboolean is_refused = received->len >= 3 && memcmp(received->data, "OK ", 3) != 0;
    if (is_refused || (end == NULL && received->len > LARGEST_LINES)) {
        lose(wire);
        return FALSE;
    }
    if (end == NULL)
        return FALSE;
    size_t size = (size_t)(end + strlen(consent) - (const char *)received->data);
    g_byte_array_remove_range(received, 0, (unsigned)size);
    wire->is_authenticated = TRUE;
    return TRUE;
}

static gboolean keep_descriptors(Wire *wire, struct msghdr *header) {
    gboolean has_room = TRUE;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + index * sizeof(int), sizeof descriptor);
            has_room = wire->descriptor_count < MOST_DESCRIPTORS;
            if (has_room)
                wire->descriptors[wire->descriptor_count++] = descriptor;
            else
                close(descriptor);
        }
    }
    return has_room && !(header->msg_flags & MSG_CTRUNC);
}

/* Receives some bytes.
 *
 * - Returns: Whether there may be more. */
static gboolean receive(Wire *wire) {
    guint8 bytes[READ_SIZE];
    union {
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec into = {.iov_base = bytes, .iov_len = sizeof bytes};
    struct msghdr header = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = &control,
        .msg_controllen = sizeof control};
    ssize_t count = -1;
    if (descriptor_is_ours(&wire->watch.descriptor))
        count = recvmsg(wire->watch.descriptor.number, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    else
        errno = EBADF;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return FALSE;
    if (count <= 0 || !keep_descriptors(wire, &header)) {
        lose(wire);
        return FALSE;
    }
    g_byte_array_append(wire->received, bytes, (unsigned)count);
    return count == sizeof bytes;
}

static void run_watch(gpointer data) {
    Wire *wire = data;
    wire->users++;
    if (wire->watch.events & POLLOUT)
        flush(wire);
    while (!wire->is_lost && receive(wire) && wire->received->len < LARGEST_MESSAGE)
        continue;
    if (wire->is_authenticated || take_lines(wire))
        while (take_message(wire))
            continue;
    wire->users--;
    release(wire);
}

Wire *wire_new(int descriptor, const WireEvents *events) {
    Wire *wire = g_new0(Wire, 1);
    wire->events = events;
    wire->received = g_byte_array_new();
    wire->unsent = g_byte_array_new();
    wire->calls = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)call_free);
    wire->watch = (Watch){
        .descriptor = descriptor_of(descriptor), .events = POLLIN, .function = run_watch, .data = wire};
    loop_watch(&wire->watch);
    return wire;
}
