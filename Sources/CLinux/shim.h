/* Linux headers that Swift's Glibc module leaves out. */
#ifndef DEFAULTSD_CLINUX_SHIM_H
#define DEFAULTSD_CLINUX_SHIM_H

#include <sys/signalfd.h> /* signals as a descriptor, so that the poll loop reads them */

#endif
