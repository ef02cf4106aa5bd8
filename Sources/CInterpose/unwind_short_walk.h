/* The walk that most stacks need: a few new frames, by rules of unwind tables, on top of a cached
 * stack that stands. It is unwind_walk.h's, without what is seldom needed; where that is needed, it
 * leaves everything as it was. x86_64. */
#ifndef MT_UNWIND_SHORT_WALK_H
#define MT_UNWIND_SHORT_WALK_H

#include "unwind.h"

/* Brings unwinder->cache up to the stack that starts at leaf.
 *
 * returns  false where this takes the longer walk: then nothing has changed
 * context  as mt_unwind_capture */
bool mt_unwind_walk_shortly(struct mt_unwinder *unwinder, const struct mt_frame *leaf);

#endif
