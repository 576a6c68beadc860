/* Invariants
 *
 * 1. All work is done on the thread of the service, or by the helper before there is one: what service.h
 *    declares for it, ways.c and exchange.c.
 * 2. The store's lock is held for moments only, and never while a call is made or listeners are called. */
#include "service.h"

#include <signal.h>

#include "backend.h"
#include "exchange.h"

enum {
    /* Items of a notice; if there are more, the whole path may have changed. */
    MOST_ITEMS = 64,
    SHORTEST_PAUSE = 100,
    LONGEST_PAUSE = 60000,
};

/* --- State of any thread, under the store's lock --- */

static GThread *thread;
static GMainContext *context;
static gboolean is_woken;
/* A thread that needs its first copy does the work of the thread of the service, which does not exist
 * yet. */
static GThread *helper;
/* A thread waits for the end of all changes. */
static gboolean is_hurried;
/* The thread is started by the main loop of the program. */
static gboolean is_listening;

/* --- State of the thread --- */

static GSource *retry;
static unsigned pause_time = SHORTEST_PAUSE;
/* What the helper has left to tell. */
static GPtrArray *untold;

/* --- The thread --- */

static gboolean run_work(gpointer unused) {
    (void)unused;
    store_lock();
    is_woken = FALSE;
    store_unlock();
    if (untold != NULL && g_thread_self() == thread)
        service_tell(g_steal_pointer(&untold));
    exchange_work();
    return G_SOURCE_REMOVE;
}

static gpointer run_thread(gpointer unused) {
    (void)unused;
    g_main_context_push_thread_default(context);
    GMainLoop *loop = g_main_loop_new(context, FALSE);
    g_main_loop_run(loop);
    return NULL;
}

GSource *service_attach(GSourceFunc function, unsigned milliseconds) {
    GSource *source = milliseconds == 0 ? g_idle_source_new() : g_timeout_source_new(milliseconds);
    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, function, NULL, NULL);
    g_source_attach(source, context);
    return source;
}

static gboolean has_context(void) {
    if (context == NULL)
        context = g_main_context_new();
    return context != NULL;
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
    if (thread == NULL && helper == NULL && !store_is_forked() && has_context())
        thread = start_thread();
    return thread != NULL || helper != NULL;
}

gboolean service_wake(gboolean hurries) {
    is_hurried |= hurries;
    if (!has_thread())
        return FALSE;
    if (!is_woken)
        g_source_unref(service_attach(run_work, 0));
    is_woken = TRUE;
    return TRUE;
}

static gboolean run_start(gpointer unused) {
    (void)unused;
    store_lock();
    is_listening = FALSE;
    service_wake(FALSE);
    store_unlock();
    return G_SOURCE_REMOVE;
}

void service_listen(void) {
    GMainContext *own = g_main_context_get_thread_default();
    if (thread != NULL)
        service_wake(FALSE);
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

static gboolean run_nothing(gpointer unused) {
    (void)unused;
    return G_SOURCE_REMOVE;
}

void service_help(gboolean (*is_done)(gpointer data), gpointer data, gint64 end) {
    if (thread != NULL || helper != NULL || !has_context() || !g_main_context_acquire(context))
        return;
    helper = g_thread_self();
    g_main_context_push_thread_default(context);
    g_source_unref(service_attach(run_work, 0));
    gint64 left = (end - g_get_monotonic_time()) / G_TIME_SPAN_MILLISECOND;
    GSource *timer = service_attach(run_nothing, (unsigned)MAX(left, 1));
    while (!is_done(data) && g_get_monotonic_time() < end) {
        store_unlock();
        g_main_context_iteration(context, TRUE);
        store_lock();
    }
    g_source_destroy(timer);
    g_source_unref(timer);
    g_main_context_pop_thread_default(context);
    g_main_context_release(context);
    helper = NULL;
    if (store_has_work())
        service_wake(FALSE);
}

/* --- Trying again --- */

static gboolean run_retry(gpointer unused) {
    (void)unused;
    g_clear_pointer(&retry, g_source_unref);
    exchange_work();
    return G_SOURCE_REMOVE;
}

void service_retry_later(void) {
    if (retry != NULL)
        return;
    retry = service_attach(run_retry, pause_time);
    pause_time = MIN(pause_time * 2, LONGEST_PAUSE);
}

void service_end_timer(GSource **timer) {
    if (*timer == NULL)
        return;
    g_source_destroy(*timer);
    g_clear_pointer(timer, g_source_unref);
}

gboolean service_is_pausing(void) {
    return retry != NULL;
}

gboolean service_takes_hurry(gboolean ends) {
    gboolean was_hurried = is_hurried;
    is_hurried &= !ends;
    return was_hurried;
}

void service_stop_retrying(void) {
    pause_time = SHORTEST_PAUSE;
    service_end_timer(&retry);
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
