/* Where libdispatch keeps what it has of a thread, in a snapshot.
 *
 * With each piece of work goes a record, which stays with the thread that has done the work, for
 * the next one: until then it holds addresses of what may be gone. The thread-local variables of
 * the library lead to these records. */
#ifndef MT_SNAPSHOT_DISPATCH_H
#define MT_SNAPSHOT_DISPATCH_H

#include "snapshot/park.h"
#include "snapshot/snapshot_writer.h"

/* Those of the process. */
struct mt_snapshot_threads {
    const struct mt_park *park; /* all but the one that takes the snapshot */
    uint32_t taker;             /* its number, of the kernel */
};

/* Writes a record for the thread-local variables of libdispatch; none where it is neither loaded as
 * a library of its own nor found in an executable with Swift in it, or has others than those that
 * are known. A stripped executable tells by the numbers of the threads, which they begin with.
 *
 * context  where the image is written; async-signal-safe */
void mt_snapshot_dispatch(struct mt_snapshot_writer *writer,
                          const struct mt_snapshot_threads *threads);

#endif
