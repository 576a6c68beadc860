/* Values that are read from their forms; see forms.c. Programs of any kind may have written them.
 *
 * Invariant: no form is read deeper than DEEPEST, so that the stack is bounded. */
#include "values.h"
#include "variants.h"

enum { DEEPEST = 128 };

static GVariant *value_at(GVariant *form, const GVariantType *type, int depth);

/* A field of an object, without the variant around it; NULL if there is none. */
static GVariant *field(GVariant *object, const char *name) {
    return g_variant_lookup_value(object, name, NULL);
}

static gboolean has_class(GVariant *form, const char *class) {
    const char *found = NULL;
    return is(form, "a{sv}") && g_variant_lookup(form, CLASS, "&s", &found)
        && (class == NULL || strcmp(found, class) == 0);
}

/* Whether a form is an integer, as its sign and its magnitude. */
static gboolean is_integer(GVariant *form, gboolean *is_negative, guint64 *magnitude) {
    gint64 number = 0;
    switch (g_variant_classify(form)) {
    case G_VARIANT_CLASS_BYTE: number = g_variant_get_byte(form); break;
    case G_VARIANT_CLASS_INT16: number = g_variant_get_int16(form); break;
    case G_VARIANT_CLASS_UINT16: number = g_variant_get_uint16(form); break;
    case G_VARIANT_CLASS_INT32: number = g_variant_get_int32(form); break;
    case G_VARIANT_CLASS_UINT32: number = g_variant_get_uint32(form); break;
    case G_VARIANT_CLASS_INT64: number = g_variant_get_int64(form); break;
    case G_VARIANT_CLASS_UINT64:
        *is_negative = FALSE;
        *magnitude = g_variant_get_uint64(form);
        return TRUE;
    default: return FALSE;
    }
    *is_negative = number < 0;
    *magnitude = number < 0 ? -(guint64)number : (guint64)number;
    return TRUE;
}

/* The integer of this type, if it fits. */
static GVariant *integer(GVariant *form, char type) {
    gboolean is_negative;
    guint64 magnitude;
    if (!is_integer(form, &is_negative, &magnitude))
        return NULL;
    if (type == 't')
        return is_negative ? NULL : g_variant_new_uint64(magnitude);
    if (magnitude > (guint64)G_MAXINT64 + is_negative)
        return NULL;
    gint64 number = is_negative ? (gint64)-magnitude : (gint64)magnitude;
    switch (type) {
    case 'y': return number >= 0 && number <= G_MAXUINT8 ? g_variant_new_byte((guint8)number) : NULL;
    case 'n':
        return number >= G_MININT16 && number <= G_MAXINT16 ? g_variant_new_int16((gint16)number)
                                                            : NULL;
    case 'q':
        return number >= 0 && number <= G_MAXUINT16 ? g_variant_new_uint16((guint16)number) : NULL;
    case 'i':
        return number >= G_MININT32 && number <= G_MAXINT32 ? g_variant_new_int32((gint32)number)
                                                            : NULL;
    case 'u':
        return number >= 0 && number <= G_MAXUINT32 ? g_variant_new_uint32((guint32)number) : NULL;
    default: return g_variant_new_int64(number);
    }
}

static GVariant *real(GVariant *form) {
    gboolean is_negative;
    guint64 magnitude;
    if (is(form, "d"))
        return g_variant_ref(form);
    if (!is_integer(form, &is_negative, &magnitude))
        return NULL;
    return g_variant_new_double(is_negative ? -(double)magnitude : (double)magnitude);
}

static GVariant *text(GVariant *form, char type) {
    if (!is(form, "s"))
        return NULL;
    const char *words = g_variant_get_string(form, NULL);
    if (type == 'o')
        return g_variant_is_object_path(words) ? g_variant_new_object_path(words) : NULL;
    if (type == 'g')
        return g_variant_is_signature(words) ? g_variant_new_signature(words) : NULL;
    return g_variant_ref(form);
}

/* Adds the values of an array of variants, one for each type beginning with `type`. If `is_array`, all
 * have this type. */
static gboolean add_children(
    GPtrArray *list, GVariant *forms, const GVariantType *type, gboolean is_array, int depth) {
    if (!is(forms, "av"))
        return FALSE;
    size_t count = g_variant_n_children(forms);
    gboolean fits = TRUE;
    for (size_t index = 0; fits && index < count; index++) {
        GVariant *box = g_variant_get_child_value(forms, index);
        GVariant *form = g_variant_get_variant(box);
        fits = type != NULL && list_add(list, value_at(form, type, depth + 1));
        g_variant_unref(form);
        g_variant_unref(box);
        if (fits && !is_array)
            type = g_variant_type_next(type);
    }
    return fits && (is_array || type == NULL);
}

static GVariant *array(GVariant *form, const GVariantType *element, int depth) {
    GPtrArray *list = list_new();
    GVariant *value =
        add_children(list, form, element, TRUE, depth) ? list_array(list, element) : NULL;
    if (value != NULL)
        g_variant_ref_sink(value);
    g_ptr_array_unref(list);
    return value;
}

static GVariant *tuple(GVariant *form, const GVariantType *type, int depth) {
    GPtrArray *list = list_new();
    GVariant *value = NULL;
    if (add_children(list, form, g_variant_type_first(type), FALSE, depth))
        value = g_variant_new_tuple((GVariant *const *)list->pdata, list->len);
    if (value != NULL)
        g_variant_ref_sink(value);
    g_ptr_array_unref(list);
    return value;
}

/* The entry of a key and a content; NULL if one of them is. Takes both. */
static GVariant *entry_of(GVariant *key, GVariant *content) {
    if (key != NULL)
        g_variant_take_ref(key);
    if (content != NULL)
        g_variant_take_ref(content);
    GVariant *entry = NULL;
    if (key != NULL && content != NULL)
        entry = owned(g_variant_new_dict_entry(key, content));
    g_clear_pointer(&key, g_variant_unref);
    g_clear_pointer(&content, g_variant_unref);
    return entry;
}

/* An entry that is in no dictionary: an array of two. */
static GVariant *lone_entry(GVariant *form, const GVariantType *type, int depth) {
    GPtrArray *list = list_new();
    GVariant *entry = NULL;
    if (add_children(list, form, g_variant_type_key(type), FALSE, depth) && list->len == 2)
        entry = entry_of(g_variant_ref(list->pdata[0]), g_variant_ref(list->pdata[1]));
    g_ptr_array_unref(list);
    return entry;
}

/* Adds the entries of a dictionary whose keys are strings. */
static gboolean add_plain_entries(
    GPtrArray *list, GVariant *form, const GVariantType *entry, int depth) {
    if (has_class(form, NULL))
        return FALSE;
    size_t count = g_variant_n_children(form);
    gboolean fits = TRUE;
    for (size_t index = 0; fits && index < count; index++) {
        GVariant *key, *content;
        g_variant_get_child(form, index, "{@sv}", &key, &content);
        fits = list_add(
            list, entry_of(
                      value_at(key, g_variant_type_key(entry), depth + 1),
                      value_at(content, g_variant_type_value(entry), depth + 1)));
        g_variant_unref(key);
        g_variant_unref(content);
    }
    return fits;
}

/* Adds the entries of a dictionary with other keys. */
static gboolean add_listed_entries(
    GPtrArray *list, GVariant *form, const GVariantType *entry, int depth) {
    GVariant *keys = field(form, "NS.keys"), *contents = field(form, "NS.objects");
    GPtrArray *key_list = list_new(), *content_list = list_new();
    gboolean fits = keys != NULL && contents != NULL
        && add_children(key_list, keys, g_variant_type_key(entry), TRUE, depth)
        && add_children(content_list, contents, g_variant_type_value(entry), TRUE, depth)
        && key_list->len == content_list->len;
    for (unsigned index = 0; fits && index < key_list->len; index++)
        fits = list_add(
            list, entry_of(
                      g_variant_ref(key_list->pdata[index]),
                      g_variant_ref(content_list->pdata[index])));
    g_ptr_array_unref(key_list);
    g_ptr_array_unref(content_list);
    g_clear_pointer(&keys, g_variant_unref);
    g_clear_pointer(&contents, g_variant_unref);
    return fits;
}

static GVariant *dictionary(GVariant *form, const GVariantType *entry, int depth) {
    if (!is(form, "a{sv}"))
        return NULL;
    GPtrArray *list = list_new();
    gboolean fits = has_class(form, DICTIONARY) ? add_listed_entries(list, form, entry, depth)
                                                : add_plain_entries(list, form, entry, depth);
    GVariant *value = fits ? owned(list_array(list, entry)) : NULL;
    g_ptr_array_unref(list);
    return value;
}

static GVariant *maybe(GVariant *form, const GVariantType *content, int depth) {
    if (g_variant_type_is_maybe(content)) {
        GPtrArray *list = list_new();
        GVariant *value = NULL;
        if (add_children(list, form, content, TRUE, depth) && list->len <= 1)
            value = owned(g_variant_new_maybe(content, list->len ? list->pdata[0] : NULL));
        g_ptr_array_unref(list);
        return value;
    }
    if (has_class(form, NOTHING))
        return g_variant_new_maybe(content, NULL);
    GVariant *value = value_at(form, content, depth + 1);
    if (value == NULL)
        return NULL;
    value = owned(value);
    GVariant *just = owned(g_variant_new_maybe(content, value));
    g_variant_unref(value);
    return just;
}

/* The type in a marker; NULL if it is not the type of one value. */
static GVariantType *type_of_marker(GVariant *marker) {
    const char *text = NULL;
    if (!g_variant_lookup(marker, "type", "&s", &text) || strlen(text) > LONGEST_TYPE)
        return NULL;
    if (!g_variant_type_string_is_valid(text) || strpbrk(text, "r?*h") != NULL)
        return NULL;
    return g_variant_type_new(text);
}

/* The content that a marker has, if it fits the type in it. */
static GVariant *content_of_marker(GVariant *marker, int depth) {
    GVariantType *type = type_of_marker(marker);
    GVariant *form = type == NULL ? NULL : field(marker, "value");
    GVariant *content = form == NULL ? NULL : value_at(form, type, depth + 1);
    g_clear_pointer(&form, g_variant_unref);
    if (type != NULL)
        g_variant_type_free(type);
    return content;
}

static GVariant *variant(GVariant *form, int depth) {
    GVariant *content;
    if (has_class(form, MARKER))
        content = content_of_marker(form, depth);
    else if (is(form, "t") || is_own_form(g_variant_get_type_string(form)))
        content = value_at(form, g_variant_get_type(form), depth + 1);
    else
        content = NULL;
    if (content == NULL)
        return NULL;
    content = owned(content);
    GVariant *value = owned(g_variant_new_variant(content));
    g_variant_unref(content);
    return value;
}

static GVariant *value_of_array(GVariant *form, const GVariantType *type, int depth) {
    const GVariantType *element = g_variant_type_element(type);
    if (g_variant_type_is_dict_entry(element))
        return dictionary(form, element, depth);
    if (is(form, "ay"))
        return g_variant_type_equal(type, G_VARIANT_TYPE_BYTESTRING) ? g_variant_ref(form) : NULL;
    return array(form, element, depth);
}

/* The value may be floating. */
static GVariant *value_at(GVariant *form, const GVariantType *type, int depth) {
    if (depth > DEEPEST)
        return NULL;
    char kind = g_variant_type_peek_string(type)[0];
    switch (kind) {
    case 'b': return is(form, "b") ? g_variant_ref(form) : NULL;
    case 'y':
    case 'n':
    case 'q':
    case 'i':
    case 'u':
    case 'x':
    case 't': return integer(form, kind);
    case 'd': return real(form);
    case 's':
    case 'o':
    case 'g': return text(form, kind);
    case 'v': return variant(form, depth);
    case 'm': return maybe(form, g_variant_type_element(type), depth);
    case 'a': return value_of_array(form, type, depth);
    case '(': return tuple(form, type, depth);
    case '{': return lone_entry(form, type, depth);
    default: return NULL;
    }
}

gboolean form_says_type(GVariant *form) {
    return has_class(form, MARKER);
}

/* The value in a marker around a whole value. */
static GVariant *value_in_marker(GVariant *marker, const GVariantType *type) {
    GVariant *inner = field(marker, "value");
    GVariant *value = inner == NULL ? NULL : value_at(inner, type, 0);
    g_clear_pointer(&inner, g_variant_unref);
    return value;
}

/* Whether a form is a marker of this type. */
static gboolean is_marker_of(GVariant *form, const GVariantType *type) {
    GVariantType *own = has_class(form, MARKER) ? type_of_marker(form) : NULL;
    gboolean is_same = own != NULL && g_variant_type_equal(own, type);
    if (own != NULL)
        g_variant_type_free(own);
    return is_same;
}

GVariant *value_of_form(GVariant *form, const GVariantType *type) {
    GVariant *value = is_marker_of(form, type) ? value_in_marker(form, type) : value_at(form, type, 0);
    /* Another program may have given a value another type. */
    if (value == NULL && has_class(form, MARKER))
        value = value_in_marker(form, type);
    return value == NULL ? NULL : g_variant_take_ref(value);
}
