/* Directories of /proc whose entries are numbers: threads, descriptors. */
#ifndef MT_PROC_NUMBERS_H
#define MT_PROC_NUMBERS_H

#include <stdint.h>

/* directory  the descriptor that the entries are read from */
typedef void mt_number_visitor(uint64_t number, int directory, void *context);

/* Calls `visit` for each entry that is a number.
 * returns  0, or -errno: -ENOENT where /proc is not mounted
 * context  one caller at a time; async-signal-safe */
long mt_proc_numbers(const char *path, mt_number_visitor *visit, void *context);

#endif
