#include "claunch.h"

#include <sys/auxv.h>

static char *const *g_arguments;

/* Given by ld.so to what runs before main(). */
__attribute__((constructor)) static void keep(int count, char **arguments) {
    (void)count;
    g_arguments = arguments;
}

char *const *claunch_own_arguments(void) {
    return g_arguments;
}

const char *claunch_own_executable(void) {
    return (const char *)getauxval(AT_EXECFN);
}
