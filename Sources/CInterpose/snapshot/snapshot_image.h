/* Writes one snapshot: threads, mappings, words. */
#ifndef MT_SNAPSHOT_IMAGE_H
#define MT_SNAPSHOT_IMAGE_H

#include "snapshot/park.h"
#include "snapshot/snapshot.h"

/* In memory that a copy of the process shares: it writes while the process finds out. */
struct mt_snapshot_times {
    uint64_t began_ns; /* CLOCK_MONOTONIC */
    uint64_t pause_ns;
    uint64_t fork_ns;
    uint32_t are_known; /* pause and fork are over; a futex */
};

struct mt_snapshot_image {
    const struct mt_snapshot_request *request;
    const struct mt_park *park;
    struct mt_snapshot_times *times;
    uint64_t time; /* event time at which the threads stood still */
    bool keeps_contents;
    long copied_from; /* the process that this one is a copy of; 0: none */
};

/* Writes the image of this process, which may be a copy made for that.
 *
 * returns  0, or -errno when it is not whole: -ENOSPC, -EFBIG, -ENOENT without /proc, -ENOMEM
 * context  one caller at a time, signals held back; async-signal-safe */
long mt_snapshot_image_write(const struct mt_snapshot_image *image);

#endif
