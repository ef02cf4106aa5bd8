// Closes every descriptor above 2 in the way that argv[1] names, then uses the numbers itself.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void close_all(const char *way) {
    if (strcmp(way, "closefrom") == 0) {
        closefrom(3);
    } else if (strcmp(way, "close_range") == 0) {
        close_range(3, ~0u, 0);
    } else if (strcmp(way, "close") == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_NOFILE, &limit);
        for (rlim_t fd = 3; fd < limit.rlim_cur; fd++)
            close((int)fd);
    }
}

int main(int argc, char **argv) {
    free(malloc(23001));
    close_all(argc > 1 ? argv[1] : "");
    // Our own file must get the lowest number, and must hold what we write only.
    FILE *own = tmpfile();
    if (own == NULL)
        return 1;
    int high = fcntl(fileno(own), F_DUPFD, 1000);
    for (int i = 0; i < 100000; i++)
        free(malloc(23002));
    fputs("mine", own);
    fflush(own);
    printf("%s: descriptor %d and %d, %ld bytes\n", argc > 1 ? argv[1] : "", fileno(own), high,
           (long)lseek(high, 0, SEEK_END));
    fclose(own);
    return 0;
}
