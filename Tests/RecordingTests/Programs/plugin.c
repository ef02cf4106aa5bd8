// The library that plugins.c loads.
#include <stdlib.h>

void *plugin_allocate(void) {
    return malloc(19001);
}
