/* See snapshot_reads.h. */
#include "snapshot/snapshot_reads.h"

size_t mt_snapshot_read_name(uint64_t address, char *name) {
    for (size_t length = 0; length < MT_SNAPSHOT_NAME_MAX; length++) {
        if ((length == 0 || (address + length) % MT_PAGE_SIZE == 0) &&
            !mt_snapshot_can_read(address + length, 1))
            return 0;
        name[length] = ((const char *)address)[length];
        if (name[length] == 0)
            return length;
        if ((unsigned char)name[length] < ' ')
            return 0;
    }
    return 0;
}
