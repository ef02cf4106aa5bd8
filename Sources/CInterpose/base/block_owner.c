/* Remembers the last event of blocks. See block_owner.h. */
#include "base/block_owner.h"

uintptr_t mt_block_owners[1 << MT_OWNER_BITS];
MT_IDLE_AT_START(mt_block_owners);

void mt_block_owner_forget(void) {
    for (size_t i = 0; i < sizeof mt_block_owners / sizeof mt_block_owners[0]; i++)
        if (__atomic_load_n(&mt_block_owners[i], __ATOMIC_RELAXED))
            __atomic_store_n(&mt_block_owners[i], 0, __ATOMIC_RELAXED);
}
