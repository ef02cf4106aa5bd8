/* Blocks of the Swift runtime and library of which only parts are in use, in a snapshot.
 *
 * The frames of async functions lie in slabs, which a task fills and empties like a stack and keeps
 * until it ends. Above what is in use stand the variables of functions that have returned. Slabs
 * begin with the address of a variable of the runtime, made for tools to know them by; a record
 * tells it, also where the executable contains the runtime and is stripped (snapshot_slabs.h). In
 * tables of dictionaries and sets, bits say which of the buckets are in use; arrays count their
 * elements, and so do deques, which say where the first one is; nodes of the trees of
 * swift-collections say which of their children and items there are. */
#ifndef MT_SNAPSHOT_SWIFT_H
#define MT_SNAPSHOT_SWIFT_H

#include "snapshot/snapshot_pages.h"
#include "snapshot/snapshot_writer.h"

/* Up to the word of a slab that says how much of it is in use: capacity in its lower half, above it
 * the bytes in use. */
enum { MT_SWIFT_SLAB_HEADER = 24 };

/* Writes a record for the slabs of tasks.
 *
 * returns  what they begin with; 0 where there is no concurrency runtime in a library of its own or
 *          in the executable, or where neither has a symbol for it and no slab has its form
 * context  where the image is written; reads the image's file; async-signal-safe */
uint64_t mt_snapshot_swift(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                           const struct mt_region_list *list);

/* How many bytes of the object at an address are to be kept to the last, because it has the form of
 * a table of a dictionary or a set, the header and the bits of the buckets, or that of an array, a
 * deque or a node of a tree, the header; 0: it has none of these.
 *
 * context  where the image is written; the first two words are readable */
uint64_t mt_snapshot_swift_header(uint64_t object);

#endif
