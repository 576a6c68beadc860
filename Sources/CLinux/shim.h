/* Linux headers that Swift's Glibc module leaves out. */
#ifndef DEFAULTSD_CLINUX_SHIM_H
#define DEFAULTSD_CLINUX_SHIM_H

#include <malloc.h>       /* mallopt and malloc_trim, which are GNU's own */
#include <sys/signalfd.h> /* signals as a descriptor, so that the poll loop reads them */

#endif
