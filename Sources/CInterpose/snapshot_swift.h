/* The memory of Swift's tasks in a snapshot.
 *
 * The frames of async functions lie in slabs, which a task fills and empties like a stack and keeps
 * until it ends. Above what is in use stand the variables of functions that have returned. Slabs
 * begin with the address of a variable of the runtime, made for tools to know them by; a record
 * tells it. */
#ifndef MT_SNAPSHOT_SWIFT_H
#define MT_SNAPSHOT_SWIFT_H

#include "snapshot_writer.h"

/* The word of a slab that says how much of it is in use: capacity in its lower half, above it the
 * bytes in use. */
enum { MT_SWIFT_SLAB_USE = 2 };

/* Writes a record for the slabs of tasks.
 *
 * returns  what they begin with; 0 where there is no concurrency runtime in a library of its own or
 *          in the executable, or where neither has a symbol for it
 * context  where the image is written; reads the image's file; async-signal-safe */
uint64_t mt_snapshot_swift(struct mt_snapshot_writer *writer);

#endif
