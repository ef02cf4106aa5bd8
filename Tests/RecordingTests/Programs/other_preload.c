// Another library that is preloaded beside the recorder.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    // memtrace itself is started with it, too, which an unrecorded run has no equal of.
    if (strcmp(program_invocation_short_name, "memtrace") != 0)
        write(1, "other loaded\n", 13);
}
