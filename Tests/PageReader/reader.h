/* The process that reads. */
#ifndef PAGE_READER_READER_H
#define PAGE_READER_READER_H

#include "attach.h"
#include "shared.h"

#include <sys/types.h>

struct reading {
    uint64_t reads, copies, kills, attachments;
};

/* Reads keys by the contract's rule, as often as the options say, and checks that no value is older
 * than what was acknowledged before the read began. Kills the daemon now and then. */
struct reading read_all(
    struct attachment *attachment, struct shared *shared, const struct options *options,
    pid_t writer);

#endif
