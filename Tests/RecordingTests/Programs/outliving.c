// Forks a child that does nothing that is recorded, lets go of the standard descriptors, and ends
// when it gets the lock of a file (argv[1]); and does not wait for it.
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 1;
    int file = open(argv[1], O_RDONLY);
    if (file < 0)
        return 1;
    pid_t child = fork();
    if (child != 0)
        return child < 0;
    for (int i = 0; i < 3; i++)
        close(i);
    flock(file, LOCK_SH);
    _exit(0);
}
