// Locks all of its memory, now, later or both, without the right to lock more than a limit, which
// is so many MiB; then maps and allocates some, in two threads.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCKS = 50, SIZE = 46001 };

static void give_up_the_right(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    syscall(SYS_capget, &header, data);
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    syscall(SYS_capset, &header, data);
}

static void *allocate(void *argument) {
    void *blocks[BLOCKS];
    long count = 0;
    for (int i = 0; i < BLOCKS; i++)
        count += (blocks[i] = malloc(SIZE)) != NULL;
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return (void *)count;
}

// Whether a page of the program's own is locked: the kernel does not let go of it then.
static int is_locked(void) {
    static char page[8192] __attribute__((aligned(4096)));
    return madvise(page, 4096, MADV_DONTNEED) != 0;
}

int main(int count, char **arguments) {
    if (count < 3)
        return 64;
    struct rlimit limit = {strtoul(arguments[1], NULL, 10) << 10};
    limit.rlim_max = limit.rlim_cur;
    if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        return 64;
    give_up_the_right();
    errno = 0;
    int result = mlockall(atoi(arguments[2])), error = errno;
    printf("%d %s, locked: %d\n", result, strerrorname_np(error), is_locked());

    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_t thread;
    void *there = NULL;
    error = pthread_create(&thread, &small, allocate, NULL);
    if (error == 0)
        pthread_join(thread, &there);
    long here = (long)allocate(NULL);
    void *pages = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%ld here, %ld there, pages: %d\n", here, (long)there, pages != MAP_FAILED);
    return 0;
}
