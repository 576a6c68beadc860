/* Random values of many types, written by one process and read by another.
 *
 *     random-values schema TYPES         prints a schema with a key for each type
 *     random-values write TYPES COUNT SEED
 *     random-values read TYPES COUNT SEED
 *
 * TYPES is a file with a type on each line. The key of type N is "type-N", and the values of round N are
 * at the path /org/defaultsd/test/random/rN/. The reader makes the same values again, compares, and prints
 * how many are equal. */
#include <gio/gio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "org.defaultsd.test.random"

static GVariant *random_value(GRand *dice, const GVariantType *type, int depth);

static gint64 random_bits(GRand *dice) {
    gint64 bits = (gint64)((guint64)g_rand_int(dice) << 32 | g_rand_int(dice));
    static const gint64 edges[] = {0, 1, -1, G_MAXINT64, G_MININT64, G_MAXINT32, G_MININT32};
    return g_rand_int_range(dice, 0, 3) ? bits >> g_rand_int_range(dice, 0, 64)
                                        : edges[g_rand_int_range(dice, 0, 7)];
}

static double random_real(GRand *dice) {
    static const double edges[] = {0.0, -0.0, INFINITY, -INFINITY, 1e308, 5e-324, 1.0};
    return g_rand_boolean(dice) ? edges[g_rand_int_range(dice, 0, 7)]
                                : g_rand_double_range(dice, -1e9, 1e9);
}

static char *random_text(GRand *dice) {
    static const char *const parts[] = {"a", "Z", "$class", "$", "GVariant", "/", " ", "\xc3\xa9",
                                        "\n", "\xf0\x9f\x8e\xb2", "*", "NS.keys", "0"};
    GString *text = g_string_new(NULL);
    for (int count = g_rand_int_range(dice, 0, 6); count > 0; count--)
        g_string_append(text, parts[g_rand_int_range(dice, 0, G_N_ELEMENTS(parts))]);
    return g_string_free(text, FALSE);
}

static GVariant *random_string(GRand *dice) {
    char *text = random_text(dice);
    return g_variant_new_take_string(text);
}

static GVariant *random_object_path(GRand *dice) {
    static const char *const paths[] = {"/", "/a", "/org/defaultsd/_1"};
    return g_variant_new_object_path(paths[g_rand_int_range(dice, 0, 3)]);
}

static GVariant *random_signature(GRand *dice) {
    static const char *const types[] = {"", "a{sv}", "(ii)as", "v"};
    return g_variant_new_signature(types[g_rand_int_range(dice, 0, 4)]);
}

static GVariant *random_variant(GRand *dice, int depth) {
    static const char *const types[] = {"b", "y", "i", "u", "x", "t", "d", "s", "o", "ay", "as", "av",
                                        "a{sv}", "(is)", "ms", "v", "a{us}", "mmi", "()"};
    int most = depth > 3 ? 10 : (int)G_N_ELEMENTS(types);
    const char *type = types[g_rand_int_range(dice, 0, most)];
    return g_variant_new_variant(random_value(dice, G_VARIANT_TYPE(type), depth + 1));
}

static GVariant *random_array(GRand *dice, const GVariantType *element, int depth) {
    GPtrArray *list = g_ptr_array_new();
    for (int count = g_rand_int_range(dice, 0, depth > 2 ? 2 : 5); count > 0; count--)
        g_ptr_array_add(list, random_value(dice, element, depth + 1));
    GVariant *array = g_variant_new_array(element, (GVariant **)list->pdata, list->len);
    g_ptr_array_unref(list);
    return array;
}

static GVariant *random_tuple(GRand *dice, const GVariantType *type, int depth) {
    GPtrArray *list = g_ptr_array_new();
    for (type = g_variant_type_first(type); type != NULL; type = g_variant_type_next(type))
        g_ptr_array_add(list, random_value(dice, type, depth + 1));
    GVariant *tuple = g_variant_new_tuple((GVariant **)list->pdata, list->len);
    g_ptr_array_unref(list);
    return tuple;
}

static GVariant *random_maybe(GRand *dice, const GVariantType *element, int depth) {
    GVariant *content = g_rand_boolean(dice) ? random_value(dice, element, depth + 1) : NULL;
    return g_variant_new_maybe(element, content);
}

static GVariant *random_entry(GRand *dice, const GVariantType *type, int depth) {
    GVariant *key = random_value(dice, g_variant_type_key(type), depth + 1);
    return g_variant_new_dict_entry(key, random_value(dice, g_variant_type_value(type), depth + 1));
}

static GVariant *random_value(GRand *dice, const GVariantType *type, int depth) {
    switch (g_variant_type_peek_string(type)[0]) {
    case 'b': return g_variant_new_boolean(g_rand_boolean(dice));
    case 'y': return g_variant_new_byte((guint8)random_bits(dice));
    case 'n': return g_variant_new_int16((gint16)random_bits(dice));
    case 'q': return g_variant_new_uint16((guint16)random_bits(dice));
    case 'i': return g_variant_new_int32((gint32)random_bits(dice));
    case 'u': return g_variant_new_uint32((guint32)random_bits(dice));
    case 'x': return g_variant_new_int64(random_bits(dice));
    case 't': return g_variant_new_uint64((guint64)random_bits(dice));
    case 'd': return g_variant_new_double(random_real(dice));
    case 's': return random_string(dice);
    case 'o': return random_object_path(dice);
    case 'g': return random_signature(dice);
    case 'v': return random_variant(dice, depth);
    case 'm': return random_maybe(dice, g_variant_type_element(type), depth);
    case 'a': return random_array(dice, g_variant_type_element(type), depth);
    case '(': return random_tuple(dice, type, depth);
    default: return random_entry(dice, type, depth);
    }
}

/* A text that two values share if they differ only in the order of a dictionary. */
static char *canonical(GVariant *value);

static int compare_texts(const void *first, const void *second) {
    return strcmp(*(char *const *)first, *(char *const *)second);
}

static char *canonical_container(GVariant *value) {
    GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
    size_t count = g_variant_n_children(value);
    for (size_t index = 0; index < count; index++) {
        GVariant *child = g_variant_get_child_value(value, index);
        g_ptr_array_add(texts, canonical(child));
        g_variant_unref(child);
    }
    if (texts->len > 1 && g_variant_is_of_type(value, G_VARIANT_TYPE_DICTIONARY))
        qsort(texts->pdata, texts->len, sizeof(char *), compare_texts);
    g_ptr_array_add(texts, NULL);
    char *all = g_strjoinv(", ", (char **)texts->pdata);
    char *text = g_strdup_printf("%s[%s]", g_variant_get_type_string(value), all);
    g_free(all);
    g_ptr_array_unref(texts);
    return text;
}

static char *canonical(GVariant *value) {
    return g_variant_is_container(value) ? canonical_container(value) : g_variant_print(value, TRUE);
}

static char **read_types(const char *file) {
    char *text;
    if (!g_file_get_contents(file, &text, NULL, NULL))
        exit(2);
    char **types = g_strsplit(g_strstrip(text), "\n", -1);
    g_free(text);
    return types;
}

/* The text of an empty value of a type. */
static void put_plain(GString *text, const GVariantType *type) {
    switch (g_variant_type_peek_string(type)[0]) {
    case 'b': g_string_append(text, "false"); break;
    case 's': g_string_append(text, "''"); break;
    case 'o': g_string_append(text, "'/'"); break;
    case 'g': g_string_append(text, "''"); break;
    case 'd': g_string_append(text, "0.0"); break;
    case 'v': g_string_append(text, "&lt;0&gt;"); break;
    case 'm': g_string_append(text, "nothing"); break;
    case 'a': g_string_append(text, "[]"); break;
    case '(':
        g_string_append_c(text, '(');
        for (type = g_variant_type_first(type); type != NULL; type = g_variant_type_next(type)) {
            g_string_append_c(text, text->str[text->len - 1] == '(' ? ' ' : ',');
            put_plain(text, type);
        }
        g_string_append_c(text, ')');
        break;
    default: g_string_append_c(text, '0'); break;
    }
}

static int print_schema(char **types) {
    printf("<schemalist><schema id='" SCHEMA "'>\n");
    for (int index = 0; types[index] != NULL; index++) {
        GString *text = g_string_new(NULL);
        put_plain(text, G_VARIANT_TYPE(types[index]));
        printf(
            "<key name='type-%d' type='%s'><default>%s</default></key>\n", index, types[index],
            text->str);
        g_string_free(text, TRUE);
    }
    printf("</schema></schemalist>\n");
    return 0;
}

static GSettings *settings_of_round(int round) {
    char *path = g_strdup_printf("/org/defaultsd/test/random/r%d/", round);
    GSettings *settings = g_settings_new_with_path(SCHEMA, path);
    g_free(path);
    return settings;
}

static gboolean is_equal(GSettings *settings, const char *key, GVariant *value) {
    GVariant *back = g_settings_get_user_value(settings, key);
    char *sent = canonical(value), *received = back == NULL ? g_strdup("nothing") : canonical(back);
    gboolean equal = strcmp(sent, received) == 0;
    if (!equal)
        fprintf(stderr, "sent %s\nback %s\n", sent, received);
    g_free(sent);
    g_free(received);
    g_clear_pointer(&back, g_variant_unref);
    return equal;
}

static int try_values(gboolean is_writing, char **types, int rounds, guint32 seed) {
    GRand *dice = g_rand_new_with_seed(seed);
    int good = 0, all = 0;
    for (int round = 0; round < rounds; round++) {
        GSettings *settings = settings_of_round(round);
        for (int index = 0; types[index] != NULL; index++, all++) {
            char *key = g_strdup_printf("type-%d", index);
            GVariant *value = g_variant_ref_sink(random_value(dice, G_VARIANT_TYPE(types[index]), 0));
            good += is_writing ? g_settings_set_value(settings, key, value)
                               : is_equal(settings, key, value);
            g_variant_unref(value);
            g_free(key);
        }
        g_object_unref(settings);
    }
    g_settings_sync();
    g_rand_free(dice);
    printf("%d of %d\n", good, all);
    return good == all && all > 0 ? 0 : 1;
}

int main(int count, char **arguments) {
    if (count < 3)
        return 2;
    char **types = read_types(arguments[2]);
    int status = 2;
    if (strcmp(arguments[1], "schema") == 0)
        status = print_schema(types);
    else if (count == 5)
        status = try_values(
            strcmp(arguments[1], "write") == 0, types, atoi(arguments[3]),
            (guint32)strtoul(arguments[4], NULL, 10));
    g_strfreev(types);
    return status;
}
