/* The C interface of libdbus-1 as Swift sees it, and what the event loop under it needs of Linux.
 *
 * Of libdbus nothing is added. What Swift cannot import is not needed (the printf-like functions:
 * messages are built by iterators) or has a function of the same meaning (DBUS_ERROR_INIT:
 * dbus_error_init), and the type codes, which are casts of characters, are the raw values of
 * TypeCode. */

#ifndef DEFAULTSD_CDBUS_SHIM_H
#define DEFAULTSD_CDBUS_SHIM_H

#include <dbus/dbus.h>

/* Swift's module of the C library leaves this header out. */
#include <sys/eventfd.h>

#include <sys/prctl.h>

/* prctl(2) takes variable arguments, and pthread_setname_np is declared for _GNU_SOURCE only; Swift
 * imports neither. */
static inline void cdbus_name_this_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
