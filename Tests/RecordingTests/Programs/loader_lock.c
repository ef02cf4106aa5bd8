// Threads call operator new, which no library of the program defines, while the process forks. The
// children look at the loader's list of images.
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 300, THREADS = 3 };

// The recorder's, where there is one.
void *_Znwm(size_t) __attribute__((weak));
void _ZdlPv(void *) __attribute__((weak));
static volatile int stops;

static void *allocate(void *unused) {
    while (!stops && _Znwm && _ZdlPv)
        _ZdlPv(_Znwm(42001));
    return unused;
}

static int count(struct dl_phdr_info *info, size_t size, void *images) {
    ++*(int *)images;
    return 0;
}

static int child(void) {
    int images = 0;
    dl_iterate_phdr(count, &images);
    return images > 0 ? 0 : 1;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate, NULL);
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(child());
        waitpid(pid, &status, 0);
        if (status != 0)
            printf("child %d: %x\n", i, status);
    }
    stops = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
