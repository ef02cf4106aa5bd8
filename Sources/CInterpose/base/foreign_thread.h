/* Threads whose thread pointer is not the C library's.
 *
 * A runtime may start threads by clone(2), with memory of its own for what is theirs alone. Where
 * the recorder's TLS block would be, such a thread has something else, or nothing at all. It calls
 * hooks at most of what the C library does without variables of its own (syscall, epoll_wait); but
 * signals reach it, and so do their handlers. */
#ifndef MT_FOREIGN_THREAD_H
#define MT_FOREIGN_THREAD_H

#include <stdbool.h>

/* Before the recorder handles any signal, in a thread of the C library's. */
void mt_foreign_threads_begin(void);

/* Whether the calling thread is one: then nothing may touch mt_tls. Async-signal-safe. */
bool mt_thread_is_foreign(void);

/* The opposite, for hooks: without a system call where the block lies in the page that the thread
 * pointer points to, as it mostly does, and of which whoever calls the C library has the memory. */
bool mt_thread_has_block(void);

#endif
