/* Reads .eh_frame_hdr, .eh_frame and .debug_frame. See eh_frame.h. */
#include "unwind/eh_frame.h"

#include "unwind/table_pages.h"
#include <string.h>

#if defined(__x86_64__)
enum { REGISTER_FP = 6, REGISTER_SP = 7, REGISTER_RA = 16 };
#else
enum { REGISTER_FP = 29, REGISTER_SP = 31, REGISTER_RA = 30 };
#endif

/* ---- Reading the encodings of .eh_frame ---- */

struct cursor {
    const uint8_t *at, *end;
    bool is_bad;
};

static uint64_t take(struct cursor *cursor, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(cursor->end - cursor->at) < size) {
        cursor->is_bad = true;
        return 0;
    }
    memcpy(&value, cursor->at, size);
    cursor->at += size;
    return value;
}

static uint64_t take_uleb(struct cursor *cursor) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = (uint8_t)take(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80) || cursor->is_bad)
            return value;
    }
}

static int64_t take_sleb(struct cursor *cursor) {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)take(cursor, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) && !cursor->is_bad);
    if ((byte & 0x40) && shift < 64)
        value |= ~0ull << shift;
    return (int64_t)value;
}

/* DW_EH_PE_*: low 4 bits the format, next 3 what it is relative to, top bit indirect. */
static uintptr_t take_encoded(struct cursor *cursor, uint8_t encoding, uintptr_t data_base) {
    const uint8_t *start = cursor->at;
    uint64_t value;
    switch (encoding & 0x0f) {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0c: /* sdata8 */
        value = take(cursor, 8);
        break;
    case 0x01:
        value = take_uleb(cursor);
        break;
    case 0x02:
        value = take(cursor, 2);
        break;
    case 0x03:
        value = take(cursor, 4);
        break;
    case 0x09:
        value = (uint64_t)take_sleb(cursor);
        break;
    case 0x0a:
        value = (uint64_t)(int64_t)(int16_t)take(cursor, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int64_t)(int32_t)take(cursor, 4);
        break;
    default:
        cursor->is_bad = true;
        return 0;
    }
    switch (encoding & 0x70) {
    case 0x00:
        return value;
    case 0x10: /* pcrel */
        return value + (uintptr_t)start;
    case 0x30: /* datarel */
        return value + data_base;
    default:
        cursor->is_bad = true;
        return 0;
    }
}

/* ---- Finding the FDE ---- */

struct table_entry {
    int32_t start, fde; /* relative to .eh_frame_hdr */
};

/* What stands in front of the table: four bytes, a pointer and a number. */
enum { LONGEST_HEADER = 4 + 2 * 10 };

static const uint8_t *earlier(const uint8_t *a, const uint8_t *b) {
    return a < b ? a : b;
}

static bool is_readable(const struct table_entry *entry) {
    const uint8_t *end = (const uint8_t *)(entry + 1);
    return mt_table_readable_until((const uint8_t *)entry, end) == end;
}

/* The binary search table that linkers write: the last entry that starts at or before pc. */
static const uint8_t *find_fde(const struct mt_unwind_section *section, uintptr_t pc) {
    if (section->header == 0)
        return NULL;
    const uint8_t *header = (const uint8_t *)section->header;
    const uint8_t *end = header + section->header_size;
    struct cursor cursor = {
        header, mt_table_readable_until(header, earlier(header + LONGEST_HEADER, end)), false};
    uint8_t version = (uint8_t)take(&cursor, 1), frame_encoding = (uint8_t)take(&cursor, 1);
    uint8_t count_encoding = (uint8_t)take(&cursor, 1), entry_encoding = (uint8_t)take(&cursor, 1);
    if (version != 1 || entry_encoding != 0x3b /* datarel sdata4 */)
        return NULL;
    take_encoded(&cursor, frame_encoding, section->header);
    uintptr_t count = take_encoded(&cursor, count_encoding, section->header);
    const struct table_entry *entries = (const struct table_entry *)cursor.at;
    if (cursor.is_bad || count == 0 || count > (size_t)(end - cursor.at) / sizeof *entries)
        return NULL;
    intptr_t wanted = (intptr_t)(pc - section->header);
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (!is_readable(&entries[middle]))
            return NULL;
        if (entries[middle].start <= wanted)
            low = middle;
        else
            high = middle;
    }
    if (!is_readable(&entries[low]) || entries[low].start > wanted)
        return NULL;
    return header + entries[low].fde;
}

struct frame_description {
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    uint8_t pointer_encoding;
    bool has_augmentation, is_signal;
    bool is_damaged; /* there is none where the table says, or none that can be read */
    struct cursor initial, program; /* instructions of the CIE and of the FDE */
    uintptr_t start, length;
};

static bool read_augmentation(struct cursor *cie, const char *augmentation,
                              struct frame_description *frame) {
    if (augmentation[0] == 0)
        return true;
    if (augmentation[0] != 'z')
        return false;
    uint64_t length = take_uleb(cie);
    if (cie->is_bad || length > (size_t)(cie->end - cie->at))
        return false;
    struct cursor data = {cie->at, cie->at + length, false};
    cie->at += length;
    frame->has_augmentation = true;
    for (augmentation++; *augmentation; augmentation++) {
        if (*augmentation == 'R')
            frame->pointer_encoding = (uint8_t)take(&data, 1);
        else if (*augmentation == 'P')
            take_encoded(&data, (uint8_t)take(&data, 1) & 0x7f, 0);
        else if (*augmentation == 'L')
            take(&data, 1);
        else if (*augmentation == 'S')
            frame->is_signal = true;
        else if (*augmentation != 'B')
            return false;
    }
    return !data.is_bad;
}

/* No compiler writes an entry of so many bytes. */
enum { LONGEST_ENTRY = 1 << 20 };

/* Where what can be read of an entry ends, at the latest.
 *
 * copy  NULL: the entry lies in a mapped section */
static const uint8_t *end_of_entry(const uint8_t *at, const struct mt_debug_frame_copy *copy,
                                   size_t size) {
    return copy ? copy->start + copy->size : mt_table_readable_until(at, at + size);
}

/* An entry: its length, what tells a CIE from an FDE, and the rest.
 *
 * copy  NULL: the entry lies in a mapped section */
static bool begin_entry(const uint8_t *at, const struct mt_debug_frame_copy *copy,
                        struct cursor *entry) {
    *entry = (struct cursor){at, end_of_entry(at, copy, 4), false};
    uint64_t length = take(entry, 4);
    if (entry->is_bad || length == 0 || length > LONGEST_ENTRY)
        return false;
    const uint8_t *end = end_of_entry(at, copy, 4 + length);
    if (length > (size_t)(end - entry->at))
        return false;
    entry->end = entry->at + length;
    return true;
}

static bool read_cie(const uint8_t *at, const struct mt_debug_frame_copy *copy,
                     struct frame_description *frame) {
    struct cursor cie;
    frame->is_damaged = !begin_entry(at, copy, &cie);
    if (frame->is_damaged || take(&cie, 4) != (copy ? UINT32_MAX : 0))
        return false;
    uint8_t version = (uint8_t)take(&cie, 1);
    const char *augmentation = (const char *)cie.at;
    const uint8_t *terminator = memchr(cie.at, 0, (size_t)(cie.end - cie.at));
    if ((version != 1 && version != 3 && !(copy && version == 4)) || !terminator)
        return false;
    cie.at = terminator + 1;
    /* Sizes of an address and of a segment selector. */
    if (version == 4 && (take(&cie, 1) != sizeof(uintptr_t) || take(&cie, 1) != 0))
        return false;
    frame->code_factor = take_uleb(&cie);
    frame->data_factor = take_sleb(&cie);
    frame->return_register = version == 1 ? take(&cie, 1) : take_uleb(&cie);
    if (!read_augmentation(&cie, augmentation, frame))
        return false;
    frame->initial = cie;
    return !cie.is_bad;
}

/* Where the CIE of an entry is; NULL where the entry is one itself, or leads nowhere. */
static const uint8_t *take_cie(struct cursor *fde, const struct mt_debug_frame_copy *copy) {
    const uint8_t *place = fde->at;
    uint64_t value = take(fde, 4);
    if (copy)
        return value < copy->size ? copy->start + value : NULL;
    return value != 0 ? place - value : NULL;
}

static bool read_fde(const uint8_t *at, const struct mt_debug_frame_copy *copy,
                     struct frame_description *frame) {
    struct cursor fde;
    frame->is_damaged = !begin_entry(at, copy, &fde);
    if (frame->is_damaged)
        return false;
    const uint8_t *cie = take_cie(&fde, copy);
    if (!cie || !read_cie(cie, copy, frame))
        return false;
    frame->start = take_encoded(&fde, frame->pointer_encoding, 0) + (copy ? copy->bias : 0);
    frame->length = take_encoded(&fde, frame->pointer_encoding & 0x0f, 0);
    if (frame->has_augmentation) {
        uint64_t skipped = take_uleb(&fde);
        if (fde.is_bad || skipped > (size_t)(fde.end - fde.at))
            return false;
        fde.at += skipped;
    }
    frame->program = fde;
    return !fde.is_bad;
}

/* ---- Running the call frame instructions ---- */

enum register_state {
    SAME = 0,
    SAVED,       /* at an offset from the CFA */
    SAVED_AT_FP, /* at one from rbp */
    UNDEFINED,
    STRANGE
};

struct registers {
    uint64_t cfa_register;
    int64_t cfa_offset;
    int64_t fp_offset, ra_offset;
    int64_t lowest_saved; /* of all that were saved so far, from the CFA */
    enum register_state fp, ra;
    bool reads_cfa;  /* the CFA is a word at an offset from a register */
    bool is_strange; /* the CFA is another expression, or such */
    bool is_damaged; /* what is said here leads nowhere */
};

/* The CFA's, as long as nothing says which one it is. */
static const uint64_t no_register = UINT64_MAX;

enum { REMEMBERED = 8 };

struct machine {
    struct registers now, initial, remembered[REMEMBERED];
    unsigned depth;
    uintptr_t location, stop;
};

static void set_register(struct registers *now, uint64_t number, enum register_state state,
                         int64_t offset) {
    if (state == SAVED && offset < now->lowest_saved)
        now->lowest_saved = offset;
    if (number == REGISTER_FP) {
        now->fp = state;
        now->fp_offset = offset;
    } else if (number == REGISTER_RA) {
        now->ra = state;
        now->ra_offset = offset;
    }
}

static void restore_register(struct machine *machine, uint64_t number) {
    if (number == REGISTER_FP) {
        machine->now.fp = machine->initial.fp;
        machine->now.fp_offset = machine->initial.fp_offset;
    } else if (number == REGISTER_RA) {
        machine->now.ra = machine->initial.ra;
        machine->now.ra_offset = machine->initial.ra_offset;
    }
}

static void skip_block(struct cursor *code) {
    uint64_t length = take_uleb(code);
    if (length > (size_t)(code->end - code->at))
        code->is_bad = true;
    else
        code->at += length;
}

static void set_cfa(struct registers *now, uint64_t number, int64_t offset) {
    now->cfa_register = number;
    now->cfa_offset = offset;
    now->reads_cfa = now->is_strange = false;
}

/* An expression that is an address at an offset from rbp, or the word there, as gcc writes them for
 * functions that align their stack. Any other is skipped.
 * returns  whether it is one */
static bool take_expression(struct cursor *code, bool is_read, int64_t *offset) {
    enum { OP_DEREF = 0x06, OP_BREG_FP = 0x70 + REGISTER_FP };
    struct cursor block = *code;
    skip_block(code);
    uint64_t length = take_uleb(&block);
    if (code->is_bad || length == 0 || take(&block, 1) != OP_BREG_FP)
        return false;
    block.end = code->at;
    *offset = take_sleb(&block);
    bool is_ours = !is_read || take(&block, 1) == OP_DEREF;
    return is_ours && !block.is_bad && block.at == block.end;
}

/* Instructions of the DWARF table whose top two bits are 0. False ends the run. */
static bool run_extended(struct machine *machine, struct cursor *code, uint8_t instruction,
                         const struct frame_description *frame) {
    struct registers *now = &machine->now;
    uint64_t number;
    int64_t offset = 0;
    bool is_known;
    switch (instruction) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        machine->location = take_encoded(code, frame->pointer_encoding, 0);
        return machine->location <= machine->stop;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        machine->location += take(code, 1u << (instruction - 2)) * frame->code_factor;
        return machine->location <= machine->stop;
    case 0x05: /* offset_extended */
        number = take_uleb(code);
        set_register(now, number, SAVED, (int64_t)take_uleb(code) * frame->data_factor);
        return true;
    case 0x06: /* restore_extended */
        restore_register(machine, take_uleb(code));
        return true;
    case 0x07: /* undefined */
        set_register(now, take_uleb(code), UNDEFINED, 0);
        return true;
    case 0x08: /* same_value */
        set_register(now, take_uleb(code), SAME, 0);
        return true;
    case 0x09: /* register */
        set_register(now, take_uleb(code), STRANGE, 0);
        take_uleb(code);
        return true;
    case 0x0a: /* remember_state */
        if (machine->depth == REMEMBERED)
            return !(now->is_strange = true);
        machine->remembered[machine->depth++] = *now;
        return true;
    case 0x0b: /* restore_state */
        if (machine->depth == 0)
            return !(now->is_strange = true);
        *now = machine->remembered[--machine->depth];
        return true;
    case 0x0c: /* def_cfa */
        number = take_uleb(code);
        set_cfa(now, number, (int64_t)take_uleb(code));
        return true;
    case 0x0d: /* def_cfa_register: of one that is no expression */
        now->cfa_register = take_uleb(code);
        now->is_strange |= now->reads_cfa;
        return true;
    case 0x0e: /* def_cfa_offset */
        now->cfa_offset = (int64_t)take_uleb(code);
        now->is_strange |= now->reads_cfa;
        return true;
    case 0x0f: /* def_cfa_expression */
        is_known = take_expression(code, true, &offset);
        set_cfa(now, REGISTER_FP, offset);
        now->reads_cfa = is_known;
        now->is_strange = !is_known;
        return true;
    case 0x10: /* expression */
        number = take_uleb(code);
        is_known = take_expression(code, false, &offset);
        set_register(now, number, is_known ? SAVED_AT_FP : STRANGE, offset);
        return true;
    case 0x16: /* val_expression */
        set_register(now, take_uleb(code), STRANGE, 0);
        skip_block(code);
        return true;
    case 0x11: /* offset_extended_sf */
        number = take_uleb(code);
        set_register(now, number, SAVED, take_sleb(code) * frame->data_factor);
        return true;
    case 0x12: /* def_cfa_sf */
        number = take_uleb(code);
        set_cfa(now, number, take_sleb(code) * frame->data_factor);
        return true;
    case 0x13: /* def_cfa_offset_sf */
        now->cfa_offset = take_sleb(code) * frame->data_factor;
        now->is_strange |= now->reads_cfa;
        return true;
#if defined(__aarch64__)
    case 0x2d: /* AARCH64_negate_ra_state: signatures are taken off wherever they are (frame.h) */
        return true;
#endif
    case 0x2e: /* GNU_args_size */
        take_uleb(code);
        return true;
    default:
        return !(now->is_strange = true);
    }
}

/* Runs instructions up to the location that the return address belongs to. */
static void run(struct machine *machine, struct cursor code,
                const struct frame_description *frame) {
    while (code.at < code.end && !code.is_bad) {
        uint8_t instruction = (uint8_t)take(&code, 1);
        uint8_t operand = instruction & 0x3f;
        switch (instruction >> 6) {
        case 1: /* advance_loc */
            machine->location += operand * frame->code_factor;
            if (machine->location > machine->stop)
                return;
            break;
        case 2: /* offset */
            set_register(&machine->now, operand, SAVED,
                         (int64_t)take_uleb(&code) * frame->data_factor);
            break;
        case 3: /* restore */
            restore_register(machine, operand);
            break;
        default:
            if (!run_extended(machine, &code, instruction, frame))
                return;
        }
    }
    if (code.is_bad)
        machine->now.is_strange = machine->now.is_damaged = true;
}

/* Whether instructions were read to their end, but do not say where the caller is. */
static bool lacks_caller(const struct registers *registers) {
#if defined(__x86_64__)
    if (!registers->is_strange && registers->ra == SAME) /* no call leaves it in a register */
        return true;
#endif
    return !registers->is_strange && registers->cfa_register == no_register;
}

/* In a rule's word. Arrays of a megabyte are on many a stack. */
static bool fits(int64_t offset) {
    return offset >= -(1 << 23) && offset < (1 << 23);
}

static struct mt_rule conclude(const struct registers *registers) {
    struct mt_rule rule = {0};
    if (registers->ra == UNDEFINED) {
        rule.kind = MT_RULE_OUTERMOST;
        return rule;
    }
    if (registers->is_damaged || lacks_caller(registers))
        return mt_rule_of_damage();
    bool is_from_fp = registers->cfa_register == REGISTER_FP;
    /* The word that is the CFA, and rbp, are read from the same frame, or neither. */
    bool is_fp_known =
        registers->fp != STRANGE && registers->reads_cfa == (registers->fp == SAVED_AT_FP);
    if (registers->is_strange || (!is_from_fp && registers->cfa_register != REGISTER_SP) ||
        registers->ra != SAVED || !is_fp_known || !fits(registers->cfa_offset) ||
        !fits(registers->fp_offset))
        return rule;
    rule.is_from_fp = is_from_fp;
    rule.restores_fp = registers->fp == SAVED || registers->fp == SAVED_AT_FP;
    rule.reads_cfa = registers->reads_cfa;
    rule.cfa_offset = (int32_t)registers->cfa_offset;
    rule.fp_offset = (int32_t)registers->fp_offset;
    if (!mt_rule_can_have_pc_at(rule, registers->ra_offset))
        return (struct mt_rule){0};
    mt_rule_set_pc_offset(&rule, registers->ra_offset);
    rule.kind = MT_RULE_FRAME;
    return rule;
}

/* What holds for the instruction at pc; of a shape that is not understood: is_strange.
 *
 * fde   NULL: there is none
 * copy  NULL: it lies in a mapped section */
static enum mt_eh_frame_result registers_at(const uint8_t *fde,
                                            const struct mt_debug_frame_copy *copy, uintptr_t pc,
                                            struct registers *registers) {
    struct frame_description frame = {0};
    *registers = (struct registers){.is_strange = true};
    if (!fde)
        return MT_EH_FRAME_MISSING;
    if (!read_fde(fde, copy, &frame) || pc - frame.start >= frame.length) {
        registers->is_damaged = frame.is_damaged && !copy;
        return registers->is_damaged ? MT_EH_FRAME_FOUND : MT_EH_FRAME_MISSING;
    }
    if (frame.is_signal || frame.return_register != REGISTER_RA)
        return MT_EH_FRAME_FOUND;
    struct machine machine = {.now.cfa_register = no_register, .location = frame.start, .stop = pc};
    run(&machine, frame.initial, &frame);
    machine.initial = machine.now;
    run(&machine, frame.program, &frame);
    *registers = machine.now;
    return MT_EH_FRAME_FOUND;
}

enum mt_eh_frame_result mt_eh_frame_rule(const struct mt_unwind_section *section, uintptr_t pc,
                                         struct mt_rule *rule) {
    struct registers registers;
    enum mt_eh_frame_result result = registers_at(find_fde(section, pc), NULL, pc, &registers);
    *rule = conclude(&registers);
    return result;
}

enum mt_eh_frame_result mt_eh_frame_rule_in(const struct mt_debug_frame_copy *section, size_t entry,
                                            uintptr_t pc, struct mt_rule *rule) {
    struct registers registers;
    enum mt_eh_frame_result result = registers_at(section->start + entry, section, pc, &registers);
    *rule = conclude(&registers);
    return result;
}

intptr_t mt_eh_frame_lowest_saved(const struct mt_unwind_section *section, uintptr_t pc) {
    struct registers registers;
    registers_at(find_fde(section, pc), NULL, pc, &registers);
    bool is_known = !registers.is_strange && !registers.reads_cfa && fits(registers.lowest_saved);
    return is_known ? (intptr_t)registers.lowest_saved : 0;
}
