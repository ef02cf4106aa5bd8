/* Unwind rules: how to get from a frame to its caller, per return address.
 *
 * Taken from .eh_frame once per return address and kept in a lock-free table. Only the shapes
 * that compilers emit for ordinary code are understood; all else is left to libunwind. */
#ifndef MT_UNWIND_RULES_H
#define MT_UNWIND_RULES_H

#include "base/os.h"

/* How a frame leads to its caller, and what becomes of its frame.fp on the way to the root. */
enum mt_frame_use {
    MT_FP_LEADS = 1,   /* the way to its caller starts at it */
    MT_FP_PASSES = 2,  /* it is its caller's too */
    MT_FP_MATTERS = 4, /* the way to the root depends on it: it leads, or passes to where it does */
    MT_FP_CHECKED = 8, /* it matters, and was read from fp_slot */
    MT_USES_TABLE = 16, /* the rule of an unwind table tells its caller */
    MT_READS_CFA = 32,  /* so it does, but by a word of the frame (struct mt_rule) */
    MT_SP_CHECKED = 64, /* its sp is such a word of its callee's */
    MT_RULE_USES = MT_FP_LEADS | MT_FP_PASSES | MT_USES_TABLE, /* those that a rule's word tells */
    MT_FRAME_USES = MT_RULE_USES | MT_READS_CFA,
};

/* What a rule tells of the frame pointer's use. */
static inline uint32_t mt_fp_use(bool is_from_fp, bool restores_fp) {
    return (is_from_fp ? MT_FP_LEADS : 0) | (restores_fp ? 0 : MT_FP_PASSES);
}

enum mt_rule_kind {
    MT_RULE_UNKNOWN = 0,   /* a shape that is not understood */
    MT_RULE_FRAME = 1,     /* the fields below hold */
    MT_RULE_OUTERMOST = 2, /* the return address is undefined: the stack ends here */
    MT_RULE_SIGNAL = 3,    /* what a signal handler returns to: unwind_signal.h */
    MT_RULE_NO_TABLE = 4,  /* code of an image of which no unwind table says anything */
    MT_RULE_NO_IMAGE = 5,  /* code outside of images, made at run time */
    MT_RULE_EPILOGUE = 6   /* as NO_TABLE, but the fields say what its code does before it returns:
                              to be checked each time (epilogue.h) */
};

/* CFA = base register + cfa_offset; the return address is at CFA + pc_offset.
 *
 * A function that aligns its stack and has room of variable size on it keeps its CFA in a word,
 * with gcc: reads_cfa says that it is at rbp + cfa_offset, the caller's rbp at rbp + fp_offset. */
struct mt_rule {
    uint32_t kind;    /* enum mt_rule_kind */
    bool is_from_fp;  /* base is the frame pointer (rbp), else the stack pointer (rsp) */
    bool restores_fp; /* the caller's rbp was saved at CFA + fp_offset, else it is unchanged */
    bool reads_cfa;   /* and is_from_fp, restores_fp */
#if defined(__x86_64__)
    bool is_behind_call; /* of an image's code without table: a call leads to it. Outside of images
                            it may be data, one of a hundred words of which looks so */
#endif
    int32_t cfa_offset; /* bytes; of MT_RULE_UNKNOWN not 0: mt_rule_of_damage() */
    int32_t fp_offset;  /* bytes */
#if !defined(__x86_64__)
    int32_t pc_offset; /* bytes */
#endif
};

/* True when no table says where the caller of this code is. */
static inline bool mt_rule_is_missing(struct mt_rule rule) {
    return rule.kind >= MT_RULE_NO_TABLE;
}

/* Of code of which a damaged table leads to no caller. Nobody else can tell it either: libunwind
 * would read what is not there, or go from one frame to the same. */
static inline struct mt_rule mt_rule_of_damage(void) {
    return (struct mt_rule){.kind = MT_RULE_UNKNOWN, .cfa_offset = 1};
}

static inline bool mt_rule_is_of_damage(struct mt_rule rule) {
    return rule.kind == MT_RULE_UNKNOWN && rule.cfa_offset != 0;
}

/* The rule for the code before this return address.
 *
 * returns  the rule, from the table or freshly read
 * errors   errno untouched
 * context  any thread; reads memory of the image that holds the address, which is on the calling
 *          stack and so cannot be unloaded meanwhile
 * source   DWARF 5 section 6.4, LSB 5.0 "Exception Frames" */
static inline struct mt_rule mt_rule_for(uintptr_t return_address);

/* ---- The table ----
 *
 * A slot holds the rule in one word and the address xored with it in the other: a reader that
 * meets the halves of two writers sees an address that is not its own, and reads the rule anew. */

enum { MT_RULE_SLOT_BITS = 15, MT_RULE_WAYS = 4 };

struct mt_rule_slot {
    uint64_t key, rule; /* rule 0: free */
};
extern MT_INTERNAL struct mt_rule_slot mt_rule_slots[(1 << MT_RULE_SLOT_BITS) + MT_RULE_WAYS];

/* The cold halves of mt_rule_word_known() and mt_rule_word_for(). */
uint64_t mt_rule_find(uintptr_t return_address);
uint64_t mt_rule_find_or_read(uintptr_t return_address);

static inline struct mt_rule_slot *mt_rule_first_slot(uintptr_t return_address) {
    return &mt_rule_slots[(return_address * 0x9e3779b97f4a7c15u) >> (64 - MT_RULE_SLOT_BITS)];
}

/* A rule in one word, from the lowest bit on:
 *
 *      use : 8 | cfa_offset : 24 | reads_cfa : 1 | pc_place : 7 | fp_offset : 24
 *      use         what the frame makes of its frame pointer, and MT_USES_TABLE where kind is
 *                  MT_RULE_FRAME (enum mt_frame_use); MT_RULE_IS_NEAR; kind + 1 : 3
 *      pc_place    x86_64: is_behind_call. Else how many words the return address lies below the
 *                  CFA, or MT_PC_BEHIND_FP
 *
 * MT_RULE_IS_NEAR: a frame that is found from the stack pointer, and whose saved frame pointer lies
 * in it. Of what is read for it only the end of the stack is to be watched. */
enum { MT_RULE_IS_NEAR = 4, MT_RULE_KIND_SHIFT = 5, MT_RULE_KIND_MASK = 7 };

static const uint64_t mt_rule_word_reads_cfa = (uint64_t)1 << 32;

/* ---- The place of the return address, and what is known of it ---- */

#if defined(__x86_64__)

static inline int64_t mt_rule_pc_offset(struct mt_rule rule) {
    (void)rule;
    return -8;
}

/* Whether a rule's word can say that the return address is at CFA + offset. */
static inline bool mt_rule_can_have_pc_at(struct mt_rule rule, int64_t offset) {
    (void)rule;
    return offset == -8;
}

static inline void mt_rule_set_pc_offset(struct mt_rule *rule, int64_t offset) {
    (void)rule, (void)offset;
}

static const uint64_t mt_rule_word_is_behind_call = (uint64_t)1 << 33;

static inline uint64_t mt_rule_pack_pc_place(struct mt_rule rule) {
    return rule.is_behind_call ? mt_rule_word_is_behind_call : 0;
}

static inline int64_t mt_rule_word_pc_offset(uint64_t word) {
    (void)word;
    return -8;
}

static inline void mt_rule_unpack_pc_place(struct mt_rule *rule, uint64_t word) {
    rule->is_behind_call = word & mt_rule_word_is_behind_call;
}

#else

/* In the word above the saved frame pointer: a frame record, as most functions have. */
enum { MT_PC_BEHIND_FP = 127, MT_PC_PLACE_SHIFT = 33 };

static inline int64_t mt_rule_pc_offset(struct mt_rule rule) {
    return rule.pc_offset;
}

static inline bool mt_rule_can_have_pc_at(struct mt_rule rule, int64_t offset) {
    bool is_behind_fp = rule.restores_fp && offset == rule.fp_offset + 8;
    return is_behind_fp || (offset % 8 == 0 && offset < 0 && offset / -8 < MT_PC_BEHIND_FP);
}

static inline void mt_rule_set_pc_offset(struct mt_rule *rule, int64_t offset) {
    rule->pc_offset = (int32_t)offset;
}

static inline uint64_t mt_rule_pack_pc_place(struct mt_rule rule) {
    bool is_behind_fp = rule.restores_fp && rule.pc_offset == rule.fp_offset + 8;
    uint64_t place = is_behind_fp ? MT_PC_BEHIND_FP : (uint64_t)(rule.pc_offset / -8);
    return (place & 127) << MT_PC_PLACE_SHIFT;
}

static inline int64_t mt_rule_word_pc_offset(uint64_t word) {
    int64_t place = (int64_t)(word >> MT_PC_PLACE_SHIFT & 127);
    return place == MT_PC_BEHIND_FP ? ((int64_t)word >> 40) + 8 : -8 * place;
}

static inline void mt_rule_unpack_pc_place(struct mt_rule *rule, uint64_t word) {
    rule->pc_offset = (int32_t)mt_rule_word_pc_offset(word);
}

#endif

/* What a rule tells of a frame: MT_RULE_USES. Not that a table is used where the CFA is read, which
 * the short walk leaves to the longer one. */
static inline uint32_t mt_rule_use(struct mt_rule rule) {
    return mt_fp_use(rule.is_from_fp, rule.restores_fp) |
           (rule.kind == MT_RULE_FRAME && !rule.reads_cfa ? MT_USES_TABLE : 0);
}

static inline bool mt_rule_is_near(struct mt_rule rule) {
    int64_t pc_offset = mt_rule_pc_offset(rule);
    bool is_slot_inside = !rule.restores_fp || (rule.fp_offset <= -8 && rule.fp_offset % 8 == 0 &&
                                                rule.fp_offset >= -rule.cfa_offset);
    return rule.kind == MT_RULE_FRAME && !rule.is_from_fp && rule.cfa_offset >= 8 &&
           rule.cfa_offset % 8 == 0 && is_slot_inside && pc_offset <= -8 &&
           pc_offset >= -(int64_t)rule.cfa_offset;
}

static inline uint64_t mt_rule_pack(struct mt_rule rule) {
    uint32_t use = mt_rule_use(rule) | (mt_rule_is_near(rule) ? MT_RULE_IS_NEAR : 0);
    return use | (rule.kind + 1) << MT_RULE_KIND_SHIFT |
           (uint64_t)((uint32_t)rule.cfa_offset & 0xffffff) << 8 |
           (rule.reads_cfa ? mt_rule_word_reads_cfa : 0) | mt_rule_pack_pc_place(rule) |
           (uint64_t)(uint32_t)rule.fp_offset << 40;
}

static inline int32_t mt_rule_word_cfa_offset(uint64_t word) {
    return (int32_t)(uint32_t)word >> 8;
}

/* The same where MT_RULE_IS_NEAR. */
static inline uint32_t mt_rule_word_near_cfa_offset(uint64_t word) {
    return (uint32_t)word >> 8;
}

static inline int64_t mt_rule_word_fp_offset(uint64_t word) {
    return (int64_t)word >> 40;
}

static inline struct mt_rule mt_rule_unpack(uint64_t word) {
    struct mt_rule rule = {.kind = (word >> MT_RULE_KIND_SHIFT & MT_RULE_KIND_MASK) - 1,
                           .is_from_fp = word & MT_FP_LEADS,
                           .restores_fp = !(word & MT_FP_PASSES),
                           .reads_cfa = word & mt_rule_word_reads_cfa,
                           .cfa_offset = mt_rule_word_cfa_offset(word),
                           .fp_offset = (int32_t)mt_rule_word_fp_offset(word)};
    mt_rule_unpack_pc_place(&rule, word);
    return rule;
}

/* Whether the first slot is of the address; *rule: what it says, 0 where it is so by chance. */
static inline bool mt_rule_is_at_first(uintptr_t return_address, uint64_t *rule) {
    const struct mt_rule_slot *slot = mt_rule_first_slot(return_address);
    uint64_t key = __atomic_load_n(&slot->key, __ATOMIC_RELAXED);
    *rule = __atomic_load_n(&slot->rule, __ATOMIC_RELAXED);
    return mt_likely((key ^ *rule) == return_address);
}

/* The rule in one word, from the table only; 0 where it is not there, or by chance. */
static inline uint64_t mt_rule_word_known(uintptr_t return_address) {
    uint64_t rule;
    return mt_rule_is_at_first(return_address, &rule) ? rule : mt_rule_find(return_address);
}

/* mt_rule_for(), in one word. */
static inline uint64_t mt_rule_word_for(uintptr_t return_address) {
    uint64_t rule;
    bool is_known = mt_rule_is_at_first(return_address, &rule) && mt_likely(rule != 0);
    return is_known ? rule : mt_rule_find_or_read(return_address);
}

static inline struct mt_rule mt_rule_for(uintptr_t return_address) {
    return mt_rule_unpack(mt_rule_word_for(return_address));
}

/* Keeps the rule for the code before this return address, perhaps in the place of another one. */
void mt_rule_keep(uintptr_t return_address, struct mt_rule rule);

/* Forgets all rules: code was unloaded. */
void mt_rules_forget(void);

#endif
