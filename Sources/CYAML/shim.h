#ifndef CYAML_SHIM_H
#define CYAML_SHIM_H

/* The types only: the functions are found when the library is loaded. */
#include <yaml.h>

#endif
