#define G_SETTINGS_ENABLE_BACKEND
#include "backend.h"

#include <gio/gsettingsbackend.h>

#include "store.h"

typedef struct {
    GSettingsBackend parent;
} Backend;

typedef struct {
    GSettingsBackendClass parent;
} BackendClass;

G_DEFINE_DYNAMIC_TYPE(Backend, backend, G_TYPE_SETTINGS_BACKEND)

/* All objects, each as a weak reference. GSettings makes one for a process. */
static GMutex objects_lock;
static GSList *objects;

static GVariant *read_value(
    GSettingsBackend *backend, const char *key, const GVariantType *type, gboolean is_default) {
    (void)backend;
    return store_read(key, type, is_default ? READ_DEFAULT : READ_EFFECTIVE);
}

static GVariant *read_user_value(
    GSettingsBackend *backend, const char *key, const GVariantType *type) {
    (void)backend;
    return store_read(key, type, READ_USER);
}

static gboolean get_writable(GSettingsBackend *backend, const char *key) {
    (void)backend;
    return store_is_writable(key);
}

static gboolean write_value(
    GSettingsBackend *backend, const char *key, GVariant *value, gpointer tag) {
    /* The value may be floating. */
    if (value != NULL)
        g_variant_ref_sink(value);
    gboolean is_made = store_write_one(key, value);
    if (is_made)
        g_settings_backend_changed(backend, key, tag);
    g_clear_pointer(&value, g_variant_unref);
    return is_made;
}

static gboolean write_tree(GSettingsBackend *backend, GTree *tree, gpointer tag) {
    if (!store_write(tree))
        return FALSE;
    g_settings_backend_changed_tree(backend, tree, tag);
    return TRUE;
}

static void reset(GSettingsBackend *backend, const char *key, gpointer tag) {
    write_value(backend, key, NULL, tag);
}

static void subscribe(GSettingsBackend *backend, const char *name) {
    (void)backend;
    store_prefetch(name);
}

/* The copy stays, and so does its subscription: most programs use a schema again. */
static void unsubscribe(GSettingsBackend *backend, const char *name) {
    (void)backend, (void)name;
}

static void sync_changes(GSettingsBackend *backend) {
    (void)backend;
    store_sync();
}

static void backend_init(Backend *self) {
    store_init();
    GWeakRef *object = g_new(GWeakRef, 1);
    g_weak_ref_init(object, self);
    g_mutex_lock(&objects_lock);
    objects = g_slist_prepend(objects, object);
    g_mutex_unlock(&objects_lock);
}

static void backend_class_init(BackendClass *class) {
    GSettingsBackendClass *backend_class = G_SETTINGS_BACKEND_CLASS(class);
    backend_class->read = read_value;
    backend_class->read_user_value = read_user_value;
    backend_class->get_writable = get_writable;
    backend_class->write = write_value;
    backend_class->write_tree = write_tree;
    backend_class->reset = reset;
    backend_class->subscribe = subscribe;
    backend_class->unsubscribe = unsubscribe;
    backend_class->sync = sync_changes;
}

static void backend_class_finalize(BackendClass *class) {
    (void)class;
}

void backend_add_type(GTypeModule *module) {
    backend_register_type(module);
}

/* --- Telling --- */

/* The objects that exist, each with a reference. */
static GSList *existing(void) {
    GSList *found = NULL;
    g_mutex_lock(&objects_lock);
    for (GSList *each = objects, *next; each != NULL; each = next) {
        next = each->next;
        gpointer object = g_weak_ref_get(each->data);
        if (object != NULL) {
            found = g_slist_prepend(found, object);
            continue;
        }
        g_weak_ref_clear(each->data);
        g_free(each->data);
        objects = g_slist_delete_link(objects, each);
    }
    g_mutex_unlock(&objects_lock);
    return found;
}

void backend_tell_items(const char *path, const char *const *items) {
    GSList *found = existing();
    for (GSList *each = found; each != NULL; each = each->next)
        g_settings_backend_keys_changed(each->data, path, items, NULL);
    g_slist_free_full(found, g_object_unref);
}

void backend_tell_path(const char *path) {
    GSList *found = existing();
    for (GSList *each = found; each != NULL; each = each->next)
        g_settings_backend_path_changed(each->data, path, NULL);
    g_slist_free_full(found, g_object_unref);
}

void backend_tell_writability(const char *path) {
    GSList *found = existing();
    for (GSList *each = found; each != NULL; each = each->next)
        g_settings_backend_path_writable_changed(each->data, path);
    g_slist_free_full(found, g_object_unref);
}
