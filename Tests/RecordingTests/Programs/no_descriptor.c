/* Uses up all its descriptors, and ends. "hard": without the right to more of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 256;
    if (argc > 1 && strcmp(argv[1], "hard") == 0)
        limit.rlim_max = 256;
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    puts(strerror(errno));
    return 0;
}
