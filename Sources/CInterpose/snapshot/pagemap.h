/* The entries of /proc/self/pagemap: https://docs.kernel.org/admin-guide/mm/pagemap.html */
#ifndef MT_PAGEMAP_H
#define MT_PAGEMAP_H

#include <stdint.h>

#define MT_PAGE_IN_MEMORY (UINT64_C(1) << 63)
#define MT_PAGE_SWAPPED (UINT64_C(1) << 62)
#define MT_PAGE_OF_FILE (UINT64_C(1) << 61)
#define MT_PAGE_IS_GUARD (UINT64_C(1) << 58)  /* since Linux 6.15 */
#define MT_PAGE_EXCLUSIVE (UINT64_C(1) << 56) /* nobody else has it */

#endif
