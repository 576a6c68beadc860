#pragma once

#include <glib.h>

#include "descriptors.h"

/* The loop of the thread of the service: it waits for descriptors and timers.
 *
 * GLib's own would write to its eventfd and read from it, even if that number is a file of the program by
 * now. */

/* A function that is called once after a time. Its owner keeps it in place while it is set. */
typedef struct {
    void (*function)(gpointer data);
    gpointer data;
    gint64 end;
    gboolean is_set;
} Timer;

/* Sets a timer that is not set. */
void loop_set_timer(Timer *timer, unsigned milliseconds, void (*function)(gpointer data), gpointer data);
void loop_end_timer(Timer *timer);

/* A descriptor that is waited for. Its owner keeps it in place while it is watched. */
typedef struct {
    Descriptor descriptor;
    /* As those of poll(2). */
    short events;
    /* Called if one of the events has happened, or if the descriptor is not ours any more. */
    void (*function)(gpointer data);
    gpointer data;
} Watch;

void loop_watch(Watch *watch);
void loop_end_watch(Watch *watch);

/* Waits for what happens next, at most until a time, and calls the functions for it. */
void loop_run_once(gint64 end);

/* Ends the wait of the loop; from any thread. */
void loop_wake(void);
