#include "page.h"
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT_WORD, COUNT_WORD, FIRST_SLOT = 16, WORD = sizeof(uint64_t) };

struct page map_page(int descriptor) {
    struct stat status;
    if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY)
        fail("the page can be written through the descriptor");
    if (fstat(descriptor, &status) != 0 || status.st_size < FIRST_SLOT * WORD)
        fail("the page is too short to have a header");
    void *address = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED)
        fail("the page cannot be mapped: %s", strerror(errno));
    close(descriptor);
    struct page page = {address, (uint64_t)status.st_size / WORD};
    if (page.words[FORMAT_WORD] != 1 || page.words[COUNT_WORD] == 0
        || page.words[COUNT_WORD] > page.count - FIRST_SLOT)
        fail("the page has format %llu and %llu slots in %llu words",
             (unsigned long long)page.words[FORMAT_WORD],
             (unsigned long long)page.words[COUNT_WORD], (unsigned long long)page.count);
    return page;
}

void unmap_page(struct page page) {
    munmap((void *)page.words, page.count * WORD);
}

uint64_t slots_of(struct page page) {
    return page.words[COUNT_WORD];
}

uint32_t slot_of(struct page page, const char *domain) {
    return FIRST_SLOT + (uint32_t)(fnv1a(domain) % slots_of(page));
}

uint64_t load_slot(struct page page, uint32_t slot) {
    return __atomic_load_n(page.words + slot, __ATOMIC_ACQUIRE);
}
