#pragma once

#include <gio/gio.h>

/* The extension of GIO: a GSettingsBackend over the store. */

#define BACKEND_NAME "defaultsd"

void backend_add_type(GTypeModule *module);
GType backend_get_type(void);

/* Tell GSettings that values have changed, from any thread, without the store's lock. The items are
 * below the path. */
void backend_tell_items(const char *path, const char *const *items);
void backend_tell_path(const char *path);
void backend_tell_writability(const char *path);
