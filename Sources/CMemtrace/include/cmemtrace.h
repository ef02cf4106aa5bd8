/* memtrace.h for the Swift module Memtrace: Swift cannot ask whether a weak function is there. */
#ifndef CMEMTRACE_H
#define CMEMTRACE_H

#include "memtrace.h"

/* Whether the recorder is loaded. */
int cmemtrace_is_loaded(void);

/* As memtrace_mark and memtrace_snapshot; without the recorder nothing, and ENOSYS. */
void cmemtrace_mark(const char *name);
int cmemtrace_snapshot(const char *name);

/* As memtrace_resume and memtrace_pause; without the recorder nothing. */
void cmemtrace_resume(void);
void cmemtrace_pause(void);

/* As memtrace_allocated, memtrace_freed and memtrace_ignore; without the recorder nothing. */
void cmemtrace_allocated(const void *block, size_t size);
void cmemtrace_freed(const void *block);
void cmemtrace_ignore(const void *block);

#endif
