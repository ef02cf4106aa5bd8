/* A library with an allocator of its own that gives back what others got from the C library's,
 * which it looks up as the next one after its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int is_so, const char *what) {
    if (!is_so) {
        printf("%s\n", what);
        failures++;
    }
}

int run(void) {
    errno = 42;
    void *(*allocate)(size_t) = dlsym(RTLD_NEXT, "malloc");
    void *(*reallocate)(void *, size_t) = dlsym(RTLD_NEXT, "realloc");
    void (*release)(void *) = dlsym(RTLD_NEXT, "free");
    expect(errno == 42, "errno");
    release(malloc(20001));
    free(allocate(20002));
    release(reallocate(allocate(20003), 20004));
    char *copy = realpath("/", NULL); /* allocated by the C library for its caller */
    expect(strcmp(copy, "/") == 0, "realpath");
    release(copy);
    expect(dlsym(RTLD_NEXT, "run") == NULL && dlerror() != NULL, "itself is the next one");
    Dl_info image;
    dladdr(dlsym(RTLD_NEXT, "strdup"), &image);
    expect(strstr(image.dli_fname, "libc.so.6") != NULL, "strdup is elsewhere");
    return failures;
}
