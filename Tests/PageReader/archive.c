/* The format: a binary property list ("bplist00", objects, a table of their offsets, 32 bytes that
 * tell where that is) of the dictionary
 *
 *     {"$archiver": "NSKeyedArchiver", "$objects": ["$null", STRING],
 *      "$top": {"root": UID 1}, "$version": 100000}
 *
 * In it a reference to an object is one byte, an offset four. */
#include "archive.h"
#include "shared.h"

#include <stdio.h>
#include <string.h>

enum { OBJECTS = 13, DIGITS = 16 };

static uint8_t *put(uint8_t *at, const void *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

static uint8_t *put_integer(uint8_t *at, uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        *at++ = (uint8_t)(value >> shift);
    return at;
}

/* All names in an archive are ASCII and shorter than 15 characters, or have a length byte. */
static uint8_t *put_string(uint8_t *at, const char *text) {
    size_t length = strlen(text);
    if (length < 15)
        *at++ = (uint8_t)(0x50 | length);
    else
        at = put(at, (uint8_t[]){0x5f, 0x10, (uint8_t)length}, 3);
    return put(at, text, length);
}

static uint8_t *put_number(uint8_t *at, size_t length, uint64_t number) {
    at = put(at, (uint8_t[]){0x5f, 0x12}, 2);
    at = put_integer(at, length, 4);
    char digits[DIGITS + 1];
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)number);
    at = put(at, digits, DIGITS);
    memset(at, '.', length - DIGITS);
    return at + length - DIGITS;
}

size_t archive_number(uint8_t *bytes, size_t length, uint64_t number) {
    static const uint8_t top[] = {0xd4, 1, 2, 3, 4, 5, 6, 9, 12}, objects[] = {0xa2, 7, 8},
                         root[] = {0xd1, 10, 11}, uid[] = {0x80, 1};
    static const char *const names[] = {"$archiver", "$objects", "$top", "$version"};
    uint64_t offsets[OBJECTS];
    int object = 0;
    uint8_t *at = put(bytes, "bplist00", 8);
#define NEXT (offsets[object++] = (uint64_t)(at - bytes))
    NEXT, at = put(at, top, sizeof top);
    for (int name = 0; name < 4; name++)
        NEXT, at = put_string(at, names[name]);
    NEXT, at = put_string(at, "NSKeyedArchiver");
    NEXT, at = put(at, objects, sizeof objects);
    NEXT, at = put_string(at, "$null");
    NEXT, at = put_number(at, length, number);
    NEXT, at = put(at, root, sizeof root);
    NEXT, at = put_string(at, "root");
    NEXT, at = put(at, uid, sizeof uid);
    NEXT, *at++ = 0x12, at = put_integer(at, 100000, 4);
#undef NEXT
    uint64_t table = (uint64_t)(at - bytes);
    for (object = 0; object < OBJECTS; object++)
        at = put_integer(at, offsets[object], 4);
    at = put(at, (uint8_t[]){0, 0, 0, 0, 0, 0, 4, 1}, 8);
    at = put_integer(at, OBJECTS, 8);
    at = put_integer(at, 0, 8);
    at = put_integer(at, table, 8);
    return (size_t)(at - bytes);
}

/* The service gives back the bytes that it was given, so the number is behind the only mark of a
 * string whose length has four bytes. */
uint64_t number_in_archive(const uint8_t *bytes, size_t size) {
    static const uint8_t mark[] = {0x5f, 0x12};
    for (size_t at = 8; at + 6 + DIGITS <= size; at++) {
        if (memcmp(bytes + at, mark, sizeof mark) != 0)
            continue;
        char digits[DIGITS + 1] = {0};
        memcpy(digits, bytes + at + 6, DIGITS);
        unsigned long long number;
        if (sscanf(digits, "%16llx", &number) == 1)
            return number;
    }
    fail("an archive of %zu bytes has no number in it: it is none that was set", size);
}
