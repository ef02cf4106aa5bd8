/* Writes the fields of an event as far as they are not what the predictor expects.
 *
 * Each mt_put_... appends at event->at, sets its bits of event->tag and teaches the predictor, in
 * the order and exactly as a reader does it (docs/trace-format.md, section 7). */
#ifndef MT_EVENT_ENCODER_H
#define MT_EVENT_ENCODER_H

#include "base/os.h"
#include "memtrace_format.h"
#include "memtrace_predictor.h"
#include "trace/varint.h"

enum { MT_SLOT_HASH_BITS = 11 };

/* A zeroed one is an empty one. */
struct mt_event_encoder {
    struct mt_predictor predictor;
    /* Finds a block among the newest: its slot, by address. Wrong where two share an entry. */
    uint16_t slots[1 << MT_SLOT_HASH_BITS];
};

struct mt_event {
    uint8_t *at; /* end of what is written */
    uint8_t tag;
};

/* The rare halves of the functions below: what no prediction fits. They return the event with what
 * they have written. By value, so that it stays in registers where they are not called. */
struct mt_event mt_put_unexpected_site(struct mt_event_encoder *encoder, struct mt_event event,
                                       mt_site_name site);
struct mt_event mt_put_unexpected_operation(struct mt_event event, struct mt_site *site,
                                            uint8_t operation, uint64_t size, uint64_t alignment);
struct mt_event mt_put_other_allocated(struct mt_event_encoder *encoder, struct mt_event event,
                                       uint64_t address, uint32_t size_class);
struct mt_event mt_put_distance(struct mt_event event, uint64_t address, uint64_t base);

/* returns  the site's history, for the fields that follow */
static inline struct mt_site *mt_put_site(struct mt_event_encoder *encoder, struct mt_event *event,
                                          mt_site_name site) {
    struct mt_predictor *predictor = &encoder->predictor;
    if (mt_likely(mt_site_after_pair(predictor) == site))
        event->tag |= MT_SITE_AFTER_PAIR;
    else if (mt_site_after_one(predictor) == site)
        event->tag |= MT_SITE_AFTER_ONE;
    else
        *event = mt_put_unexpected_site(encoder, *event, site);
    return mt_learn_site(predictor, site);
}

/* The operation with its size and alignment, 0 where it has none. */
static inline void mt_put_operation(struct mt_event *event, struct mt_site *site, uint8_t operation,
                                    uint64_t size, uint64_t alignment) {
    if (mt_unlikely(site->operation != operation || mt_site_alignment(site) != alignment)) {
        *event = mt_put_unexpected_operation(*event, site, operation, size, alignment);
        return;
    }
    if (mt_likely(site->size == size))
        return;
    if (site->other_size == size) {
        event->tag |= MT_SIZE_OTHER << MT_TAG_SIZE_SHIFT;
    } else {
        event->tag |= MT_SIZE_WRITTEN << MT_TAG_SIZE_SHIFT;
        event->at = mt_put_varint(event->at, size);
    }
    mt_learn_size(site, size);
}

static inline uint16_t *mt_slot_of(struct mt_event_encoder *encoder, uint64_t address) {
    return &encoder->slots[(address >> 4) * 0x9e3779b97f4a7c15u >> (64 - MT_SLOT_HASH_BITS)];
}

/* The address of a new block. */
static inline void mt_put_allocated(struct mt_event_encoder *encoder, struct mt_event *event,
                                    uint64_t address, uint64_t size) {
    struct mt_predictor *predictor = &encoder->predictor;
    uint64_t units = mt_block_units(size);
    uint32_t size_class = mt_size_class(units);
    if (mt_likely(mt_freed_address(predictor, size_class, 0) == address))
        mt_learn_reuse(predictor, size_class, 0); /* MT_NEW_LAST_FREED is 0 */
    else if (predictor->behind == address)
        event->tag |= MT_NEW_BEHIND << MT_TAG_ADDRESS_SHIFT;
    else
        *event = mt_put_other_allocated(encoder, *event, address, size_class);
    mt_learn_allocation(predictor, address, units, size_class);
    *mt_slot_of(encoder, address) = (uint16_t)predictor->newest;
}

/* The address of a block that goes. */
static inline void mt_put_freed(struct mt_event_encoder *encoder, struct mt_event *event,
                                struct mt_site *site, uint64_t address) {
    struct mt_predictor *predictor = &encoder->predictor;
    uint32_t slot = *mt_slot_of(encoder, address);
    if (mt_likely(mt_block_address(predictor, slot) == address)) {
        uint32_t age = (predictor->newest - slot) & (MT_NEWEST_BLOCKS - 1);
        uint32_t step = (slot - predictor->freed_slot) & (MT_NEWEST_BLOCKS - 1);
        if (age < 2)
            event->tag |= (uint8_t)(age << MT_TAG_ADDRESS_SHIFT); /* MT_FREED_NEWEST, _SECOND */
        else if (step == 1)
            event->tag |= MT_FREED_NEXT << MT_TAG_ADDRESS_SHIFT;
        else if (step == MT_NEWEST_BLOCKS - 1)
            event->tag |= MT_FREED_PREVIOUS << MT_TAG_ADDRESS_SHIFT;
        else {
            event->tag |= MT_FREED_AGE << MT_TAG_ADDRESS_SHIFT;
            event->at = mt_put_varint(event->at, age);
        }
    } else {
        *event = mt_put_distance(*event, address, predictor->freed_address);
        slot = MT_NEWEST_BLOCKS;
    }
    mt_learn_deallocation(predictor, site, address, slot);
}

#endif
