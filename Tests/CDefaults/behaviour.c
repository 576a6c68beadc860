/* What may happen to a program: callbacks that close things, threads, the end of the daemon, no bus, fork,
 * and arguments that are wrong. */
#include "trial.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>

void changes_are_told_by_dispatch(void);
void a_callback_may_end_its_watch_and_close_its_handle(void);
void refusals_are_told(void);
void two_handles_share_the_values(void);
void many_threads_use_a_handle(void);
void the_daemon_may_be_killed(void);
void changes_of_all_layers_arrive_on_the_bus(void);
void without_a_bus_values_are_kept(void);
void a_private_daemon_stores_values(void);
void a_forked_process_gets_errors(void);
void hostile_arguments_are_errors(void);
void errors_belong_to_the_thread(void);
void keys_are_told_apart_by_their_bytes(void);
void an_expectation_alone_is_checked(void);
void reads_of_many_names_need_little_memory(void);
void a_watch_of_another_thread_is_not_missed(void);
void all_watches_have_their_turn(void);
void a_main_loop_inside_a_callback_rests(void);
void words_in_another_encoding_are_words(void);
void handles_give_back_their_memory(void);
void nothing_is_written_into_files_of_a_program_that_closed_all_descriptors(void);

struct seen {
    int calls, frees, mine;
    char last[64];
    unsigned watch;
    bool must_unwatch, must_close;
};

static void note(defaults_t *d, const char *key, unsigned origin, void *context) {
    struct seen *seen = (struct seen *)context;
    CHECK(strlen(key) < sizeof seen->last);
    strcpy(seen->last, key);
    seen->calls++;
    if (origin & DEFAULTS_ORIGIN_THIS_PROCESS) seen->mine++;
    CHECK(defaults_dispatch(d) == DEFAULTS_ERROR_BUSY);
    if (seen->must_unwatch) {
        CHECK(defaults_unwatch(d, seen->watch) == 0 && seen->frees == 0);
        CHECK(defaults_unwatch(d, seen->watch) == DEFAULTS_ERROR_NOT_FOUND);
    }
    if (seen->must_close) {
        int frees = seen->frees;
        defaults_close(d);
        CHECK(seen->frees == frees);
    }
}

static void release(void *context) { ((struct seen *)context)->frees++; }

void changes_are_told_by_dispatch(void) {
    defaults_t *d = open_domain();
    struct seen one, all;
    memset(&one, 0, sizeof one);
    memset(&all, 0, sizeof all);
    struct pollfd descriptor = {0, POLLIN, 0};
    descriptor.fd = defaults_fd(d);
    CHECK(descriptor.fd >= 0 && defaults_fd(d) == descriptor.fd);
    CHECK(defaults_load(d) == 0);
    one.watch = defaults_watch(d, "Volume", note, &one, release);
    all.watch = defaults_watch(d, NULL, note, &all, release);
    CHECK(one.watch && all.watch && one.watch != all.watch);
    CHECK(poll(&descriptor, 1, 0) == 0 && defaults_dispatch(d) == 0 && all.calls == 0);
    /* Nothing is called before the dispatch, and many changes of a key are one call. */
    for (int number = 0; number < 10; number++)
        CHECK(defaults_set_int64(d, "Volume", number) == 0);
    CHECK(one.calls == 0 && poll(&descriptor, 1, 0) == 1);
    CHECK(defaults_dispatch(d) == 0);
    CHECK(one.calls == 1 && one.mine == 1 && all.calls == 1 && strcmp(one.last, "Volume") == 0);
    CHECK(poll(&descriptor, 1, 0) == 0);
    CHECK(defaults_flush(d, PATIENCE) == 0);
    /* The same value is no change. */
    CHECK(defaults_set_int64(d, "Volume", 9) == 0 && defaults_dispatch(d) == 0 && one.calls == 1);
    run_tool("write " DOMAIN " Other -int 1");
    while (all.calls == 1) dispatch_once(d);
    CHECK(one.calls == 1 && strcmp(all.last, "Other") == 0 && all.mine == 1);
    run_tool("write NSGlobalDomain Everywhere -int 1");
    while (all.calls == 2) dispatch_once(d);
    CHECK(strcmp(all.last, "Everywhere") == 0);
    CHECK(defaults_unwatch(d, all.watch) == 0 && all.frees == 1);
    CHECK(defaults_set_int64(d, "Volume", 100) == 0);
    dispatch_once(d);
    CHECK(one.calls == 2 && all.calls == 3);
    defaults_close(d);
    CHECK(one.frees == 1 && all.frees == 1);
}

void a_callback_may_end_its_watch_and_close_its_handle(void) {
    defaults_t *d = open_domain();
    struct seen seen, other;
    memset(&seen, 0, sizeof seen);
    memset(&other, 0, sizeof other);
    seen.must_unwatch = true;
    CHECK(defaults_load(d) == 0);
    seen.watch = defaults_watch(d, NULL, note, &seen, release);
    CHECK(defaults_set_int64(d, "A", 1) == 0 && defaults_set_int64(d, "B", 1) == 0);
    CHECK(defaults_dispatch(d) == 0 && seen.calls == 1 && seen.frees == 1);
    seen.must_unwatch = false;
    seen.must_close = true;
    seen.watch = defaults_watch(d, NULL, note, &seen, release);
    other.watch = defaults_watch(d, NULL, note, &other, release);
    CHECK(defaults_set_int64(d, "A", 2) == 0 && defaults_set_int64(d, "B", 2) == 0);
    CHECK(defaults_dispatch(d) == 0);
    CHECK(seen.calls == 2 && seen.frees == 2 && other.calls == 0 && other.frees == 1);
    /* What a closed handle has changed is sent. */
    d = open_domain();
    CHECK(defaults_get_int64(d, "B", 0) == 2 && defaults_flush(d, PATIENCE) == 0);
    defaults_close(d);
}

struct failed {
    int calls, code;
    char key[64], message[512];
};

static void note_failure(
    defaults_t *d, const char *key, int code, const char *message, void *context) {
    struct failed *failed = (struct failed *)context;
    (void)d;
    failed->calls++;
    failed->code = code;
    snprintf(failed->key, sizeof failed->key, "%s", key);
    snprintf(failed->message, sizeof failed->message, "%s", message);
}

void refusals_are_told(void) {
    defaults_t *d = open_domain();
    struct failed failed;
    memset(&failed, 0, sizeof failed);
    CHECK(defaults_set_int64(d, "Score", 1) == 0 && defaults_flush(d, PATIENCE) == 0);
    CHECK(defaults_watch_failures(d, note_failure, &failed, NULL));
    /* The expectation is wrong, and nobody waits for the answer. */
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, "Score", 0) == 0);
    CHECK(defaults_change_set_int64(change, "Score", 2) == 0);
    CHECK(defaults_commit(change, 0, NULL) == 0);
    while (failed.calls == 0) dispatch_once(d);
    CHECK(failed.calls == 1 && strcmp(failed.key, "Score") == 0);
    CHECK(failed.code == DEFAULTS_ERROR_CONFLICT && strstr(failed.message, "Score"));
    CHECK(defaults_get_int64(d, "Score", 0) == 1);
    CHECK(defaults_flush(d, PATIENCE) == DEFAULTS_ERROR_CONFLICT);
    CHECK(strstr(defaults_error_message(), "Score") && defaults_flush(d, PATIENCE) == 0);
    defaults_close(d);
}

void two_handles_share_the_values(void) {
    defaults_t *one = open_domain(), *two = open_domain(), *other = defaults_open(DOMAIN ".other");
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    CHECK(defaults_load(one) == 0 && defaults_load(other) == 0);
    CHECK(defaults_watch(two, "Shared", note, &seen, release));
    for (int number = 1; number < 50; number++) {
        CHECK(defaults_set_int64(one, "Shared", number) == 0);
        CHECK(defaults_get_int64(two, "Shared", 0) == number);
        CHECK(defaults_set_int64(two, "Shared", -number) == 0);
        CHECK(defaults_get_int64(one, "Shared", 0) == -number);
    }
    CHECK(defaults_layer(other, "Shared") == DEFAULTS_LAYER_NONE);
    CHECK(defaults_dispatch(one) == 0 && seen.calls == 0);
    CHECK(defaults_dispatch(two) == 0 && seen.calls == 1);
    defaults_close(one);
    CHECK(defaults_get_int64(two, "Shared", 0) == -49);
    defaults_close(two);
    defaults_close(other);
}

enum { THREADS = 8, ROUNDS = 2000 };

struct work {
    defaults_t *defaults;
    int number;
};

static void *work(void *context) {
    struct work *mine = (struct work *)context;
    defaults_t *d = mine->defaults;
    char key[32], text[32];
    for (int round = 0; round < ROUNDS; round++) {
        snprintf(key, sizeof key, "Thread%d.%d", mine->number, round % 37);
        snprintf(text, sizeof text, "text %d", round);
        CHECK(defaults_set_string(d, key, text) == 0);
        CHECK_TEXT(defaults_get_string(d, key, NULL), text);
        CHECK(defaults_set_int64(d, "Shared", round) == 0);
        CHECK(defaults_get_int64(d, "Shared", -1) >= 0);
        CHECK(defaults_get_bool(d, "Shared", true) && defaults_last_error() == DEFAULTS_ERROR_TYPE);
        CHECK(defaults_dispatch(d) == 0);
        if (round % 500 == 0) {
            unsigned watch = defaults_watch(d, key, note, calloc(1, sizeof(struct seen)), free);
            CHECK(watch && defaults_unwatch(d, watch) == 0);
            defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
            CHECK(defaults_change_set_int64(change, key, round) == 0);
            CHECK(defaults_commit(change, PATIENCE, NULL) == 0);
        }
    }
    return NULL;
}

void many_threads_use_a_handle(void) {
    defaults_t *d = open_domain();
    pthread_t threads[THREADS];
    struct work works[THREADS];
    for (int number = 0; number < THREADS; number++) {
        works[number].defaults = d;
        works[number].number = number;
        CHECK(pthread_create(&threads[number], NULL, work, &works[number]) == 0);
    }
    for (int number = 0; number < THREADS; number++) pthread_join(threads[number], NULL);
    CHECK(defaults_flush(d, PATIENCE) == 0);
    CHECK(defaults_get_int64(d, "Shared", 0) == ROUNDS - 1 || defaults_get_int64(d, "Shared", -1) >= 0);
    defaults_close(d);
}

void the_daemon_may_be_killed(void) {
    defaults_t *d = open_domain();
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    CHECK(defaults_load(d) == 0);
    CHECK(defaults_watch(d, "Theirs", note, &seen, release));
    for (int turn = 1; turn < 4; turn++) {
        char line[128];
        for (int number = 0; number < 200; number++)
            CHECK(defaults_set_int64(d, "Mine", turn * 1000 + number) == 0);
        ask("kill");
        CHECK(defaults_set_int64(d, "Mine", turn) == 0);
        CHECK(defaults_get_int64(d, "Mine", 0) == turn);
        CHECK(defaults_synchronize(d, PATIENCE) == 0);
        snprintf(line, sizeof line, "expect Mine %d", turn);
        ask(line);
        snprintf(line, sizeof line, "write " DOMAIN " Theirs -int %d", turn);
        run_tool(line);
        CHECK(defaults_get_int64(d, "Theirs", 0) == turn);
        while (seen.calls < turn) dispatch_once(d);
    }
    defaults_close(d);
    CHECK(seen.frees == 1);
}

/* The runner leaves out the daemon's own socket. The page shows a change before its signal comes, so a read
 * may ask for what has changed before it knows the layer. */
void changes_of_all_layers_arrive_on_the_bus(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_load(d) == 0);
    for (int turn = 1; turn < 8; turn++) {
        char line[128];
        snprintf(line, sizeof line, "-currentHost write " DOMAIN " Layer%d -int %d &", turn, turn);
        run_tool(turn % 2 ? line : line + strlen("-currentHost "));
        snprintf(line, sizeof line, "Layer%d", turn);
        while (defaults_get_int64(d, line, 0) != turn) continue;
    }
    defaults_close(d);
}

/* The runner leaves out the bus and every program. */
void without_a_bus_values_are_kept(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_get_int64(d, "Number", 7) == 7);
    CHECK(defaults_load(d) == DEFAULTS_ERROR_UNREACHABLE);
    CHECK(defaults_state(d) == DEFAULTS_STATE_UNREACHABLE);
    CHECK(defaults_set_int64(d, "Number", 8) == 0 && defaults_get_int64(d, "Number", 7) == 8);
    /* Nothing can come, so neither waits, and both say why. */
    CHECK(defaults_flush(d, PATIENCE) == DEFAULTS_ERROR_UNREACHABLE);
    CHECK(strstr(defaults_error_message(), "no program defaultsd is installed"));
    CHECK(defaults_synchronize(d, PATIENCE) == DEFAULTS_ERROR_UNREACHABLE);
    CHECK(strstr(defaults_error_message(), "no program defaultsd is installed"));
    CHECK(!defaults_is_locked(d, "Number"));
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_get_int64(change, "Number", 3) == 3);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_UNREACHABLE);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_UNREACHABLE);
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_int64(change, "Number", 9) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_UNREACHABLE);
    CHECK(defaults_get_int64(d, "Number", 7) == 8);
    defaults_close(d);
}

/* The runner leaves out the bus, but not the daemon. */
void a_private_daemon_stores_values(void) {
    defaults_t *d = open_domain();
    int64_t before = defaults_get_int64(d, "Number", 0);
    CHECK(defaults_set_int64(d, "Number", before + 1) == 0);
    CHECK(defaults_synchronize(d, PATIENCE) == 0);
    CHECK(defaults_state(d) == DEFAULTS_STATE_PRIVATE);
    printf("number %d\n", (int)before + 1);
    defaults_close(d);
}

void a_forked_process_gets_errors(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_int64(d, "Number", 5) == 0 && defaults_get_int64(d, "Number", 0) == 5);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        size_t count = 0;
        CHECK(defaults_get_int64(d, "Number", 7) == 7);
        CHECK(defaults_last_error() == DEFAULTS_ERROR_FORKED);
        CHECK_TEXT(defaults_get_string(d, "Number", "mine"), "mine");
        CHECK(defaults_set_int64(d, "Number", 6) == DEFAULTS_ERROR_FORKED);
        CHECK(defaults_open(DOMAIN) == NULL && defaults_last_error() == DEFAULTS_ERROR_FORKED);
        CHECK(defaults_load(d) == DEFAULTS_ERROR_FORKED && defaults_fd(d) == -1);
        CHECK(defaults_state(d) == DEFAULTS_STATE_UNREACHABLE);
        CHECK(defaults_copy_keys(d, DEFAULTS_LAYER_NONE, &count) == NULL && count == 0);
        CHECK(defaults_dispatch(d) == DEFAULTS_ERROR_FORKED);
        CHECK(defaults_change_set_int64(change, "Number", 6) == DEFAULTS_ERROR_FORKED);
        CHECK(defaults_commit(change, 0, NULL) == DEFAULTS_ERROR_FORKED);
        CHECK(defaults_watch(d, NULL, note, NULL, NULL) == 0);
        defaults_close(d);
        _exit(0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(defaults_change_set_int64(change, "Number", 6) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == 0 && defaults_get_int64(d, "Number", 0) == 6);
    defaults_close(d);
}

/* Calls every function of a key with it. */
static void use_key(defaults_t *d, const char *key, int code) {
    size_t size = 1;
    uint64_t generation = 0;
    CHECK(defaults_get_bool(d, key, true) && (int)defaults_last_error() == code);
    CHECK(defaults_get_int64(d, key, 3) == 3 && (int)defaults_last_error() == code);
    CHECK(defaults_get_double(d, key, 3) == 3 && (int)defaults_last_error() == code);
    CHECK_TEXT(defaults_get_string(d, key, "x"), "x");
    CHECK((int)defaults_last_error() == code);
    CHECK(!defaults_get_bytes(d, key, &size) && size == 0 && (int)defaults_last_error() == code);
    CHECK(!defaults_copy_json(d, key) && (int)defaults_last_error() == code);
    CHECK(!defaults_copy_json_in(d, DEFAULTS_LAYER_HOST, key) && (int)defaults_last_error() == code);
    CHECK(!defaults_copy_archive(d, key, &size) && (int)defaults_last_error() == code);
    CHECK(defaults_layer(d, key) == DEFAULTS_LAYER_NONE && (int)defaults_last_error() == code);
    CHECK(!defaults_is_locked(d, key) && (int)defaults_last_error() == code);
    CHECK(defaults_set_bool(d, key, true) == code && defaults_set_int64(d, key, 1) == code);
    CHECK(defaults_set_double(d, key, 1) == code && defaults_set_string(d, key, "") == code);
    CHECK(defaults_set_bytes(d, key, "", 0) == code && defaults_set_json(d, key, "1") == code);
    CHECK(defaults_set_archive(d, key, "", 0) != 0 && defaults_remove(d, key) == code);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, key, &generation) == code);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    if (change) {
        CHECK(defaults_change_get_int64(change, key, 3) == 3 && (int)defaults_last_error() == code);
        CHECK(defaults_change_set_bool(change, key, true) == code);
        CHECK(defaults_change_expect(change, key, 1) == code);
        CHECK(defaults_change_remove(change, key) == code);
        CHECK(!defaults_change_copy_json(change, key));
        CHECK(defaults_commit(change, 0, NULL) == code);
    }
    CHECK(strlen(defaults_error_message()) > 10);
}

static void note_nothing(
    defaults_t *d, const char *key, int code, const char *message, void *context) {
    (void)d, (void)key, (void)code, (void)message, (void)context;
}

void hostile_arguments_are_errors(void) {
    defaults_t *d = open_domain();
    char text[2048];
    size_t size = 0;
    const char *names[] = {"", ".", "a..b", "a b", "a@host", "\xff\xfe", "\xc3", "a/b", "h\xc3\xa9"};
    for (size_t place = 0; place < sizeof names / sizeof *names; place++) {
        CHECK(defaults_open(names[place]) == NULL);
        CHECK(defaults_last_error() == DEFAULTS_ERROR_NAME ||
              defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    }
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    CHECK(defaults_open(text) == NULL && defaults_last_error() == DEFAULTS_ERROR_NAME);
    CHECK(defaults_open(NULL) == NULL && defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    use_key(d, text, DEFAULTS_ERROR_NAME);
    use_key(d, "", DEFAULTS_ERROR_NAME);
    use_key(d, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", DEFAULTS_ERROR_NAME);
    use_key(d, "\xed\xa0\x80", DEFAULTS_ERROR_NAME);
    use_key(NULL, "Key", DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_get_bytes(d, "Key", NULL) && defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_copy_archive(d, "Key", NULL));
    CHECK(defaults_get_int64(d, NULL, 3) == 3 && defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_string(d, "Key", NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_string(d, "Key", "\xff") == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_json(d, "Key", NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_json(d, "Key", "\xff") == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_json(d, "Key", "") == DEFAULTS_ERROR_VALUE);
    CHECK(strstr(defaults_error_message(), "is not JSON"));
    CHECK(defaults_set_json(d, "Key", "1e999") == DEFAULTS_ERROR_VALUE);
    CHECK(!strstr(defaults_error_message(), "is not JSON"));
    CHECK(defaults_set_bytes(d, "Key", NULL, 1) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_set_bytes(d, "Key", "", SIZE_MAX) == DEFAULTS_ERROR_TOO_LARGE);
    CHECK(defaults_set_archive(d, "Key", "", SIZE_MAX / 2) == DEFAULTS_ERROR_TOO_LARGE);
    /* Deep nesting does not use up the stack. */
    char *deep = (char *)malloc(400001);
    CHECK(deep);
    memset(deep, '[', 200000);
    memset(deep + 200000, ']', 200000);
    deep[400000] = 0;
    CHECK(defaults_set_json(d, "Deep", deep) == DEFAULTS_ERROR_VALUE);
    memset(deep, '[', 9000);
    memset(deep + 9000, ']', 9000);
    deep[18000] = 0;
    int code = defaults_set_json(d, "Deep", deep);
    CHECK(code == 0 && defaults_get_int64(d, "Deep", 3) == 3);
    CHECK_TEXT(defaults_copy_json(d, "Deep"), deep);
    free(deep);
    size = (size_t)17 << 20;
    char *large = (char *)malloc(size + 1);
    CHECK(large);
    memset(large, 'x', size);
    large[size] = 0;
    CHECK(defaults_set_string(d, "Key", large) == DEFAULTS_ERROR_TOO_LARGE);
    CHECK(defaults_set_bytes(d, "Key", large, size) == DEFAULTS_ERROR_TOO_LARGE);
    free(large);
    CHECK(defaults_begin(d, (defaults_layer_t)99) == NULL);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_copy_keys(d, (defaults_layer_t)99, NULL));
    CHECK(strcmp(defaults_layer_name(-1), "") == 0 && strcmp(defaults_layer_name(10), "") == 0);
    CHECK(strcmp(defaults_error_name(-1), "unknown") == 0);
    CHECK(strcmp(defaults_error_name(7), "DEFAULTS_ERROR_NOT_WRITABLE") == 0);
    CHECK(defaults_commit(NULL, 0, NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, "Key", NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_watch(d, NULL, NULL, NULL, NULL) == 0);
    CHECK(defaults_watch(d, "", note, NULL, NULL) == 0);
    CHECK(defaults_watch(NULL, NULL, note, NULL, NULL) == 0);
    CHECK(defaults_watch_failures(d, NULL, NULL, NULL) == 0);
    CHECK(defaults_watch_failures(NULL, note_nothing, NULL, NULL) == 0);
    CHECK(defaults_unwatch(d, 77) == DEFAULTS_ERROR_NOT_FOUND);
    CHECK(defaults_dispatch(NULL) == DEFAULTS_ERROR_ARGUMENT && defaults_fd(NULL) == -1);
    CHECK(defaults_flush(NULL, 1) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(strchr(defaults_version(), '.'));
    defaults_close(NULL);
    defaults_cancel(NULL);
    defaults_free(NULL);
    defaults_close(d);
}

static void *fail_elsewhere(void *context) {
    CHECK(defaults_last_error() == DEFAULTS_OK);
    CHECK(defaults_set_json((defaults_t *)context, "Key", "{") == DEFAULTS_ERROR_VALUE);
    return NULL;
}

void errors_belong_to_the_thread(void) {
    defaults_t *d = open_domain();
    pthread_t thread;
    CHECK(defaults_set_int64(d, "", 1) == DEFAULTS_ERROR_NAME);
    const char *message = defaults_error_message();
    CHECK(pthread_create(&thread, NULL, fail_elsewhere, d) == 0);
    pthread_join(thread, NULL);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NAME && defaults_error_message() == message);
    CHECK(strstr(message, "1024"));
    CHECK(defaults_set_int64(d, "Key", 1) == 0 && defaults_last_error() == DEFAULTS_OK);
    defaults_close(d);
}

/* Unicode says that both names are the same text. */
void keys_are_told_apart_by_their_bytes(void) {
    const char *composed = "caf\303\251", *decomposed = "cafe\314\201";
    defaults_t *d = open_domain();
    uint64_t first = 0, second = 0;
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_int64(change, composed, 1) == 0);
    CHECK(defaults_change_set_int64(change, decomposed, 2) == 0);
    CHECK(defaults_change_get_int64(change, composed, 0) == 1);
    CHECK(defaults_change_get_int64(change, decomposed, 0) == 2);
    CHECK(defaults_commit(change, PATIENCE, NULL) == 0);
    CHECK(defaults_get_int64(d, composed, 0) == 1 && defaults_get_int64(d, decomposed, 0) == 2);
    CHECK(defaults_set_int64(d, composed, 3) == 0);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, composed, &first) == 0);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, decomposed, &second) == 0 && first != second);
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, composed, second) == 0);
    CHECK(defaults_change_expect(change, decomposed, second) == 0);
    CHECK(defaults_change_set_int64(change, "Other", 1) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_CONFLICT);
    defaults_close(d);
}

void an_expectation_alone_is_checked(void) {
    defaults_t *d = open_domain();
    struct failed failed;
    uint64_t generation = 0;
    memset(&failed, 0, sizeof failed);
    CHECK(defaults_set_int64(d, "Score", 1) == 0);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, "Score", &generation) == 0 && generation);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, "Score", generation) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == 0);
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, "Score", 0) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_CONFLICT);
    /* Also if the change has only read. */
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_get_int64(change, "Score", 0) == 1);
    run_tool("write " DOMAIN " Score -int 2");
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_CONFLICT);
    CHECK(defaults_watch_failures(d, note_failure, &failed, NULL));
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, "Score", 0) == 0);
    CHECK(defaults_commit(change, 0, NULL) == 0);
    while (failed.calls == 0) dispatch_once(d);
    CHECK(failed.code == DEFAULTS_ERROR_CONFLICT && strcmp(failed.key, "Score") == 0);
    CHECK(defaults_flush(d, PATIENCE) == DEFAULTS_ERROR_CONFLICT);
    CHECK(defaults_set_int64(d, "Score", 3) == 0 && defaults_flush(d, PATIENCE) == 0);
    defaults_close(d);
}

void reads_of_many_names_need_little_memory(void) {
    defaults_t *d = open_domain();
    struct seen seen;
    size_t before = 0;
    char key[32];
    memset(&seen, 0, sizeof seen);
    CHECK(defaults_load(d) == 0);
    CHECK(defaults_watch(d, NULL, note, &seen, release));
    for (int number = 0; number < 100000; number++) {
        snprintf(key, sizeof key, "A name without a value %d", number);
        CHECK(defaults_get_int64(d, key, 7) == 7);
        if (number == 20000) before = mallinfo2().uordblks;
    }
    CHECK(mallinfo2().uordblks < before + (4 << 20));
    /* Changes of names that were dropped arrive. */
    run_tool("write " DOMAIN " 'A name without a value 5' -int 1");
    while (seen.calls == 0) dispatch_once(d);
    CHECK(defaults_get_int64(d, "A name without a value 5", 7) == 1);
    CHECK(defaults_get_int64(d, "A name without a value 6", 7) == 7);
    defaults_close(d);
}

static void *set_once(void *context) {
    static int number;
    CHECK(defaults_set_int64((defaults_t *)context, "Raced", ++number) == 0);
    return NULL;
}

static void *dispatch_often(void *context) {
    for (int turn = 0; turn < 200; turn++) CHECK(defaults_dispatch((defaults_t *)context) == 0);
    return NULL;
}

/* If the descriptor is not readable, nothing waits. The race is rare: this tries it. */
void a_watch_of_another_thread_is_not_missed(void) {
    defaults_t *d = open_domain();
    struct pollfd descriptor = {0, POLLIN, 0};
    descriptor.fd = defaults_fd(d);
    CHECK(defaults_load(d) == 0);
    for (int round = 0; round < 100; round++) {
        struct seen seen;
        pthread_t setter, dispatcher;
        memset(&seen, 0, sizeof seen);
        CHECK(pthread_create(&dispatcher, NULL, dispatch_often, d) == 0);
        CHECK(pthread_create(&setter, NULL, set_once, d) == 0);
        unsigned watch = defaults_watch(d, "Raced", note, &seen, NULL);
        pthread_join(setter, NULL);
        pthread_join(dispatcher, NULL);
        int before = seen.calls;
        bool isReadable = poll(&descriptor, 1, 0) == 1;
        CHECK(watch && defaults_dispatch(d) == 0 && (isReadable || seen.calls == before));
        CHECK(defaults_unwatch(d, watch) == 0);
    }
    defaults_close(d);
}

struct busy {
    int calls;
};

/* Causes the next call of itself. */
static void write_again(defaults_t *d, const char *key, unsigned origin, void *context) {
    struct busy *busy = (struct busy *)context;
    (void)origin;
    CHECK(defaults_set_int64(d, key, 1000 + ++busy->calls) == 0);
}

void all_watches_have_their_turn(void) {
    defaults_t *d = open_domain();
    struct busy busy = {0};
    struct seen seen;
    struct pollfd descriptor = {0, POLLIN, 0};
    memset(&seen, 0, sizeof seen);
    descriptor.fd = defaults_fd(d);
    CHECK(defaults_load(d) == 0);
    CHECK(defaults_watch(d, "Busy", write_again, &busy, NULL));
    CHECK(defaults_watch(d, "Busy", note, &seen, release));
    CHECK(defaults_set_int64(d, "Busy", 1) == 0);
    for (int turn = 1; turn < 4; turn++) {
        CHECK(poll(&descriptor, 1, 0) == 1 && defaults_dispatch(d) == 0);
        CHECK(busy.calls == turn && seen.calls == turn);
    }
    defaults_close(d);
    /* Many changes of one watch leave room for those of another one. */
    d = open_domain();
    memset(&seen, 0, sizeof seen);
    struct seen last;
    memset(&last, 0, sizeof last);
    CHECK(defaults_watch(d, NULL, note, &seen, NULL) && defaults_watch(d, "Last", note, &last, NULL));
    for (int number = 0; number < 3000; number++) {
        char key[32];
        snprintf(key, sizeof key, "Key%d", number);
        CHECK(defaults_set_int64(d, key, 1) == 0);
    }
    CHECK(defaults_set_int64(d, "Last", 1) == 0 && defaults_dispatch(d) == 0);
    CHECK(last.calls == 1 && seen.calls < 3001);
    while (seen.calls < 3001) dispatch_once(d);
    defaults_close(d);
}

/* What a dialog does that runs a main loop of its own. */
static void run_inner_loop(defaults_t *d, const char *key, unsigned origin, void *context) {
    struct pollfd descriptor = {0, POLLIN, 0};
    (void)key, (void)origin;
    descriptor.fd = defaults_fd(d);
    if ((*(int *)context)++ > 0) return;
    CHECK(defaults_set_int64(d, "Inner", 1) == 0 && poll(&descriptor, 1, 0) == 1);
    CHECK(defaults_dispatch(d) == DEFAULTS_ERROR_BUSY);
    CHECK(poll(&descriptor, 1, 0) == 0);
}

void a_main_loop_inside_a_callback_rests(void) {
    defaults_t *d = open_domain();
    int calls = 0;
    CHECK(defaults_fd(d) >= 0 && defaults_load(d) == 0);
    CHECK(defaults_watch(d, NULL, run_inner_loop, &calls, NULL));
    CHECK(defaults_set_int64(d, "Outer", 1) == 0 && defaults_dispatch(d) == 0 && calls == 1);
    /* What came meanwhile is not lost. */
    dispatch_once(d);
    CHECK(calls == 2);
    defaults_close(d);
}

void words_in_another_encoding_are_words(void) {
    const char *words[] = {"game", "Gr\374n.txt", "-Volume", "7", "-File", "\377"};
    defaults_t *d = defaults_open_with_arguments(DOMAIN, 6, words);
    CHECK(d && defaults_get_int64(d, "Volume", 0) == 7);
    CHECK_TEXT(defaults_get_string(d, "File", NULL), "\357\277\275");
    defaults_close(d);
}

/* Opens a domain, and uses everything that returns memory or keeps some. */
static void use_a_handle(int number) {
    defaults_t *d = open_domain();
    size_t size = 0;
    CHECK(defaults_set_string(d, "Text", "text that is longer than a short string") == 0);
    CHECK_TEXT(defaults_get_string(d, "Text", NULL), "text that is longer than a short string");
    defaults_free(defaults_copy_json(d, "Text"));
    defaults_free(defaults_copy_archive(d, "Text", &size));
    defaults_free(defaults_copy_keys(d, DEFAULTS_LAYER_NONE, NULL));
    CHECK(defaults_set_json(d, "Bad", "{") == DEFAULTS_ERROR_VALUE);
    CHECK(defaults_watch(d, "Text", note, NULL, NULL) && defaults_fd(d) >= 0);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_int64(change, "Number", number) == 0);
    if (number % 2) defaults_cancel(change);
    else CHECK(defaults_commit(change, 0, NULL) == 0);
    if (number % 200 == 0) CHECK(defaults_flush(d, PATIENCE) == 0);
    defaults_close(d);
}

void handles_give_back_their_memory(void) {
    size_t before = 0;
    for (int number = 0; number < 500; number++) {
        use_a_handle(number);
        if (number == 100) before = mallinfo2().uordblks;
    }
    size_t after = mallinfo2().uordblks;
    /* A leak of 256 bytes in each of the 400 handles would be more; a handle has several thousand. Watches of
     * failures are left out, because they end on another thread. */
    CHECK(after < before + 102400);
}

/* What a program that becomes a service does, and then opens its own files. */
static void take_numbers(int *files, int count) {
    for (int number = 3; number < 256; number++) close(number);
    for (int index = 0; index < count; index++) {
        char path[] = "/tmp/cd-file-XXXXXX";
        files[index] = mkstemp(path);
        CHECK(files[index] >= 0 && unlink(path) == 0);
        CHECK(write(files[index], "precious", 8) == 8 && lseek(files[index], 0, SEEK_SET) == 0);
    }
}

static void check_files(const int *files, int count) {
    char found[64];
    for (int index = 0; index < count; index++) {
        CHECK(lseek(files[index], 0, SEEK_CUR) == 0);
        CHECK(pread(files[index], found, sizeof found, 0) == 8 && memcmp(found, "precious", 8) == 0);
    }
}

void nothing_is_written_into_files_of_a_program_that_closed_all_descriptors(void) {
    defaults_t *d = open_domain();
    struct seen all;
    memset(&all, 0, sizeof all);
    CHECK(defaults_load(d) == 0 && defaults_fd(d) >= 0);
    CHECK(defaults_watch(d, NULL, note, &all, release));
    for (int turn = 1; turn <= 3; turn++) {
        int files[40];
        /* What is on its way at this moment may have the numbers already, such as the answers on a new
         * connection to the daemon's own socket. */
        for (int number = 0; number < 100; number++)
            CHECK(defaults_set_int64(d, "Other", turn * 100 + number) == 0 && defaults_flush(d, PATIENCE) == 0);
        CHECK(defaults_dispatch(d) == 0);
        all.calls = turn - 1;
        take_numbers(files, 40);
        CHECK(defaults_set_int64(d, "Volume", turn) == 0);
        CHECK(defaults_flush(d, PATIENCE) == 0);
        CHECK(defaults_dispatch(d) == 0 && all.calls == turn);
        /* There is another descriptor, which becomes readable at the next change. */
        struct pollfd descriptor = {0, POLLIN, 0};
        descriptor.fd = defaults_fd(d);
        for (int index = 0; index < 40; index++) CHECK(descriptor.fd != files[index]);
        CHECK(poll(&descriptor, 1, 0) == 0);
        CHECK(defaults_set_int64(d, "Volume", turn + 10) == 0);
        CHECK(poll(&descriptor, 1, (int)PATIENCE) == 1);
        CHECK(defaults_dispatch(d) == 0);
        all.calls = turn;
        check_files(files, 40);
        for (int index = 0; index < 40; index++) close(files[index]);
    }
    CHECK(defaults_flush(d, PATIENCE) == 0);
    ask("expect Volume 13");
    defaults_close(d);
}
