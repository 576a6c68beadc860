/* Values of all types, there and back; what is read where there is none; changes of several keys. */
#include "trial.h"

void values_of_all_types_come_back(void);
void values_of_all_types_are_stored(void);
void a_missing_or_wrong_value_gives_the_fallback(void);
void numbers_are_converted_if_that_is_exact(void);
void the_layers_of_a_key_are_told(void);
void a_locked_key_is_refused(void);
void the_command_line_sets_keys(void);
void a_change_is_made_as_a_whole(void);
void a_change_from_an_old_value_conflicts(void);
void a_change_keeps_its_first_error(void);
void large_values_are_fetched(void);
void the_sanitizer_finds_a_leak(void);

void values_of_all_types_come_back(void) {
    defaults_t *d = open_domain();
    size_t size = 0;
    const unsigned char data[] = {0, 1, 254, 255};
    CHECK(defaults_set_bool(d, "Flag", true) == 0);
    CHECK(defaults_set_int64(d, "Least", INT64_MIN) == 0);
    CHECK(defaults_set_int64(d, "Most", INT64_MAX) == 0);
    CHECK(defaults_set_double(d, "Real", 0.1) == 0);
    CHECK(defaults_set_string(d, "Text", "h\xc3\xa9llo \xf0\x9f\x8e\xb2") == 0);
    CHECK(defaults_set_string(d, "Empty", "") == 0);
    CHECK(defaults_set_bytes(d, "Data", data, sizeof data) == 0);
    CHECK(defaults_set_bytes(d, "NoData", NULL, 0) == 0);
    CHECK(defaults_set_json(d, "Player", "{\"$class\":\"Account\",\"username\":\"ada\"}") == 0);
    /* Once as this process has set them, and once as they are stored. */
    for (int round = 0; round < 2; round++) {
        CHECK(defaults_get_bool(d, "Flag", false));
        CHECK(defaults_get_int64(d, "Least", 0) == INT64_MIN);
        CHECK(defaults_get_int64(d, "Most", 0) == INT64_MAX);
        CHECK(defaults_get_double(d, "Real", 0) == 0.1);
        CHECK_TEXT(defaults_get_string(d, "Text", NULL), "h\xc3\xa9llo \xf0\x9f\x8e\xb2");
        CHECK_TEXT(defaults_get_string(d, "Empty", "fallback"), "");
        void *bytes = defaults_get_bytes(d, "Data", &size);
        CHECK(bytes && size == sizeof data && memcmp(bytes, data, size) == 0);
        defaults_free(bytes);
        bytes = defaults_get_bytes(d, "NoData", &size);
        CHECK(bytes && size == 0);
        defaults_free(bytes);
        CHECK_TEXT(defaults_copy_json(d, "Player"), "{\"$class\":\"Account\",\"username\":\"ada\"}");
        CHECK_TEXT(defaults_copy_json(d, "Flag"), "true");
        CHECK(defaults_flush(d, PATIENCE) == 0);
        CHECK(defaults_synchronize(d, PATIENCE) == 0);
    }
    void *archive = defaults_copy_archive(d, "Player", &size);
    CHECK(archive && size > 8 && memcmp(archive, "bplist00", 8) == 0);
    CHECK(defaults_set_archive(d, "Second", archive, size) == 0);
    defaults_free(archive);
    CHECK_TEXT(defaults_copy_json(d, "Second"), "{\"$class\":\"Account\",\"username\":\"ada\"}");
    CHECK(defaults_remove(d, "Second") == 0);
    CHECK(defaults_copy_json(d, "Second") == NULL);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    CHECK(defaults_state(d) == DEFAULTS_STATE_CURRENT);
    defaults_close(d);
}

/* In a second process, after values_of_all_types_come_back. */
void values_of_all_types_are_stored(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_load(d) == 0);
    CHECK(defaults_get_bool(d, "Flag", false));
    CHECK(defaults_get_int64(d, "Least", 0) == INT64_MIN);
    CHECK(defaults_get_double(d, "Real", 0) == 0.1);
    CHECK_TEXT(defaults_get_string(d, "Text", NULL), "h\xc3\xa9llo \xf0\x9f\x8e\xb2");
    CHECK(defaults_get_int64(d, "Second", -1) == -1);
    size_t count = 0;
    char **keys = defaults_copy_keys(d, DEFAULTS_LAYER_DOMAIN, &count);
    CHECK(keys && count >= 8 && keys[count] == NULL);
    for (size_t place = 1; place < count; place++) CHECK(strcmp(keys[place - 1], keys[place]) < 0);
    defaults_free(keys);
    keys = defaults_copy_keys(d, DEFAULTS_LAYER_MANAGED, NULL);
    CHECK(keys && keys[0] == NULL);
    defaults_free(keys);
    defaults_close(d);
}

void a_missing_or_wrong_value_gives_the_fallback(void) {
    defaults_t *d = open_domain();
    size_t size = 7;
    CHECK(defaults_get_bool(d, "None", true) && !defaults_get_bool(d, "None", false));
    CHECK(defaults_last_error() == DEFAULTS_OK && strcmp(defaults_error_message(), "") == 0);
    CHECK(defaults_get_int64(d, "None", -7) == -7);
    CHECK(defaults_get_double(d, "None", 2.5) == 2.5);
    CHECK_TEXT(defaults_get_string(d, "None", "mine"), "mine");
    CHECK(defaults_get_string(d, "None", NULL) == NULL);
    CHECK(defaults_get_bytes(d, "None", &size) == NULL && size == 0);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    CHECK(defaults_layer(d, "None") == DEFAULTS_LAYER_NONE);
    CHECK(defaults_set_json(d, "List", "[1,2]") == 0);
    /* The second time, the value is known. */
    for (int round = 0; round < 3; round++) {
        CHECK(defaults_get_int64(d, "List", -7) == -7);
        CHECK(defaults_last_error() == DEFAULTS_ERROR_TYPE);
        CHECK(strstr(defaults_error_message(), "'List'") && strstr(defaults_error_message(), "integer"));
        CHECK_TEXT(defaults_get_string(d, "List", "mine"), "mine");
        CHECK(defaults_last_error() == DEFAULTS_ERROR_TYPE);
        CHECK(!defaults_get_bool(d, "List", false));
        CHECK(defaults_get_bytes(d, "List", &size) == NULL);
        CHECK(defaults_last_error() == DEFAULTS_ERROR_TYPE);
    }
    CHECK(defaults_set_json(d, "Nul", "\"a\\u0000b\"") == 0);
    CHECK(defaults_get_string(d, "Nul", NULL) == NULL && defaults_last_error() == DEFAULTS_ERROR_TYPE);
    CHECK_TEXT(defaults_copy_json(d, "Nul"), "\"a\\u0000b\"");
    CHECK(defaults_set_json(d, "Bad", "{\"a\":1,}") == DEFAULTS_ERROR_VALUE);
    CHECK(strstr(defaults_error_message(), "line 1"));
    CHECK(defaults_set_archive(d, "Bad", "bplist00", 8) == DEFAULTS_ERROR_VALUE);
    CHECK(defaults_get_int64(d, "Bad", 5) == 5 && defaults_last_error() == DEFAULTS_OK);
    /* A value of another type is replaced, and none is kept under another key. */
    CHECK(defaults_set_int64(d, "List", 3) == 0 && defaults_get_int64(d, "List", 0) == 3);
    CHECK(defaults_layer(d, "List (unreadable)") == DEFAULTS_LAYER_NONE);
    defaults_close(d);
}

void numbers_are_converted_if_that_is_exact(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_double(d, "Whole", 3.0) == 0 && defaults_get_int64(d, "Whole", 0) == 3);
    CHECK(defaults_set_double(d, "Half", 3.5) == 0 && defaults_get_int64(d, "Half", -1) == -1);
    CHECK(defaults_set_double(d, "Huge", 1e300) == 0 && defaults_get_int64(d, "Huge", -1) == -1);
    CHECK(defaults_set_json(d, "Nan", "{\"$real\":\"nan\"}") == 0 ||
          defaults_last_error() == DEFAULTS_ERROR_VALUE);
    CHECK(defaults_get_int64(d, "Nan", -1) == -1);
    CHECK(defaults_set_int64(d, "One", 1) == 0 && defaults_get_double(d, "One", 0) == 1.0);
    CHECK(!defaults_get_bool(d, "One", false) && defaults_last_error() == DEFAULTS_ERROR_TYPE);
    CHECK(defaults_set_int64(d, "Odd", (INT64_C(1) << 53) + 1) == 0);
    CHECK(defaults_get_double(d, "Odd", -1) == -1);
    CHECK(defaults_set_json(d, "Wide", "18446744073709551615") == 0);
    CHECK(defaults_get_int64(d, "Wide", -1) == -1 && defaults_last_error() == DEFAULTS_ERROR_TYPE);
    CHECK(defaults_set_bool(d, "Flag", true) == 0 && defaults_get_int64(d, "Flag", -1) == -1);
    defaults_close(d);
}

void the_layers_of_a_key_are_told(void) {
    defaults_t *d = open_domain(), *global = defaults_open("NSGlobalDomain");
    CHECK(global);
    CHECK(defaults_set_string(global, "Theme", "global") == 0);
    CHECK(defaults_layer(d, "Theme") == DEFAULTS_LAYER_GLOBAL);
    CHECK(strcmp(defaults_layer_name(defaults_layer(d, "Theme")), "global") == 0);
    CHECK_TEXT(defaults_get_string(d, "Theme", NULL), "global");
    CHECK(defaults_set_string(d, "Theme", "own") == 0);
    CHECK(defaults_layer(d, "Theme") == DEFAULTS_LAYER_DOMAIN);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_HOST);
    CHECK(change && defaults_change_set_string(change, "Theme", "host") == 0);
    CHECK(defaults_commit(change, 0, NULL) == 0);
    CHECK(defaults_layer(d, "Theme") == DEFAULTS_LAYER_HOST);
    CHECK_TEXT(defaults_get_string(d, "Theme", NULL), "host");
    CHECK_TEXT(defaults_copy_json_in(d, DEFAULTS_LAYER_DOMAIN, "Theme"), "\"own\"");
    CHECK_TEXT(defaults_copy_json_in(d, DEFAULTS_LAYER_GLOBAL, "Theme"), "\"global\"");
    CHECK(defaults_copy_json_in(d, DEFAULTS_LAYER_SYSTEM, "Theme") == NULL);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_FOUND);
    CHECK(defaults_begin(d, DEFAULTS_LAYER_MANAGED) == NULL);
    CHECK(defaults_last_error() == DEFAULTS_ERROR_NOT_WRITABLE);
    defaults_close(global);
    defaults_close(d);
}

void a_locked_key_is_refused(void) {
    defaults_t *d = open_domain();
    uint64_t generation = 9;
    ask("manage {\"Volume\": 11, \"$locked\": [\"Lock*\"]}");
    CHECK(defaults_get_int64(d, "Volume", 0) == 11);
    CHECK(defaults_layer(d, "Volume") == DEFAULTS_LAYER_MANAGED);
    CHECK(defaults_is_locked(d, "LockedKey") && defaults_is_locked(d, "Volume"));
    CHECK(!defaults_is_locked(d, "Free") && defaults_last_error() == DEFAULTS_OK);
    CHECK(defaults_set_int64(d, "LockedKey", 1) == DEFAULTS_ERROR_LOCKED);
    CHECK(strstr(defaults_error_message(), "LockedKey"));
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_int64(change, "Free", 1) == 0);
    CHECK(defaults_change_set_int64(change, "LockedKey", 1) == 0);
    CHECK(defaults_commit(change, PATIENCE, &generation) == DEFAULTS_ERROR_LOCKED);
    CHECK(generation == 9 && defaults_layer(d, "Free") == DEFAULTS_LAYER_NONE);
    ask("manage {}");
    /* The signal about it is on its way. */
    while (defaults_is_locked(d, "LockedKey")) poll(NULL, 0, 1);
    CHECK(defaults_set_int64(d, "LockedKey", 1) == 0);
    defaults_close(d);
}

void the_command_line_sets_keys(void) {
    const char *const words[] = {"program", "-PlaySound", "NO", "-Volume", "0.5", "-Name", "12"};
    defaults_t *d = defaults_open_with_arguments(DOMAIN ".arguments", 7, words);
    CHECK(d);
    CHECK(!defaults_get_bool(d, "PlaySound", true));
    CHECK(defaults_get_double(d, "Volume", 0) == 0.5);
    CHECK_TEXT(defaults_get_string(d, "Name", NULL), "12");
    CHECK(defaults_get_int64(d, "Name", 0) == 12);
    CHECK(defaults_layer(d, "Name") == DEFAULTS_LAYER_ARGUMENTS);
    defaults_close(d);
    d = defaults_open(DOMAIN);
    CHECK(defaults_layer(d, "Name") == DEFAULTS_LAYER_NONE);
    defaults_close(d);
    CHECK(!defaults_open_with_arguments(DOMAIN, 2, NULL));
    CHECK(defaults_last_error() == DEFAULTS_ERROR_ARGUMENT);
}

void a_change_is_made_as_a_whole(void) {
    defaults_t *d = open_domain();
    uint64_t first = 0, second = 0;
    const char bytes[] = "bytes";
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_bool(change, "Flag", true) == 0);
    CHECK(defaults_change_set_double(change, "Real", 1.5) == 0);
    CHECK(defaults_change_set_bytes(change, "Data", bytes, sizeof bytes) == 0);
    CHECK(defaults_change_set_json(change, "List", "[1]") == 0);
    CHECK(defaults_change_remove(change, "Gone") == 0);
    /* What the change has set is read as it was set; nothing holds yet. */
    CHECK(defaults_change_get_bool(change, "Flag", false));
    CHECK(defaults_change_get_double(change, "Real", 0) == 1.5);
    CHECK_TEXT(defaults_change_copy_json(change, "List"), "[1]");
    CHECK_TEXT(defaults_change_get_string(change, "Gone", "none"), "none");
    CHECK(defaults_layer(d, "Flag") == DEFAULTS_LAYER_NONE);
    CHECK(defaults_commit(change, PATIENCE, &first) == 0 && first > 0);
    CHECK(defaults_get_bool(d, "Flag", false) && defaults_get_double(d, "Real", 0) == 1.5);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, "Flag", &second) == 0 && second == first);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_DOMAIN, "None", &second) == 0 && second == 0);
    CHECK(defaults_generation(d, DEFAULTS_LAYER_MANAGED, "None", &second) ==
          DEFAULTS_ERROR_NOT_WRITABLE);
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_bool(change, "Flag", false) == 0);
    defaults_cancel(change);
    CHECK(defaults_get_bool(d, "Flag", false));
    /* The handle may be closed before. */
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    defaults_close(d);
    CHECK(defaults_change_set_bool(change, "Flag", false) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == 0);
    d = open_domain();
    CHECK(!defaults_get_bool(d, "Flag", true));
    defaults_close(d);
}

void a_change_from_an_old_value_conflicts(void) {
    defaults_t *d = open_domain();
    uint64_t generation = 0;
    CHECK(defaults_set_int64(d, "Score", 1) == 0);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    int64_t score = defaults_change_get_int64(change, "Score", 0);
    CHECK(score == 1);
    run_tool("write " DOMAIN " Score -int 5");
    CHECK(defaults_change_set_int64(change, "Score", score + 1) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_CONFLICT);
    CHECK(defaults_get_int64(d, "Score", 0) == 5);
    /* Again, as a program does it. */
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    score = defaults_change_get_int64(change, "Score", 0);
    CHECK(defaults_change_set_int64(change, "Score", score + 1) == 0);
    CHECK(defaults_commit(change, PATIENCE, &generation) == 0);
    CHECK(defaults_get_int64(d, "Score", 0) == 6);
    /* By a generation. */
    for (int expects_old = 0; expects_old < 2; expects_old++) {
        change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
        CHECK(defaults_change_expect(change, "Score", generation - (uint64_t)expects_old) == 0);
        CHECK(defaults_change_set_int64(change, "Other", expects_old) == 0);
        CHECK(defaults_commit(change, PATIENCE, NULL) ==
              (expects_old ? DEFAULTS_ERROR_CONFLICT : DEFAULTS_OK));
    }
    CHECK(defaults_get_int64(d, "Other", 9) == 0);
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_expect(change, "Score", 0) == 0);
    CHECK(defaults_change_set_int64(change, "Score", 0) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_CONFLICT);
    defaults_close(d);
}

void a_change_keeps_its_first_error(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_json(d, "List", "[1]") == 0);
    defaults_change_t *change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_set_int64(change, "Good", 1) == 0);
    CHECK(defaults_change_set_json(change, "Bad", "{") == DEFAULTS_ERROR_VALUE);
    CHECK(defaults_change_set_int64(change, "", 1) == DEFAULTS_ERROR_NAME);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_VALUE);
    CHECK(defaults_layer(d, "Good") == DEFAULTS_LAYER_NONE);
    /* A value that could not be read is not replaced by what was derived from the fallback. */
    change = defaults_begin(d, DEFAULTS_LAYER_DOMAIN);
    CHECK(defaults_change_get_int64(change, "List", 0) == 0);
    CHECK(defaults_change_set_int64(change, "List", 1) == 0);
    CHECK(defaults_commit(change, PATIENCE, NULL) == DEFAULTS_ERROR_TYPE);
    CHECK_TEXT(defaults_copy_json(d, "List"), "[1]");
    defaults_close(d);
}

void large_values_are_fetched(void) {
    defaults_t *d = open_domain();
    size_t size = (size_t)1 << 20, read = 0;
    char *text = (char *)malloc(size + 1);
    CHECK(text);
    memset(text, 'x', size);
    text[size] = 0;
    CHECK(defaults_set_string(d, "Long", text) == 0);
    CHECK(defaults_set_bytes(d, "Big", text, size) == 0);
    CHECK(defaults_flush(d, PATIENCE) == 0);
    run_tool("write " DOMAIN " Small -int 1");
    for (int round = 0; round < 3; round++) {
        CHECK_TEXT(defaults_get_string(d, "Long", NULL), text);
        void *bytes = defaults_get_bytes(d, "Big", &read);
        CHECK(bytes && read == size && memcmp(bytes, text, size) == 0);
        defaults_free(bytes);
    }
    free(text);
    defaults_close(d);
}

/* The runner expects that it fails with the sanitizer. */
void the_sanitizer_finds_a_leak(void) {
    defaults_t *d = open_domain();
    CHECK(defaults_set_string(d, "Text", "text that nobody frees") == 0);
    for (int number = 0; number < 10; number++) CHECK(defaults_get_string(d, "Text", NULL));
    defaults_close(d);
}
