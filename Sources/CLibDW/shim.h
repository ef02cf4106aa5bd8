/* elfutils' libdw and libelf (Debian: libdw-dev), for Sources/Symbolication. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <libelf.h>
