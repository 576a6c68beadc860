#pragma once

#include <glib.h>

/* The page of counters, mapped; the contract describes it at Attach. */
typedef struct Page Page;

/* Maps the page of a descriptor, which stays the caller's. NULL if it is not a page of this format. */
Page *page_map(int descriptor);
Page *page_ref(Page *page);
void page_unref(Page *page);

/* Whether the page is not updated any more. */
gboolean page_is_void(const Page *page);

/* The counter in a word of the page; NULL if there is none. It is valid as long as the page. */
const guint64 *page_counter(const Page *page, guint32 word);

/* The value of a counter. All changes up to it were made before. */
static inline guint64 counter_value(const guint64 *counter) {
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}
