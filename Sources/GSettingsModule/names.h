#pragma once

#include <glib.h>

/* The domain of what has no domain of its own: keys whose path does not begin with a legal element. */
#define UNNAMED_DOMAIN "GSettings"

/* The domain that names all domains with settings of desktop programs. So the service knows what dconf gets
 * back, although it does not know all schemas. */
#define RECORD_DOMAIN "org.defaultsd.Dconf"

/* The domain whose locks apply to all domains. */
#define GLOBAL_DOMAIN "NSGlobalDomain"

/* The name of the domain in which the value of a GSettings path is stored; free it with g_free. `key`
 * is the key in this domain, and points into `path`. NULL if the path cannot be stored. */
char *domain_of_path(const char *path, const char **key);

/* The path below which all keys of a domain are; free it with g_free. */
char *path_of_domain(const char *domain);

/* The words that follow the domain's path in the path of a key; points into `key`. */
const char *item_of_key(const char *domain, const char *key);
