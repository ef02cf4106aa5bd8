/* What the next stack node of MT_ENCODING_PREDICTED is expected to be.
 *
 * As memtrace_predictor.h for events: the tables of recorder and reader, empty at the start of each
 * chunk. Paths differ, but their calls are the same few: most new nodes repeat a step from a caller
 * to a callee that another path has made before. docs/trace-format.md, section 4.
 *
 * Rules: every index is masked, so that no trace, however damaged, leads outside of a table. */
#ifndef MEMTRACE_STACK_NODES_H
#define MEMTRACE_STACK_NODES_H

#include <stdint.h>

enum { MT_STEP_BITS = 11, MT_STEPS = 4, MT_RECENT_PC_BITS = 12 };

/* A zeroed one is an empty one. */
struct mt_node_predictor {
    /* By the caller's pc: the pcs last called from there, the last one first. */
    uint64_t steps[1 << MT_STEP_BITS][MT_STEPS];
    uint64_t recent[1 << MT_RECENT_PC_BITS]; /* by the pc itself */
};

static inline uint32_t mt_pc_hash(uint64_t pc, uint32_t bits) {
    return (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

/* The pcs last called from this caller's pc: `age` 0 is the last one; 0: none known. */
static inline uint64_t mt_expected_pc(const struct mt_node_predictor *predictor, uint64_t caller,
                                      uint32_t age) {
    return predictor->steps[mt_pc_hash(caller, MT_STEP_BITS)][age & (MT_STEPS - 1)];
}

/* Where pc is in the table of recent ones. */
static inline uint32_t mt_recent_pc_index(uint64_t pc) {
    return mt_pc_hash(pc, MT_RECENT_PC_BITS);
}

static inline uint64_t mt_recent_pc(const struct mt_node_predictor *predictor, uint32_t index) {
    return predictor->recent[index & ((1u << MT_RECENT_PC_BITS) - 1)];
}

/* After every node. caller: the pc of its parent, 0 if that is not in the chunk. */
static inline void mt_learn_pc(struct mt_node_predictor *predictor, uint64_t caller, uint64_t pc) {
    uint64_t *steps = predictor->steps[mt_pc_hash(caller, MT_STEP_BITS)], moved = pc;
    for (int age = 0; age < MT_STEPS; age++) {
        uint64_t older = steps[age];
        steps[age] = moved;
        moved = older;
        if (older == pc)
            break;
    }
    predictor->recent[mt_recent_pc_index(pc)] = pc;
}

#endif
