/* See trace_room.h. */
#include "trace/trace_room.h"

#include "base/os.h"

enum {
    SMALL_DISK = 16, /* of a file system, one part in so many is kept free at most */
    NEXT_LOOK = 64 /* the next question comes when one part in so many of the spare room is used */
};

static struct {
    uint64_t max_size, keep_free;
    uint64_t known_until; /* the trace may grow so far without another look at the file system */
} g_room;

void mt_trace_room_begin(uint64_t max_size, uint64_t keep_free) {
    g_room.max_size = max_size ? max_size : UINT64_MAX;
    g_room.keep_free = keep_free;
    g_room.known_until = keep_free ? 0 : UINT64_MAX;
}

/* Bytes beside those that are kept free. A file system that does not tell has any number. */
static uint64_t spare_bytes(int fd) {
    struct mt_disk_room room;
    if (mt_os_disk_room(fd, &room) < 0)
        return UINT64_MAX;
    uint64_t most = room.size / SMALL_DISK;
    uint64_t kept = g_room.keep_free < most ? g_room.keep_free : most;
    return room.free > kept ? room.free - kept : 0;
}

enum mt_stop_reason mt_trace_room_ask(int fd, uint64_t end, uint64_t length) {
    if (end + length > g_room.max_size)
        return MT_STOP_MAX_SIZE;
    if (end + length <= __atomic_load_n(&g_room.known_until, __ATOMIC_RELAXED))
        return MT_STOP_NONE;
    uint64_t spare = spare_bytes(fd);
    if (spare < length)
        return MT_STOP_KEEP_FREE;
    __atomic_store_n(&g_room.known_until, end + spare / NEXT_LOOK, __ATOMIC_RELAXED);
    return MT_STOP_NONE;
}
