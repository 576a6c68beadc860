#include "shared.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char domain_names[DOMAINS][64];

void name_domains(uint64_t slots) {
    for (int domain = 0; domain < DOMAINS; domain++)
        snprintf(domain_names[domain], sizeof domain_names[domain], "org.example.App%d", domain);
    uint64_t shared_slot = fnv1a(domain_names[0]) % slots;
    uint64_t candidate = DOMAINS;
    do
        snprintf(domain_names[1], sizeof domain_names[1], "org.example.App%llu",
                 (unsigned long long)candidate++);
    while (fnv1a(domain_names[1]) % slots != shared_slot);
}

void name_key(char name[16], int key) {
    snprintf(name, 16, "Key%d", key);
}

uint64_t fnv1a(const char *text) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

uint64_t next_random(uint64_t *state) {
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

bool is_ahead(uint64_t done, uint64_t of, uint64_t others_done, uint64_t of_others) {
    const uint64_t slack = 1000;
    return done * of_others > (others_done + slack) * of && others_done < of_others;
}

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void pause_a_moment(void) {
    struct timespec moment = {.tv_nsec = 100000};
    nanosleep(&moment, NULL);
}
