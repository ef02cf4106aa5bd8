// Does one thing in a thread with the smallest stack that there is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *what;
static char *arguments[] = {"true", NULL};

static long wait_for(pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void *run(void *unused) {
    (void)unused;
    pid_t child;
    if (strcmp(what, "allocate") == 0) {
        free(malloc(34001));
    } else if (strcmp(what, "fork") == 0) {
        if ((child = fork()) == 0) {
            free(malloc(34001));
            _exit(0);
        }
        return (void *)wait_for(child);
    } else if (strcmp(what, "fork-exec") == 0) {
        if ((child = fork()) == 0) {
            free(malloc(34001));
            execvp("true", arguments);
            _exit(1);
        }
        return (void *)wait_for(child);
    } else if (strcmp(what, "vfork-exec") == 0) {
        if ((child = vfork()) == 0) {
            execve("/bin/true", arguments, environ);
            _exit(1);
        }
        return (void *)wait_for(child);
    } else if (strcmp(what, "spawn") == 0) {
        if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0)
            return (void *)1;
        return (void *)wait_for(child);
    } else if (strcmp(what, "dlopen") == 0) {
        void *library = dlopen("libm.so.6", RTLD_NOW);
        free(malloc(34001));
        dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    what = argv[1];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, &attributes, run, NULL) != 0)
        return 1;
    pthread_join(thread, &result);
    printf("%s: %ld\n", what, (long)result);
    return 0;
}
