/* Unwind rules: how to get from a frame to its caller, per return address.
 *
 * Taken from .eh_frame once per return address and kept in a lock-free table. Only the shapes
 * that compilers emit for ordinary code are understood; all else is left to libunwind. */
#ifndef MT_UNWIND_RULES_H
#define MT_UNWIND_RULES_H

#include "os.h"

enum mt_rule_kind {
    MT_RULE_UNKNOWN = 0,   /* a shape that is not understood */
    MT_RULE_FRAME = 1,     /* the fields below hold */
    MT_RULE_OUTERMOST = 2, /* the return address is undefined: the stack ends here */
    MT_RULE_NO_TABLE = 3   /* no unwind table says anything of this code */
};

/* CFA = base register + cfa_offset; the return address is at CFA - 8 (x86_64). */
struct mt_rule {
    uint32_t kind;      /* enum mt_rule_kind */
    bool is_from_fp;    /* base is the frame pointer (rbp), else the stack pointer (rsp) */
    bool restores_fp;   /* the caller's rbp was saved at CFA + fp_offset, else it is unchanged */
    int32_t cfa_offset; /* bytes */
    int32_t fp_offset;  /* bytes */
};

/* The rule for the code before this return address.
 *
 * returns  the rule, from the table or freshly read
 * errors   errno untouched
 * context  any thread; reads memory of the image that holds the address, which is on the calling
 *          stack and so cannot be unloaded meanwhile
 * source   DWARF 5 section 6.4, LSB 5.0 "Exception Frames" */
struct mt_rule mt_rule_for(uintptr_t return_address);

/* Forgets all rules: code was unloaded. */
void mt_rules_forget(void);

#endif
