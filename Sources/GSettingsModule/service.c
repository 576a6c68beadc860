/* Invariants
 *
 * 1. All work is done on the thread of the service, or by the helper before there is one: what service.h
 *    declares for it, ways.c and exchange.c.
 * 2. The store's lock is held for moments only, and never while a call is made or listeners are called. */
#include "service.h"

#include <signal.h>

#include "backend.h"
#include "exchange.h"
#include "loop.h"

enum {
    /* Items of a notice; if there are more, the whole path may have changed. */
    MOST_ITEMS = 64,
    SHORTEST_PAUSE = 100,
    LONGEST_PAUSE = 60000,
    /* While a thread waits. */
    LONGEST_HURRIED_PAUSE = 200,
};

/* --- State of any thread, under the store's lock --- */

static GThread *thread;
static gboolean is_woken;
/* A thread that needs its first copy does the work of the thread of the service, which does not exist
 * yet. */
static GThread *helper;
/* How many threads wait for the end of all changes. */
static unsigned hurrying_threads;
/* The thread is started by the main loop of the program. */
static gboolean is_listening;

/* --- State of the thread --- */

static Timer retry;
static unsigned pause_time = SHORTEST_PAUSE;
/* What the helper has left to tell. */
static GPtrArray *untold;

/* --- The thread --- */

/* Does the work that there is, and waits for more until a time. */
static void run_once(gint64 end) {
    store_lock();
    gboolean has_work = is_woken;
    gboolean is_hurried = service_is_hurried();
    is_woken = FALSE;
    store_unlock();
    if (has_work && is_hurried)
        loop_end_timer(&retry);
    if (has_work) {
        if (untold != NULL && g_thread_self() == thread)
            service_tell(g_steal_pointer(&untold));
        exchange_work();
    }
    loop_run_once(end);
}

static gpointer run_thread(gpointer unused) {
    (void)unused;
    for (;;)
        run_once(G_MAXINT64);
    return NULL;
}

/* Starts the thread, which gets no signals: the program may wait for them. */
static GThread *start_thread(void) {
    sigset_t all, former;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former);
    GThread *started = g_thread_try_new("defaultsd", run_thread, NULL, NULL);
    pthread_sigmask(SIG_SETMASK, &former, NULL);
    return started;
}

static gboolean has_thread(void) {
    if (thread == NULL && helper == NULL && !store_is_forked())
        thread = start_thread();
    return thread != NULL || helper != NULL;
}

void service_begin_hurry(void) {
    hurrying_threads++;
}

void service_end_hurry(void) {
    hurrying_threads--;
}

gboolean service_is_hurried(void) {
    return hurrying_threads > 0;
}

gboolean service_wake(void) {
    if (!has_thread())
        return FALSE;
    if (!is_woken)
        loop_wake();
    is_woken = TRUE;
    return TRUE;
}

static gboolean run_start(gpointer unused) {
    (void)unused;
    store_lock();
    is_listening = FALSE;
    service_wake();
    store_unlock();
    return G_SOURCE_REMOVE;
}

void service_listen(void) {
    GMainContext *own = g_main_context_get_thread_default();
    if (thread != NULL)
        service_wake();
    if (thread != NULL || (own == NULL && is_listening))
        return;
    GSource *source = g_idle_source_new();
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, run_start, NULL, NULL);
    g_source_attach(source, own);
    g_source_unref(source);
    is_listening |= own == NULL;
}

gboolean service_is_current_thread(void) {
    return g_thread_self() == thread || g_thread_self() == helper;
}

void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end) {
    if (thread != NULL || helper != NULL)
        return;
    helper = g_thread_self();
    is_woken = TRUE;
    while (!is_done(data) && g_get_monotonic_time() < end) {
        store_unlock();
        run_once(end);
        store_lock();
    }
    helper = NULL;
    if (store_has_work())
        service_wake();
}

/* --- Trying again --- */

static void run_retry(gpointer unused) {
    (void)unused;
    exchange_work();
}

void service_retry_later(void) {
    if (retry.is_set)
        return;
    store_lock();
    unsigned longest = service_is_hurried() ? LONGEST_HURRIED_PAUSE : LONGEST_PAUSE;
    store_unlock();
    loop_set_timer(&retry, MIN(pause_time, longest), run_retry, NULL);
    pause_time = MIN(pause_time * 2, LONGEST_PAUSE);
}

gboolean service_is_pausing(void) {
    return retry.is_set;
}

void service_stop_retrying(void) {
    pause_time = SHORTEST_PAUSE;
    loop_end_timer(&retry);
}

void service_fail(const char *reason) {
    gboolean is_needed = exchange_is_needed();
    store_lock();
    if (is_needed)
        say_once("The settings are not stored at the moment, and may have defaults: %s", reason);
    store_set_reach(REACH_FAILED);
    store_unlock();
    service_retry_later();
}

/* --- Telling the listeners --- */

/* The helper is within a call of the program, which expects no signals. */
void service_tell(GPtrArray *notices) {
    if (g_thread_self() != thread) {
        if (untold == NULL)
            untold = notices;
        else
            g_ptr_array_extend_and_steal(untold, notices);
        return;
    }
    for (unsigned index = 0; index < notices->len; index++) {
        Notice *notice = notices->pdata[index];
        if (notice->writability_changed)
            backend_tell_writability(notice->path);
        if (notice->writability_changed || notice->items->len > MOST_ITEMS) {
            backend_tell_path(notice->path);
        } else if (notice->items->len > 0) {
            g_ptr_array_add(notice->items, NULL);
            backend_tell_items(notice->path, (const char *const *)notice->items->pdata);
        }
    }
    g_ptr_array_unref(notices);
}
