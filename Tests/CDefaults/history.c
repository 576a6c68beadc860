/* The history: what is listed, what a key had and has, taking back and doing again, and wrong arguments. */
#include "trial.h"

void the_history_has_actions_with_their_keys(void);
void the_history_is_filtered(void);
void a_value_is_read_as_it_was(void);
void an_action_is_taken_back_and_done_again(void);
void an_action_that_was_replaced_is_taken_back_by_force_only(void);
void large_values_of_the_history_are_fetched(void);
void hostile_arguments_of_the_history_are_errors(void);

/* The newest action that has changed the domain. */
static defaults_history_t *newest(defaults_t *d) {
    defaults_history_t *history = defaults_history(d, DOMAIN, NULL, NULL, INT64_MIN, 0, 1);
    CHECK(history && defaults_history_count(history) == 1);
    return history;
}

static uint64_t number_of(const defaults_history_t *history, defaults_action_number_t which) {
    int64_t number = defaults_history_number(history, 0, which);
    CHECK(defaults_last_error() == DEFAULTS_OK && number >= 0);
    return (uint64_t)number;
}

/* Takes the newest action of the domain back. */
static int undo_newest(defaults_t *d, unsigned flags, uint64_t *generation, defaults_history_keys_t **keys) {
    defaults_history_t *history = newest(d);
    uint64_t number = number_of(history, DEFAULTS_ACTION_NUMBER);
    uint64_t last = number_of(history, DEFAULTS_ACTION_LAST);
    defaults_history_free(history);
    return defaults_undo(d, number, last, flags, generation, keys);
}

void the_history_has_actions_with_their_keys(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_json(d, "Player", "{\"name\":\"ada\"}") == 0);
    defaults_history_t *history = newest(d);
    CHECK(number_of(history, DEFAULTS_ACTION_NUMBER) >= 1);
    CHECK(number_of(history, DEFAULTS_ACTION_FIRST) > 0);
    CHECK(number_of(history, DEFAULTS_ACTION_LAST) >= number_of(history, DEFAULTS_ACTION_FIRST));
    CHECK(number_of(history, DEFAULTS_ACTION_BEGAN) > 1700000000);
    CHECK(number_of(history, DEFAULTS_ACTION_ENDED) >= number_of(history, DEFAULTS_ACTION_BEGAN));
    CHECK(number_of(history, DEFAULTS_ACTION_KEYS) == 1);
    CHECK(number_of(history, DEFAULTS_ACTION_KNOWN_KEYS) == 1);
    CHECK(number_of(history, DEFAULTS_ACTION_UNDONE) == 0);
    CHECK(number_of(history, DEFAULTS_ACTION_BY_HAND) == 1);
    CHECK(strncmp(defaults_history_text(history, 0, DEFAULTS_ACTION_PROGRAM), "trials", 6) == 0);
    CHECK(strcmp(defaults_history_text(history, 0, DEFAULTS_ACTION_APPLICATION), "") == 0);
    CHECK(strcmp(defaults_history_text(history, 0, DEFAULTS_ACTION_MACHINE), "") == 0);
    CHECK(strcmp(defaults_history_text(history, 0, DEFAULTS_ACTION_OWNER), "") == 0);
    CHECK(strcmp(defaults_history_text(history, 0, DEFAULTS_ACTION_KIND), "change") == 0);
    defaults_history_keys_t *keys = defaults_history_keys(d, number_of(history, DEFAULTS_ACTION_NUMBER));
    defaults_history_free(history);
    CHECK(keys && defaults_history_keys_count(keys) == 1);
    CHECK(strcmp(defaults_history_keys_text(keys, 0, DEFAULTS_HISTORY_KEY_DOMAIN), DOMAIN) == 0);
    CHECK(strcmp(defaults_history_keys_text(keys, 0, DEFAULTS_HISTORY_KEY_NAME), "Player") == 0);
    CHECK(strcmp(defaults_history_keys_text(keys, 0, DEFAULTS_HISTORY_KEY_STANDING), "holds") == 0);
    CHECK(defaults_history_keys_knowledge(keys, 0, DEFAULTS_HISTORY_BEFORE) == DEFAULTS_KNOWLEDGE_ABSENT);
    CHECK(defaults_history_keys_knowledge(keys, 0, DEFAULTS_HISTORY_AFTER) == DEFAULTS_KNOWLEDGE_PRESENT);
    CHECK(!defaults_history_keys_copy_json(keys, 0, DEFAULTS_HISTORY_BEFORE));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    CHECK_TEXT(defaults_history_keys_copy_json(keys, 0, DEFAULTS_HISTORY_AFTER), "{\"name\":\"ada\"}");
    /* The archive can be stored again. */
    size_t size = 0;
    void *archive = defaults_history_keys_copy_archive(keys, 0, DEFAULTS_HISTORY_AFTER, &size);
    CHECK(archive && size > 0 && defaults_set_archive(d, "Copy", archive, size) == 0);
    CHECK_TEXT(defaults_copy_json(d, "Copy"), "{\"name\":\"ada\"}");
    defaults_free(archive);
    /* A list holds when its handle is closed. */
    defaults_close(d);
    CHECK_TEXT(defaults_history_keys_copy_json(keys, 0, DEFAULTS_HISTORY_AFTER), "{\"name\":\"ada\"}");
    defaults_history_keys_free(keys);
}

void the_history_is_filtered(void) {
    defaults_t *d = open_domain();
    run_tool("write " DOMAIN " Volume -int 1");
    run_tool("write " DOMAIN " Theme -string dark");
    run_tool("write " DOMAIN ".other Volume -int 2");
    CHECK(defaults_set_int64(d, "Volume", 3) == 0);
    defaults_history_t *all = defaults_history(d, NULL, NULL, NULL, INT64_MIN, 0, 0);
    CHECK(all && defaults_history_count(all) == 4 && defaults_history_known_from(all) > 0);
    for (size_t place = 1; place < 4; place++)
        CHECK(defaults_history_number(all, place, DEFAULTS_ACTION_NUMBER) <
              defaults_history_number(all, place - 1, DEFAULTS_ACTION_NUMBER));
    defaults_history_t *part = defaults_history(d, DOMAIN, NULL, NULL, INT64_MIN, 0, 0);
    CHECK(part && defaults_history_count(part) == 3);
    defaults_history_free(part);
    part = defaults_history(d, DOMAIN, "Volume", NULL, INT64_MIN, 0, 0);
    CHECK(part && defaults_history_count(part) == 2);
    defaults_history_free(part);
    part = defaults_history(d, NULL, NULL, "defaultsctl", INT64_MIN, 0, 0);
    CHECK(part && defaults_history_count(part) == 3);
    defaults_history_free(part);
    part = defaults_history(d, NULL, NULL, NULL, INT64_MAX, 0, 0);
    CHECK(part && defaults_history_count(part) == 0);
    defaults_history_free(part);
    /* One after the other. */
    uint64_t before = 0;
    for (size_t place = 0; place < 4; place++) {
        part = defaults_history(d, NULL, NULL, NULL, INT64_MIN, before, 1);
        CHECK(part && defaults_history_count(part) == 1);
        before = number_of(part, DEFAULTS_ACTION_NUMBER);
        CHECK((int64_t)before == defaults_history_number(all, place, DEFAULTS_ACTION_NUMBER));
        defaults_history_free(part);
    }
    defaults_history_free(all);
    defaults_close(d);
}

void a_value_is_read_as_it_was(void) {
    defaults_t *d = open_domain();
    run_tool("write " DOMAIN " Volume -int 1");
    run_tool("write " DOMAIN " Volume -int 2");
    defaults_history_t *history = defaults_history(d, DOMAIN, NULL, NULL, INT64_MIN, 0, 0);
    CHECK(history && defaults_history_count(history) == 2);
    uint64_t second = (uint64_t)defaults_history_number(history, 0, DEFAULTS_ACTION_LAST);
    uint64_t first = (uint64_t)defaults_history_number(history, 1, DEFAULTS_ACTION_LAST);
    int64_t ended = defaults_history_number(history, 0, DEFAULTS_ACTION_ENDED);
    defaults_history_free(history);
    CHECK_TEXT(defaults_history_copy_json_at(d, DOMAIN, "Volume", first, 0), "1");
    CHECK_TEXT(defaults_history_copy_json_at(d, DOMAIN, "Volume", second, 0), "2");
    CHECK_TEXT(defaults_history_copy_json_at(d, DOMAIN, "Volume", 0, ended + 1), "2");
    size_t size = 0;
    void *archive = defaults_history_copy_archive_at(d, DOMAIN, "Volume", first, 0, &size);
    CHECK(archive && size > 0 && defaults_set_archive(d, "Copy", archive, size) == 0);
    CHECK_TEXT(defaults_copy_json(d, "Copy"), "1");
    defaults_free(archive);
    CHECK(!defaults_history_copy_json_at(d, DOMAIN, "Volume", first - 1, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    /* Within an action, it is not known. */
    CHECK(defaults_set_int64(d, "Slider", 1) == 0 && defaults_flush(d, PATIENCE) == 0);
    CHECK(defaults_set_int64(d, "Slider", 2) == 0 && defaults_flush(d, PATIENCE) == 0);
    history = defaults_history(d, DOMAIN, "Slider", NULL, INT64_MIN, 0, 1);
    first = number_of(history, DEFAULTS_ACTION_LAST) - 1;
    defaults_history_free(history);
    CHECK(!defaults_history_copy_json_at(d, DOMAIN, "Slider", first, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_REFUSED);
    CHECK(!defaults_history_copy_json_at(d, DOMAIN, "Volume", UINT64_MAX, 0));
    CHECK(!defaults_history_copy_archive_at(d, DOMAIN, "None", second, 0, &size) && size == 0);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    defaults_close(d);
}

void an_action_is_taken_back_and_done_again(void) {
    defaults_t *d = open_domain();
    run_tool("write " DOMAIN " Volume -int 1");
    CHECK(defaults_set_int64(d, "Volume", 2) == 0);
    uint64_t generation = 7;
    defaults_history_keys_t *keys = NULL;
    /* Nothing is changed at first. */
    CHECK(undo_newest(d, DEFAULTS_UNDO_DRY_RUN, &generation, &keys) == 0);
    CHECK(generation == 0 && defaults_history_keys_count(keys) == 1);
    CHECK_TEXT(defaults_history_keys_copy_json(keys, 0, DEFAULTS_HISTORY_BEFORE), "2");
    CHECK_TEXT(defaults_history_keys_copy_json(keys, 0, DEFAULTS_HISTORY_AFTER), "1");
    defaults_history_keys_free(keys);
    CHECK(defaults_get_int64(d, "Volume", 0) == 2);
    CHECK(undo_newest(d, DEFAULTS_UNDO_DURABLE, &generation, NULL) == 0 && generation > 0);
    CHECK(defaults_get_int64(d, "Volume", 0) == 1);
    defaults_history_t *history = newest(d);
    CHECK(strcmp(defaults_history_text(history, 0, DEFAULTS_ACTION_KIND), "undo") == 0);
    CHECK(defaults_redo(d, number_of(history, DEFAULTS_ACTION_NUMBER),
                        number_of(history, DEFAULTS_ACTION_LAST), 0, NULL, &keys) == 0);
    CHECK(defaults_history_keys_count(keys) == 1);
    CHECK(defaults_get_int64(d, "Volume", 0) == 2);
    defaults_history_keys_free(keys);
    defaults_history_free(history);
    defaults_close(d);
}

void an_action_that_was_replaced_is_taken_back_by_force_only(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_int64(d, "Volume", 1) == 0);
    defaults_history_t *history = newest(d);
    uint64_t number = number_of(history, DEFAULTS_ACTION_NUMBER);
    uint64_t last = number_of(history, DEFAULTS_ACTION_LAST);
    defaults_history_free(history);
    run_tool("write " DOMAIN " Volume -int 2");
    defaults_history_keys_t *keys = NULL;
    CHECK(defaults_undo(d, number, last, 0, NULL, &keys) == DEFAULTS_ERROR_CONFLICT && !keys);
    CHECK(defaults_undo(d, number, last + 1000, 0, NULL, NULL) != 0);
    CHECK(defaults_get_int64(d, "Volume", 0) == 2);
    CHECK(defaults_undo(d, number, last, DEFAULTS_UNDO_PARTIAL, NULL, &keys) == 0);
    CHECK(strcmp(defaults_history_keys_text(keys, 0, DEFAULTS_HISTORY_KEY_STANDING), "changed") == 0);
    defaults_history_keys_free(keys);
    CHECK(defaults_get_int64(d, "Volume", 0) == 2);
    CHECK(defaults_undo(d, number, last, DEFAULTS_UNDO_FORCE, NULL, NULL) == 0);
    CHECK(defaults_get_int64(d, "Volume", -1) == -1);
    CHECK(defaults_undo(d, 1000000, 1, 0, NULL, NULL) == DEFAULTS_ERROR_NOT_FOUND);
    CHECK(!defaults_history_keys(d, 1000000) && defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    defaults_close(d);
}

void large_values_of_the_history_are_fetched(void) {
    enum { KEYS = 200, SIZE = 100000 };
    static unsigned char bytes[SIZE];
    defaults_t *d = open_domain();
    char name[16];
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    memset(bytes, 'a', SIZE);
    for (int number = 0; number < KEYS; number++) {
        snprintf(name, sizeof name, "Key%d", number);
        CHECK(defaults_change_set_bytes(change, name, bytes, SIZE) == 0);
    }
    CHECK(defaults_commit(change, PATIENCE, NULL) == 0);
    defaults_history_t *history = newest(d);
    defaults_history_keys_t *keys = defaults_history_keys(d, number_of(history, DEFAULTS_ACTION_NUMBER));
    CHECK(keys && defaults_history_keys_count(keys) == KEYS);
    /* More than a reply has. */
    for (size_t place = 0; place < KEYS; place++) {
        size_t size = 0;
        CHECK(defaults_history_keys_knowledge(keys, place, DEFAULTS_HISTORY_AFTER) ==
              DEFAULTS_KNOWLEDGE_PRESENT);
        void *archive = defaults_history_keys_copy_archive(keys, place, DEFAULTS_HISTORY_AFTER, &size);
        CHECK(archive && size > SIZE);
        defaults_free(archive);
    }
    defaults_history_keys_free(keys);
    defaults_history_free(history);
    defaults_close(d);
}

void hostile_arguments_of_the_history_are_errors(void) {
    defaults_t *d = open_domain();
    size_t size = 1;
    CHECK(!defaults_history(NULL, NULL, NULL, NULL, 0, 0, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_history(d, "\xff", NULL, NULL, 0, 0, 0));
    CHECK(!defaults_history(d, NULL, NULL, "\xff", 0, 0, 0));
    CHECK(!defaults_history(d, DOMAIN, "", NULL, 0, 0, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NAME);
    CHECK(!defaults_history(d, NULL, "Volume", NULL, 0, 0, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_history(d, "not a domain", NULL, NULL, 0, 0, 0));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NAME);
    CHECK(defaults_history_count(NULL) == 0 && defaults_last_error() == DEFAULTS_ERROR_NAME);
    CHECK(defaults_history_known_from(NULL) == 0 && defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_history_text(NULL, 0, DEFAULTS_ACTION_KIND));
    CHECK(defaults_history_number(NULL, 0, DEFAULTS_ACTION_NUMBER) == 0);
    CHECK(!defaults_history_copy_json_at(NULL, DOMAIN, "Volume", 1, 0));
    CHECK(!defaults_history_copy_json_at(d, NULL, "Volume", 1, 0));
    CHECK(!defaults_history_copy_json_at(d, DOMAIN, NULL, 1, 0));
    CHECK(!defaults_history_copy_json_at(d, "not a domain", "Volume", 1, 0));
    CHECK(!defaults_history_copy_archive_at(d, DOMAIN, "Volume", 1, 0, NULL));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_history_keys(NULL, 1) && defaults_history_keys_count(NULL) == 0);
    CHECK(!defaults_history_keys_text(NULL, 0, DEFAULTS_HISTORY_KEY_NAME));
    CHECK(!defaults_history_keys_copy_json(NULL, 0, DEFAULTS_HISTORY_AFTER));
    CHECK(!defaults_history_keys_copy_archive(NULL, 0, DEFAULTS_HISTORY_AFTER, NULL));
    CHECK(defaults_history_keys_knowledge(NULL, 0, DEFAULTS_HISTORY_AFTER) == DEFAULTS_KNOWLEDGE_UNKNOWN);
    CHECK(defaults_undo(NULL, 1, 1, 0, NULL, NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_undo(d, 1, 1, 1u << 31, NULL, NULL) == DEFAULTS_ERROR_ARGUMENT);
    CHECK(defaults_redo(d, 1, 1, 16, NULL, NULL) == DEFAULTS_ERROR_ARGUMENT);
    defaults_history_free(NULL);
    defaults_history_keys_free(NULL);
    CHECK(defaults_set_int64(d, "Volume", 1) == 0);
    defaults_history_t *history = newest(d);
    CHECK(defaults_history_number(history, 1, DEFAULTS_ACTION_NUMBER) == 0);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    CHECK(!defaults_history_text(history, SIZE_MAX, DEFAULTS_ACTION_KIND));
    CHECK(!defaults_history_text(history, 0, (defaults_action_text_t)6));
    CHECK(defaults_history_number(history, 0, (defaults_action_number_t)9) == 0);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
    defaults_history_keys_t *keys = defaults_history_keys(d, number_of(history, DEFAULTS_ACTION_NUMBER));
    CHECK(keys && !defaults_history_keys_text(keys, 1, DEFAULTS_HISTORY_KEY_NAME));
    CHECK(!defaults_history_keys_text(keys, 0, (defaults_history_key_text_t)3));
    CHECK(!defaults_history_keys_copy_json(keys, 0, (defaults_history_side_t)2));
    CHECK(!defaults_history_keys_copy_archive(keys, 0, DEFAULTS_HISTORY_AFTER, NULL));
    CHECK(!defaults_history_keys_copy_archive(keys, 9, DEFAULTS_HISTORY_AFTER, &size) && size == 0);
    defaults_history_keys_free(keys);
    defaults_history_free(history);
    defaults_close(d);
}
