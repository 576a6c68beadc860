/* Invariant: a program with more rights than its caller, who chose the environment, uses nothing of this. */
#include "places.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most of a file in /proc that is read. */
enum { MOST_BYTES = 128 << 10 };

static gboolean has_more_rights(void) {
    return getauxval(AT_SECURE) != 0;
}

static gboolean is_own(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_uid == geteuid();
}

/* A directory that a variable names. */
static const char *directory_in(const char *variable) {
    const char *path = g_getenv(variable);
    return path != NULL && path[0] == '/' ? path : NULL;
}

static char *home_of_user(void) {
    char buffer[4096];
    struct passwd record, *found = NULL;
    if (getpwuid_r(geteuid(), &record, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return NULL;
    return g_strdup(found->pw_dir);
}

/* The directory of the user's configuration; NULL if there is none. */
static char *configuration(void) {
    const char *named = directory_in("XDG_CONFIG_HOME"), *home = directory_in("HOME");
    if (named != NULL)
        return g_strdup(named);
    /* sudo may keep the HOME of its caller, which is of no use to another user. */
    char *own = home != NULL && is_own(home) ? g_strdup(home) : home_of_user();
    char *path = own == NULL ? NULL : g_build_filename(own, ".config", NULL);
    g_free(own);
    return path;
}

char *places_database(void) {
    char *above = configuration();
    char *path = above == NULL ? NULL : g_build_filename(above, "defaultsd", NULL);
    g_free(above);
    return path;
}

gboolean places_have_database(const char *path) {
    char *own = places_database(), *theirs = g_path_get_dirname(path);
    struct stat one, other;
    gboolean is_same = own != NULL && !has_more_rights() && stat(own, &one) == 0
        && stat(theirs, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    g_free(theirs);
    g_free(own);
    return is_same;
}

gboolean places_are_standard(void) {
    char *own = configuration(), *home = home_of_user();
    char *standard = home == NULL ? NULL : g_build_filename(home, ".config", NULL);
    gboolean is_standard = own != NULL && g_strcmp0(own, standard) == 0 && !has_more_rights();
    g_free(standard);
    g_free(home);
    g_free(own);
    return is_standard;
}

char *places_own_runtime(void) {
    return g_strdup_printf("/run/user/%u", (unsigned)geteuid());
}

/* The first bytes of a file of this user, with a NUL at the end; NULL if it cannot be read. */
static char *contents_of(const char *path, size_t *size) {
    if (!is_own(path))
        return NULL;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *bytes = g_malloc(MOST_BYTES + 1);
    *size = fread(bytes, 1, MOST_BYTES, file);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

/* A variable in the environment of a process; free it with g_free. NULL if it is not known. */
static char *variable_of(int process, const char *name) {
    size_t size = 0, length = strlen(name);
    char *path = g_strdup_printf("/proc/%d/environ", process), *value = NULL;
    char *bytes = contents_of(path, &size);
    g_free(path);
    for (size_t at = 0; value == NULL && at < size; at += strlen(bytes + at) + 1)
        if (strncmp(bytes + at, name, length) == 0 && bytes[at + length] == '=')
            value = g_strdup(bytes + at + length + 1);
    g_free(bytes);
    return value;
}

/* Whether a process is a daemon of this user, and not another that got its number. */
static gboolean is_daemon(int process) {
    size_t size = 0;
    char *path = g_strdup_printf("/proc/%d/comm", process);
    char *name = contents_of(path, &size);
    gboolean is_one = g_strcmp0(name, "defaultsd\n") == 0;
    g_free(name);
    g_free(path);
    return is_one;
}

char *places_runtime_of_holder(void) {
    size_t size = 0;
    int process = 0;
    char host[256] = "", own_host[256] = "";
    char *database = has_more_rights() ? NULL : places_database();
    char *lock = database == NULL ? NULL : g_build_filename(database, "lock", NULL);
    char *line = lock == NULL ? NULL : contents_of(lock, &size), *found = NULL;
    /* The first line has the host and the process. */
    if (line != NULL && sscanf(line, "%255s %d", host, &process) == 2
        && gethostname(own_host, sizeof own_host - 1) == 0 && strcmp(host, own_host) == 0
        && is_daemon(process))
        found = variable_of(process, "XDG_RUNTIME_DIR");
    g_free(line);
    g_free(lock);
    g_free(database);
    return found;
}

/* The program in a directory. */
static char *program_in(const char *directory) {
    char *path = g_build_filename(directory, "defaultsd", NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && access(path, X_OK) == 0)
        return path;
    g_free(path);
    return NULL;
}

char *places_daemon_program(void) {
    static const char *const standard[] = {"/usr/local/bin", "/usr/bin"};
    if (has_more_rights())
        return NULL;
    char *found = g_find_program_in_path("defaultsd");
    for (unsigned index = 0; found == NULL && index < G_N_ELEMENTS(standard); index++)
        found = program_in(standard[index]);
    return found;
}
