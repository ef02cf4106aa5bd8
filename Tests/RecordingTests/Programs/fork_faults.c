// A process forks once. Its child writes to the file argv[1] how many pages it had to be given,
// from its first allocation to the end of it.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long faults(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt : -1;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    free(malloc(36001));
    pid_t child = fork();
    if (child == 0) {
        long before = faults();
        void *volatile block = malloc(36002);
        long after = faults();
        free(block);
        FILE *file = fopen(argv[1], "w");
        if (!file)
            _exit(1);
        fprintf(file, "%ld", after - before);
        fclose(file);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}
