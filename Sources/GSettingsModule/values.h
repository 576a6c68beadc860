#pragma once

#include <glib.h>

/* The value form of a value; unref it. NULL if it has none: it contains a handle, it is deeper than D-Bus
 * carries, or it has more values than the service takes.
 *
 * - Parameter says_type: Whether the form says the type in any case, as the value that it replaces does. */
GVariant *form_of_value(GVariant *value, gboolean says_type);

/* Whether a form says its type. */
gboolean form_says_type(GVariant *form);

/* The value of this type that a form is; unref it. NULL if the form is not that of such a value. */
GVariant *value_of_form(GVariant *form, const GVariantType *type);
