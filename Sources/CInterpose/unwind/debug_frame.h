/* Unwind tables that only debuggers are meant to read: .debug_frame.
 *
 * What is compiled without tables for exceptions (-fno-asynchronous-unwind-tables, Embedded Swift)
 * has such a section where it has debug information, and it is never in memory. It is read when
 * its image is met: later the program may have confined itself. */
#ifndef MT_DEBUG_FRAME_H
#define MT_DEBUG_FRAME_H

#include "loader/elf_symbols.h"
#include "unwind/eh_frame.h"

/* Reads the tables of an image out of its file, and forgets those of the images that were there
 * before it.
 *
 * returns  true
 * context  cold; as a watcher of images (image_map.h) */
bool mt_debug_frame_look(const struct mt_loaded_image *image);

/* The rule for the instruction at pc (not a return address), where no mapped table has one.
 *
 * context  any thread; waits for whoever looks one up; may look at the loaded images anew */
enum mt_eh_frame_result mt_debug_frame_rule(uintptr_t pc, struct mt_rule *rule);

/* Whether tables of this kind cover an address. */
bool mt_debug_frame_covers(uintptr_t pc);

/* In a forked child, before it takes a stack. */
void mt_debug_frame_after_fork(void);

#endif
