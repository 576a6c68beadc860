#pragma once

#include <glib.h>

/* The page of counters; the contract describes it at Attach. */
typedef struct Page Page;

/* Opens the page of a descriptor, which stays the caller's. NULL if it is not a page of this format. */
Page *page_open(int descriptor);
Page *page_ref(Page *page);
void page_unref(Page *page);

/* Whether the page is not updated any more. */
gboolean page_is_void(const Page *page);

/* The value of the counter in a word of the page. All changes up to it were made before. If there is no
 * such counter, it is the largest number, as in a void page. */
guint64 page_counter(const Page *page, guint32 word);
