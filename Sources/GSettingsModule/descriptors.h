#pragma once

#include <glib.h>
#include <sys/types.h>

/* A descriptor of this module, and which file it is. A program may close all descriptors, and open files of
 * its own that get the same numbers. So a number is used only if it is still that file. */
typedef struct {
    int number;
    dev_t device;
    ino_t inode;
} Descriptor;

#define NO_DESCRIPTOR ((Descriptor){.number = -1})

/* Notes which file a number is. If the number is not open, the result is NO_DESCRIPTOR. */
Descriptor descriptor_of(int number);

gboolean descriptor_is_ours(const Descriptor *descriptor);

/* Closes it if it is still ours. Afterwards it is NO_DESCRIPTOR. */
void descriptor_close(Descriptor *descriptor);
