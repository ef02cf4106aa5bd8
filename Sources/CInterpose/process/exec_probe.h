/* Can the program that is about to be executed be recorded?
 *
 * A preloaded library that its loader cannot take is not ignored in silence: ld.so prints an error
 * for another architecture, musl aborts on symbols it lacks, ASan refuses to run. So the file is
 * looked at first, and the preload left out where it would be noticed. */
#ifndef MT_EXEC_PROBE_H
#define MT_EXEC_PROBE_H

#include <stdbool.h>

/* Looks at the file (following #! lines) with raw reads only.
 *
 * path     as given to execve
 * returns  NULL when it can be recorded or nothing speaks against it (a missing file: exec will
 *          say so itself), else the reason in words
 * context  also in a child that runs on its parent's memory, on a stack of its own with less than
 *          a page, below which its parent's variables may lie, as Swift starts swift-backtrace:
 *          works in pages of its own, which are gone when it returns */
const char *mt_exec_probe(const char *path);

/* Like mt_exec_probe for a name that is searched in PATH as execvp does. */
const char *mt_exec_probe_in_path(const char *name, const char *search_path);

/* Like mt_exec_probe for an open descriptor. */
const char *mt_exec_probe_descriptor(int fd);

/* Like mt_exec_probe for what execveat is given: path relative to a directory, or "" for the
 * descriptor itself. */
const char *mt_exec_probe_at(int directory, const char *path);

/* Whether ld.so is what is executed, and is asked to list something and to end.
 *
 * file       as given to execve or execvp
 * arguments  may be NULL, or not to be read */
bool mt_exec_only_lists(const char *file, char *const *arguments);

/* Whether a library, by the name of its file, is the runtime of a sanitizer.
 *
 * library  something may follow its name */
bool mt_exec_is_sanitizer(const char *library);

/* The file that this library was loaded from, as the loader was told. */
const char *mt_exec_library(void);

/* The reason given for a static executable. It has no loader that would mind the preload, and its
 * own children may be recordable: the environment stays as it is. */
extern const char mt_exec_is_static[];

#endif
