/* Ends while threads wait for what is gone then: on the stack of main, or in memory that was given
 * back. Nobody wakes them. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *wait_for_semaphore(void *semaphore) {
    sem_wait(semaphore);
    printf("woken\n");
    fflush(stdout);
    return NULL;
}

static void *wait_for_mutex(void *mutex) {
    pthread_mutex_lock(mutex);
    printf("locked\n");
    fflush(stdout);
    return NULL;
}

static void *wait_for_word(void *word) {
    long result = syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
    printf("waited, %ld\n", result);
    fflush(stdout);
    return NULL;
}

/* struct futex_waitv of <linux/futex.h>, which is younger than some systems. */
struct waited_word {
    unsigned long value, word;
    unsigned flags, reserved;
};

enum { SYS_FUTEX_WAITV = 449, OF_32_BITS = 2 };

static void *wait_for_words(void *words) {
    long result = syscall(SYS_FUTEX_WAITV, words, 1, 0, NULL, 0);
    printf("waited for words, %ld\n", result);
    fflush(stdout);
    return NULL;
}

static int is_futex(unsigned long number) {
    return number == SYS_futex || number == SYS_FUTEX_WAITV;
}

static int waits_for(int thread, void *object) {
    char path[64];
    unsigned long number = 0, word = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    int count = fscanf(file, "%lu %lx", &number, &word);
    fclose(file);
    return count == 2 && is_futex(number) && word == (unsigned long)object;
}

struct task {
    void *(*work)(void *);
    void *argument;
    int thread;
};

static void *begin(void *argument) {
    struct task *task = argument;
    __atomic_store_n(&task->thread, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    return task->work(task->argument);
}

static void start(struct task *task) {
    pthread_t thread;
    pthread_create(&thread, NULL, begin, task);
    while (!waits_for(__atomic_load_n(&task->thread, __ATOMIC_ACQUIRE), task->argument))
        sched_yield();
}

/* In the frame of a function that has returned, and is overwritten. */
static void begin_waits(void) {
    static struct task tasks[4];
    sem_t semaphore;
    pthread_mutex_t mutex;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    int *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tasks[0] = (struct task){wait_for_semaphore, &semaphore};
    tasks[1] = (struct task){wait_for_mutex, &mutex};
    tasks[2] = (struct task){wait_for_word, word};
    struct waited_word words = {0, (unsigned long)(word + 1), OF_32_BITS, 0};
    tasks[3] = (struct task){wait_for_words, &words};
    int count = syscall(SYS_FUTEX_WAITV, NULL, 0, 0, NULL, 0) < 0 && errno == ENOSYS ? 3 : 4;
    for (int i = 0; i < count; i++)
        start(&tasks[i]);
    munmap(word, 4096);
}

static void overwrite(int value) {
    volatile char frame[4096];
    memset((char *)frame, value, sizeof frame);
}

int main(void) {
    free(malloc(66001));
    begin_waits();
    overwrite(1);
    printf("end\n");
    return 0;
}
