/* The process that writes. */
#ifndef PAGE_READER_WRITER_H
#define PAGE_READER_WRITER_H

#include "page.h"
#include "shared.h"

/* Sets keys to rising numbers, many calls under way at a time, until as many were acknowledged as
 * the options say. What was acknowledged is published in the shared memory. */
void write_all(struct shared *shared, const struct options *options, struct page page);

#endif
