/* See spawn_folder.h. */
#define _GNU_SOURCE
#include "process/spawn_folder.h"

#include "base/os.h"
#include <fcntl.h>

/* glibc since 2.29, posix/spawn_int.h: what its file actions are kept in. */
enum { CHANGES_FOLDER = 3, CHANGES_FOLDER_TO_DESCRIPTOR = 4 };
struct action {
    int tag;
    union {
        const char *path;
        int fd;
        struct {
            int fd;
            const char *path;
            int flags;
            mode_t mode;
        } opened;
    };
};

static bool is_known_layout(const posix_spawn_file_actions_t *actions) {
    return actions && actions->__used > 0 && actions->__used <= actions->__allocated &&
           mt_os_is_readable((uintptr_t)actions->__actions);
}

int mt_spawn_folder(const posix_spawn_file_actions_t *actions) {
    int folder = MT_AT_CWD;
    if (!is_known_layout(actions))
        return folder;
    const struct action *action = (const struct action *)actions->__actions;
    for (int i = 0; i < actions->__used; i++, action++) {
        long next = -1;
        if (action->tag == CHANGES_FOLDER)
            next = mt_os_open(folder, action->path, O_PATH | O_DIRECTORY, 0);
        else if (action->tag == CHANGES_FOLDER_TO_DESCRIPTOR)
            next = mt_os_open(action->fd, ".", O_PATH | O_DIRECTORY, 0);
        else
            continue;
        mt_spawn_folder_end(folder);
        if (next < 0)
            return MT_AT_CWD;
        folder = (int)next;
    }
    return folder;
}

void mt_spawn_folder_end(int folder) {
    if (folder >= 0)
        mt_os_close(folder);
}
