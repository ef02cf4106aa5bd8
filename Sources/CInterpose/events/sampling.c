/* Draws the sample. See sampling.h. */
#include "events/sampling.h"

#include "base/clock.h"
#include "trace/trace_file.h"

/* While recording is paused, a thread looks again after so many bytes. */
enum { LOOK_AGAIN = 1024 };

bool mt_sampling_selects;
static uint64_t g_interval, g_seed;

void mt_sampling_init(uint64_t interval, uint64_t seed, bool can_pause) {
    g_seed = seed;
    g_interval = interval;
    mt_sampling_selects = interval != 0 || can_pause;
    if (mt_sampling_selects)
        mt_sampled_set_use(interval == 0);
}

/* ---- Random numbers: splitmix64, a state per thread (https://prng.di.unimi.it/splitmix64.c) ----
 */

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t next_random(void) {
    mt_tls.sample_state += 0x9e3779b97f4a7c15u;
    return mix(mt_tls.sample_state);
}

/* Also in a forked child, or its samples would be those of its siblings. */
static void seed(uint64_t generation) {
    uint64_t state;
    if (g_seed)
        state = mix(mix(g_seed) + generation) + mt_tls.index;
    else if (mt_os_random(&state, sizeof state) != sizeof state)
        state = mt_clock_after() ^ (uint64_t)mt_os_tid() << 32;
    mt_tls.sample_state = mix(state);
    mt_tls.sample_generation = generation;
}

/* ---- Distances ---- */

/* log2 of a number that is not 0, with 32 binary places: the whole part from the highest bit, the
 * places by squaring, which doubles the logarithm and so shifts the next place out. */
static uint64_t log2_fixed(uint64_t number) {
    unsigned highest = 63 - (unsigned)__builtin_clzll(number);
    uint64_t logarithm = highest;
    uint64_t mantissa = number << (63 - highest); /* 1 <= mantissa / 2^63 < 2 */
    for (int place = 0; place < 32; place++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        unsigned carry = (unsigned)(square >> 127);
        mantissa = (uint64_t)(square >> (63 + carry));
        logarithm = logarithm << 1 | carry;
    }
    return logarithm;
}

uint64_t mt_sampling_gap(uint64_t random, uint64_t interval) {
    static const uint64_t ln2 = 2977044472; /* ln 2 with 32 binary places */
    uint64_t octaves = (64ull << 32) - log2_fixed(random ? random : 1);
    unsigned __int128 gap = (unsigned __int128)octaves * ln2 * interval;
    return (uint64_t)(gap >> 64);
}

/* ---- Decisions ---- */

static uint64_t draw(void) {
    return g_interval ? mt_sampling_gap(next_random(), g_interval) : 0;
}

/* What is left of the way to the next point is forgotten, which changes nothing: the process has no
 * memory. */
MT_COLD bool mt_sampling_rest(void) {
    /* In a forked child the header is not there until its recording begins: mt_enter. */
    if (*mt_generation == 0 || !mt_pausing_is_paused())
        return false;
    mt_tls.sample_left = LOOK_AGAIN;
    mt_tls.sample_rests = 1;
    return true;
}

/* Whether the thread has no point that it is on its way to. */
static bool has_no_point(void) {
    bool has_none = mt_tls.sample_generation == 0 || mt_tls.sample_rests;
    mt_tls.sample_rests = 0;
    return has_none;
}

/* Whether the next point lies within the allocation; goes on to the one after it. */
static bool hits(size_t size) {
    if (mt_sampling_rests())
        return false;
    uint64_t generation = *mt_generation;
    bool is_first = has_no_point();
    if (mt_tls.sample_generation != generation)
        seed(generation);
    if (is_first)
        mt_tls.sample_left = draw();
    if (mt_sampling_skips(size))
        return false;
    /* What the allocation has beyond its point needs no other. */
    mt_tls.sample_left = draw();
    return true;
}

MT_COLD bool mt_sampling_take(const void *block, size_t size) {
    if (!hits(size))
        return false;
    if (!block || mt_sampled_set_insert(block))
        return true;
    mt_trace_file_count(MT_COUNT_EVENTS_DROPPED, 1);
    return false;
}

MT_COLD void mt_sampling_restore(const void *block) {
    if (!mt_sampled_set_insert(block))
        mt_trace_file_count(MT_COUNT_EVENTS_DROPPED, 1);
}
