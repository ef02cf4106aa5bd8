/* The environment for a program that is executed: with us in it, or without. */
#ifndef MT_EXEC_ENVIRONMENT_H
#define MT_EXEC_ENVIRONMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_OWN_VARIABLES = 9 };

/* Storage for a changed environment, 20 KiB. In pages of its own, since the host's stack may be
 * smaller. A vfork child that has become another program leaves them behind in its parent's memory,
 * where the same thread takes them over the next time. */
struct mt_exec_environment {
    struct mt_exec_environment *outer; /* in use below a signal handler */
    uint32_t pid;                      /* of the user */
    char **variables;
    char *small[512];
    size_t mapped; /* bytes of `variables` when it has pages of its own */
    char preload[2 * PATH_MAX];
    char output[PATH_MAX + 32];
    char session[64], parent[96], follow[32], depth[32], sample[48];
    char replaces[PATH_MAX + 32];
};

/* Storage for the calling thread, to be given back with mt_exec_environment_end; NULL when there is
 * no memory. */
struct mt_exec_environment *mt_exec_environment_begin(void);

/* The environment with which to execute a program.
 *
 * storage      may be NULL: nothing is changed then
 * environment  what the host passes; may be NULL
 * reason       why the program cannot be recorded, or NULL
 * returns      what to pass on: `environment` itself when nothing is to change or cannot be
 *              changed, else storage->variables */
char *const *mt_exec_environment(struct mt_exec_environment *storage, char *const *environment,
                                 const char *reason);

/* Gives back what mt_exec_environment took: the exec has failed, or a child was spawned. */
void mt_exec_environment_end(struct mt_exec_environment *storage);

#endif
