/* Reads cgroup memory limits. See memory_limits.h. */
#include "base/memory_limits.h"

#include "base/os.h"
#include "base/text.h"
#include <limits.h>
#include <string.h>

/* Buffers are static: there is one caller at a time, perhaps on a stack of 16 KiB. */

static uint64_t limit_in(const char *root, const char *group, size_t length, const char *file) {
    static char path[PATH_MAX];
    char value[32];
    struct mt_text text = mt_text_begin(path, sizeof path);
    mt_text_add(&text, root);
    mt_text_add_bytes(&text, group, length);
    mt_text_add(&text, "/");
    mt_text_add(&text, file);
    if (text.cut || mt_os_read_file(path, value, sizeof value) <= 0)
        return UINT64_MAX;
    char *newline = strchr(value, '\n');
    if (newline)
        *newline = 0;
    uint64_t bytes;
    /* cgroup v1 says "none" with a number near 2^63. */
    if (!mt_text_parse_number(value, &bytes) || bytes > (1ull << 60))
        return UINT64_MAX;
    return bytes;
}

/* A group's limit also binds its children: take the lowest on the way to the root. */
static uint64_t lowest_limit(const char *root, const char *group, const char *file) {
    uint64_t lowest = UINT64_MAX;
    size_t length = mt_text_length(group);
    for (;;) {
        while (length > 0 && group[length - 1] == '/')
            length--;
        uint64_t limit = limit_in(root, group, length, file);
        if (limit < lowest)
            lowest = limit;
        if (length == 0)
            return lowest;
        while (length > 0 && group[length - 1] != '/')
            length--;
    }
}

static bool names_memory_controller(const char *controllers) {
    const char *memory = mt_text_find(controllers, "memory");
    return memory && (memory[6] == ',' || memory[6] == 0);
}

uint64_t mt_memory_limit_of_cgroup(void) {
    static char text[4096];
    if (mt_os_read_file("/proc/self/cgroup", text, sizeof text) <= 0)
        return UINT64_MAX;
    uint64_t lowest = UINT64_MAX;
    /* Each line is "hierarchy:controllers:/group". */
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        if (end)
            *end = 0;
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = 0;
        uint64_t limit = UINT64_MAX;
        if (controllers[1] == 0)
            limit = lowest_limit("/sys/fs/cgroup", group, "memory.max");
        else if (names_memory_controller(controllers + 1))
            limit = lowest_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
        if (limit < lowest)
            lowest = limit;
    }
    return lowest;
}
