/* Which memory unwind tables may be read from.
 *
 * Kept apart from the parser because it is not about what tables say: distances in a damaged table
 * lead anywhere, also to where an image has holes, and only the kernel knows what is there. */
#ifndef MT_TABLE_PAGES_H
#define MT_TABLE_PAGES_H

#include "base/os.h"

/* How far a piece of a mapped table can be read.
 *
 * start, end  of the piece; none where the end is below the start
 * returns     the first address that cannot be read, at most `end`; of each page what the kernel
 *             said when it was first asked since an image was unloaded
 * errors      errno untouched
 * context     async-signal-safe; takes no lock */
const uint8_t *mt_table_readable_until(const uint8_t *start, const uint8_t *end);

#endif
