/* SwiftPM wants a source in a C target; the format is all in the header. */
#include "memtrace_format.h"
