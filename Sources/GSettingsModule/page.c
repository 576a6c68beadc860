#include "page.h"

#include <sys/mman.h>
#include <sys/stat.h>

enum { FORMAT_WORD = 0, SLOTS_WORD = 1, GENERATION_WORD = 2, FIRST_SLOT = 16 };
enum { FORMAT = 1, LARGEST = 1 << 24 };

struct Page {
    int references;
    size_t words;
    const guint64 *base;
};

/* The number of words of a page, or 0. The daemon keeps the length of the file. If another program of
 * the user makes it shorter, the mapping is lost, as it is with the file of dconf. */
static size_t words_in_file(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    if (status.st_size < FIRST_SLOT * (off_t)sizeof(guint64) || status.st_size > LARGEST)
        return 0;
    return (size_t)status.st_size / sizeof(guint64);
}

Page *page_map(int descriptor) {
    size_t words = words_in_file(descriptor);
    if (words == 0)
        return NULL;
    void *base = mmap(NULL, words * sizeof(guint64), PROT_READ, MAP_SHARED, descriptor, 0);
    if (base == MAP_FAILED)
        return NULL;
    Page *page = g_new(Page, 1);
    *page = (Page){.references = 1, .words = words, .base = base};
    if (page->base[FORMAT_WORD] == FORMAT && page->base[SLOTS_WORD] <= words - FIRST_SLOT)
        return page;
    page_unref(page);
    return NULL;
}

Page *page_ref(Page *page) {
    page->references++;
    return page;
}

void page_unref(Page *page) {
    if (--page->references > 0)
        return;
    munmap((void *)page->base, page->words * sizeof(guint64));
    g_free(page);
}

gboolean page_is_void(const Page *page) {
    return counter_value(page->base + GENERATION_WORD) == G_MAXUINT64;
}

const guint64 *page_counter(const Page *page, guint32 word) {
    return word >= FIRST_SLOT && word < page->words ? page->base + word : NULL;
}
