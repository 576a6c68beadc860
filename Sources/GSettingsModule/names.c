/* Which domain and key a GSettings path is.
 *
 * Invariants
 *
 * 1. The path follows from the domain and the key, so no two paths have the same place.
 * 2. The domain is never the global one: its keys would be in the way of every schema. */
#include "names.h"

#include <string.h>

enum { LONGEST_DOMAIN = 200, LONGEST_KEY = 1024 };

static gboolean is_element_character(char character) {
    return g_ascii_isalnum(character) || character == '_' || character == '-';
}

/* The end of the last leading element that a domain may have: where '/' and the key follow. */
static size_t end_of_domain(const char *path) {
    size_t end = 0, at = 1;
    while (is_element_character(path[at])) {
        while (is_element_character(path[at]))
            at++;
        if (path[at] != '/' || at - 1 > LONGEST_DOMAIN)
            break;
        end = at++;
    }
    return end;
}

char *domain_of_path(const char *path, const char **key) {
    if (path[0] != '/' || !g_utf8_validate(path, -1, NULL))
        return NULL;
    size_t end = end_of_domain(path);
    char *domain = end == 0 ? NULL : g_strdelimit(g_strndup(path + 1, end - 1), "/", '.');
    if (domain == NULL || strcmp(domain, GLOBAL_DOMAIN) == 0) {
        g_free(domain);
        domain = g_strdup(UNNAMED_DOMAIN);
        end = 0;
    }
    *key = end == 0 ? path : path + end + 1;
    size_t length = strlen(*key);
    if (length > 0 && length <= LONGEST_KEY)
        return domain;
    g_free(domain);
    return NULL;
}

/* The path of the unnamed domain is "/", below which the path of each of its keys is. A path
 * "/GSettings/key" is of the same domain. Its key has no '/' at its beginning. */
char *path_of_domain(const char *domain) {
    if (strcmp(domain, UNNAMED_DOMAIN) == 0)
        return g_strdup("/");
    char *path = g_strconcat("/", domain, "/", NULL);
    return g_strdelimit(path, ".", '/');
}

const char *item_of_key(const char *domain, const char *key) {
    return strcmp(domain, UNNAMED_DOMAIN) == 0 && key[0] == '/' ? key + 1 : key;
}
