/* What the processes of this program share. */
#ifndef PAGE_READER_SHARED_H
#define PAGE_READER_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { DOMAINS = 8, KEYS = 32 };

/* The key whose values are above 64 KiB, so that answers name it and do not send it. It is in the
 * first domain, and is written now and then. */
enum { LARGE_DOMAIN = 0, LARGE_KEY = 0, LARGE_SIZE = 70000 };

struct options {
    uint64_t writes, reads, kill_every, seed;
};

/* In memory that both processes map, made before the second one is. */
struct shared {
    /* For each key the last number whose Set was answered. */
    _Atomic uint64_t acknowledged[DOMAINS][KEYS];
    _Atomic uint64_t writes;
    _Atomic uint64_t reads;
};

/* The names of the domains. The first two are on one slot of the page. */
extern char domain_names[DOMAINS][64];

void name_domains(uint64_t slots);
void name_key(char name[16], int key);

/* FNV-1a of 64 bits, as the contract has it. */
uint64_t fnv1a(const char *text);

/* A sequence of numbers that the seed decides: splitmix64. */
uint64_t next_random(uint64_t *state);

/* Whether one kind of work is so far ahead of the other that it has to wait: reads are to happen
 * beside writes. */
bool is_ahead(uint64_t done, uint64_t of, uint64_t others_done, uint64_t of_others);

/* Ends this process with 1 and a sentence. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Gives the other processes a moment. */
void pause_a_moment(void);

#endif
