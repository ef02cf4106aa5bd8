/* Lets a thread of another process call functions there, by ptrace.
 *
 * All calls about a process are made by one thread of this process: ptrace knows tracers by thread.
 * x86_64 and aarch64; both processes of the same kind. */
#ifndef CATTACH_H
#define CATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- Who traces ---- */

/* Runs something in a process of its own that shares all memory with this one, and waits until it
 * has ended. Where this process is killed meanwhile, it goes on.
 *
 * body     returns; neither starts threads nor lets go of what it has locked
 * returns  0, or the system's error number: ECANCELED when the process was ended by a signal */
int cattach_run_apart(void (*body)(void *), void *context);

/* ---- Memory ---- */

/* returns  0, or the system's error number; nothing may have been copied then */
int cattach_read(pid_t pid, uint64_t address, void *bytes, size_t size);
int cattach_write(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* ---- Threads ---- */

/* Stops one thread; the others run on.
 *
 * returns  0; EPERM where ptrace is not allowed, ESRCH when it has ended, EAGAIN when it does not
 *          stop in time: it will later (cattach_let_go_late) */
int cattach_stop(pid_t tid);

/* Lets a thread that cattach_stop has stopped go on where it was. A system call that a stop ends
 * early (EINTR of epoll_wait) is made again: the thread does not notice. */
void cattach_let_go(pid_t pid, pid_t tid);

/* Lets a thread go on that did not stop in time, once it has.
 * returns  whether it is through */
bool cattach_let_go_late(pid_t pid, pid_t tid);

/* Whether a thread waits so that nothing can stop it, as for the exec of a child by vfork. */
bool cattach_is_unstoppable(pid_t pid, pid_t tid);

/* Whether a thread is in a call that writes: stopped, it returns what has been written so far. */
bool cattach_is_writing(pid_t pid, pid_t tid);

/* Whether all seccomp filters of a stopped thread let the recorder in, and what it calls pass.
 *
 * returns  0, or the system's error number where they cannot be looked at: EACCES for who is not
 *          root (CAP_SYS_ADMIN), or is under seccomp as well */
int cattach_filters(pid_t tid, bool *spares);

/* ---- Stacks ---- */

/* Where functions of a process are. */
struct cattach_images;

struct cattach_frame {
    uint64_t pc;
    bool is_interrupted;  /* the thread itself was stopped here, or by a signal handler above */
    const char *image;    /* path; "" where pc lies in none. As long as the images are open */
    const char *function; /* "" where it has no symbol */
};

/* returns  NULL when the process cannot be looked at */
struct cattach_images *cattach_images_open(pid_t pid);
/* Looks again which there are: names of frames are no longer valid then. */
void cattach_images_refresh(struct cattach_images *images);
void cattach_images_close(struct cattach_images *images);

/* The stack of a stopped thread, from where it stands outwards.
 *
 * frames       [capacity]
 * is_complete  whether the outermost frame was reached
 * returns      how many frames were filled in */
size_t cattach_stack(struct cattach_images *images, pid_t tid, struct cattach_frame *frames,
                     size_t capacity, bool *is_complete);

/* Where a function is that an image exports.
 *
 * image    the beginning of the last component of its path: "libc.so"
 * returns  its address, or 0 */
uint64_t cattach_function(struct cattach_images *images, const char *image, const char *function);

/* ---- Calls ---- */

/* A stopped thread that makes calls for us. */
struct cattach_calls;

/* Keeps all registers and the signal mask of a thread that cattach_stop has stopped, and holds its
 * signals back.
 *
 * instruction  the address of an instruction of the process that makes a system call
 * returns      NULL and *error on failure */
struct cattach_calls *cattach_calls_begin(pid_t pid, pid_t tid, uint64_t instruction, int *error);

/* Makes a system call.
 *
 * arguments  6
 * result     what the kernel returned: -errno on failure
 * returns    0, or the system's error number when it could not be made */
int cattach_system_call(struct cattach_calls *calls, long number, const uint64_t *arguments,
                        int64_t *result);

/* Calls a function on another stack, and waits until it returns.
 *
 * arguments  3
 * stack      its highest address, a multiple of 16
 * result     what it returned
 * returns    0; EFAULT when it would have crashed, ETIMEDOUT when it has not returned in time: the
 *            thread stands where it stood before, in any case */
int cattach_call(struct cattach_calls *calls, uint64_t function, const uint64_t *arguments,
                 uint64_t stack, uint64_t *result);

/* Gives the thread back what it had. It is still stopped (cattach_let_go).
 * returns  0, or the system's error number: then it has ended */
int cattach_calls_end(struct cattach_calls *calls);

/* The bytes of the instruction that makes a system call. */
const uint8_t *cattach_instruction(size_t *size);

/* Numbers of system calls. */
extern const long cattach_number_mmap, cattach_number_munmap, cattach_number_close,
    cattach_number_memfd_create;

#endif
