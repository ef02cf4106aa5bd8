/* A thread answers page faults, and is told of forks: each waits until it has read of it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int faults;
static char page[4096];

static void *answer(void *unused) {
    struct uffd_msg message;
    while (read(faults, &message, sizeof message) == sizeof message) {
        if (message.event == UFFD_EVENT_FORK)
            close((int)message.arg.fork.ufd);
        if (message.event != UFFD_EVENT_PAGEFAULT)
            continue;
        memset(page, 7, sizeof page);
        struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~4095ul,
                                   .src = (unsigned long)page,
                                   .len = sizeof page};
        ioctl(faults, UFFDIO_COPY, &copy);
    }
    return unused;
}

int main(void) {
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK};
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) {
        puts("not permitted");
        return 0;
    }
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {.range = {(unsigned long)memory, 1 << 20},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (ioctl(faults, UFFDIO_REGISTER, &range) != 0)
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, answer, NULL);
    printf("%d\n", memory[5000]);
    fflush(stdout);
    /* Held by nothing but a page that came by a fault. */
    *(void **)(memory + 8192) = malloc(25001);
    return 0;
}
