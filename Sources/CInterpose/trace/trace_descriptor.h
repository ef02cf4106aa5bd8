/* The descriptor of the trace: out of the host's way, and found again where the host has closed it.
 *
 * Hosts close descriptors that they did not open (closefrom, daemons), and the number may then
 * belong to a file of theirs: it is checked before each use. */
#ifndef MT_TRACE_DESCRIPTOR_H
#define MT_TRACE_DESCRIPTOR_H

#include <stdbool.h>

/* Takes a new trace over, by its only descriptor: moves it to where the host does not miss the
 * number, or closes it where there is no such place.
 *
 * context  start-up and forked child, single caller */
void mt_trace_descriptor_take(int fd);

/* A descriptor of the trace for a moment. */
struct mt_trace_descriptor {
    int fd; /* or -errno: -ENOENT where another file is at the path now */
    bool is_kept;
};

/* To be given back after use.
 *
 * path     where the trace was created, which leads back to it
 * context  any thread; async-signal-safe */
struct mt_trace_descriptor mt_trace_descriptor_borrow(const char *path);
void mt_trace_descriptor_give_back(struct mt_trace_descriptor borrowed);

/* The one that is kept open; -1: none. */
int mt_trace_descriptor_kept(void);

/* Closes it, if it is still ours. */
void mt_trace_descriptor_close(void);

#endif
