/* The chunks that are being filled. */
#ifndef MT_OPEN_CHUNKS_H
#define MT_OPEN_CHUNKS_H

/* Writes the checksums of what is complete in the chunks that are being filled: the process is
 * about to end, and what has no checksum could change without being noticed.
 *
 * context  any thread that has a trace, others may be recording; async-signal-safe; errno untouched
 */
void mt_open_chunks_check(void);

#endif
