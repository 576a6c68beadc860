/* Fuzzes the coding of values. An input is a type, a line end, and the bytes of a serialised value.
 *
 * - Read as a value of this type, it must come back from its form, if it has one.
 * - Read as a variant, its content is a form that another program may have stored: it is read as the
 *   type, and must not break anything. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static GVariant *value_in(const char *type, const uint8_t *data, size_t size) {
    GBytes *bytes = g_bytes_new(data, size);
    GVariant *raw = g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(type), bytes, FALSE));
    GVariant *value = g_variant_get_normal_form(raw);
    g_variant_unref(raw);
    g_bytes_unref(bytes);
    return value;
}

/* Values whose bytes differ may be equal, if the input was not in normal form. Their texts are equal. */
static void require_same(GVariant *value, GVariant *back) {
    if (back != NULL && g_variant_equal(value, back))
        return;
    char *sent = g_variant_print(value, TRUE), *received = back ? g_variant_print(back, TRUE) : NULL;
    if (g_strcmp0(sent, received) != 0) {
        fprintf(stderr, "sent %s\nback %s\n", sent, received ? received : "nothing");
        abort();
    }
    g_free(sent);
    g_free(received);
}

static void try_round(const char *type, const uint8_t *data, size_t size) {
    GVariant *value = value_in(type, data, size), *form = form_of_value(value);
    if (form != NULL) {
        GVariant *back = value_of_form(form, g_variant_get_type(value));
        require_same(value, back);
        g_variant_unref(back);
        g_variant_unref(form);
    }
    g_variant_unref(value);
}

static void try_form(const char *type, const uint8_t *data, size_t size) {
    GVariant *box = value_in("v", data, size), *form = g_variant_get_variant(box);
    GVariant *value = value_of_form(form, G_VARIANT_TYPE(type));
    if (value != NULL && !g_variant_is_of_type(value, G_VARIANT_TYPE(type)))
        abort();
    g_clear_pointer(&value, g_variant_unref);
    g_variant_unref(form);
    g_variant_unref(box);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = memchr(data, '\n', size);
    if (end == NULL || end - data > 256)
        return 0;
    char *type = g_strndup((const char *)data, (size_t)(end - data));
    if (g_variant_type_string_is_valid(type) && strpbrk(type, "r?*") == NULL) {
        try_round(type, end + 1, size - (size_t)(end + 1 - data));
        try_form(type, end + 1, size - (size_t)(end + 1 - data));
    }
    g_free(type);
    return 0;
}
