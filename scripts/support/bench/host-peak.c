/* Runs a command and writes, for every thread that ends in it or in one of its descendants, the
 * peak memory of the process: one line "PID KIB EXECUTABLE" each. The last line of a process holds
 * what it came to: the kernel's VmHWM, read while the memory still stands.
 *
 * usage: host-peak OUTPUT COMMAND [ARGUMENT ...] */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void note_end(FILE *output, pid_t thread) {
    char path[64], line[256], executable[4096] = "?";
    long process = thread, peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *status = fopen(path, "r");
    if (!status)
        return;
    while (fgets(line, sizeof line, status)) {
        sscanf(line, "Tgid: %ld", &process);
        sscanf(line, "VmHWM: %ld", &peak);
    }
    fclose(status);
    snprintf(path, sizeof path, "/proc/%d/exe", thread);
    ssize_t length = readlink(path, executable, sizeof executable - 1);
    if (length >= 0)
        executable[length] = 0;
    fprintf(output, "%ld %ld %s\n", process, peak, executable);
    fflush(output);
}

/* A stop of a traced thread: lets it go on, with the signal that stopped it where there is one. */
static void resume(FILE *output, pid_t thread, int status) {
    int event = status >> 16, sig = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXIT)
        note_end(output, thread);
    int is_group_stop = event == PTRACE_EVENT_STOP && sig != SIGTRAP;
    if (is_group_stop)
        ptrace(PTRACE_LISTEN, thread, NULL, NULL);
    else
        ptrace(PTRACE_CONT, thread, NULL, event ? NULL : (void *)(long)sig);
}

static pid_t start(char **command) {
    int go[2];
    if (pipe(go) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(go[1]);
        if (read(go[0], &byte, 1) != 1)
            _exit(125);
        close(go[0]);
        execvp(command[0], command);
        _exit(127);
    }
    close(go[0]);
    long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
    if (child > 0 && (ptrace(PTRACE_SEIZE, child, NULL, options) != 0 || write(go[1], "", 1) != 1))
        child = -1;
    close(go[1]);
    return child;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return fprintf(stderr, "usage: host-peak OUTPUT COMMAND [ARGUMENT ...]\n"), 64;
    FILE *output = fopen(argv[1], "we");
    pid_t child = output ? start(argv + 2) : -1;
    if (child < 0)
        return fprintf(stderr, "host-peak: cannot trace %s: %s\n", argv[2], strerror(errno)), 125;
    int status, result = 125;
    for (pid_t ended; (ended = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
        if (ended <= 0)
            continue;
        if (WIFSTOPPED(status))
            resume(output, ended, status);
        else if (ended == child)
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return result;
}
