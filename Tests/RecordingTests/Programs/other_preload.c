// Another library that is preloaded beside the recorder, and moves the environment, as one that
// sets a variable does.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FRONT = 16, MOST = 1000 };
static char *g_environment[FRONT + MOST];

__attribute__((constructor)) static void loaded(void) {
    for (int i = 0; environ[i] && i < MOST - 1; i++)
        g_environment[FRONT + i] = environ[i];
    environ = g_environment + FRONT;
    // memtrace itself is started with it, too, which an unrecorded run has no equal of.
    if (strcmp(program_invocation_short_name, "memtrace") != 0)
        write(1, "other loaded\n", 13);
}
