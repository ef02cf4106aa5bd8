#include <libiberty/demangle.h>
