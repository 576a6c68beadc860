#pragma once

#include <gio/gio.h>

/* A D-Bus connection over a Unix socket, to a daemon or to a bus.
 *
 * GDBusConnection would be used instead, but it has a thread of its own, authenticates in several turns,
 * and takes a megabyte of each program and most of the time of a first read. A wire does not wait for the
 * end of the authentication. GDBus codes the messages.
 *
 * All of it runs on the thread that runs the loop. */
typedef struct Wire Wire;

/* What came of a call. Without a body, it has failed: `error` is the name of the error, or NULL if the
 * connection was lost or silent. All of it is valid during the call back. */
typedef struct {
    GVariant *body;
    const char *error;
    const char *text;
    /* The descriptors that came with the reply, which are closed after the call back. */
    const int *descriptors;
    size_t descriptor_count;
} Reply;

typedef void (*ReplyHandler)(const Reply *reply, gpointer data);

/* What happens on a wire. */
typedef struct {
    /* A signal: the names of its sender (or NULL) and of itself, and its arguments. */
    void (*signal)(Wire *wire, const char *sender, const char *member, GVariant *arguments);
    /* The other end has closed the connection, or did not answer for too long. The calls without a reply
     * are given one before. The owner frees the wire. */
    void (*closed)(Wire *wire);
} WireEvents;

/* Takes a socket on which the authentication was begun, see link.h. */
Wire *wire_new(int descriptor, const WireEvents *events);

/* Closes the connection. No handler is called any more, but `free_data` for the data of all calls. */
void wire_free(Wire *wire);

/* Whether calls have no reply yet. */
gboolean wire_has_calls(const Wire *wire);

/* Forgets all calls: their handlers are not called. */
void wire_forget_calls(Wire *wire);

/* Calls a method. The arguments may be floating. The reply must have the type.
 *
 * - Parameter free_data: Frees the data after the handler was called, or in its place. */
void wire_call(
    Wire *wire, const char *destination, const char *path, const char *interface, const char *member,
    GVariant *arguments, const char *reply_type, ReplyHandler handler, gpointer data,
    GDestroyNotify free_data);
