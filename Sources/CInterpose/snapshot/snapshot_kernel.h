/* Words of the program that the kernel keeps, and shows in /proc.
 *
 * A program may hand a pointer to the kernel and keep none: it gets it back with an event of epoll,
 * or with the signal of a timer. */
#ifndef MT_SNAPSHOT_KERNEL_H
#define MT_SNAPSHOT_KERNEL_H

#include "snapshot/snapshot_filter.h"
#include "snapshot/snapshot_writer.h"

/* Writes a record for each such word that can be a pointer; none where /proc does not tell.
 *
 * process  whose they are: the one that this one is a copy of; 0: this one
 * filter   NULL: all words that are not 0 are kept
 * context  where the image is written */
void mt_snapshot_kernel(struct mt_snapshot_writer *writer, long process,
                        struct mt_pointer_filter *filter);

#endif
