/* Forks while another thread is amid dlopen; children ask a handle of the C library for malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int is_over;

static void *open_and_close(void *library) {
    while (!is_over) {
        void *handle = dlopen(library, RTLD_NOW);
        if (handle)
            dlclose(handle);
    }
    return NULL;
}

int main(int argc, char **argv) {
    void *c = dlopen("libc.so.6", RTLD_LAZY);
    pthread_t thread;
    int bad = 0;
    pthread_create(&thread, NULL, open_and_close, argv[argc - 1]);
    for (int i = 0; i < 100; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            void *(*allocate)(size_t) = dlsym(c, "malloc");
            free(allocate(100));
            _exit(3);
        }
        waitpid(child, &status, 0);
        bad += status != 3 << 8;
    }
    is_over = 1;
    pthread_join(thread, NULL);
    printf("%d children failed\n", bad);
}
