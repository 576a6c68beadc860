/* A program whose threads use settings at once: each one its own domain and one that all use.
 *
 * usage: threads THREADS WRITES
 *
 * It ends with an error if a thread reads anything else than it has written. */
#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>

static int writes;

static gpointer run(gpointer number) {
    char path[64];
    GMainContext *context = g_main_context_new();
    g_main_context_push_thread_default(context);
    snprintf(path, sizeof path, "/org/example/threads/thread-%d/", GPOINTER_TO_INT(number));
    gsize wrong = 0;
    for (int index = 1; index <= writes; index++) {
        GSettings *own = g_settings_new_with_path("org.defaultsd.test.anywhere", path);
        GSettings *shared = g_settings_new("org.defaultsd.test.other");
        wrong += !g_settings_set_int(own, "number", index);
        wrong += g_settings_get_int(own, "number") != index;
        wrong += !g_settings_set_int(shared, "number", index);
        wrong += g_settings_get_int(shared, "number") == 0;
        if (index % 50 == 0)
            g_settings_sync();
        while (g_main_context_iteration(context, FALSE))
            continue;
        g_object_unref(shared);
        g_object_unref(own);
    }
    g_main_context_pop_thread_default(context);
    g_main_context_unref(context);
    return GSIZE_TO_POINTER(wrong);
}

int main(int count, char **arguments) {
    GThread *threads[64];
    gsize wrong = 0;
    int number = count == 3 ? atoi(arguments[1]) : 0;
    if (number < 1 || number > 64)
        return 64;
    writes = atoi(arguments[2]);
    for (int index = 0; index < number; index++)
        threads[index] = g_thread_new("user", run, GINT_TO_POINTER(index));
    for (int index = 0; index < number; index++)
        wrong += GPOINTER_TO_SIZE(g_thread_join(threads[index]));
    g_settings_sync();
    if (wrong > 0)
        fprintf(stderr, "%zu reads or writes were wrong\n", wrong);
    return wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
