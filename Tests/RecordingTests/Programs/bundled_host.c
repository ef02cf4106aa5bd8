/* Opens a library and calls it; with a second argument, while there is another thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *wait_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(int count, char **arguments) {
    pthread_t thread;
    if (count > 2)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    void *library = dlopen(arguments[1], RTLD_NOW);
    void (*run)(void) = (void (*)(void))dlsym(library, "plugin_run");
    run();
    puts("done");
    return 0;
}
