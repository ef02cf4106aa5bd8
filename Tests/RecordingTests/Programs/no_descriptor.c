/* Uses up all its descriptors, and ends. "hard": without the right to more of them. "fork", then
 * their number, then perhaps "hard": forks before and afterwards, each child with events enough for
 * several windows of its trace. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rlimit g_limit;

/* The child's descriptors are as many as the parent's, and it may have no more. */
static int is_as_before(int may_open) {
    struct rlimit now;
    getrlimit(RLIMIT_NOFILE, &now);
    return now.rlim_cur == g_limit.rlim_cur && now.rlim_max == g_limit.rlim_max &&
           (open("/dev/null", O_RDONLY) >= 0) == may_open;
}

static void fork_one(int status, int may_open) {
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 50000; i++)
            free(malloc(48013));
        _exit(is_as_before(may_open) ? status : 1);
    }
    int result = 0;
    waitpid(child, &result, 0);
    printf("%x\n", result);
}

int main(int argc, char **argv) {
    int forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    getrlimit(RLIMIT_NOFILE, &g_limit);
    g_limit.rlim_cur = argc > 2 ? (rlim_t)atoi(argv[2]) : 256;
    if (argc > 1 && strcmp(argv[argc - 1], "hard") == 0)
        g_limit.rlim_max = g_limit.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &g_limit);
    if (forks)
        fork_one(3, 1);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    puts(strerror(errno));
    if (forks)
        fork_one(4, 0);
    return 0;
}
