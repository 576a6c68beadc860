/* The preferences of a music player: a window of GTK 4 in C.
 *
 *     cc player-gtk.c -o player-gtk $(pkg-config --cflags --libs gtk4 defaults)
 *     ./player-gtk & ./player-gtk
 *
 * On Debian this needs libgtk-4-dev and libdefaults-dev. A switch that is moved in one window moves in the other
 * one, and in the examples of other toolkits and languages. A terminal moves it, too:
 *
 *     defaultsctl write org.example.Player Shuffle -bool true
 */
#include <defaults.h>
#include <glib-unix.h>
#include <gtk/gtk.h>

#define PLAYER "org.example.Player"

/* A window, and what it shows. */
typedef struct {
    defaults_t *defaults;
    guint source;
    GtkSwitch *shuffle;
    GtkRange *volume;
    GtkEditable *name;
    gboolean is_showing;
} Preferences;

/* Shows all values. They come from the memory of the process, so this costs less than finding out which one
 * has changed. */
static void show_values(Preferences *window) {
    defaults_t *defaults = window->defaults;
    // What is shown is not stored: a value of the administrator would become one of the user's own.
    window->is_showing = TRUE;
    gtk_switch_set_active(window->shuffle, defaults_get_bool(defaults, "Shuffle", false));
    gtk_range_set_value(window->volume, defaults_get_double(defaults, "Volume", 0.5));
    char *name = defaults_get_string(defaults, "Name", "Living room");
    // A text that is set again would move the cursor of the user who types it.
    if (g_strcmp0(gtk_editable_get_text(window->name), name) != 0)
        gtk_editable_set_text(window->name, name);
    defaults_free(name);
    window->is_showing = FALSE;

    // The service refuses changes of what the administrator has locked.
    gtk_widget_set_sensitive(GTK_WIDGET(window->shuffle), !defaults_is_locked(defaults, "Shuffle"));
    gtk_widget_set_sensitive(GTK_WIDGET(window->volume), !defaults_is_locked(defaults, "Volume"));
    gtk_widget_set_sensitive(GTK_WIDGET(window->name), !defaults_is_locked(defaults, "Name"));
}

/* A change by any process. After one of this window, all widgets show the values already. */
static void value_changed(defaults_t *defaults, const char *key, unsigned origin, void *window) {
    (void)defaults, (void)key, (void)origin;
    show_values(window);
}

/* The service has refused a change, for example because a quota is used up. The key has its old value again. */
static void change_refused(
    defaults_t *defaults, const char *key, int code, const char *message, void *window) {
    (void)defaults, (void)key, (void)code;
    g_printerr("%s\n", message);
    show_values(window);
}

/* The descriptor is readable: the library calls the two functions above now, on this thread. */
static gboolean dispatch(int descriptor, GIOCondition condition, gpointer defaults) {
    (void)descriptor, (void)condition;
    defaults_dispatch(defaults);
    return G_SOURCE_CONTINUE;
}

/* What the user does is stored at once. No call waits for the service, not even while a slider is dragged. A key that
 * was locked meanwhile is an error here, and its value is shown again. */

static gboolean shuffle_moved(GtkSwitch *shuffle, gboolean is_on, Preferences *window) {
    (void)shuffle;
    if (window->is_showing || defaults_set_bool(window->defaults, "Shuffle", is_on) == 0) return FALSE;
    show_values(window);
    return TRUE;
}

static void volume_moved(GtkRange *volume, Preferences *window) {
    if (!window->is_showing
        && defaults_set_double(window->defaults, "Volume", gtk_range_get_value(volume)) != 0)
        show_values(window);
}

static void name_typed(GtkEditable *name, Preferences *window) {
    if (!window->is_showing
        && defaults_set_string(window->defaults, "Name", gtk_editable_get_text(name)) != 0)
        show_values(window);
}

static void window_closed(GtkWidget *widget, Preferences *window) {
    (void)widget;
    // The main loop must not wait for a descriptor that is closed. What the user has changed is still sent.
    g_source_remove(window->source);
    defaults_close(window->defaults);
    g_free(window);
}

static GtkWidget *add_row(GtkGrid *grid, int row, const char *text, GtkWidget *widget) {
    GtkWidget *label = gtk_label_new_with_mnemonic(text);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    gtk_widget_set_halign(label, GTK_ALIGN_START);
    gtk_grid_attach(grid, label, 0, row, 1, 1);
    gtk_grid_attach(grid, widget, 1, row, 1, 1);
    return widget;
}

static GtkWidget *make_grid(Preferences *window) {
    GtkWidget *grid = g_object_new(
        GTK_TYPE_GRID, "row-spacing", 12, "column-spacing", 24, "margin-start", 18, "margin-end", 18,
        "margin-top", 18, "margin-bottom", 18, NULL);
    GtkWidget *shuffle = add_row(GTK_GRID(grid), 0, "_Shuffle", gtk_switch_new());
    gtk_widget_set_halign(shuffle, GTK_ALIGN_START);
    GtkWidget *volume = add_row(
        GTK_GRID(grid), 1, "_Volume", gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 1, 0.05));
    gtk_widget_set_hexpand(volume, TRUE);
    GtkWidget *name = add_row(GTK_GRID(grid), 2, "_Name", gtk_entry_new());

    window->shuffle = GTK_SWITCH(shuffle);
    window->volume = GTK_RANGE(volume);
    window->name = GTK_EDITABLE(name);
    g_signal_connect(shuffle, "state-set", G_CALLBACK(shuffle_moved), window);
    g_signal_connect(volume, "value-changed", G_CALLBACK(volume_moved), window);
    g_signal_connect(name, "changed", G_CALLBACK(name_typed), window);
    return grid;
}

static void activate(GtkApplication *application, gpointer unused) {
    (void)unused;
    Preferences *window = g_new0(Preferences, 1);
    GtkWidget *widget = gtk_application_window_new(application);
    gtk_window_set_title(GTK_WINDOW(widget), "Player");
    gtk_window_set_default_size(GTK_WINDOW(widget), 360, -1);
    gtk_window_set_child(GTK_WINDOW(widget), make_grid(window));

    window->defaults = defaults_open(PLAYER);
    defaults_watch(window->defaults, NULL, value_changed, window, NULL);
    defaults_watch_failures(window->defaults, change_refused, window, NULL);
    window->source = g_unix_fd_add(defaults_fd(window->defaults), G_IO_IN, dispatch, window->defaults);
    g_signal_connect(widget, "destroy", G_CALLBACK(window_closed), window);

    // The first read waits for the service, for two seconds at most. The window is not there yet.
    show_values(window);
    gtk_window_present(GTK_WINDOW(widget));
}

int main(int argc, char **argv) {
    // A program for users would have one window. This one may run twice, so that you see both move.
    GtkApplication *application = gtk_application_new(PLAYER, G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    int status = g_application_run(G_APPLICATION(application), argc, argv);
    g_object_unref(application);
    return status;
}
