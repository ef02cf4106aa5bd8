/* memtrace from within a program: marks and heap snapshots at moments that the program chooses.
 *
 * Nothing has to be linked: the functions are weak and there only while memtrace records the
 * program. Use the macros, which do nothing otherwise:
 *
 *     #include <memtrace.h>
 *
 *     MEMTRACE_MARK("loaded");
 *     MEMTRACE_SNAPSHOT("after the first request");
 *
 * and, where recording begins paused (`memtrace record --paused`), around what is of interest:
 *
 *     MEMTRACE_RESUME();
 *     handle_request();
 *     MEMTRACE_PAUSE();
 *
 * An allocator of the program's own announces its blocks, which reports then show as those of
 * malloc:
 *
 *     MEMTRACE_ALLOCATED(block, size);
 *     MEMTRACE_FREED(block);
 *
 * From any thread. Not from signal handlers. */
#ifndef MEMTRACE_H
#define MEMTRACE_H

#include <stddef.h>

/* The bytes of a block are not read: without that GCC warns of those that nobody has set. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#    define MEMTRACE_READS_NOTHING __attribute__((access(none, 1)))
#else
#    define MEMTRACE_READS_NOTHING
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Names this moment: reports take the name where they take a time (`--at loaded`).
 *
 * name  text, cut after 1023 bytes; may be empty, not NULL */
void memtrace_mark(const char *name) __attribute__((weak));

/* Takes a heap snapshot: which blocks are reachable now, and from where. Other threads stand still
 * for some milliseconds; the image is written while the program goes on.
 *
 * name     as for memtrace_mark
 * returns  0, or an error number: EBUSY while another one is being written, ENOSYS when nothing is
 *          recorded, EAGAIN when no process can be made, ENOENT without /proc, ENOMEM */
int memtrace_snapshot(const char *name) __attribute__((weak));

/* Resumes and pauses the recording of allocations, for all threads; frees of blocks that were
 * recorded are recorded always. Other threads follow with one of the next allocations, after 1 KiB
 * at most. Nothing happens unless the program was started with `record --paused`, or where it
 * is so already. */
void memtrace_resume(void) __attribute__((weak));
void memtrace_pause(void) __attribute__((weak));

/* The program's own allocator has handed out a block, which lies in memory of malloc, mmap or
 * anywhere else. Call it once the block belongs to the one who has asked for it.
 *
 * block  NULL: nothing happens
 * size   bytes that are used of it
 *
 * It ends with memtrace_freed, with the block of malloc that it lies in, and when another block is
 * announced that shares bytes with it, unless one lies in the other. Only one can begin at an
 * address. A block that moves or grows has ended, and another one begins. */
void memtrace_allocated(const void *block, size_t size)
    __attribute__((weak)) MEMTRACE_READS_NOTHING;

/* The allocator takes a block back. Call it before the memory can be handed out again.
 *
 * block  what was announced; NULL: nothing happens */
void memtrace_freed(const void *block) __attribute__((weak)) MEMTRACE_READS_NOTHING;

/* A block is never to be reported as leaked, nor what only it holds: it lives until the end on
 * purpose. That ends with the block.
 *
 * block  a block of malloc, or one that was announced; any address in it counts */
void memtrace_ignore(const void *block) __attribute__((weak)) MEMTRACE_READS_NOTHING;

#ifdef __cplusplus
}
#endif

#define MEMTRACE_MARK(name) (memtrace_mark ? memtrace_mark(name) : (void)0)
#define MEMTRACE_RESUME() (memtrace_resume ? memtrace_resume() : (void)0)
#define MEMTRACE_PAUSE() (memtrace_pause ? memtrace_pause() : (void)0)
#define MEMTRACE_ALLOCATED(block, size)                                                            \
    (memtrace_allocated ? memtrace_allocated(block, size) : (void)0)
#define MEMTRACE_FREED(block) (memtrace_freed ? memtrace_freed(block) : (void)0)
#define MEMTRACE_IGNORE(block) (memtrace_ignore ? memtrace_ignore(block) : (void)0)
#define MEMTRACE_SNAPSHOT(name) (memtrace_snapshot ? memtrace_snapshot(name) : 0)

#endif
