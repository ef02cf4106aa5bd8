/* Functions that dlsym finds by a handle of the C library, as ctypes.CDLL("libc.so.6") finds them.
 * Fails where dlsym, dlvsym or dlerror do not answer as they should. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;

static void expect(int is_so, const char *what) {
    if (!is_so) {
        printf("%s\n", what);
        failures++;
    }
}

static void *kept;

static void allocate(void *c) {
    void *(*allocate)(size_t) = dlsym(c, "malloc");
    void *(*reallocate)(void *, size_t) = dlsym(c, "realloc");
    void (*release)(void *) = dlsym(c, "free");
    int (*align)(void **, size_t, size_t) = dlsym(c, "posix_memalign");
    void *aligned;
    free(allocate(20001));
    release(malloc(20002));
    release(reallocate(allocate(20003), 20004));
    allocate(20005); /* leaked */
    align(&aligned, 64, 20006);
    free(aligned);
    kept = allocate(20007);
}

static void compare(void *c) {
    expect(dlsym(c, "malloc") == (void *)malloc, "another malloc than the program's");
    expect(dlsym(c, "free") == dlsym(RTLD_DEFAULT, "free"), "two functions called free");
    expect(dlsym(c, "strlen") == dlsym(RTLD_NEXT, "strlen"), "two functions called strlen");
    expect(dlsym(dlopen(NULL, RTLD_LAZY), "malloc") == (void *)malloc, "not the program's malloc");
    Dl_info image;
    dladdr(dlvsym(c, "strlen", "GLIBC_2.2.5") ?: dlvsym(c, "strlen", "GLIBC_2.17"), &image);
    expect(strstr(image.dli_fname, "libc.so.6") != NULL, "strlen is elsewhere");
}

static void fail(void *c) {
    expect(!dlsym(c, "mallok"), "mallok");
    printf("%s\n", dlerror());
    expect(!dlsym(c, "free_aligned_sized"), "this C library is newer than the test");
    printf("%s\n", dlerror());
    expect(dlerror() == NULL, "an error twice");
    expect(!dlsym(RTLD_DEFAULT, "mallok"), "mallok");
    printf("%s\n", dlerror());
    dlsym(c, "mallok");
    expect(dlsym(c, "malloc") != NULL && dlerror() == NULL, "an error of before");
}

int main(int argc, char **argv) {
    void *c = dlopen("libc.so.6", RTLD_LAZY);
    compare(c);
    if (argc > 1) /* what another library answers (other_dlsym.c) */
        expect(dlsym(c, argv[1]) != NULL, argv[1]);
    fail(c);
    allocate(c);
    fflush(stdout);
    void (*leave)(int) = dlsym(c, "_exit"); /* seen by its hook alone */
    leave(failures);
}
