/* What this program was started with; starts a command, and keeps files for as long as it runs. */
#ifndef CLAUNCH_H
#define CLAUNCH_H

#include <signal.h>
#include <sys/types.h>

/* The arguments of this process, its name first; a null pointer follows.
 *
 * Swift looks for them in front of the environment, which is elsewhere once a preloaded library has
 * moved it, as one that sets a variable does. */
char *const *claunch_own_arguments(void);

/* What the kernel was asked to execute, as whoever asked wrote it: for where /proc is not mounted.
 *
 * returns  a path, relative to the first working directory unless absolute; NULL: not known */
const char *claunch_own_executable(void);

/* Executes a file in a child that inherits all dispositions of signals, and the mask given. What
 * was set up for this process is the child's: the signal that it gets when its parent ends
 * (PR_SET_PDEATHSIG), and variables that name it by its number (LISTEN_PID).
 *
 * Unlike posix_spawn, it keeps the child's exit status also where SIGCHLD was inherited as ignored:
 * the kernel throws it away when the parent ignores the signal at the moment of the child's end.
 * So the parent has it at its default before the child runs, and the child gets it back.
 *
 * environment  its strings are left alone, its entries may change
 * error    is set to 0, or to why the file cannot be executed
 * returns  the pid, or -1 */
pid_t claunch_start(const char *file, char *const arguments[], char *environment[],
                    const sigset_t *mask, int *error);

/* Makes a directory that this user only may read. It and the files in it are removed when a signal
 * ends this process (SIGHUP, SIGINT, SIGQUIT, SIGPIPE or SIGTERM, where it is not ignored), or by
 * claunch_remove_temporary_directory. There is one at a time.
 *
 * pattern  a path that ends in XXXXXX, which is replaced
 * returns  0, or an error number */
int claunch_make_temporary_directory(char *pattern);

/* Removes the directory that claunch_make_temporary_directory has made, and the files in it.
 *
 * context  async-signal-safe; nothing happens in a child of the process that made it */
void claunch_remove_temporary_directory(void);

#endif
