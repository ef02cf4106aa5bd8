/* See recording.h. */
#include "process/recording.h"

#include "base/tls.h"
#include <string.h>

static struct {
    uint32_t state; /* enum mt_state */
    uint32_t pid;   /* of the recorded process; differs in forked and vforked children */
    uint64_t generations;
    uint64_t *page;       /* holds the generation; wiped in forked children */
    uint8_t trace_id[16]; /* kept here: the header is not mapped in a forked child */
} g_recording;

enum mt_state mt_recording_state(void) {
    return __atomic_load_n(&g_recording.state, __ATOMIC_ACQUIRE);
}

bool mt_recording_is_forked(void) {
    return g_recording.page && *g_recording.page == 0 && mt_recording_state() == MT_RECORDING;
}

bool mt_recording_owns_trace(void) {
    return mt_recording_state() == MT_RECORDING && g_recording.pid == (uint32_t)mt_os_pid();
}

uint32_t mt_recording_trace_id(uint8_t id[16]) {
    memcpy(id, g_recording.trace_id, 16);
    return g_recording.pid;
}

bool mt_recording_prepare(void) {
    if (!g_recording.page)
        g_recording.page = mt_os_map_pages(MT_PAGE_SIZE);
    return g_recording.page && mt_os_wipe_on_fork(g_recording.page, MT_PAGE_SIZE) == 0;
}

void mt_recording_begin(const uint8_t trace_id[16]) {
    g_recording.pid = (uint32_t)mt_os_pid();
    memcpy(g_recording.trace_id, trace_id, 16);
    *g_recording.page = ++g_recording.generations;
    mt_generation = g_recording.page;
    mt_recording_set_state(MT_RECORDING);
}

void mt_recording_set_state(enum mt_state state) {
    __atomic_store_n(&g_recording.state, state, __ATOMIC_RELEASE);
}

void mt_recording_end(void) {
    mt_generation = &mt_no_generation;
    mt_recording_set_state(MT_OFF);
}
