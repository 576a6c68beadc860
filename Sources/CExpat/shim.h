#ifndef CEXPAT_SHIM_H
#define CEXPAT_SHIM_H

/* The header's place is known only to the compiler's search path. */
#include <expat.h>

#endif
