// Loads and unloads the library argv[1] many times; blocks made in it outlive it.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 64;
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (library == NULL)
            return 1;
        void *(*allocate)(void) = (void *(*)(void))dlsym(library, "plugin_allocate");
        void *block = allocate();
        dlclose(library);
        free(block);
    }
    puts("done");
    return 0;
}
