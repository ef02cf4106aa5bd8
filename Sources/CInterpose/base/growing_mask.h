/* How much of a table that its thread alone uses is in use: places beyond a mask are left
 * untouched, so that a thread that does little has few pages of it, of which a host with a thousand
 * threads would have a thousand times as many. The table forgets, as a cache may: an entry whose
 * place another mask would change is not found again. */
#ifndef MT_GROWING_MASK_H
#define MT_GROWING_MASK_H

#include <stdint.h>

/* Zero-initialised is valid: one place. */
struct mt_growing_mask {
    uint32_t mask;      /* of the numbers of places: a power of two, less 1 */
    uint32_t displaced; /* entries that had to make room for others under this mask */
};

/* An entry made room for another one. The mask goes from 0 to `first`; then it has two more bits
 * whenever so many entries were displaced as it has places, divided by `share`; up to `last`. */
static inline void mt_mask_note_displaced(struct mt_growing_mask *growing, uint32_t first,
                                          uint32_t last, uint32_t share) {
    uint32_t mask = growing->mask;
    if (mask == last || ++growing->displaced <= mask / share)
        return;
    growing->displaced = 0;
    mask = mask == 0 ? first : mask << 2 | 3;
    growing->mask = mask < last ? mask : last;
}

#endif
