/* The recorder's parts, for unit tests. Its hooks are not exported in this build. */
#include "../config.h"
#include "../epilogue.h"
#include "../event_writer.h"
#include "../exec_probe.h"
#include "../lane.h"
#include "../os.h"
#include "../real.h"
#include "../refcount_types.h"
#include "../refcount_writer.h"
#include "../sampling.h"
#include "../stack_index.h"
#include "../stack_table.h"
#include "../text.h"
#include "../unwind_memo.h"
#include "../unwind_rules.h"
#include "../unwind_short_walk.h"
#include "../unwind_walk.h"

/* Arrays that are too long for Swift to see. */
static inline struct mt_check *mt_unwinder_checks(struct mt_unwinder *unwinder) {
    return unwinder->checks;
}
