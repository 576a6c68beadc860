/* The page of counters, as the contract has it. */
#ifndef PAGE_READER_PAGE_H
#define PAGE_READER_PAGE_H

#include <stdint.h>

struct page {
    const uint64_t *words;
    uint64_t count;
};

/* Maps the page of a descriptor, and closes the descriptor. Ends the process if it is not a page
 * of format 1, or could be written. */
struct page map_page(int descriptor);

void unmap_page(struct page page);

/* The number of slots. */
uint64_t slots_of(struct page page);

/* The word that is the slot of a domain. */
uint32_t slot_of(struct page page, const char *domain);

/* A slot, loaded with acquire order. */
uint64_t load_slot(struct page page, uint32_t slot);

#endif
