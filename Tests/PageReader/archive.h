/* Keyed archives of one string that holds a number. */
#ifndef PAGE_READER_ARCHIVE_H
#define PAGE_READER_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

/* The most bytes that an archive of a string of so many characters has. */
#define ARCHIVE_SIZE(length) ((length) + 256)

/* Writes the archive of a string of `length` characters, 16 at least: the number in 16 hexadecimal
 * digits, and then dots. Returns its size. */
size_t archive_number(uint8_t *bytes, size_t length, uint64_t number);

/* The number in an archive that archive_number has made. */
uint64_t number_in_archive(const uint8_t *bytes, size_t size);

#endif
