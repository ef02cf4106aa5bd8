/* Its first thread writes more to a pipe than there is room for, while another one runs the command
 * argv[2] for this process (MARKED_PID), and reads then: tells how much was written. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SIZE = 1 << 20, ROOM = 1 << 16 };

static int ends[2];
static const char *command;

static void *read_later(void *unused) {
    static char bytes[SIZE];
    int there = 0;
    while (there < ROOM)
        ioctl(ends[0], FIONREAD, &there);
    if (system(command) != 0)
        puts("the command has failed");
    while (read(ends[0], bytes, SIZE) > 0)
        ;
    return unused;
}

int main(int argc, char **argv) {
    static char bytes[SIZE], pid[32];
    pthread_t reader;
    sigset_t end_of_command;
    if (argc < 3 || pipe(ends) != 0)
        return 1;
    command = argv[2];
    snprintf(pid, sizeof pid, "%d", getpid());
    setenv("MARKED_PID", pid, 1);
    sigemptyset(&end_of_command);
    sigaddset(&end_of_command, SIGCHLD); /* cuts a write short as well */
    pthread_sigmask(SIG_BLOCK, &end_of_command, NULL);
    pthread_create(&reader, NULL, read_later, NULL);
    long written = write(ends[1], bytes, SIZE);
    close(ends[1]);
    pthread_join(reader, NULL);
    printf("%ld bytes written\n", written);
    return 0;
}
