/* The value form of GVariants: what is sent to the service and stored by it.
 *
 * The service does not know the schemas of all programs, and a schema may be removed. So a value has its
 * type with it, in a marker, unless the service finds the same type by itself:
 *
 *     {"$class": "GVariant", "type": TYPE, "value": FORM}
 *
 * Inside a value the type is known, but for the contents of variants. They are marked, too.
 *
 * Invariants
 *
 * 1. The value of the form of a value is the value again, but for the order in a dictionary with
 *    strings as keys.
 * 2. No form that is written is deeper than a message can carry, or has more values than the service takes. */
#include "values.h"
#include "variants.h"

/* Containers around a form in any call or reply: array, structure, array, entry, variant. A message has at
 * most 64. */
enum { DEEPEST_FORM = 56 };

/* The values that the service takes in one call. */
enum { MOST_VALUES = 1 << 18 };

/* Those of a marker itself. */
enum { MARKER_VALUES = 4 };

/* The longest type that the service reads. */
enum { LONGEST_READ_TYPE = 255 };

static GVariant *form_at(GVariant *value, int depth, size_t *left);

static GVariant *boxed(GVariant *form) {
    GVariant *box = g_variant_new_variant(form);
    g_variant_unref(form);
    return box;
}

static gboolean add_pair(GPtrArray *pairs, const char *key, GVariant *form) {
    return form != NULL
        && list_add(pairs, g_variant_new_dict_entry(g_variant_new_string(key), boxed(form)));
}

/* What of each child is meant: all of it, or one column of a dictionary. */
typedef enum { COLUMN_KEYS, COLUMN_CONTENTS, WHOLE } Part;

static GVariant *part_of(GVariant *value, size_t index, Part part) {
    GVariant *child = g_variant_get_child_value(value, index);
    if (part == WHOLE)
        return child;
    GVariant *found = g_variant_get_child_value(child, part);
    g_variant_unref(child);
    return found;
}

/* The forms of the children, or of a part of each, as an array of variants. */
static GVariant *form_of_children(GVariant *value, Part part, int depth, size_t *left) {
    GPtrArray *forms = list_new();
    gboolean has_form = depth + 2 <= DEEPEST_FORM;
    size_t count = g_variant_n_children(value);
    for (size_t index = 0; has_form && index < count; index++) {
        GVariant *child = part_of(value, index, part);
        GVariant *form = form_at(child, depth + 2, left);
        g_variant_unref(child);
        has_form = form != NULL && list_add(forms, boxed(form));
    }
    GVariant *array = has_form ? owned(list_array(forms, G_VARIANT_TYPE_VARIANT)) : NULL;
    g_ptr_array_unref(forms);
    return array;
}

/* Whether the keys of a dictionary may be those of a plain one: different, and none with a '$', which
 * an object has. */
static gboolean has_plain_keys(GVariant *dictionary) {
    const char *type = g_variant_get_type_string(dictionary);
    if (strchr("sog", type[2]) == NULL)
        return FALSE;
    GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    size_t count = g_variant_n_children(dictionary);
    gboolean is_plain = TRUE;
    for (size_t index = 0; is_plain && index < count; index++) {
        GVariant *key = part_of(dictionary, index, COLUMN_KEYS);
        const char *name = g_variant_get_string(key, NULL);
        is_plain = name[0] != '$' && g_hash_table_add(seen, g_strdup(name));
        g_variant_unref(key);
    }
    g_hash_table_unref(seen);
    return is_plain;
}

static GVariant *form_of_plain_dictionary(GVariant *value, int depth, size_t *left) {
    GPtrArray *pairs = list_new();
    gboolean has_form = depth + 3 <= DEEPEST_FORM;
    size_t count = g_variant_n_children(value);
    for (size_t index = 0; has_form && index < count; index++) {
        GVariant *key = part_of(value, index, COLUMN_KEYS);
        GVariant *content = part_of(value, index, COLUMN_CONTENTS);
        has_form = add_pair(
            pairs, g_variant_get_string(key, NULL), form_at(content, depth + 3, left));
        g_variant_unref(content);
        g_variant_unref(key);
    }
    GVariant *form = has_form ? owned(list_array(pairs, G_VARIANT_TYPE("{sv}"))) : NULL;
    g_ptr_array_unref(pairs);
    return form;
}

/* An object of this class with up to two fields; NULL if the form of a field is. */
static GVariant *form_of_object(
    const char *class, const char *first, GVariant *first_form, const char *second,
    GVariant *second_form) {
    GPtrArray *pairs = list_new();
    add_pair(pairs, CLASS, owned(g_variant_new_string(class)));
    gboolean has_first = first == NULL || add_pair(pairs, first, first_form);
    gboolean has_second = second == NULL || add_pair(pairs, second, second_form);
    GVariant *form =
        has_first && has_second ? owned(list_array(pairs, G_VARIANT_TYPE("{sv}"))) : NULL;
    g_ptr_array_unref(pairs);
    return form;
}

static GVariant *form_of_dictionary(GVariant *value, int depth, size_t *left) {
    if (has_plain_keys(value))
        return form_of_plain_dictionary(value, depth, left);
    return form_of_object(
        DICTIONARY, "NS.keys", form_of_children(value, COLUMN_KEYS, depth + 3, left), "NS.objects",
        form_of_children(value, COLUMN_CONTENTS, depth + 3, left));
}

static GVariant *form_of_variant(GVariant *value, int depth, size_t *left) {
    GVariant *content = g_variant_get_variant(value);
    const char *type = g_variant_get_type_string(content);
    GVariant *form;
    if (is_own_form(type))
        form = form_at(content, depth, left);
    else if (strlen(type) > LONGEST_TYPE)
        form = NULL;
    else
        form = form_of_object(
            MARKER, "type", owned(g_variant_new_string(type)), "value", form_at(content, depth + 3, left));
    g_variant_unref(content);
    return form;
}

/* A value that is there has the form of its content. If the content may be nothing as well, an array
 * around it tells both apart. */
static GVariant *form_of_maybe(GVariant *value, int depth, size_t *left) {
    if (g_variant_get_type_string(value)[1] == 'm')
        return form_of_children(value, WHOLE, depth, left);
    GVariant *content = g_variant_get_maybe(value);
    if (content == NULL)
        return form_of_object(NOTHING, NULL, NULL, NULL, NULL);
    GVariant *form = form_at(content, depth, left);
    g_variant_unref(content);
    return form;
}

static GVariant *form_of_unsigned(GVariant *value) {
    guint64 number = g_variant_get_uint64(value);
    if (number > G_MAXINT64)
        return g_variant_ref(value);
    return owned(g_variant_new_int64((gint64)number));
}

static GVariant *form_of_array(GVariant *value, int depth, size_t *left) {
    if (is(value, "ay"))
        return g_variant_ref(value);
    if (g_variant_get_type_string(value)[1] == '{')
        return form_of_dictionary(value, depth, left);
    return form_of_children(value, WHOLE, depth, left);
}

static GVariant *form_at(GVariant *value, int depth, size_t *left) {
    if (depth > DEEPEST_FORM || *left == 0)
        return NULL;
    --*left;
    switch (g_variant_classify(value)) {
    case G_VARIANT_CLASS_BYTE: return owned(g_variant_new_int64(g_variant_get_byte(value)));
    case G_VARIANT_CLASS_INT16: return owned(g_variant_new_int64(g_variant_get_int16(value)));
    case G_VARIANT_CLASS_UINT16: return owned(g_variant_new_int64(g_variant_get_uint16(value)));
    case G_VARIANT_CLASS_INT32: return owned(g_variant_new_int64(g_variant_get_int32(value)));
    case G_VARIANT_CLASS_UINT32: return owned(g_variant_new_int64(g_variant_get_uint32(value)));
    case G_VARIANT_CLASS_UINT64: return form_of_unsigned(value);
    case G_VARIANT_CLASS_OBJECT_PATH:
    case G_VARIANT_CLASS_SIGNATURE:
        return owned(g_variant_new_string(g_variant_get_string(value, NULL)));
    case G_VARIANT_CLASS_VARIANT: return form_of_variant(value, depth, left);
    case G_VARIANT_CLASS_MAYBE: return form_of_maybe(value, depth, left);
    case G_VARIANT_CLASS_ARRAY: return form_of_array(value, depth, left);
    case G_VARIANT_CLASS_TUPLE:
    case G_VARIANT_CLASS_DICT_ENTRY: return form_of_children(value, WHOLE, depth, left);
    case G_VARIANT_CLASS_HANDLE: return NULL;
    default: return g_variant_ref(value);
    }
}

/* Whether the service finds a type by itself in the form of each of its values: a rule says so that needs no
 * schema. */
static gboolean is_evident(const char *type) {
    static const char *const types[] = {"b", "i", "d", "s", "as", "ay", NULL};
    return g_strv_contains(types, type);
}

/* The form with the type around it; NULL if that is too deep or has too many values. */
static GVariant *marked_form(GVariant *value, const char *type) {
    size_t left = MOST_VALUES - MARKER_VALUES;
    return form_of_object(
        MARKER, "type", owned(g_variant_new_string(type)), "value", form_at(value, 3, &left));
}

GVariant *form_of_value(GVariant *value, gboolean says_type) {
    const char *type = g_variant_get_type_string(value);
    size_t left = MOST_VALUES;
    GVariant *form = NULL;
    if ((says_type || !is_evident(type)) && strlen(type) <= LONGEST_READ_TYPE)
        form = marked_form(value, type);
    return form != NULL ? form : form_at(value, 0, &left);
}
