#pragma once

#include <glib.h>

/* The value form of a value whose type the schema gives; unref it. NULL if it has none: it contains a
 * handle, it is deeper than D-Bus carries, or it has more values than the service takes. */
GVariant *form_of_value(GVariant *value);

/* The value of this type that a form is; unref it. NULL if the form is not that of such a value. */
GVariant *value_of_form(GVariant *form, const GVariantType *type);
