// Opens the library argv[1] with RTLD_DEEPBIND, and hands blocks to it and back; argv[2] says how.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *block_of_program(void) {
    return malloc(1001);
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 64;
    void *library =
        dlopen(argv[1], (strcmp(argv[2], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW) | RTLD_DEEPBIND);
    if (!library)
        return puts(dlerror()), 1;
    printf("%s\n", dlerror() ? "an error is left" : "opened");
    void *(*make)(size_t) = (void *(*)(size_t))dlsym(library, "plugin_make");
    void (*end)(void *) = (void (*)(void *))dlsym(library, "plugin_end");
    void (**through)(void *) = dlsym(library, "plugin_free");
    int (*keep)(void) = (int (*)(void))dlsym(library, "plugin_keep");
    for (int i = 0; i < 10; i++) {
        end(block_of_program()); // allocated here, freed there
        free(make(1002));        // and the other way
        end(make(1003));         // both there
        (*through)(block_of_program());
    }
    int failure = keep();
    make(1004); // leaked
    return failure;
}
