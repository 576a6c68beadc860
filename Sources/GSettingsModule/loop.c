/* Invariants
 *
 * 1. Nothing is written, read or closed by a number that belongs to a file of the program by now.
 * 2. If the program closes the pipe, a loop that waits goes on: its end of the pipe has no other end any
 *    more. */
#define _GNU_SOURCE
#include "loop.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* How long the loop waits in milliseconds if nobody can wake it, as the process has no descriptor left. */
enum { LONGEST_WAIT_WITHOUT_PIPE = 1000 };

static GSList *timers;
static GPtrArray *watches;
/* Any thread writes to the pipe. */
static GMutex pipe_lock;
static Descriptor reading = NO_DESCRIPTOR, writing = NO_DESCRIPTOR;

/* --- Waking --- */

/* Makes another pipe in the place of one that the program has closed.
 *
 * - Returns: Whether there is a pipe. */
static gboolean renew_pipe(void) {
    int ends[2];
    g_mutex_lock(&pipe_lock);
    if (!descriptor_is_ours(&reading) || !descriptor_is_ours(&writing)) {
        descriptor_close(&reading);
        descriptor_close(&writing);
        if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
            reading = descriptor_of(ends[0]);
            writing = descriptor_of(ends[1]);
        }
    }
    gboolean is_made = reading.number >= 0 && writing.number >= 0;
    g_mutex_unlock(&pipe_lock);
    return is_made;
}

void loop_wake(void) {
    g_mutex_lock(&pipe_lock);
    /* A pipe that is full wakes the loop already. */
    ssize_t unused = descriptor_is_ours(&writing) ? write(writing.number, "", 1) : 0;
    (void)unused;
    g_mutex_unlock(&pipe_lock);
}

static void empty_pipe(void) {
    char bytes[64];
    while (descriptor_is_ours(&reading) && read(reading.number, bytes, sizeof bytes) == sizeof bytes)
        continue;
}

/* --- Timers --- */

void loop_set_timer(
    Timer *timer, unsigned milliseconds, void (*function)(gpointer data), gpointer data) {
    gint64 end = g_get_monotonic_time() + milliseconds * G_TIME_SPAN_MILLISECOND;
    *timer = (Timer){.function = function, .data = data, .end = end, .is_set = TRUE};
    timers = g_slist_append(timers, timer);
}

void loop_end_timer(Timer *timer) {
    timers = g_slist_remove(timers, timer);
    timer->is_set = FALSE;
}

/* The timer that ends first, of those that end until a time; NULL if there is none. */
static Timer *next_timer(gint64 time) {
    Timer *first = NULL;
    for (GSList *each = timers; each != NULL; each = each->next) {
        Timer *timer = each->data;
        if (timer->end <= time && (first == NULL || timer->end < first->end))
            first = timer;
    }
    return first;
}

/* Fires what was due when it began. What is set meanwhile has its turn later. */
static void fire_timers(void) {
    gint64 now = g_get_monotonic_time();
    for (Timer *timer; (timer = next_timer(now)) != NULL;) {
        loop_end_timer(timer);
        timer->function(timer->data);
    }
}

/* --- Descriptors --- */

void loop_watch(Watch *watch) {
    if (watches == NULL)
        watches = g_ptr_array_new();
    g_ptr_array_add(watches, watch);
}

void loop_end_watch(Watch *watch) {
    if (watches != NULL)
        g_ptr_array_remove(watches, watch);
}

static int timeout_until(gint64 end) {
    gint64 now = g_get_monotonic_time();
    const Timer *timer = next_timer(end);
    gint64 left = (timer == NULL ? end : timer->end) - now;
    if (end == G_MAXINT64 && timer == NULL)
        return -1;
    return left <= 0 ? 0 : (int)MIN(left / G_TIME_SPAN_MILLISECOND + 1, G_MAXINT);
}

/* What is polled: the pipe, and all descriptors.
 *
 * - Returns: Whether there is nothing to wait for, as a descriptor was closed. */
static gboolean fill(struct pollfd *polled, Watch **found) {
    gboolean is_lost = FALSE;
    polled[0] = (struct pollfd){.fd = reading.number, .events = POLLIN};
    for (unsigned index = 0; watches != NULL && index < watches->len; index++) {
        found[index] = watches->pdata[index];
        gboolean is_ours = descriptor_is_ours(&found[index]->descriptor);
        /* A negative number is left out. */
        polled[index + 1] = (struct pollfd){
            .fd = is_ours ? found[index]->descriptor.number : -1, .events = found[index]->events};
        is_lost |= !is_ours;
    }
    return is_lost;
}

static void call_watches(const struct pollfd *polled, Watch *const *found, unsigned count) {
    for (unsigned index = 0; index < count; index++) {
        /* One that was called before may have ended this one. */
        if ((polled[index + 1].revents != 0 || polled[index + 1].fd < 0)
            && g_ptr_array_find(watches, found[index], NULL))
            found[index]->function(found[index]->data);
    }
}

void loop_run_once(gint64 end) {
    gboolean has_pipe = renew_pipe();
    unsigned count = watches == NULL ? 0 : watches->len;
    struct pollfd *polled = g_newa(struct pollfd, count + 1);
    Watch **found = g_newa(Watch *, count + 1);
    gboolean is_lost = fill(polled, found);
    int timeout = is_lost ? 0 : timeout_until(end);
    if (!has_pipe && (timeout < 0 || timeout > LONGEST_WAIT_WITHOUT_PIPE))
        timeout = LONGEST_WAIT_WITHOUT_PIPE;
    int ready = poll(polled, count + 1, timeout);
    if (ready < 0)
        return;
    if (polled[0].revents != 0)
        empty_pipe();
    call_watches(polled, found, count);
    fire_timers();
}
