// Aborts with a handler of SIGABRT while another thread waits in poll. The handler jumps out of
// abort, waits for the other thread, or returns, as argv[1] says.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *way;
static sigjmp_buf back;
static pthread_t waiter;
static volatile pid_t waiter_id;
static int ends[2];

static void *wait_in_poll(void *argument) {
    struct pollfd entry = {ends[0], POLLIN};
    waiter_id = syscall(SYS_gettid);
    while (poll(&entry, 1, strcmp(way, "jump-limited") == 0 ? 600000 : -1) != 1)
        if (errno != EINTR)
            return argument;
    free(malloc(39001));
    return argument;
}

static void let_go(void) {
    write(ends[1], "", 1);
    pthread_join(waiter, NULL);
}

static void handle(int number) {
    if (strncmp(way, "jump", 4) == 0)
        siglongjmp(back, 1);
    if (strcmp(way, "wait") == 0) {
        let_go();
        _exit(13);
    }
}

// "TID (NAME) S ..."
static int is_asleep(pid_t id) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
    int fd = open(path, O_RDONLY);
    read(fd, text, sizeof text - 1);
    close(fd);
    return strstr(text, ") S ") != NULL;
}

int main(int argc, char **argv) {
    way = argc > 1 ? argv[1] : "";
    pipe(ends);
    signal(SIGABRT, handle);
    pthread_create(&waiter, NULL, wait_in_poll, NULL);
    while (waiter_id == 0 || !is_asleep(waiter_id))
        ;
    if (sigsetjmp(back, 1) == 0)
        abort();
    let_go();
    free(malloc(39002));
    puts("joined");
    return 11;
}
