/* See bypassing.h. */
#include "loader/bypassing.h"

#include "base/lock.h"
#include "base/text.h"
#include "loader/image_map.h"
#include "loader/rebinding.h"
#include "memtrace_format.h"
#include "trace/meta_writer.h"
#include <string.h>

enum { ROOM = 4096 };

/* One behind the other: '0' or '1', the function and the image, both with their terminators. The
 * length is written last, so that a forked child finds whole ones. */
static struct {
    struct mt_lock lock;
    size_t length;
    char notes[ROOM];
} g_bypassing;

static const char *after(const char *text) {
    return text + mt_text_length(text) + 1;
}

static bool is_kept(const char *function, const char *image) {
    const char *end = g_bypassing.notes + g_bypassing.length;
    for (const char *note = g_bypassing.notes; note < end; note = after(after(note)))
        if (mt_text_equal(note + 1, function) && mt_text_equal(after(note), image))
            return true;
    return false;
}

static void keep(const char *function, const char *image, bool are_freed) {
    size_t function_size = mt_text_length(function) + 1;
    size_t image_size = mt_text_length(image) + 1;
    char *note = g_bypassing.notes + g_bypassing.length;
    if (is_kept(function, image) ||
        1 + function_size + image_size > sizeof g_bypassing.notes - g_bypassing.length)
        return;
    *note = are_freed ? '1' : '0';
    memcpy(note + 1, function, function_size);
    memcpy(note + 1 + function_size, image, image_size);
    __atomic_store_n(&g_bypassing.length, g_bypassing.length + 1 + function_size + image_size,
                     __ATOMIC_RELEASE);
}

void mt_bypassing_note(const char *function, const char *image, bool are_freed) {
    uint64_t signals = mt_lock_enter(&g_bypassing.lock);
    keep(function, image, are_freed);
    mt_lock_exit(&g_bypassing.lock, signals);
    mt_meta_note_about(MT_NOTE_BYPASSED, are_freed, function, image);
}

void mt_bypassing_after_fork(void) {
    mt_lock_reset(&g_bypassing.lock);
}

void mt_bypassing_note_again(void) {
    const char *end = g_bypassing.notes + g_bypassing.length;
    for (const char *note = g_bypassing.notes; note < end; note = after(after(note)))
        mt_meta_note_about(MT_NOTE_BYPASSED, *note == '1', note + 1, after(note));
}

static bool is_of_c_library_alone(const char *name) {
    static const char prefix[] = "__libc_";
    static const char *const functions[] = {"malloc",   "calloc", "realloc",
                                            "memalign", "valloc", "pvalloc"};
    if (!mt_text_has_prefix(name, prefix))
        return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (mt_text_equal(name + sizeof prefix - 1, functions[i]))
            return true;
    return false;
}

bool mt_bypassing_by_executable(void) {
    struct mt_loaded_image executable;
    return mt_image_map_find_loaded("", &executable) &&
           mt_rebinding_find_used(&executable, is_of_c_library_alone);
}
