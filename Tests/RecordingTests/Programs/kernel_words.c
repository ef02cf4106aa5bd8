/* Blocks of which only the kernel knows: no leaks as long as an event can bring them back. With an
 * argument a snapshot is taken while the program goes on; otherwise there is the one at its end. */
#include <memtrace.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static int queue, ends[2];

__attribute__((noinline)) static void watch(void *block, int operation) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = block}};
    epoll_ctl(queue, operation, ends[0], &event);
    memset(&event, 0, sizeof event);
    __asm__ volatile("" : : "r"(&event) : "memory");
}

__attribute__((noinline)) static void leak_modified(void) {
    watch(malloc(101), EPOLL_CTL_ADD);
}

__attribute__((noinline)) static void keep_watched(void) {
    watch(malloc(102), EPOLL_CTL_MOD);
}

__attribute__((noinline)) static void keep_timer(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE, .sigev_value = {.sival_ptr = malloc(103)}};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    memset(&event, 0, sizeof event);
    __asm__ volatile("" : : "r"(&event) : "memory");
}

/* Freed, while the kernel still brings it. */
__attribute__((noinline)) static void dangle(void) {
    int others[2];
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = malloc(104)}};
    if (pipe(others) == 0)
        epoll_ctl(queue, EPOLL_CTL_ADD, others[0], &event);
    free(event.data.ptr);
    memset(&event, 0, sizeof event);
    __asm__ volatile("" : : "r"(&event) : "memory");
}

__attribute__((noinline)) static void overwrite_stack(void) {
    char *volatile slots[512];
    for (int i = 0; i < 512; i++)
        slots[i] = NULL;
    (void)slots[0];
}

int main(int argc, char **argv) {
    (void)argv;
    queue = epoll_create1(0);
    if (pipe(ends) != 0)
        return 1;
    leak_modified();
    keep_watched();
    keep_timer();
    dangle();
    overwrite_stack();
    if (argc > 1) {
        MEMTRACE_SNAPSHOT("now");
        _exit(0);
    }
    exit(0);
}
