/* Loads argv[1], prints load bias and the address of plugin_function, unloads it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 1;
    void *handle = dlopen(argv[1], RTLD_NOW);
    if (handle == NULL)
        return 2;
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return 3;
    printf("%lu %lu\n", (unsigned long)map->l_addr,
           (unsigned long)dlsym(handle, "plugin_function"));
    return dlclose(handle);
}
