/* Signals, threads and copies of the process, by raw system calls: what a snapshot needs of the
 * kernel beyond os.h, with the same contract (results >= 0 or -errno, errno left alone). */
#ifndef MT_OS_THREADS_H
#define MT_OS_THREADS_H

#include "base/os.h"
#include <signal.h>

/* A signal's disposition as the kernel keeps it. */
struct mt_os_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

#define MT_SIGNAL_IGNORED ((void (*)(int, siginfo_t *, void *))(uintptr_t)SIG_IGN)

/* Reads a disposition; then sets it where `action` is not NULL. Either may be NULL. */
long mt_os_action(int signal, const struct mt_os_action *action, struct mt_os_action *before);

/* A handler that runs with all signals held back, on the alternate stack where there is one, and
 * lets interrupted system calls be resumed as far as the kernel can. */
struct mt_os_action mt_os_handler(void (*handler)(int, siginfo_t *, void *));

/* Gives the calling thread a signal stack in place of the one that it has; one of size 0: none.
 * returns  0, or -EPERM where it is running on the one that it has */
long mt_os_set_signal_stack(struct mt_signal_stack stack);

/* Queues a real-time signal with a value for one thread of this process.
 * errors   -ESRCH when the thread is gone, -EAGAIN when the queue is full, -EPERM */
long mt_os_queue_signal(int tid, int signal, void *value);

/* Whether a thread of this process has that number, and has not ended. */
bool mt_os_has_thread(int tid);

/* Signals that wait for the calling thread, or its process, to let them through: bit n - 1 for
 * signal n. */
uint64_t mt_os_pending_signals(void);

/* Sends the calling thread a signal, with nothing but its number. */
void mt_os_signal_thread(int signal);
/* The same with what it came with before.
 * returns  0 or -errno */
long mt_os_signal_thread_again(int signal, const siginfo_t *info);

/* Hands a signal on to a thread of this process, with what it came with, or without where somebody
 * else has sent it. */
void mt_os_pass_signal(int tid, int signal, const siginfo_t *info);

/* Lets the process get a signal every so many seconds (si_code SI_TIMER).
 * returns  0 or -errno */
long mt_os_start_timer(int signal, uint64_t seconds);
/* Ends the timer that was started last. */
void mt_os_stop_timer(void);

/* Entries of a directory, struct linux_dirent64. */
long mt_os_directory_entries(int fd, void *buffer, size_t size);

/* Closes descriptors, as far as they are open. Linux 5.9; a seccomp filter may refuse it.
 * returns  0 or -errno */
long mt_os_close_range(unsigned first, unsigned last);

/* Copies the process, as fork does, but so that the host never learns of the copy: no SIGCHLD, not
 * seen by wait() without __WALL, no atfork handlers.
 * returns  0 in the copy, its pid in the original, -errno */
long mt_os_copy_process(void);
/* Whether the next child is the first process of a new namespace (CLONE_NEWPID), in which there can
 * be no other one when it has ended. */
bool mt_os_child_begins_namespace(void);
/* Whether a copy has ended; reaps it then. */
bool mt_os_reap(long pid);
void mt_os_kill(long pid);

/* Sleep on a word that may be shared with a copy of the process, at most so long; wakes all who do.
 * mt_os_futex_wake wakes none of them. */
void mt_os_futex_wait_for(uint32_t *word, uint32_t expected, uint64_t nanoseconds);
void mt_os_futex_wake_shared(uint32_t *word);

/* The time limit of a socket, SO_RCVTIMEO or SO_SNDTIMEO: false where there is none. */
bool mt_os_socket_limit(int socket, int option, struct timespec *limit);
bool mt_os_is_stream_socket(int socket);
/* Whether calls on a descriptor return at once where they would have to wait, or it is none. */
bool mt_os_may_not_wait(int fd);
/* Whether a descriptor is one of a device that never waits and never ends: /dev/zero, /dev/urandom.
 */
bool mt_os_is_endless_device(int fd);
/* send(2) and recv(2): how many bytes, or -errno. */
long mt_os_send(int socket, const void *bytes, size_t length, int flags);
long mt_os_receive(int socket, void *bytes, size_t length, int flags);
/* IPPROTO_TCP ..., or -errno. */
long mt_os_socket_protocol(int socket);

/* Zeroed pages that a copy of the process shares, or NULL. */
void *mt_os_map_shared(size_t length);

/* For each page of a mapping a byte whose bit 0 tells whether it is in memory. */
long mt_os_resident(uintptr_t address, size_t length, unsigned char *pages);

/* fs base or tpidr_el0 of the calling thread. */
static inline uint64_t mt_os_thread_pointer(void) {
    uint64_t value;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(value));
#else
    __asm__("mrs %0, tpidr_el0" : "=r"(value));
#endif
    return value;
}

#endif
