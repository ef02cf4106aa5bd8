/* What the loader calls when it has loaded the recorder before the program (LD_PRELOAD). */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/config.h"
#include "lifecycle/attach.h"
#include "lifecycle/callbacks.h"
#include "lifecycle/canary.h"
#include "lifecycle/lifecycle.h"
#include "trace/trace_file.h"

#ifdef MT_EXPORT_HOOKS

__attribute__((constructor(101))) static void construct(void) {
    uint64_t ticks = mt_clock_after();
    if (mt_attach_is_expected())
        return;
    mt_lifecycle_note_load(ticks);
    if (mt_lifecycle_start() != MT_RECORDING)
        return;
    mt_trace_file.header->load_ticks = ticks;
    mt_callbacks_begin();
    if (mt_config.canary)
        mt_canary_plant();
}

#endif
