// A child allocates, and its parent stops it at each of its system calls: writes to the file
// argv[1] those made between the creation of a file and the moment when it begins with MEMTRACE,
// one number a line. A kill at one of them would leave a file that is no trace.
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct __ptrace_syscall_info at(pid_t child) {
    struct __ptrace_syscall_info info = {0};
    ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
    return info;
}

static bool is_trace(pid_t child, long descriptor) {
    char path[64], magic[8] = {0};
    snprintf(path, sizeof path, "/proc/%d/fd/%ld", child, descriptor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is = file >= 0 && read(file, magic, 8) == 8 && memcmp(magic, "MEMTRACE", 8) == 0;
    close(file);
    return is;
}

static int next_stop(pid_t child) {
    int status = 0;
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    waitpid(child, &status, 0);
    return status;
}

static int watch(pid_t child, FILE *stops) {
    bool creates = false;
    long created = -1;
    int status;
    while (!WIFEXITED(status = next_stop(child)) && !WIFSIGNALED(status)) {
        struct __ptrace_syscall_info info = at(child);
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
            if (created >= 0 && is_trace(child, created)) {
                fputs("a trace\n", stops);
                created = -1;
            } else if (created >= 0) {
                fprintf(stops, "%llu\n", (unsigned long long)info.entry.nr);
            }
            creates = info.entry.nr == SYS_openat && (info.entry.args[2] & O_EXCL);
        } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && creates && info.exit.rval >= 0) {
            created = info.exit.rval;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv) {
    FILE *stops = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!stops)
        return 64;
    pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        kill(getpid(), SIGSTOP);
        void *volatile block = malloc(35001);
        free(block);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    status = watch(child, stops);
    fclose(stops);
    return status;
}
