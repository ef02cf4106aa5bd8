/* See cmemtracetesting.h. */
#include "cmemtracetesting.h"

__attribute__((constructor)) static void load(void) {
    memtrace_testing_load();
}
