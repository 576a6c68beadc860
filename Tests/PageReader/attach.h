/* Attach, and the copies of domains that it begins. */
#ifndef PAGE_READER_ATTACH_H
#define PAGE_READER_ATTACH_H

#include "page.h"
#include "shared.h"

#include <dbus/dbus.h>

/* What a client keeps of a domain: its values as they were at a generation. */
struct copy {
    uint32_t slot;
    uint64_t generation;
    uint64_t values[KEYS];
};

struct attachment {
    DBusConnection *connection;
    struct page page;
    struct copy copies[DOMAINS];
};

/* Maps the page, names the domains as it has slots, and makes a copy of every domain. */
void begin(struct attachment *attachment);

/* Maps the page that the service has now, and makes a copy of every domain. */
void attach(struct attachment *attachment);

/* Makes a copy current: asks what has changed since it was. */
void refresh(struct attachment *attachment, int domain);

#endif
