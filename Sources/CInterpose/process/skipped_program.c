/* Tells which programs are skipped. See skipped_program.h. */
#include "process/skipped_program.h"

#include "base/executable_path.h"
#include "base/os.h"
#include "base/text.h"
#include <string.h>

bool mt_program_is_skipped(const struct mt_config *config) {
    static char path[PATH_MAX]; /* one caller, perhaps little stack */
    if (!config->skip[0] || !config->parent[0])
        return false;
    size_t length = mt_executable_path(path, sizeof path);
    if (length == 0)
        return false;
    const char *name = mt_text_last_component(path), *name_end = path + length;
    for (const char *at = config->skip; *at;) {
        const char *end = at + strcspn(at, ",");
        if (end > at && mt_text_fits(at, end, name, name_end))
            return true;
        at = *end ? end + 1 : end;
    }
    return false;
}
