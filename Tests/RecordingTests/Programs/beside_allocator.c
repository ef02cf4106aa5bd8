/* An allocator in a library, which stands in for the C library's. */
#include "bundled_allocator.h"
