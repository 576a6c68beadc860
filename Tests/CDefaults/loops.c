/* The descriptor in the main loops of others: as many of them as the machine has. */
#include "trial.h"

void a_main_loop_of_glib_dispatches(void);
void a_main_loop_of_libuv_dispatches(void);
void a_main_loop_of_systemd_dispatches(void);

#ifdef HAVE_GLIB
#include <glib-unix.h>

static gboolean dispatch_for_glib(gint descriptor, GIOCondition condition, gpointer defaults) {
    (void)descriptor, (void)condition;
    CHECK(defaults_dispatch((defaults_t *)defaults) == 0);
    return G_SOURCE_CONTINUE;
}

static void quit_glib(defaults_t *d, const char *key, unsigned origin, void *loop) {
    (void)d, (void)key, (void)origin;
    g_main_loop_quit((GMainLoop *)loop);
}

static gboolean write_for_glib(gpointer nothing) {
    (void)nothing;
    run_tool("write " DOMAIN " Loop -int 1");
    return G_SOURCE_REMOVE;
}

void a_main_loop_of_glib_dispatches(void) {
    defaults_t *d = open_domain();
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    CHECK(defaults_load(d) == 0 && defaults_watch(d, "Loop", quit_glib, loop, NULL));
    guint source = g_unix_fd_add(defaults_fd(d), G_IO_IN, dispatch_for_glib, d);
    g_idle_add(write_for_glib, NULL);
    g_main_loop_run(loop);
    CHECK(defaults_get_int64(d, "Loop", 0) == 1);
    g_source_remove(source);
    g_main_loop_unref(loop);
    defaults_close(d);
}
#endif

#ifdef HAVE_LIBUV
#include <uv.h>

static void dispatch_for_libuv(uv_poll_t *handle, int status, int events) {
    (void)events;
    CHECK(status == 0 && defaults_dispatch((defaults_t *)handle->data) == 0);
}

static void quit_libuv(defaults_t *d, const char *key, unsigned origin, void *handle) {
    (void)d, (void)key, (void)origin;
    uv_poll_stop((uv_poll_t *)handle);
    uv_close((uv_handle_t *)handle, NULL);
}

void a_main_loop_of_libuv_dispatches(void) {
    defaults_t *d = open_domain();
    uv_poll_t handle;
    CHECK(defaults_load(d) == 0 && defaults_watch(d, "Loop", quit_libuv, &handle, NULL));
    CHECK(uv_poll_init(uv_default_loop(), &handle, defaults_fd(d)) == 0);
    handle.data = d;
    CHECK(uv_poll_start(&handle, UV_READABLE, dispatch_for_libuv) == 0);
    run_tool("write " DOMAIN " Loop -int 2");
    CHECK(uv_run(uv_default_loop(), UV_RUN_DEFAULT) == 0);
    CHECK(defaults_get_int64(d, "Loop", 0) == 2);
    uv_loop_close(uv_default_loop());
    defaults_close(d);
}
#endif

#ifdef HAVE_SYSTEMD
#include <systemd/sd-event.h>

static int dispatch_for_systemd(sd_event_source *source, int fd, uint32_t events, void *defaults) {
    (void)source, (void)fd, (void)events;
    return defaults_dispatch((defaults_t *)defaults) == 0 ? 0 : -1;
}

static void quit_systemd(defaults_t *d, const char *key, unsigned origin, void *loop) {
    (void)d, (void)key, (void)origin;
    sd_event_exit((sd_event *)loop, 0);
}

void a_main_loop_of_systemd_dispatches(void) {
    defaults_t *d = open_domain();
    sd_event *loop = NULL;
    CHECK(sd_event_default(&loop) >= 0);
    CHECK(defaults_load(d) == 0 && defaults_watch(d, "Loop", quit_systemd, loop, NULL));
    CHECK(sd_event_add_io(loop, NULL, defaults_fd(d), POLLIN, dispatch_for_systemd, d) >= 0);
    run_tool("write " DOMAIN " Loop -int 3");
    CHECK(sd_event_loop(loop) == 0);
    CHECK(defaults_get_int64(d, "Loop", 0) == 3);
    sd_event_unref(loop);
    defaults_close(d);
}
#endif
