// A thread that has ended keeps its result until it is joined: 881. One that was joined keeps
// nothing, neither its result, 882, nor what its variables pointed to, 883.
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static void *work(void *argument) {
    void *volatile variable = argument ? malloc(883) : NULL;
    (void)variable;
    return malloc(argument ? 882 : 881);
}

static int count_threads(void) {
    int count = -2; // the entries . and ..
    DIR *folder = opendir("/proc/self/task");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    pthread_t joined, unjoined;
    pthread_create(&joined, NULL, work, argv);
    pthread_join(joined, NULL);
    pthread_create(&unjoined, NULL, work, NULL);
    while (count_threads() > 1)
        sched_yield();
    return argc - 1;
}
