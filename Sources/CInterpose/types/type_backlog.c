/* Keeps sightings for later. See type_backlog.h. */
#include "types/type_backlog.h"

#include <string.h>

enum { PLACES = 64 };

enum { FREE, IN_USE, LEFT };

static struct {
    bool has_more; /* something was left since it was taken from last */
    struct place {
        uint32_t state;
        uint64_t images;
        struct mt_type_sighting sighting;
    } places[PLACES];
} g_backlog;

bool mt_type_backlog_leave(const struct mt_type_sighting *sighting, uint64_t images) {
    struct place *place = &g_backlog.places[sighting->stack % PLACES];
    uint32_t expected = FREE;
    if (!__atomic_compare_exchange_n(&place->state, &expected, IN_USE, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return false;
    place->images = images;
    place->sighting = *sighting;
    __atomic_store_n(&place->state, LEFT, __ATOMIC_RELEASE);
    __atomic_store_n(&g_backlog.has_more, true, __ATOMIC_SEQ_CST);
    return true;
}

bool mt_type_backlog_has_any(void) {
    return __atomic_load_n(&g_backlog.has_more, __ATOMIC_SEQ_CST);
}

static void take(struct place *place, void (*note)(const struct mt_type_sighting *),
                 uint64_t images) {
    if (__atomic_load_n(&place->state, __ATOMIC_ACQUIRE) != LEFT)
        return;
    struct mt_type_sighting sighting = place->sighting;
    bool is_valid = place->images == images;
    __atomic_store_n(&place->state, FREE, __ATOMIC_RELEASE);
    if (is_valid)
        note(&sighting);
}

void mt_type_backlog_take(void (*note)(const struct mt_type_sighting *), uint64_t images) {
    if (mt_likely(!mt_type_backlog_has_any()))
        return;
    __atomic_store_n(&g_backlog.has_more, false, __ATOMIC_SEQ_CST);
    for (struct place *place = g_backlog.places; place < g_backlog.places + PLACES; place++)
        take(place, note, images);
}

void mt_type_backlog_reset(void) {
    memset(&g_backlog, 0, sizeof g_backlog);
}
