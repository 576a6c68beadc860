/* The C interface of libdbus-1 as Swift sees it.
 *
 * Nothing is added. What Swift cannot import is not needed (the printf-like functions: messages are
 * built by iterators) or has a function of the same meaning (DBUS_ERROR_INIT: dbus_error_init), and
 * the type codes, which are casts of characters, are the raw values of TypeCode. */

#ifndef DEFAULTSD_CDBUS_SHIM_H
#define DEFAULTSD_CDBUS_SHIM_H

#if __has_include(<dbus/dbus.h>)
#include <dbus/dbus.h>
#else
#error "libdbus's headers are missing: install libdbus-1-dev (Debian, Ubuntu) or dbus-devel (Fedora), and pkg-config."
#endif

#endif
