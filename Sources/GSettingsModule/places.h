#pragma once

#include <glib.h>

/* Where this user's database and services are, by the environment and by what the system knows. */

/* The directory of the database that a daemon with this process's environment would open; free it with
 * g_free. NULL if there is none. */
char *places_database(void);

/* Whether a daemon with this property DatabasePath has that database. */
gboolean places_have_database(const char *path);

/* Whether the environment names no other place for the database than the user's home. Then the user's own bus
 * may be used. */
gboolean places_are_standard(void);

/* The user's own runtime directory, whatever the environment says; free it with g_free. */
char *places_own_runtime(void);

/* The runtime directory of the daemon that has locked the database; free it with g_free. NULL if it is not
 * known. */
char *places_runtime_of_holder(void);

/* The path of the program defaultsd; free it with g_free. NULL if it is not installed, or may not be run. */
char *places_daemon_program(void);
