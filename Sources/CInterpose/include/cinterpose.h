/* The recorder's parts, for unit tests. Its hooks are not exported in this build. */
#include "../config.h"
#include "../event_writer.h"
#include "../exec_probe.h"
#include "../real.h"
#include "../sampling.h"
#include "../stack_table.h"
#include "../text.h"
#include "../unwind_rules.h"
