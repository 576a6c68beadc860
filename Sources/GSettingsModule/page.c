/* Invariant: no read of the page fails, whatever other programs do with its file. The page is mapped only if
 * its file is sealed against cuts, as that is which a service manager keeps. Otherwise, a program of the
 * user could cut it, and a read of the mapping would end this process. So it is read by calls. A page whose
 * descriptor the program has closed is void. */
#define _GNU_SOURCE
#include "page.h"

#include "descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT_WORD = 0, SLOTS_WORD = 1, GENERATION_WORD = 2, FIRST_SLOT = 16 };
enum { FORMAT = 1, LARGEST = 1 << 24 };

struct Page {
    int references;
    size_t words;
    /* The mapping, or NULL. */
    const guint64 *base;
    /* The file, if it is not mapped. */
    Descriptor descriptor;
};

/* The number of words of a page, or 0. */
static size_t words_in_file(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    if (status.st_size < FIRST_SLOT * (off_t)sizeof(guint64) || status.st_size > LARGEST)
        return 0;
    return (size_t)status.st_size / sizeof(guint64);
}

static gboolean is_sealed(int descriptor) {
    int seals = fcntl(descriptor, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

static const guint64 *map(int descriptor, size_t words) {
    void *base = mmap(NULL, words * sizeof(guint64), PROT_READ, MAP_SHARED, descriptor, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* A word of the page, which the system reads as a whole. */
static guint64 word_at(const Page *page, size_t index) {
    guint64 word;
    if (page->base != NULL)
        return __atomic_load_n(page->base + index, __ATOMIC_ACQUIRE);
    if (!descriptor_is_ours(&page->descriptor))
        return G_MAXUINT64;
    ssize_t size = pread(page->descriptor.number, &word, sizeof word, (off_t)(index * sizeof word));
    return size == sizeof word ? word : G_MAXUINT64;
}

Page *page_open(int descriptor) {
    size_t words = words_in_file(descriptor);
    if (words == 0)
        return NULL;
    Page *page = g_new(Page, 1);
    *page = (Page){.references = 1, .words = words, .descriptor = NO_DESCRIPTOR};
    if (is_sealed(descriptor))
        page->base = map(descriptor, words);
    if (page->base == NULL)
        page->descriptor = descriptor_of(fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
    if (word_at(page, FORMAT_WORD) == FORMAT && word_at(page, SLOTS_WORD) <= words - FIRST_SLOT)
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
    if (page->base != NULL)
        munmap((void *)page->base, page->words * sizeof(guint64));
    descriptor_close(&page->descriptor);
    g_free(page);
}

gboolean page_is_void(const Page *page) {
    return word_at(page, GENERATION_WORD) == G_MAXUINT64;
}

guint64 page_counter(const Page *page, guint32 word) {
    return word >= FIRST_SLOT && word < page->words ? word_at(page, word) : G_MAXUINT64;
}
