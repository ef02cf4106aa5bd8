/* A library with an allocator for itself. */
#include "bundled_allocator.h"

void plugin_run(void) {
    for (int i = 0; i < 10; i++)
        OWN(free)(OWN(malloc)(1001));
    *(volatile char *)OWN(malloc)(1005) = 1;
}
