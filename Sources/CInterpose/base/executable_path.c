/* Finds the file of the program. See executable_path.h. */
#include "base/executable_path.h"

#include "base/os.h"
#include "base/proc_maps.h"
#include "base/text.h"
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
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

/* Whether a file begins as the program does in memory, where its program headers follow at once. */
static bool is_program(const char *path) {
    enum { HEADER = sizeof(ElfW(Ehdr)) };
    uintptr_t header = getauxval(AT_PHDR) - HEADER;
    char bytes[HEADER];
    long file = header % MT_PAGE_SIZE == 0 ? mt_os_open(MT_AT_CWD, path, O_RDONLY, 0) : -1;
    if (file < 0)
        return false;
    long count = mt_os_read((int)file, bytes, sizeof bytes);
    mt_os_close((int)file);
    return count == HEADER && memcmp(bytes, (const void *)header, HEADER) == 0;
}

/* What the kernel was asked to execute: a script may be as well. */
static size_t path_of_exec(char *buffer, size_t size) {
    const char *name = (const char *)getauxval(AT_EXECFN);
    struct mt_text path = mt_text_begin(buffer, size);
    if (!name)
        return 0;
    if (*name != '/' && mt_os_getcwd(buffer, size) > 1) {
        path.length = mt_text_length(buffer);
        mt_text_add(&path, "/");
    }
    mt_text_add(&path, mt_text_has_prefix(name, "./") ? name + 2 : name);
    return *buffer == '/' && is_program(buffer) ? path.length : 0;
}

static size_t find_path(char *buffer, size_t size) {
    size_t found = is_run_by_its_loader() ? path_of_entry(buffer, size) : 0;
    if (found > 0)
        return found;
    long length = mt_os_readlink("/proc/self/exe", buffer, size - 1);
    if (length <= 0) /* /proc is not mounted */
        length = (long)path_of_exec(buffer, size);
    buffer[length] = 0;
    return (size_t)length;
}

size_t mt_executable_path(char *buffer, size_t size) {
    static char path[PATH_MAX];
    static bool is_known;
    if (!is_known)
        find_path(path, sizeof path);
    is_known = true;
    struct mt_text text = mt_text_begin(buffer, size);
    mt_text_add(&text, path);
    return text.length;
}
