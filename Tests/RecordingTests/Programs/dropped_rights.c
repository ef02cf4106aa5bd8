// A forked child gives up its rights before it allocates anything: another user, another root
// directory (argv[2]), a filter that kills for opening files (argv[1]). Its threads go along. Then
// it allocates.
#define _GNU_SOURCE
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int filter(int by_number) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return by_number ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                     : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int drop(const char *what, const char *folder) {
    if (strcmp(what, "user") == 0)
        return setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0;
    if (strcmp(what, "root") == 0)
        return chdir(folder) != 0 || chroot(".") != 0 || chdir("/") != 0;
    return filter(strcmp(what, "filter-by-number") == 0);
}

static pthread_barrier_t barrier;

static void *report(void *ids) {
    pthread_barrier_wait(&barrier); /* the rights are given up meanwhile */
    pthread_barrier_wait(&barrier);
    ((long *)ids)[0] = syscall(SYS_getuid);
    ((long *)ids)[1] = syscall(SYS_getgid);
    return NULL;
}

/* In a process with a trace and a second thread. */
static int drop_with_thread(const char *what, const char *folder) {
    long ids[2];
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, report, ids);
    pthread_barrier_wait(&barrier);
    int failed = drop(what, folder);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    printf("thread: %d %ld %ld\n", failed, ids[0], ids[1]);
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        if (drop(argv[1], argv[2]))
            _exit(2);
        for (int i = 0; i < 100; i++)
            free(malloc(45001));
        _exit(8);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%x\n", status);
    return strcmp(argv[1], "user") == 0 ? drop_with_thread(argv[1], argv[2]) : 0;
}
