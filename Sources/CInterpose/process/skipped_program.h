/* Programs that a recording goes past: compilers and the like, between a test driver and the tests.
 */
#ifndef MT_SKIPPED_PROGRAM_H
#define MT_SKIPPED_PROGRAM_H

#include "base/config.h"
#include <stdbool.h>

/* Whether MEMTRACE_SKIP names this program by the file it is executed from. The program that a
 * recording begins with never is: without it nothing might be recorded at all.
 *
 * context  at the start of the process, by one thread */
bool mt_program_is_skipped(const struct mt_config *config);

#endif
