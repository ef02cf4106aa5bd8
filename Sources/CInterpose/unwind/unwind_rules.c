/* Keeps the rules that eh_frame.c reads. See unwind_rules.h. */
#include "unwind/unwind_rules.h"

#include "unwind/call_site.h"
#include "unwind/debug_frame.h"
#include "unwind/eh_frame.h"
#include "unwind/epilogue.h"
#include "unwind/unwind_signal.h"
#include <sys/auxv.h>

/* The entry code of ld.so, below which constructors run, has no unwind table. */
static bool is_loader(const struct mt_unwind_section *section) {
    uintptr_t loader = getauxval(AT_BASE);
    return loader != 0 && loader - section->image_start < section->image_end - section->image_start;
}

static struct mt_rule rule_without_table(uintptr_t return_address,
                                         const struct mt_unwind_section *section) {
    struct mt_rule rule = {.kind = MT_RULE_NO_TABLE};
    if (is_loader(section))
        rule.kind = MT_RULE_OUTERMOST;
#if defined(__x86_64__)
    rule.is_behind_call = mt_is_behind_call(return_address);
    struct mt_epilogue epilogue;
    if (rule.kind == MT_RULE_NO_TABLE &&
        mt_epilogue_read(return_address, section->image_end, &epilogue)) {
        rule.kind = MT_RULE_EPILOGUE;
        rule.restores_fp = epilogue.pops_fp;
        rule.cfa_offset = (int32_t)epilogue.length;
        rule.fp_offset = (int32_t)epilogue.saved_fp - (int32_t)epilogue.length;
    }
#else
    (void)return_address;
#endif
    return rule;
}

/* Of code whose rule says nothing else. */
static bool is_signal_return(struct mt_rule rule, uintptr_t return_address) {
    return rule.kind != MT_RULE_FRAME && rule.kind != MT_RULE_OUTERMOST &&
           mt_is_signal_return(return_address);
}

/* Elsewhere than on x86_64, the kernel may have brought what handlers return to itself, without an
 * image around it. */
static struct mt_rule rule_without_image(uintptr_t return_address) {
#if defined(__x86_64__)
    (void)return_address;
#else
    if (mt_is_signal_return(return_address))
        return (struct mt_rule){.kind = MT_RULE_SIGNAL};
#endif
    return (struct mt_rule){.kind = MT_RULE_NO_IMAGE};
}

static struct mt_rule read_rule(uintptr_t return_address) {
    struct mt_rule rule = {0};
    struct mt_unwind_section section;
    /* A call may be the last instruction of its function: look inside the call. */
    uintptr_t pc = return_address - 1;
    if (!mt_image_map_unwind_section(pc, &section))
        return rule_without_image(return_address);
    if (mt_eh_frame_rule(&section, pc, &rule) == MT_EH_FRAME_MISSING &&
        mt_debug_frame_rule(pc, &rule) == MT_EH_FRAME_MISSING)
        rule = rule_without_table(return_address, &section);
    if (is_signal_return(rule, return_address))
        rule = (struct mt_rule){.kind = MT_RULE_SIGNAL};
    return rule;
}

struct mt_rule_slot mt_rule_slots[(1 << MT_RULE_SLOT_BITS) + MT_RULE_WAYS];
MT_IDLE_AT_START(mt_rule_slots);

/* The slot of an address; else a free one among its slots; else the first of them. */
static struct mt_rule_slot *slot_of(uintptr_t return_address) {
    struct mt_rule_slot *first = mt_rule_first_slot(return_address);
    for (struct mt_rule_slot *slot = first; slot < first + MT_RULE_WAYS; slot++) {
        uint64_t rule = __atomic_load_n(&slot->rule, __ATOMIC_RELAXED);
        if (rule == 0 || (__atomic_load_n(&slot->key, __ATOMIC_RELAXED) ^ rule) == return_address)
            return slot;
    }
    return first;
}

uint64_t mt_rule_find(uintptr_t return_address) {
    const struct mt_rule_slot *slot = slot_of(return_address);
    uint64_t key = __atomic_load_n(&slot->key, __ATOMIC_RELAXED);
    uint64_t rule = __atomic_load_n(&slot->rule, __ATOMIC_RELAXED);
    return (key ^ rule) == return_address ? rule : 0;
}

void mt_rule_keep(uintptr_t return_address, struct mt_rule rule) {
    struct mt_rule_slot *slot = slot_of(return_address);
    uint64_t word = mt_rule_pack(rule);
    __atomic_store_n(&slot->key, return_address ^ word, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->rule, word, __ATOMIC_RELAXED);
}

uint64_t mt_rule_find_or_read(uintptr_t return_address) {
    uint64_t known = mt_rule_find(return_address);
    if (known)
        return known;
    struct mt_rule fresh = read_rule(return_address);
    if (fresh.kind != MT_RULE_NO_IMAGE) /* an image may come to lie there */
        mt_rule_keep(return_address, fresh);
    return mt_rule_pack(fresh);
}

void mt_rules_forget(void) {
    for (size_t i = 0; i < sizeof mt_rule_slots / sizeof mt_rule_slots[0]; i++)
        __atomic_store_n(&mt_rule_slots[i].rule, 0, __ATOMIC_RELAXED);
}
