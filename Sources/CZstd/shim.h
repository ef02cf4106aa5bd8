/* libzstd (Debian: libzstd-dev), for packed traces in Sources/TraceReader. */
#include <zstd.h>
