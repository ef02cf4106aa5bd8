/* Numbers of any length in few bytes, as events, stack nodes and snapshots store them. */
#ifndef MT_VARINT_H
#define MT_VARINT_H

#include "base/os.h"

/* Writes a number; may also write a 0 behind it. Numbers of one and of two bytes come in no order
 * that a branch could be guessed by. */
static inline uint8_t *mt_put_varint(uint8_t *at, uint64_t value) {
    if (mt_likely(value < 1 << 14)) {
        uint64_t is_long = value >= 0x80;
        at[0] = (uint8_t)((value & 0x7f) | is_long << 7);
        at[1] = (uint8_t)(value >> 7); /* of a short one this is 0, as what follows must be */
        return at + 1 + is_long;
    }
    while (mt_unlikely(value >= 0x80)) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Small differences become small numbers, whatever their sign. */
static inline uint64_t mt_zigzag(int64_t value) {
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

#endif
