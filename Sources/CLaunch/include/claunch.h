/* Starts a command. */
#ifndef CLAUNCH_H
#define CLAUNCH_H

#include <signal.h>
#include <sys/types.h>

/* Executes a file in a child that inherits all dispositions of signals, and the mask given.
 *
 * Unlike posix_spawn, it keeps the child's exit status also where SIGCHLD was inherited as ignored:
 * the kernel throws it away when the parent ignores the signal at the moment of the child's end.
 * So the parent has it at its default before the child runs, and the child gets it back.
 *
 * error    is set to 0, or to why the file cannot be executed
 * returns  the pid, or -1 */
pid_t claunch_start(const char *file, char *const arguments[], char *const environment[],
                    const sigset_t *mask, int *error);

#endif
