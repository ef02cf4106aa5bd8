// Loads the libraries argv[1] and argv[2] in turn, so that they lie at the same addresses, and lets
// each allocate: 29001 and 29002 bytes, in frames of other sizes. Together argv[3] times, or 60.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    void *bases[2] = {NULL, NULL};
    if (argc < 3)
        return 64;
    int times = argc > 3 ? atoi(argv[3]) : 60;
    for (int i = 0; i < times; i++) {
        void *library = dlopen(argv[1 + i % 2], RTLD_NOW);
        if (library == NULL)
            return 1;
        bases[i % 2] = (void *)((struct link_map *)library)->l_addr;
        void (*allocate)(int) = (void (*)(int))dlsym(library, "plugin_allocate");
        allocate(5);
        dlclose(library);
    }
    puts(bases[0] == bases[1] ? "at the same address" : "at different addresses");
    return 0;
}
