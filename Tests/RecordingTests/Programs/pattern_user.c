// Keeps one pattern of the library that is its argument, and leaks another.

#include <dlfcn.h>
#include <stddef.h>

void *kept;

static __attribute__((noinline)) void make(void *library) {
    void *(*create)(void) = (void *(*)(void))dlsym(library, "FcPatternCreate");
    void (*add)(void *) = (void (*)(void *))dlsym(library, "FcPatternAdd");
    kept = create();
    add(kept);
    add(create());
    ((void (*)(void))dlsym(library, "FcInit"))();
}

static __attribute__((noinline)) void clear_stack(void) {
    volatile char used[8192];
    for (size_t i = 0; i < sizeof used; i++)
        used[i] = 0;
}

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (library == NULL)
        return 1;
    make(library);
    clear_stack();
    return 0;
}
