/* Uses up all its descriptors, and ends. "hard": without the right to more of them. "fork": forks
 * before and afterwards, so that each child allocates. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void fork_one(int status) {
    pid_t child = fork();
    if (child == 0) {
        free(malloc(48013));
        _exit(status);
    }
    int result = 0;
    waitpid(child, &result, 0);
    printf("%x\n", result);
}

int main(int argc, char **argv) {
    struct rlimit limit;
    int forks = argc > 1 && strcmp(argv[1], "fork") == 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 256;
    if (argc > 1 && strcmp(argv[1], "hard") == 0)
        limit.rlim_max = 256;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (forks)
        fork_one(3);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    puts(strerror(errno));
    if (forks)
        fork_one(4);
    return 0;
}
