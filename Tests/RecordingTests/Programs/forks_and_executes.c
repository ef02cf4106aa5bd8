/* Says which errno main begins with, in itself and in a child that executes it; allocates there
 * and in a forked child as well, also more than what serves before the recorder has begun. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *who, int error) {
    free(malloc(48201));
    char *volatile much = malloc(64 << 20);
    if (!much)
        printf("no memory: ");
    free(much);
    printf("%s%s\n", who, error || errno ? strerror(error ? error : errno) : "no error");
    fflush(stdout);
}

static int wait_for(pid_t child) {
    int status = -1;
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(int argc, char **argv) {
    int error = errno;
    errno = 0;
    say(argc > 1 ? "executed: " : "", error);
    if (argc > 1)
        _exit(0);
    pid_t child = fork();
    if (child == 0) {
        say("child: ", 0);
        return 0;
    }
    if (wait_for(child))
        return 1;
    child = fork();
    if (child == 0) {
        execl(argv[0], argv[0], "executed", (char *)NULL);
        return 127;
    }
    return wait_for(child);
}
