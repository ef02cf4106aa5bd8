/* See file_room.h. */
#define _GNU_SOURCE
#include "base/file_room.h"

#include "base/os.h"
#include <errno.h>
#include <sys/resource.h>

/* So many are open at once. */
enum { NEEDED = 4 };

/* Who may have so many does not use them all up, and each would be asked at each fork. */
enum { MANY = 4096 };

static bool is_enough(int fd) {
    int copies[NEEDED], count = 0;
    while (count < NEEDED && (copies[count] = (int)mt_os_duplicate_above(fd, 0)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        mt_os_close(copies[i]);
    return count == NEEDED;
}

struct mt_file_room mt_file_room_make(int fd) {
    if (is_enough(fd))
        return (struct mt_file_room){0};
    uint64_t limit = mt_os_limit(RLIMIT_NOFILE);
    bool is_raised = mt_os_set_soft_limit(RLIMIT_NOFILE, limit + NEEDED) == 0;
    return (struct mt_file_room){is_raised ? limit : 0};
}

void mt_file_room_leave(struct mt_file_room room) {
    if (room.limit)
        mt_os_set_soft_limit(RLIMIT_NOFILE, room.limit);
}

/* From the top, where numbers are free in all but those who have none left. */
bool mt_file_room_is_left(int own) {
    uint64_t limit = mt_os_limit(RLIMIT_NOFILE);
    struct mt_file_identity ignored;
    if (limit > MANY)
        return true;
    for (int fd = (int)limit - 1; fd >= 0; fd--)
        if (fd == own || mt_os_identify(fd, &ignored) == -EBADF)
            return true;
    return false;
}
