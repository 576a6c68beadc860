/* defaults.h: the settings of a desktop user, for programs in C and C++.
 *
 * defaultsd stores settings under a domain, which is an application ID such as org.example.Game, and a
 * key. Every process of the user sees a change at once, and it survives the end of the daemon.
 *
 *     #include <defaults.h>
 *
 *     defaults_t *defaults = defaults_open("org.example.Game");
 *     bool sound = defaults_get_bool(defaults, "PlaySound", true);
 *     defaults_set_double(defaults, "Volume", 0.5);
 *     defaults_close(defaults);
 *
 * Compile with `cc game.c $(pkg-config --cflags --libs defaults)`.
 *
 * Rules for all functions:
 *
 * Reads. A read looks into the memory of the process, and needs no call as long as the domain has not
 * changed. It is never older than the last change that was acknowledged to any process. The first read
 * waits for the service: for two seconds at most, for thirty while the bus starts it, and for six if this
 * process runs defaultsd for itself; see DEFAULTS_STATE_PRIVATE. A read after a change of another process waits
 * as long, if the service does not answer. A value of more than 64 KiB is not kept in memory: each read of it
 * calls the service. Without a service, reads return what this process has set, and the fallback.
 *
 * Writes. A write holds in this process at once, and is sent in the background. Without a service it is
 * sent when the service comes.
 *
 * Errors. A function that returns int returns 0, or a code of defaults_error_t. defaults_last_error() has
 * the code of the last call of the thread, for functions that return something else. No argument ends the
 * program: NULL where a pointer is needed, text that is not UTF-8, and sizes that are too large are errors.
 * Pointers must be valid, as everywhere in C.
 *
 * Memory. What a function with `copy` in its name returns, and every string or bytes that a function
 * returns as char * or void *, belongs to the caller, who frees it with defaults_free(). What is returned as
 * const char * belongs to the library.
 *
 * Threads. All threads may use a handle at the same time. A change of defaults_begin() belongs to one
 * thread at a time. Nobody may use a handle during or after defaults_close(). The library has threads of
 * its own, and calls no function of the program on them. They block the signals that programs handle. Those
 * of its runtime leave SIGPROF, SIGPIPE and the signals of faults open.
 *
 * Fork. A process that is forked after the first defaults_open() has no connection. In it, reads return the
 * fallback, and everything else fails with DEFAULTS_ERROR_FORKED, until it calls exec. To open defaults in a
 * child, fork first.
 */
#ifndef DEFAULTS_H
#define DEFAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The defaults of a domain, from defaults_open() to defaults_close(). */
typedef struct defaults defaults_t;

/* Changes that are made together, from defaults_begin() to defaults_commit() or defaults_cancel(). */
typedef struct defaults_change defaults_change_t;

/* Actions of the history, from defaults_history() to defaults_history_free(). */
typedef struct defaults_history defaults_history_t;

/* Keys that an action has changed, or that were taken back, up to defaults_history_keys_free(). */
typedef struct defaults_history_keys defaults_history_keys_t;

/* Why a call failed. Later versions may have more codes. */
typedef enum defaults_error {
    DEFAULTS_OK = 0,
    DEFAULTS_ERROR_ARGUMENT = 1,         /* NULL, text that is not UTF-8, or an unknown number */
    DEFAULTS_ERROR_NAME = 2,             /* an invalid name of a domain or a key */
    DEFAULTS_ERROR_TYPE = 3,             /* the value is not of the requested type */
    DEFAULTS_ERROR_VALUE = 4,            /* the new value is invalid, such as text that is not JSON */
    DEFAULTS_ERROR_NOT_FOUND = 5,        /* there is no such value */
    DEFAULTS_ERROR_LOCKED = 6,           /* the administrator has locked the key */
    DEFAULTS_ERROR_NOT_WRITABLE = 7,     /* programs cannot write to the layer */
    DEFAULTS_ERROR_CONFLICT = 8,         /* another process has changed the key meanwhile */
    DEFAULTS_ERROR_TOO_LARGE = 9,        /* a value has more than 16 MiB */
    DEFAULTS_ERROR_LIMIT = 10,           /* the change would exceed a quota */
    DEFAULTS_ERROR_TOO_MANY_CHANGES = 11, /* changes of 64 MiB already wait for the service */
    DEFAULTS_ERROR_UNREACHABLE = 12,     /* there is no service, or it did not answer in time */
    DEFAULTS_ERROR_NOT_DURABLE = 13,     /* the change was made but is not on disk yet */
    DEFAULTS_ERROR_STORAGE = 14,         /* the disk failed, and nothing was changed */
    DEFAULTS_ERROR_REFUSED = 15,         /* the service refused; the message says why */
    DEFAULTS_ERROR_FORKED = 16,          /* the process was forked; see above */
    DEFAULTS_ERROR_BUSY = 17,            /* the thread is inside defaults_dispatch() of this handle */
    DEFAULTS_ERROR_SYSTEM = 18           /* the process has no memory or descriptors left */
} defaults_error_t;

/* A layer: one source of values for a domain. The first layer below that has a key decides its value. */
typedef enum defaults_layer {
    DEFAULTS_LAYER_NONE = 0,
    DEFAULTS_LAYER_MANAGED = 1,         /* prescribed by the administrator */
    DEFAULTS_LAYER_GLOBAL_MANAGED = 2,  /* prescribed for all domains */
    DEFAULTS_LAYER_ARGUMENTS = 3,       /* on the command line of this program */
    DEFAULTS_LAYER_HOST = 4,            /* the user's own, for this machine only */
    DEFAULTS_LAYER_DOMAIN = 5,          /* the user's own */
    DEFAULTS_LAYER_GLOBAL_HOST = 6,     /* the user's own for all domains, for this machine only */
    DEFAULTS_LAYER_GLOBAL = 7,          /* the user's own for all domains: NSGlobalDomain */
    DEFAULTS_LAYER_SYSTEM = 8,          /* recommended by the administrator, or shipped by the vendor */
    DEFAULTS_LAYER_GLOBAL_SYSTEM = 9    /* recommended or shipped for all domains */
} defaults_layer_t;

/* How the service is reached. */
typedef enum defaults_state {
    DEFAULTS_STATE_UNREACHABLE = 0, /* reads return the last known values, and changes wait */
    DEFAULTS_STATE_CONNECTING = 1,  /* it was not used yet, or it has not answered yet */
    DEFAULTS_STATE_CURRENT = 2,     /* reads are as new as the last acknowledged change of any process */
    DEFAULTS_STATE_FOLLOWING = 3,   /* in a sandbox: reads follow changes with a short delay */
    DEFAULTS_STATE_PRIVATE = 4      /* no session bus: this process runs defaultsd for itself */
} defaults_state_t;

/* Bits of the origin of a change, which a callback gets. */
typedef enum defaults_origin {
    DEFAULTS_ORIGIN_THIS_PROCESS = 1 /* this process has made the change */
} defaults_origin_t;

/* @page defaults_open: open and close the defaults of a domain
 *
 * A handle costs little. All handles of a domain in a process share the same values.
 */

/* Opens the defaults of a domain.
 *
 * The domain is an application ID such as org.example.Game, or NSGlobalDomain: 1 to 255 of
 * [A-Za-z0-9._-], without empty elements. This starts nothing: the first use connects to the service on
 * a thread of the library. NULL is an error: DEFAULTS_ERROR_NAME, DEFAULTS_ERROR_ARGUMENT or
 * DEFAULTS_ERROR_FORKED. */
defaults_t *defaults_open(const char *domain);

/* Opens the defaults of a domain with the command line of the program.
 *
 * The words after the name of the program set keys for this run: -PlaySound NO. Bytes that are not UTF-8
 * are replaced in them. They are stronger than
 * the user's own values, and weaker than prescribed ones. The first handle of a domain in the process
 * determines the command line. */
defaults_t *defaults_open_with_arguments(const char *domain, int argc, const char *const *argv);

/* Closes a handle.
 *
 * Changes that it has made are still sent, also if the program exits. Its watches end, and their free
 * functions are called. Its descriptor is closed, so remove it from the main loop before. After
 * defaults_watch_failures() the descriptor may be closed a moment later, on a thread of the library. A
 * callback may close its own handle. NULL is ignored. */
void defaults_close(defaults_t *defaults);

/* Reads the domain, if others have changed something that was not read here yet.
 *
 * A program calls it at its start, on a thread that may wait, so that no later read waits. It waits as the
 * first read does: for two seconds at most, for thirty while the bus starts the service, or for six with a
 * defaultsd of its own.
 * DEFAULTS_ERROR_UNREACHABLE: the service has not answered. */
int defaults_load(defaults_t *defaults);

/* Says how the service is reached; see defaults_state_t. Before anything else was used, this begins to
 * connect. */
defaults_state_t defaults_state(defaults_t *defaults);

/* The version of the library, such as "1.2.3". It is never freed. */
const char *defaults_version(void);

/* Frees what a function of this library has returned. NULL is ignored. */
void defaults_free(void *memory);

/* @page defaults_last_error: find out why a call failed
 *
 * The code and the sentence belong to the calling thread, so that threads cannot confuse each other's.
 */

/* The code of the last call of this thread; DEFAULTS_OK if it succeeded.
 *
 * Functions of this page, defaults_free(), defaults_close() and defaults_version() do not change it. A
 * read that returns the fallback because there is no value has succeeded. */
defaults_error_t defaults_last_error(void);

/* The sentence that says why the last call of this thread failed, and what to do; "" if it succeeded.
 *
 * It never contains a stored value, so it may be logged. It is valid until the next call of this thread,
 * and is never freed. */
const char *defaults_error_message(void);

/* The name of a code, such as "DEFAULTS_ERROR_LOCKED"; "unknown" for any other number. It is never
 * freed. */
const char *defaults_error_name(int code);

/* @page defaults_get: read values
 *
 * Each function returns the value of the strongest layer that has the key; see defaults_layer_t. The
 * fallback is returned if there is no value, and also if the value cannot be read as the type. Then
 * defaults_last_error() is DEFAULTS_ERROR_TYPE, or another code: DEFAULTS_ERROR_UNREACHABLE if the service
 * has never answered, so that nobody knows whether there is a value. A program that stores what it reads
 * has to look at it. The name of a key has 1 to 1024 bytes of UTF-8.
 */

/* Reads a boolean. Numbers are not booleans. */
bool defaults_get_bool(defaults_t *defaults, const char *key, bool fallback);

/* Reads an integer, or a real without a fraction. */
int64_t defaults_get_int64(defaults_t *defaults, const char *key, int64_t fallback);

/* Reads a real, or an integer that a double can represent. */
double defaults_get_double(defaults_t *defaults, const char *key, double fallback);

/* Reads a string.
 *
 * The result is always new memory, which the caller frees: the value, or a copy of the fallback. It is
 * NULL if the fallback is NULL, and if there is no memory. A string that contains NUL cannot be read this
 * way; defaults_copy_json() shows it. */
char *defaults_get_string(defaults_t *defaults, const char *key, const char *fallback);

/* Reads data.
 *
 * The number of bytes is stored in *size, which may not be NULL. The caller frees the bytes. Empty data
 * is not NULL. NULL: there is no value, and defaults_last_error() is DEFAULTS_ERROR_NOT_FOUND, or the value
 * is not data. */
void *defaults_get_bytes(defaults_t *defaults, const char *key, size_t *size);

/* Reads a value of any kind as JSON in UTF-8, as `defaultsctl read --json` shows it; see
 * defaultsd-values(5).
 *
 * The caller frees the text. NULL: there is no value (DEFAULTS_ERROR_NOT_FOUND), or it cannot be read. */
char *defaults_copy_json(defaults_t *defaults, const char *key);

/* Reads the value that one layer has for a key, as JSON. The value need not be in effect. */
char *defaults_copy_json_in(defaults_t *defaults, defaults_layer_t layer, const char *key);

/* Reads the keyed archive of a value: the bytes that are stored, in the format of NSKeyedArchiver.
 *
 * The number of bytes is stored in *size, which may not be NULL. The caller frees the bytes. NULL: there is
 * no value (DEFAULTS_ERROR_NOT_FOUND), or it cannot be fetched. */
void *defaults_copy_archive(defaults_t *defaults, const char *key, size_t *size);

/* The layer that the value of a key comes from; DEFAULTS_LAYER_NONE if there is no value. */
defaults_layer_t defaults_layer(defaults_t *defaults, const char *key);

/* The name of a layer, such as "global-host"; "" for any other number. It is never freed. */
const char *defaults_layer_name(int layer);

/* Whether the administrator has locked a key, so that changes of it are refused.
 *
 * Usually the answer is in memory. In a sandbox, this asks the service, and waits as a first read does. If it
 * cannot be asked, the result is false. */
bool defaults_is_locked(defaults_t *defaults, const char *key);

/* The keys of one layer, or with DEFAULTS_LAYER_NONE those of all layers except the command line.
 *
 * The result is an array of strings, sorted by code point, with NULL after the last one. One call of
 * defaults_free() frees it with all strings. Their number is stored in *count if that is not NULL. NULL is
 * an error. */
char **defaults_copy_keys(defaults_t *defaults, defaults_layer_t layer, size_t *count);

/* @page defaults_set: change values
 *
 * A change goes to the user's own values: DEFAULTS_LAYER_DOMAIN. It holds at once in this process, unless a
 * stronger layer has the key. None of these functions waits for the service. The service may still refuse
 * the change, for example because a quota is used up. Then the key has its old value again, and a watch of
 * defaults_watch_failures() gets the reason. Without such a watch, the reason is printed on standard error.
 */

/* Sets a boolean. */
int defaults_set_bool(defaults_t *defaults, const char *key, bool value);

/* Sets an integer. */
int defaults_set_int64(defaults_t *defaults, const char *key, int64_t value);

/* Sets a real. */
int defaults_set_double(defaults_t *defaults, const char *key, double value);

/* Sets a string, which is UTF-8. */
int defaults_set_string(defaults_t *defaults, const char *key, const char *value);

/* Sets data. The bytes may be NULL if the size is 0. */
int defaults_set_bytes(defaults_t *defaults, const char *key, const void *bytes, size_t size);

/* Sets a value of any kind that is given as JSON; see defaultsd-values(5).
 *
 * DEFAULTS_ERROR_VALUE: the text is not JSON; the message has the line and the column. */
int defaults_set_json(defaults_t *defaults, const char *key, const char *json);

/* Sets a value that is given as a keyed archive.
 *
 * DEFAULTS_ERROR_VALUE: the bytes are no valid archive. None of its objects is created. */
int defaults_set_archive(defaults_t *defaults, const char *key, const void *bytes, size_t size);

/* Removes the user's own value of a key. Then the value of a weaker layer is in effect. It is no error if
 * there is none. */
int defaults_remove(defaults_t *defaults, const char *key);

/* Waits until the service has answered every change that this process has made so far in the domain. So if
 * this returns 0, the changes since the last call are kept.
 *
 * DEFAULTS_ERROR_UNREACHABLE: not in this number of milliseconds, or at once if no service is installed. The
 * changes are still sent if it comes. If a change was refused since the last call: the error of the first
 * one, such as DEFAULTS_ERROR_LOCKED. */
int defaults_flush(defaults_t *defaults, unsigned timeout);

/* Waits until every change that was acknowledged so far to any process is on disk, those of this process
 * included.
 *
 * Nothing is lost without it, unless the machine loses its power within two seconds.
 * The errors of defaults_flush(), and DEFAULTS_ERROR_NOT_DURABLE: the disk fails. */
int defaults_synchronize(defaults_t *defaults, unsigned timeout);

/* @page defaults_begin: change several values at once, and values that depend on the old ones
 *
 * Every process sees all of a change or nothing. Nothing is changed before defaults_commit(). The first
 * error of a function that belongs to the change is kept, and defaults_commit() returns it. So a program
 * need only check that.
 *
 *     int error;
 *     do {
 *         defaults_change_t *change = defaults_begin(defaults, DEFAULTS_LAYER_DOMAIN);
 *         int64_t best = defaults_change_get_int64(change, "HighScore", 0);
 *         defaults_change_set_int64(change, "HighScore", score > best ? score : best);
 *         error = defaults_commit(change, 5000, NULL);
 *     } while (error == DEFAULTS_ERROR_CONFLICT);
 */

/* Begins a change of a layer: DEFAULTS_LAYER_DOMAIN, DEFAULTS_LAYER_HOST, DEFAULTS_LAYER_GLOBAL or
 * DEFAULTS_LAYER_GLOBAL_HOST.
 *
 * defaults_commit() or defaults_cancel() ends it. The handle may be closed before. NULL is an error. */
defaults_change_t *defaults_begin(defaults_t *defaults, defaults_layer_t layer);

/* Reads a boolean for a change.
 *
 * This and the next four functions ask the service for the value in the layer of the change. If another
 * process changes the key afterwards, defaults_commit() fails with DEFAULTS_ERROR_CONFLICT. What the change
 * itself has set is returned as it was set. If the layer has no value, the one that is in effect is
 * returned, or the fallback. They wait as defaults_generation() does. */
bool defaults_change_get_bool(defaults_change_t *change, const char *key, bool fallback);

/* Reads an integer for a change. */
int64_t defaults_change_get_int64(defaults_change_t *change, const char *key, int64_t fallback);

/* Reads a real for a change. */
double defaults_change_get_double(defaults_change_t *change, const char *key, double fallback);

/* Reads a string for a change. The caller frees it; see defaults_get_string(). */
char *defaults_change_get_string(defaults_change_t *change, const char *key, const char *fallback);

/* Reads a value for a change, as JSON. The caller frees it. NULL: there is no value, or it cannot be
 * read. */
char *defaults_change_copy_json(defaults_change_t *change, const char *key);

/* Sets a boolean when the change is made. */
int defaults_change_set_bool(defaults_change_t *change, const char *key, bool value);

/* Sets an integer when the change is made. */
int defaults_change_set_int64(defaults_change_t *change, const char *key, int64_t value);

/* Sets a real when the change is made. */
int defaults_change_set_double(defaults_change_t *change, const char *key, double value);

/* Sets a string when the change is made. */
int defaults_change_set_string(defaults_change_t *change, const char *key, const char *value);

/* Sets data when the change is made. */
int defaults_change_set_bytes(
    defaults_change_t *change, const char *key, const void *bytes, size_t size);

/* Sets a value in JSON when the change is made. */
int defaults_change_set_json(defaults_change_t *change, const char *key, const char *json);

/* Sets a keyed archive when the change is made. */
int defaults_change_set_archive(
    defaults_change_t *change, const char *key, const void *bytes, size_t size);

/* Removes a key from the layer when the change is made. */
int defaults_change_remove(defaults_change_t *change, const char *key);

/* Expects that the last change of a key is still the one with this generation; 0 if the layer may not
 * have the key. Otherwise defaults_commit() fails with DEFAULTS_ERROR_CONFLICT. */
int defaults_change_expect(defaults_change_t *change, const char *key, uint64_t generation);

/* Makes the change, and frees it in any case.
 *
 * With a timeout of 0 it does not wait: the values hold at once and are sent in the background, and
 * defaults_watch_failures() reports a refusal. Otherwise it waits for this number of milliseconds at most,
 * and stores the generation of the change in *generation, unless that is NULL. If the process has not
 * reached the service yet, it first waits for that as the first read does, whatever the timeout is. If the
 * service is known not to be there, it fails at once, and nothing is sent later. Expectations are checked
 * also if the change sets nothing.
 *
 * DEFAULTS_ERROR_CONFLICT: an expectation was wrong. DEFAULTS_ERROR_UNREACHABLE: there is no answer; the
 * message says if the change may still be made. With any other error nothing was changed. */
int defaults_commit(defaults_change_t *change, unsigned timeout, uint64_t *generation);

/* Drops a change, and frees it. NULL is ignored. */
void defaults_cancel(defaults_change_t *change);

/* Asks the service for the generation of the last change of a key in a layer, for
 * defaults_change_expect(). It is 0 if the layer does not have the key.
 *
 * Changes of this process that wait are sent first. It waits for their answers and then for its own, for
 * 30 seconds each at most, and if the process has not reached the service yet, before that as the first
 * read does. */
int defaults_generation(
    defaults_t *defaults, defaults_layer_t layer, const char *key, uint64_t *generation);

/* @page defaults_watch: follow changes with a main loop
 *
 * A callback is only called by defaults_dispatch(), on the thread that calls it. The descriptor of
 * defaults_fd() becomes readable when there is something to dispatch. So every main loop can be used:
 * g_unix_fd_add() of GLib, QSocketNotifier of Qt, uv_poll_start() of libuv, sd_event_add_io(), poll(2).
 *
 *     static void volume_changed(defaults_t *d, const char *key, unsigned origin, void *slider) {
 *         slider_set(slider, defaults_get_double(d, key, 1.0));
 *     }
 *
 *     defaults_watch(d, "Volume", volume_changed, slider, NULL);
 *     g_unix_fd_add(defaults_fd(d), G_IO_IN, dispatch, d);
 */

/* Called after a change of the value of a key.
 *
 * The key is valid until the function returns. The origin has bits of defaults_origin_t. The function may
 * call everything of this library except defaults_dispatch() of its handle. */
typedef void (*defaults_changed_fn)(
    defaults_t *defaults, const char *key, unsigned origin, void *context);

/* Called after a change of this process was refused, for each of its keys.
 *
 * The code is that of a defaults_error_t, and the message says why. Both strings are valid until the
 * function returns. */
typedef void (*defaults_failed_fn)(
    defaults_t *defaults, const char *key, int code, const char *message, void *context);

/* Called once when a watch has ended, with its context. */
typedef void (*defaults_free_fn)(void *context);

/* Has a function called after each change of a key, or with NULL of any key, by any process in any layer.
 *
 * In DEFAULTS_STATE_PRIVATE, only changes of this process are seen. One change of each key waits at most,
 * so a slow program gets the newest. A change that leaves the value the same is not reported. free_context
 * may be NULL. It is called on the thread that ends the watch, or that runs its callback then.
 *
 * Returns the number of the watch, for defaults_unwatch(). 0 is an error; free_context is not called
 * then. */
unsigned defaults_watch(
    defaults_t *defaults, const char *key, defaults_changed_fn changed, void *context,
    defaults_free_fn free_context);

/* Has a function called after each refusal of a change that was sent in the background, in place of a line
 * on standard error.
 *
 * Every handle of the domain gets the refusals, also those of changes that others have made. The newest 256
 * wait. For everything else, see defaults_watch(). */
unsigned defaults_watch_failures(
    defaults_t *defaults, defaults_failed_fn failed, void *context, defaults_free_fn free_context);

/* Ends a watch. Its function is not called any more, but a call that another thread has begun may still go
 * on. A callback may end its own watch. DEFAULTS_ERROR_NOT_FOUND: there is no such watch. */
int defaults_unwatch(defaults_t *defaults, unsigned watch);

/* A descriptor that is readable while there is something to dispatch; -1 is an error.
 *
 * It belongs to the handle: only wait for it, do not read or close it. It is always the same, unless the
 * program closes all descriptors: then ask for it again. Nothing is written to a file of the program's that
 * has its number. */
int defaults_fd(defaults_t *defaults);

/* Calls the functions of watches for what has happened, and does not wait.
 *
 * Each watch gets the changes that wait when its turn comes. All watches together get at most some 1024
 * calls. If something is left, or comes meanwhile, the descriptor is readable again. If another thread dispatches, it does nothing.
 * DEFAULTS_ERROR_BUSY: a callback of this handle has called it, perhaps by a main loop inside of it. The
 * dispatch that goes on makes the descriptor readable again if something waits. If a callback closes the
 * handle, the remaining ones are not called. */
int defaults_dispatch(defaults_t *defaults);

/* @page defaults_history: see earlier changes, and take them back
 *
 * The service keeps what has changed earlier, and who has changed it. An action is what a person would call
 * one change: all keys of one change, or of successive changes by one program, such as the moves of a slider.
 * The functions below ask the service. Changes of this process that wait are sent first. They wait as
 * defaults_generation() does. A program in a sandbox may not use the history, and an older service has none:
 * DEFAULTS_ERROR_REFUSED.
 *
 *     defaults_history_t *history = defaults_history(
 *         defaults, "org.example.Game", NULL, NULL, INT64_MIN, 0, 1);
 *     if (defaults_history_count(history) > 0)
 *         defaults_undo(
 *             defaults, (uint64_t)defaults_history_number(history, 0, DEFAULTS_ACTION_NUMBER),
 *             (uint64_t)defaults_history_number(history, 0, DEFAULTS_ACTION_LAST), 0, NULL, NULL);
 *     defaults_history_free(history);
 */

/* What is known of an action in numbers. Later versions may have more. Truths are 1, otherwise 0. */
typedef enum defaults_action_number {
    DEFAULTS_ACTION_NUMBER = 0,     /* counts the actions of the database from 1 */
    DEFAULTS_ACTION_FIRST = 1,      /* the generation of its first change */
    DEFAULTS_ACTION_LAST = 2,       /* the generation of its last change */
    DEFAULTS_ACTION_BEGAN = 3,      /* when it began, in seconds since 1970 */
    DEFAULTS_ACTION_ENDED = 4,      /* when it ended, in seconds since 1970 */
    DEFAULTS_ACTION_KEYS = 5,       /* how many keys it changed */
    DEFAULTS_ACTION_KNOWN_KEYS = 6, /* how many of these the history has */
    DEFAULTS_ACTION_UNDONE = 7,     /* whether it is taken back */
    DEFAULTS_ACTION_BY_HAND = 8     /* whether it can be what a person means by "undo" without a number */
} defaults_action_number_t;

/* What is known of an action in words. Later versions may have more. A text may be empty. */
typedef enum defaults_action_text {
    DEFAULTS_ACTION_PROGRAM = 0,     /* the name of the program that made it */
    DEFAULTS_ACTION_APPLICATION = 1, /* the application ID, if the program runs in a sandbox */
    DEFAULTS_ACTION_MACHINE = 2,     /* the machine that it came from, if it is another one */
    DEFAULTS_ACTION_OWNER = 3,       /* the owner of the document, if one was applied */
    DEFAULTS_ACTION_KIND = 4,        /* change, undo, redo, document, roam, restore, answer, late, or a later one */
    DEFAULTS_ACTION_NOTE = 5         /* what else is to be known about it, as a sentence */
} defaults_action_text_t;

/* What is known of a key of an action in words. Later versions may have more. */
typedef enum defaults_history_key_text {
    DEFAULTS_HISTORY_KEY_DOMAIN = 0,  /* the domain, with the suffix of its layer */
    DEFAULTS_HISTORY_KEY_NAME = 1,    /* the name of the key */
    DEFAULTS_HISTORY_KEY_STANDING = 2 /* what becomes of it by undo; see below */
} defaults_history_key_text_t;

/* Which value of a key is meant. */
typedef enum defaults_history_side {
    DEFAULTS_HISTORY_BEFORE = 0, /* what it had before the action; after an undo, before the undo */
    DEFAULTS_HISTORY_AFTER = 1   /* what it had after the action; after an undo, what the undo gives it */
} defaults_history_side_t;

/* What is known of a value. */
typedef enum defaults_knowledge {
    DEFAULTS_KNOWLEDGE_ABSENT = 0,  /* the key had no value */
    DEFAULTS_KNOWLEDGE_PRESENT = 1, /* the key had a value */
    DEFAULTS_KNOWLEDGE_UNKNOWN = 2  /* the history does not know it */
} defaults_knowledge_t;

/* Bits of the way in which an action is taken back. */
typedef enum defaults_undo_flags {
    DEFAULTS_UNDO_PARTIAL = 1, /* take back the keys that nothing has changed since, and leave the others */
    DEFAULTS_UNDO_FORCE = 2,   /* take back also the keys that something has changed since */
    DEFAULTS_UNDO_DRY_RUN = 4, /* change nothing, and only return what would become of each key */
    DEFAULTS_UNDO_DURABLE = 8  /* wait until the change is on disk */
} defaults_undo_flags_t;

/* Lists actions, the newest first.
 *
 * Only those are listed that changed the domain (with the suffix of its layer, such as org.example.Game@host)
 * and this key of it, that a program has made, and that ended at a time or later. Each may be NULL for all, and
 * the time, in seconds since 1970, INT64_MIN. A key needs a domain. At most limit actions are listed, and 1000 if that is 0 or more. To
 * go on, pass the number of the last one as before, which is 0 at first.
 *
 * The caller frees the list with defaults_history_free(). NULL is an error. */
defaults_history_t *defaults_history(
    defaults_t *defaults, const char *domain, const char *key, const char *program, int64_t since,
    uint64_t before, unsigned limit);

/* How many actions a list has; 0 for NULL, which is not an error. */
size_t defaults_history_count(const defaults_history_t *history);

/* The time from which on the history is complete, in seconds since 1970. */
int64_t defaults_history_known_from(const defaults_history_t *history);

/* A number of an action. The place of the newest action in the list is 0. 0 with an error:
 * DEFAULTS_ERROR_ARGUMENT. */
int64_t defaults_history_number(
    const defaults_history_t *history, size_t place, defaults_action_number_t number);

/* A text of an action. It is valid until defaults_history_free(). NULL is an error: DEFAULTS_ERROR_ARGUMENT. */
const char *defaults_history_text(
    const defaults_history_t *history, size_t place, defaults_action_text_t text);

/* Frees a list of actions. NULL is ignored. */
void defaults_history_free(defaults_history_t *history);

/* Reads the keys that an action has changed, with their values before and after it.
 *
 * The standing of a key says what would become of it by defaults_undo(): "holds" if it gets its earlier value,
 * "void" if it ended with the value that it began with, "undone" if it was taken back before, "changed" if
 * something else has changed it since, "same" if it has its earlier value again after that, "locked" if the
 * administrator has locked it, and "unknown" if the history does not have its earlier value. Later versions may have
 * more words.
 *
 * The caller frees the list with defaults_history_keys_free(). NULL is an error: DEFAULTS_ERROR_NOT_FOUND if the
 * history does not have the action. */
defaults_history_keys_t *defaults_history_keys(defaults_t *defaults, uint64_t number);

/* How many keys a list has; 0 for NULL, which is not an error. */
size_t defaults_history_keys_count(const defaults_history_keys_t *keys);

/* A text of a key in a list. It is valid until defaults_history_keys_free(). NULL is an error:
 * DEFAULTS_ERROR_ARGUMENT. */
const char *defaults_history_keys_text(
    const defaults_history_keys_t *keys, size_t place, defaults_history_key_text_t text);

/* Whether a value of a key is known. DEFAULTS_KNOWLEDGE_UNKNOWN also for wrong arguments, with an error. */
defaults_knowledge_t defaults_history_keys_knowledge(
    const defaults_history_keys_t *keys, size_t place, defaults_history_side_t side);

/* Reads a value of a key as JSON; see defaults_copy_json().
 *
 * The service sends large values only when they are asked for, so this may wait. The caller frees the text. NULL:
 * there was no value (DEFAULTS_ERROR_NOT_FOUND), or the history does not know it (DEFAULTS_ERROR_REFUSED), or it
 * cannot be read. */
char *defaults_history_keys_copy_json(
    const defaults_history_keys_t *keys, size_t place, defaults_history_side_t side);

/* Reads a value of a key as a keyed archive; see defaults_copy_archive(). For everything else, see
 * defaults_history_keys_copy_json(). */
void *defaults_history_keys_copy_archive(
    const defaults_history_keys_t *keys, size_t place, defaults_history_side_t side, size_t *size);

/* Frees a list of keys. NULL is ignored. */
void defaults_history_keys_free(defaults_history_keys_t *keys);

/* Reads what a key had after a change, or at a time, as JSON; see defaults_copy_json().
 *
 * The domain has the suffix of its layer. The generation is that of a change; if it is 0, the time counts, in
 * seconds since 1970: it means the last change whose time is not later. The caller frees the text. NULL: there was no
 * value (DEFAULTS_ERROR_NOT_FOUND), or the history does not know it (DEFAULTS_ERROR_REFUSED), or it cannot be read. */
char *defaults_history_copy_json_at(
    defaults_t *defaults, const char *domain, const char *key, uint64_t generation, int64_t time);

/* Reads what a key had as a keyed archive; see defaults_copy_archive(). For everything else, see
 * defaults_history_copy_json_at(). */
void *defaults_history_copy_archive_at(
    defaults_t *defaults, const char *domain, const char *key, uint64_t generation, int64_t time, size_t *size);

/* Takes an action back, in one change: each key gets the value that it had before.
 *
 * The number is DEFAULTS_ACTION_NUMBER, and last is DEFAULTS_ACTION_LAST as it was listed: if the action has gone
 * on since, nothing is taken back. The flags are bits of defaults_undo_flags_t. The generation of the change is
 * stored in *generation, or 0 if nothing was changed, and what has become of each key in *keys, which the caller
 * frees with defaults_history_keys_free(). Both may be NULL.
 *
 * Nothing is changed: DEFAULTS_ERROR_CONFLICT if something else has changed a key since, or the action has gone
 * on; DEFAULTS_ERROR_LOCKED if the administrator has locked a key; DEFAULTS_ERROR_NOT_FOUND if the history does
 * not have all of the action. DEFAULTS_ERROR_UNREACHABLE: there is no answer; the action may still be taken
 * back. */
int defaults_undo(
    defaults_t *defaults, uint64_t number, uint64_t last, unsigned flags, uint64_t *generation,
    defaults_history_keys_t **keys);

/* Does again what an action of the kind "undo" has taken back. For everything else, see defaults_undo(). */
int defaults_redo(
    defaults_t *defaults, uint64_t number, uint64_t last, unsigned flags, uint64_t *generation,
    defaults_history_keys_t **keys);

#ifdef __cplusplus
}
#endif

#endif
