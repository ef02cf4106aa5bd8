/* Finds the file of the program. See executable_path.h. */
#include "base/executable_path.h"

#include "base/os.h"
#include "base/proc_maps.h"
#include "base/text.h"
#include <sys/auxv.h>

/* The kernel loads no interpreter for the dynamic linker itself. */
static bool is_run_by_its_loader(void) {
    return getauxval(AT_BASE) == 0;
}

/* The dynamic linker has put the program's own entry point in the place of its own. */
static size_t path_of_entry(char *buffer, size_t size) {
    static struct mt_maps_reader reader; /* perhaps there is little stack */
    uint64_t entry = getauxval(AT_ENTRY);
    struct mt_text path = mt_text_begin(buffer, size);
    if (mt_maps_open(&reader) != 0)
        return 0;
    struct mt_map_line line;
    while (mt_maps_next(&reader, &line)) {
        if (entry - line.start >= line.end - line.start)
            continue;
        if (line.path[0] == '/')
            mt_text_add(&path, line.path);
        break;
    }
    mt_maps_close(&reader);
    return path.length;
}

size_t mt_executable_path(char *buffer, size_t size) {
    size_t found = is_run_by_its_loader() ? path_of_entry(buffer, size) : 0;
    if (found > 0)
        return found;
    long length = mt_os_readlink("/proc/self/exe", buffer, size - 1);
    buffer[length > 0 ? length : 0] = 0;
    return length > 0 ? (size_t)length : 0;
}
