/* See cmemtrace.h. */
#include "cmemtrace.h"

#include <errno.h>

int cmemtrace_is_loaded(void) {
    return memtrace_mark && memtrace_snapshot;
}

void cmemtrace_mark(const char *name) {
    MEMTRACE_MARK(name);
}

int cmemtrace_snapshot(const char *name) {
    return memtrace_snapshot ? memtrace_snapshot(name) : ENOSYS;
}

void cmemtrace_resume(void) {
    MEMTRACE_RESUME();
}

void cmemtrace_pause(void) {
    MEMTRACE_PAUSE();
}

void cmemtrace_allocated(const void *block, size_t size) {
    MEMTRACE_ALLOCATED(block, size);
}

void cmemtrace_freed(const void *block) {
    MEMTRACE_FREED(block);
}

void cmemtrace_ignore(const void *block) {
    MEMTRACE_IGNORE(block);
}
