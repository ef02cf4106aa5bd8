// Opens a library in a namespace of its own, where it has another C library: dlmopen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    void *library = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    if (argc < 2 || library == NULL)
        return 1;
    // Once more in the same namespace.
    Lmid_t space;
    dlinfo(library, RTLD_DI_LMID, &space);
    void *again = dlmopen(space, argv[1], RTLD_NOW);
    int (*work)(void) = (int (*)(void))dlsym(library, "work");
    printf("%d\n", again == library && work != NULL ? work() : -1);
    printf("%d\n", dlmopen(LM_ID_NEWLM, "/no/such/library.so", RTLD_NOW) == NULL);
    free(malloc(1001));
    dlclose(again);
    dlclose(library);
    return 0;
}
