// Does one thing in a thread with the smallest stack that there is, or executes a program in a
// child that borrows this process's memory but for half a page, which is its stack.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

static int execute(void *call) {
    if (strcmp(call, "execve") == 0)
        execve("/bin/true", arguments, environ);
    else if (strcmp(call, "execvp") == 0)
        execvp("true", arguments);
    else if (strcmp(call, "execveat") == 0)
        execveat(AT_FDCWD, "/bin/true", arguments, environ, 0);
    else if (strcmp(call, "fexecve") == 0)
        fexecve(open("/bin/true", O_RDONLY), arguments, environ);
    return 1;
}

static long execute_on_half_a_page(const char *call) {
    enum { PAGE = 4096 };
    char *pages = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
        return 1;
    return wait_for(
        clone(execute, pages + PAGE + PAGE / 2, CLONE_VM | CLONE_VFORK | SIGCHLD, (void *)call));
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
    } else if (strncmp(what, "clone-", 6) == 0) {
        return (void *)execute_on_half_a_page(what + 6);
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
