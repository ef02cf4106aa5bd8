/* The environment for a program that is executed: with us in it, or without. */
#ifndef MT_EXEC_ENVIRONMENT_H
#define MT_EXEC_ENVIRONMENT_H

#include "base/config_options.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many variables are added at most, and their length with terminators, but for LD_PRELOAD. */
#define MT_ROOM_NUMBER 64
#define MT_ROOM_BYTES 64
#define MT_ROOM_ALIGNMENT 64
#define MT_ROOM_STRING (PATH_MAX + 64)
#define MT_ONE_MORE(field, variable, type, def, low, high, help) +1
#define MT_ROOM_MORE(field, variable, type, def, low, high, help) +MT_ROOM_##type
enum {
    MT_OWN_VARIABLES = 1 MT_FOR_EACH_OPTION(MT_ONE_MORE),
    MT_OWN_VARIABLES_LENGTH = 0 MT_FOR_EACH_OPTION(MT_ROOM_MORE)
};
#undef MT_ONE_MORE
#undef MT_ROOM_MORE

/* Storage for a changed environment, 40 KiB. In pages of its own, since the host's stack may be
 * smaller. A vfork child that has become another program leaves them behind in its parent's memory,
 * where the same thread takes them over the next time. */
struct mt_exec_environment {
    struct mt_exec_environment *outer; /* in use below a signal handler */
    uint32_t pid;                      /* of the user */
    char **variables;
    char *small[512];
    size_t mapped; /* bytes of `variables` when it has pages of its own */
    char preload[2 * PATH_MAX];
    char *long_preload; /* instead, in pages of its own; or NULL */
    size_t long_mapped; /* their bytes */
    char own[MT_OWN_VARIABLES_LENGTH];
};

/* Storage for the calling thread, to be given back with mt_exec_environment_end; NULL when there is
 * no memory. */
struct mt_exec_environment *mt_exec_environment_begin(void);

/* Whether the calling thread, in this process, is between the begin and the end. */
bool mt_exec_environment_is_in_use(void);

/* The environment with which to execute a program.
 *
 * storage      may be NULL: nothing is changed then. What was made in it before is gone
 * environment  what the host passes; may be NULL
 * reason       why the program cannot be recorded, or NULL
 * returns      what to pass on: `environment` itself when nothing is to change or cannot be
 *              changed, else storage->variables */
char *const *mt_exec_environment(struct mt_exec_environment *storage, char *const *environment,
                                 const char *reason);

/* Why a program cannot be recorded although nothing is wrong with its file: what the environment
 * says that the host passes to it. NULL when it says nothing of the kind. */
const char *mt_exec_environment_probe(char *const *environment);

/* The reason where ld.so lists what it would load and ends, as ldd asks it to: we would be in the
 * list. Nothing runs that could be recorded. */
extern const char mt_exec_runs_nothing[];

/* Takes us out of the environment of this process: programs that it executes from now on are not
 * recorded, also where the C library does so past our hooks (system, popen).
 *
 * context  one caller at a time */
void mt_exec_environment_leave(void);

/* Gives back what mt_exec_environment took: the exec has failed, or a child was spawned. */
void mt_exec_environment_end(struct mt_exec_environment *storage);

#endif
