/* Fields that no prediction fits. See event_encoder.h. */
#include "trace/event_encoder.h"

struct mt_event mt_put_unexpected_site(struct mt_event_encoder *encoder, struct mt_event event,
                                       mt_site_name site) {
    struct mt_predictor *predictor = &encoder->predictor;
    uint32_t index = mt_recent_index(site);
    event.tag |= MT_SITE_WRITTEN;
    if (mt_recent_site(predictor, index) == site) {
        *event.at++ = (uint8_t)index;
        return event;
    }
    int64_t distance = (int64_t)site - (int64_t)predictor->highest;
    if (distance > 0 && distance <= 64 && distance % 2 == 0) {
        *event.at++ = (uint8_t)(MT_NEAR_SITE - 1 + distance / 2);
    } else {
        *event.at++ = 0;
        event.at = mt_put_varint(event.at, mt_zigzag(distance));
    }
    mt_learn_full_site(predictor, site);
    return event;
}

struct mt_event mt_put_unexpected_operation(struct mt_event event, struct mt_site *site,
                                            uint8_t operation, uint64_t size, uint64_t alignment) {
    struct mt_operation_info info = mt_operation_info(operation);
    event.tag |= MT_SIZE_OPERATION << MT_TAG_SIZE_SHIFT;
    *event.at++ = operation;
    if (info.has_size)
        event.at = mt_put_varint(event.at, size);
    if (info.has_alignment)
        event.at = mt_put_varint(event.at, alignment);
    mt_learn_size(site, size);
    mt_learn_operation(site, operation, alignment);
    return event;
}

struct mt_event mt_put_distance(struct mt_event event, uint64_t address, uint64_t base) {
    int64_t distance = (int64_t)(address - base);
    if (mt_unlikely(distance & 15))
        event.tag |= MT_ADDRESS_DISTANCE << MT_TAG_ADDRESS_SHIFT;
    else {
        event.tag |= MT_ADDRESS_DISTANCE_16 << MT_TAG_ADDRESS_SHIFT;
        distance >>= 4;
    }
    event.at = mt_put_varint(event.at, mt_zigzag(distance));
    return event;
}

struct mt_event mt_put_other_allocated(struct mt_event_encoder *encoder, struct mt_event event,
                                       uint64_t address, uint32_t size_class) {
    struct mt_predictor *predictor = &encoder->predictor;
    if (predictor->freed_address == address) {
        event.tag |= MT_NEW_KEPT << MT_TAG_ADDRESS_SHIFT;
        mt_learn_kept(predictor);
        return event;
    }
    for (uint32_t depth = 1; depth < MT_FREED_DEPTH; depth++)
        if (mt_freed_address(predictor, size_class, depth) == address) {
            event.tag |= MT_NEW_FREED << MT_TAG_ADDRESS_SHIFT;
            *event.at++ = (uint8_t)depth;
            mt_learn_reuse(predictor, size_class, depth);
            return event;
        }
    return mt_put_distance(event, address, predictor->allocated);
}
