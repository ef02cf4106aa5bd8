/* See open_chunks.h. */
#include "events/open_chunks.h"

#include "events/lane.h"
#include "events/thread_state.h"
#include "stacks/stack_writer.h"
#include "trace/meta_writer.h"

/* The checksums are records of META: its own comes last. */
void mt_open_chunks_check(void) {
    mt_thread_states_check();
    mt_lane_check();
    mt_stack_writer_check();
    mt_meta_check();
}
