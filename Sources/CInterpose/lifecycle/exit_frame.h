/* Where the stack begins that is alive while exit handlers run. */
#ifndef MT_EXIT_FRAME_H
#define MT_EXIT_FRAME_H

#include "unwind/unwinder.h"

/* When main has returned, nothing of the program is on the stack any more: below its arguments are
 * only frames of the C library, with words in them that were left by functions of the program. When
 * the program has called exit, what is between its frame and that of the function that runs the
 * handlers are registers of the program, and below them such words.
 *
 * caller   of an exit handler
 * returns  when main has returned, the frame that started the program; else `caller`, with an sp
 *          above its variables; `caller` as it is where that cannot be told
 * context  takes the lock of the loader's list; errno untouched */
struct mt_frame mt_exit_frame(struct mt_frame caller);

#endif
