#pragma once

#include <glib.h>
#include <string.h>

/* What forms.c and values.c share: the value form's own names, and lists of GVariants. */

/* The longest type in a marker. */
enum { LONGEST_TYPE = 1024 };

#define CLASS "$class"
#define MARKER "GVariant"
#define DICTIONARY "NSDictionary"
#define NOTHING "$null"

static inline gboolean is(GVariant *value, const char *type) {
    return strcmp(g_variant_get_type_string(value), type) == 0;
}

/* Lists own what is in them. */

static inline GPtrArray *list_new(void) {
    return g_ptr_array_new_with_free_func((GDestroyNotify)g_variant_unref);
}

/* Adds a value that is not NULL. */
static inline gboolean list_add(GPtrArray *list, GVariant *value) {
    if (value != NULL)
        g_ptr_array_add(list, g_variant_take_ref(value));
    return value != NULL;
}

static inline GVariant *list_array(GPtrArray *list, const GVariantType *element) {
    return g_variant_new_array(element, (GVariant *const *)list->pdata, list->len);
}

/* A form of its own, so that a floating one is not returned. */
static inline GVariant *owned(GVariant *form) {
    return g_variant_take_ref(form);
}

/* Whether the form of a type says the type, too. */
static inline gboolean is_own_form(const char *type) {
    static const char *const types[] = {"b", "x", "d", "s", "ay", "av", "a{sv}", NULL};
    return g_strv_contains(types, type);
}
