/* Another library that is preloaded and answers dlsym, for one name of its own, as overlays of
 * games do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#ifdef __x86_64__
#    define VERSION "GLIBC_2.2.5"
#else
#    define VERSION "GLIBC_2.17"
#endif

void *dlsym(void *handle, const char *name) {
    void *(*real)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", VERSION);
    return strcmp(name, "overlaid") == 0 ? (void *)real : real(handle, name);
}
