#include "descriptors.h"

#include <sys/stat.h>
#include <unistd.h>

Descriptor descriptor_of(int number) {
    struct stat status;
    if (number < 0 || fstat(number, &status) != 0)
        return NO_DESCRIPTOR;
    return (Descriptor){.number = number, .device = status.st_dev, .inode = status.st_ino};
}

gboolean descriptor_is_ours(const Descriptor *descriptor) {
    struct stat status;
    return descriptor->number >= 0 && fstat(descriptor->number, &status) == 0
        && status.st_dev == descriptor->device && status.st_ino == descriptor->inode;
}

void descriptor_close(Descriptor *descriptor) {
    if (descriptor_is_ours(descriptor))
        close(descriptor->number);
    *descriptor = NO_DESCRIPTOR;
}
