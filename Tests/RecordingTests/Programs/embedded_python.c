// Opens the library of Python in argv[1], as programs do that run scripts of their own.
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *(*allocate)(size_t) = library ? dlsym(library, "PyObject_Malloc") : NULL;
    if (!allocate)
        return 1;
    free(allocate(46003));
    return 0;
}
