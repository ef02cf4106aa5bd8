/* The key of thread-local data by which the C library tells that a thread ends.
 *
 * A process has 1024 of them, and a program may want them all: it gets ours then, and ends of
 * threads are noticed when others begin (thread_state.c). */
#ifndef MT_THREAD_KEY_H
#define MT_THREAD_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the key. Once, at start-up.
 *
 * end  called with the value of a thread that ends */
void mt_thread_key_make(void (*end)(void *value));

bool mt_thread_key_is_there(void);

/* Sets the calling thread's value. Allocates nothing, but where the program had many keys before.
 *
 * returns  false when there is no key */
bool mt_thread_key_set(uintptr_t value);

/* Leaves the key to the program.
 *
 * returns  false when there is none */
bool mt_thread_key_give_up(void);

/* In a forked child, whose parent's other threads may have held the lock. */
void mt_thread_key_after_fork(void);

#endif
