/* See proc_numbers.h. */
#define _GNU_SOURCE
#include "base/proc_numbers.h"

#include "base/os_threads.h"
#include "base/text.h"
#include <fcntl.h>

static char g_entries[8192] __attribute__((aligned(8)));

struct entry { /* struct linux_dirent64 */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

long mt_proc_numbers(const char *path, mt_number_visitor *visit, void *context) {
    int directory = (int)mt_os_open(MT_AT_CWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (directory < 0)
        return directory;
    uint64_t number;
    long length;
    while ((length = mt_os_directory_entries(directory, g_entries, sizeof g_entries)) > 0)
        for (long at = 0; at < length; at += ((struct entry *)(g_entries + at))->length)
            if (mt_text_parse_number(((struct entry *)(g_entries + at))->name, &number))
                visit(number, directory, context);
    mt_os_close(directory);
    return 0;
}
