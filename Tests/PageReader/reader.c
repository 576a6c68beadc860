#include "reader.h"
#include "service.h"

#include <sys/wait.h>

static const uint64_t void_slot = UINT64_MAX;

/* The rule: a copy is current while the slot is not above its generation. */
static uint64_t read_key(
    struct attachment *attachment, int domain, int key, struct reading *reading) {
    const struct copy *copy = &attachment->copies[domain];
    uint64_t slot = load_slot(attachment->page, copy->slot);
    if (slot <= copy->generation) {
        reading->copies++;
    } else if (slot == void_slot) {
        /* Nothing will be current by this page again. */
        attach(attachment);
        reading->attachments++;
    } else {
        refresh(attachment, domain);
    }
    return copy->values[key];
}

static void check(
    const struct attachment *attachment, int domain, int key, uint64_t value,
    uint64_t acknowledged, const struct reading *reading) {
    const struct copy *copy = &attachment->copies[domain];
    if (value < acknowledged)
        fail("read %llu, after %llu kills, is stale: Key%d of %s is %llu, and %llu was acknowledged"
             " before; the copy has generation %llu, its slot %u has %llu",
             (unsigned long long)reading->reads, (unsigned long long)reading->kills, key,
             domain_names[domain], (unsigned long long)value, (unsigned long long)acknowledged,
             (unsigned long long)copy->generation, copy->slot,
             (unsigned long long)load_slot(attachment->page, copy->slot));
}

/* Whether the writer has ended; ends this process, too, where that one failed. */
static bool has_ended(pid_t writer, bool wait) {
    int status;
    if (waitpid(writer, &status, wait ? 0 : WNOHANG) != writer)
        return false;
    if (status != 0)
        fail("the writer has failed");
    return true;
}

struct reading read_all(
    struct attachment *attachment, struct shared *shared, const struct options *options,
    pid_t writer) {
    struct reading reading = {.attachments = 1};
    uint64_t random = ~options->seed, next_kill = options->kill_every;
    bool writes_ended = false;
    while (reading.reads < options->reads) {
        uint64_t writes = atomic_load(&shared->writes);
        if (is_ahead(reading.reads, options->reads, writes, options->writes)) {
            writes_ended = writes_ended || has_ended(writer, false);
            pause_a_moment();
            continue;
        }
        if (options->kill_every && writes >= next_kill) {
            reading.kills += kill_daemon(attachment->connection);
            next_kill = writes + options->kill_every / 2
                + next_random(&random) % options->kill_every;
        }
        int domain = (int)(next_random(&random) % DOMAINS);
        int key = (int)(next_random(&random) % KEYS);
        uint64_t acknowledged = atomic_load(&shared->acknowledged[domain][key]);
        uint64_t value = read_key(attachment, domain, key, &reading);
        check(attachment, domain, key, value, acknowledged, &reading);
        atomic_store(&shared->reads, ++reading.reads);
    }
    if (!writes_ended)
        has_ended(writer, true);
    return reading;
}
