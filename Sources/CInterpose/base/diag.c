/* One line on stderr. See diag.h. */
#include "base/diag.h"

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include <errno.h>

/* strerror is locale-aware and may allocate. */
static const char *describe(long error) {
    switch (-error) {
    case ENOSPC:
    case EDQUOT:
        return "no space left on the device";
    case EACCES:
    case EPERM:
        return "permission denied";
    case ENOENT:
        return "no such directory";
    case ENOTDIR:
        return "not a directory";
    case EISDIR:
        return "is a directory";
    case ELOOP:
        return "too many symbolic links";
    case EROFS:
        return "read-only file system";
    case EFBIG:
        return "over the file size limit (ulimit -f)";
    case ENOMEM:
        return "out of memory (ulimit -v)";
    case EMFILE:
    case ENFILE:
        return "too many open files (ulimit -n)";
    case ENAMETOOLONG:
        return "the path is too long";
    case ENODEV:
        return "this file system cannot map files";
    default:
        return NULL;
    }
}

const char *mt_diag_reason(long error) {
    const char *reason = describe(error);
    return reason ? reason : "error";
}

static struct {
    char *bytes;
    size_t size;
} g_reader;

void mt_diag_into(char *buffer, size_t size) {
    g_reader.bytes = buffer;
    g_reader.size = size;
    if (buffer)
        *buffer = 0;
}

static void add(struct mt_text *text, const char *what, const char *subject, long error,
                const char *consequence) {
    mt_text_add(text, what);
    if (*subject) {
        mt_text_add(text, " ");
        mt_text_add(text, subject);
    }
    if (error) {
        const char *reason = describe(error);
        mt_text_add(text, ": ");
        mt_text_add(text, reason ? reason : "error ");
        if (!reason)
            mt_text_add_number(text, (uint64_t)-error);
    }
    mt_text_add(text, consequence);
}

/* A sandbox may refuse to tell which process this is. */
static void add_speaker(struct mt_text *text, long pid) {
    mt_text_add(text, "memtrace");
    if (pid > 0) {
        mt_text_add(text, "[");
        mt_text_add_number(text, (uint64_t)pid);
        mt_text_add(text, "]");
    }
    mt_text_add(text, ": ");
}

void mt_diag_once(const char *what, const char *subject, long error, const char *consequence) {
    static uint32_t has_spoken;
    if (g_reader.bytes) {
        if (!*g_reader.bytes) {
            struct mt_text text = mt_text_begin(g_reader.bytes, g_reader.size);
            add(&text, what, subject, error, "");
        }
        return;
    }
    /* Of a process tree only the root speaks: what keeps a child from recording (a sandbox, another
     * user) must not show in the output of the host. */
    if (!mt_config.verbose || mt_config.parent[0] ||
        __atomic_exchange_n(&has_spoken, 1, __ATOMIC_RELAXED))
        return;
    static char buffer[PATH_MAX + 256]; /* used once */
    struct mt_text text = mt_text_begin(buffer, sizeof buffer - 1);
    add_speaker(&text, mt_os_pid());
    add(&text, what, subject, error, consequence);
    mt_text_add(&text, "\n");
    mt_os_write(2, text.bytes, text.length);
}
