// Allocates and frees more in all than a control group of its own lets it have at a time.
//
// Begins anew in the group; says so, and ends, where none can be made.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 64 << 20, BLOCK = 4096, BLOCKS = 3 * (LIMIT / BLOCK) };

static const char *const roots[] = {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"};
static const char *const limits[] = {"memory.limit_in_bytes", "memory.max"};

static int write_number(const char *group, const char *name, long number) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", group, name);
    FILE *file = access(path, W_OK) == 0 ? fopen(path, "w") : NULL;
    if (!file)
        return 0;
    fprintf(file, "%ld", number);
    return fclose(file) == 0;
}

static int enter_group(int kind) {
    char group[128];
    snprintf(group, sizeof group, "%s/memtrace-test-%d", roots[kind], getpid());
    if (mkdir(group, 0700) != 0)
        return 0;
    if (write_number(group, limits[kind], LIMIT) && write_number(group, "cgroup.procs", getpid()))
        return 1;
    rmdir(group);
    return 0;
}

static void leave_group(void) {
    for (int kind = 0; kind < 2; kind++) {
        char group[128];
        snprintf(group, sizeof group, "%s/memtrace-test-%d", roots[kind], getpid());
        write_number(roots[kind], "cgroup.procs", getpid());
        rmdir(group);
    }
}

int main(int count, char **arguments) {
    if (count < 2) {
        if (!enter_group(0) && !enter_group(1)) {
            puts("no group");
            return 0;
        }
        execl("/proc/self/exe", arguments[0], "inside", (char *)NULL);
        return 1;
    }
    for (int i = 0; i < BLOCKS; i++) {
        void *volatile block = malloc(BLOCK);
        memset(block, 1, BLOCK);
        free(block);
    }
    puts("freed all");
    leave_group();
    return 0;
}
