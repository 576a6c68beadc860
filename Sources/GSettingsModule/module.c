/* The entry points of the GIO module, and when it is used. */
#define G_SETTINGS_ENABLE_BACKEND
#include <gio/gio.h>
#include <gio/gsettingsbackend.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "link.h"

#define EXPORTED __attribute__((visibility("default")))

/* Above dconf, which has 100, and below it. */
enum { PRIORITY_ADOPTED = 110, PRIORITY_NOT_ADOPTED = 20 };

EXPORTED void g_io_module_load(GIOModule *module);
EXPORTED void g_io_module_unload(GIOModule *module);
EXPORTED char **g_io_module_query(void);

/* Whether the user has chosen defaultsd for GSettings. */
static gboolean is_adopted(void) {
    char *path = g_build_filename(g_get_user_config_dir(), "defaultsd", "gsettings", NULL);
    gboolean exists = access(path, F_OK) == 0;
    g_free(path);
    return exists;
}

/* Whether this process is in a sandbox, for which GLib has its own backend. The service would refuse
 * to give it copies. */
static gboolean is_sandboxed(void) {
    return access("/.flatpak-info", F_OK) == 0 || g_getenv("SNAP") != NULL;
}

/* Whether a program that uses settings will use this module: the environment names it, or the priority
 * decides. */
static gboolean is_chosen(gboolean is_adopted) {
    const char *named = g_getenv("GSETTINGS_BACKEND");
    return named == NULL ? is_adopted : strcmp(named, BACKEND_NAME) == 0;
}

void g_io_module_load(GIOModule *module) {
    if (is_sandboxed())
        return;
    gboolean adopted = is_adopted();
    if (is_chosen(adopted))
        link_prepare();
    /* A thread runs this code, so it must not be unloaded. */
    g_type_module_use(G_TYPE_MODULE(module));
    backend_add_type(G_TYPE_MODULE(module));
    g_io_extension_point_implement(
        G_SETTINGS_BACKEND_EXTENSION_POINT_NAME, backend_get_type(), BACKEND_NAME,
        adopted ? PRIORITY_ADOPTED : PRIORITY_NOT_ADOPTED);
}

void g_io_module_unload(GIOModule *module) {
    (void)module;
}

char **g_io_module_query(void) {
    static const char *const points[] = {G_SETTINGS_BACKEND_EXTENSION_POINT_NAME, NULL};
    return g_strdupv((char **)points);
}
