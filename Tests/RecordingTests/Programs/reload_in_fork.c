// Loads the libraries argv[1] and argv[2] in turn, ten times each, all while another thread is in
// the middle of a fork: that waits for the list of streams, which a flush of all of them holds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **paths;
static uintptr_t bases[2];
static atomic_int may_fork;

static void *load(int which) {
    void *library = dlopen(paths[which], RTLD_NOW);
    if (library == NULL)
        exit(1);
    bases[which] = ((struct link_map *)library)->l_addr;
    ((void (*)(int))dlsym(library, "plugin_allocate"))(5);
    return library;
}

/* The first thread only sleeps where its fork waits. */
static int is_first_thread_asleep(void) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        exit(2);
    close(fd);
    const char *end = strrchr(text, ')');
    return end && end[2] == 'S';
}

static ssize_t write_slowly(void *cookie, const char *bytes, size_t size) {
    void *library = cookie;
    (void)bytes;
    may_fork = 1;
    while (!is_first_thread_asleep())
        sched_yield();
    for (int i = 1; i < 20; i++) {
        dlclose(library);
        library = load(i % 2);
    }
    dlclose(library);
    return (ssize_t)size;
}

static void *flush(void *context) {
    (void)context;
    FILE *stream = fopencookie(load(0), "w", (cookie_io_functions_t){.write = write_slowly});
    fputs("text", stream);
    fflush(NULL);
    fclose(stream);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t flusher;
    int status = -1;
    if (argc < 3)
        return 64;
    paths = argv + 1;
    pthread_create(&flusher, NULL, flush, NULL);
    while (!may_fork)
        sched_yield();
    pid_t child = fork();
    if (child == 0) {
        free(malloc(29003));
        _exit(0);
    }
    waitpid(child, &status, 0);
    pthread_join(flusher, NULL);
    puts(bases[0] == bases[1] ? "at the same address" : "at different addresses");
    return status;
}
