// Opens as many descriptors as its limit allows, and says how many that were and which the last.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void) {
    struct rlimit limit;
    int count = 0, last = -1;
    for (int i = 0; i < 100000; i++)
        free(malloc(23002));
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0; count++)
        last = fd;
    getrlimit(RLIMIT_NOFILE, &limit);
    printf("%d descriptors, the last %d, limit %ld of %ld\n", count, last, (long)limit.rlim_cur,
           (long)limit.rlim_max);
    for (int fd = 3; fd <= last; fd++)
        close(fd);
    for (int i = 0; i < 100000; i++)
        free(malloc(23003));
    return 0;
}
