/* Which file is the program? */
#ifndef MT_EXECUTABLE_PATH_H
#define MT_EXECUTABLE_PATH_H

#include <stddef.h>

/* The file of the program that runs in this process. /proc/self/exe names the dynamic linker where
 * that was told to run the program: `ld-linux-x86-64.so.2 ./program`. Where there is no /proc, the
 * file that was executed. Looked for once: a program may change its root.
 *
 * buffer   gets the path, terminated, cut where it is longer
 * returns  its length, 0 when it is not known
 * context  while a recording begins: one caller at a time */
size_t mt_executable_path(char *buffer, size_t size);

#endif
