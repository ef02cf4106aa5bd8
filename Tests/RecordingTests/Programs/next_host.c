/* Opens a library (next_plugin.c), in a scope of its own, and calls it; others before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = NULL;
    for (int i = 1; i < argc; i++)
        if (!(library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL))) {
            puts(dlerror());
            return 1;
        }
    return ((int (*)(void))dlsym(library, "run"))();
}
