/* EVENTS chunks: how an event lies in them, in both encodings.
 *
 * docs/trace-format.md, sections 6 and 7. Rules: those of memtrace_format.h. */
#ifndef MEMTRACE_EVENTS_H
#define MEMTRACE_EVENTS_H

/* ---- MT_ENCODING_VARINT ----------------------------------------------------------------------
 *
 * A byte stream after the chunk header. The tag is written last, so an event exists once its tag
 * is not 0; tag 0 ends the chunk. Reset at the start of every chunk: time = base_time,
 * address = 0, stack = 0, thread = mt_chunk_header.thread.
 *
 *   tag      bits 0-5 enum mt_operation (memtrace_operations.h), bit 6 MT_TAG_FINE, bit 7
 *            reserved (0)
 *   varint   unsigned LEB128, at most 10 bytes
 *   zigzag   varint of (n << 1) ^ (n >> 63)
 *
 *   time     varint   added to the running time
 *   address  zigzag   in units of 16 bytes, or of 1 byte with MT_TAG_FINE; added to the running
 *                     address, which is the address of the previous event that had one
 *   stack    zigzag   added to the running stack id
 *
 * Fields per class of operation, in this order:
 *   allocation   time address stack size [alignment]       stamped after the real call
 *   deallocation time address stack [size] [alignment]     stamped before the real call
 *   REALLOC_BEGIN time address stack                       the old block, before the real call
 *   REALLOC_END  time address size                         the new block, after the real call
 *   REALLOC_FAIL time size                                 the old block lives on
 *   FAILED       time stack size function                  an allocation that returned NULL
 *   THREAD       time thread                               what follows is of this thread
 *   REALLOC_LEFT time size                                 the new block is not in the sample
 *
 * size and alignment are varints in bytes; function is a varint operation code; thread a varint
 * index. [size] and [alignment] are there for the operations that say so below.
 * One thread writes REALLOC_BEGIN and its END, FAIL or LEFT next to each other. */

#define MT_TAG_OPERATION 0x3fu
#define MT_TAG_FINE 0x40u
#define MT_EVENT_MAX_LENGTH 64u

/* ---- MT_ENCODING_PREDICTED --------------------------------------------------------------------
 *
 * As above, a byte stream of events whose tag is written last; an event says only what the tables
 * of memtrace_predictor.h do not expect. docs/trace-format.md, section 7.
 *
 *   tag      bits 0-1 site, bit 2 a time follows, bits 3-4 operation and size, bits 5-7 address;
 *            site 0: bits 3-7 enum mt_control */

#define MT_TAG_SITE 0x03u
#define MT_TAG_TIME 0x04u
#define MT_TAG_SIZE_SHIFT 3
#define MT_TAG_SIZE 0x03u
#define MT_TAG_ADDRESS_SHIFT 5
#define MT_TAG_CONTROL_SHIFT 3

enum mt_tag_site {
    MT_SITE_NONE = 0,       /* a control event */
    MT_SITE_AFTER_PAIR = 1, /* the one that followed the two latest sites last time */
    MT_SITE_AFTER_ONE = 2,  /* the one that followed the latest site last time */
    MT_SITE_WRITTEN = 3     /* a byte: its index among the recent ones, or 0 and zigzag from the
                               one last written so */
};

enum mt_tag_size {
    MT_SIZE_LAST = 0,     /* as the last event of the site */
    MT_SIZE_OTHER = 1,    /* the site's other size */
    MT_SIZE_WRITTEN = 2,  /* varint */
    MT_SIZE_OPERATION = 3 /* byte operation, [varint size], [varint alignment] */
};

/* Of an event that frees or allocates. */
enum mt_tag_address {
    MT_ADDRESS_DISTANCE_16 = 4, /* zigzag, times 16, from the last address freed or allocated */
    MT_ADDRESS_DISTANCE = 5     /* zigzag, from the same */
};

enum mt_tag_new_address {
    MT_NEW_LAST_FREED = 0, /* the last address freed in its size class */
    MT_NEW_BEHIND = 1,     /* just behind the block allocated last */
    MT_NEW_KEPT = 2,       /* the last address freed in any class */
    MT_NEW_FREED = 3       /* byte: how many frees ago in its size class */
};

enum mt_tag_freed_address {
    MT_FREED_NEWEST = 0,   /* the block allocated last */
    MT_FREED_SECOND = 1,   /* the one before it */
    MT_FREED_NEXT = 2,     /* the one allocated after the one freed last */
    MT_FREED_PREVIOUS = 3, /* the one allocated before the one freed last */
    MT_FREED_AGE = 6       /* varint: how many allocations ago it was allocated */
};

enum mt_control {
    MT_CONTROL_THREAD = 1, /* varint thread: what follows is of this thread */
    MT_CONTROL_FAILED = 2, /* varint stack, varint size, byte operation: it returned NULL */
    MT_CONTROL_RESET = 3   /* varint time: empties the tables and sets the time */
};

#endif
