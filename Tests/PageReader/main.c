/* Proves the rule of the counter page with nothing of ours in it: libdbus, mmap and this C.
 *
 * One process writes by Set, many calls at a time, and publishes what was acknowledged. Another one
 * reads by the rule: where the slot of the domain has no generation above that of the copy, the
 * copy is current; otherwise GetChanges makes it so. No read may give a value that is older than
 * what was acknowledged before it. Now and then the daemon is killed, and the bus starts another.
 *
 * usage: PageReader [--writes N] [--reads N] [--kill-every WRITES] [--seed N]
 *
 * Prints one line, or ends with 1 and the facts at the first stale read. */
#include "reader.h"
#include "service.h"
#include "writer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct options parse(int count, char **arguments) {
    struct options options = {.writes = 1000000, .reads = 1000000, .kill_every = 50000, .seed = 1};
    const struct {
        const char *name;
        uint64_t *value;
    } known[] = {{"--writes", &options.writes},
                 {"--reads", &options.reads},
                 {"--kill-every", &options.kill_every},
                 {"--seed", &options.seed}};
    for (int argument = 1; argument < count; argument += 2) {
        size_t index = 0;
        while (index < sizeof known / sizeof *known
               && strcmp(arguments[argument], known[index].name) != 0)
            index++;
        char *end = NULL;
        if (index < sizeof known / sizeof *known && argument + 1 < count)
            *known[index].value = strtoull(arguments[argument + 1], &end, 10);
        if (!end || end == arguments[argument + 1] || *end)
            fail("usage: PageReader [--writes N] [--reads N] [--kill-every WRITES] [--seed N]");
    }
    return options;
}

static struct shared *make_shared(void) {
    void *address = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED)
        fail("no memory to share");
    return address;
}

int main(int count, char **arguments) {
    struct options options = parse(count, arguments);
    struct shared *shared = make_shared();
    static struct attachment attachment;
    attachment.connection = connect_to_bus();
    begin(&attachment);

    pid_t parent = getpid(), writer = fork();
    if (writer < 0)
        fail("no second process");
    if (writer == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            write_all(shared, &options, attachment.page);
        _exit(0);
    }
    struct reading reading = read_all(&attachment, shared, &options, writer);
    printf("reads %llu copies %llu writes %llu kills %llu attachments %llu seed %llu\n",
           (unsigned long long)reading.reads, (unsigned long long)reading.copies,
           (unsigned long long)atomic_load(&shared->writes), (unsigned long long)reading.kills,
           (unsigned long long)reading.attachments, (unsigned long long)options.seed);
    return 0;
}
