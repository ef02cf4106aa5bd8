/* Extended attributes of files. */
#include "csymbolication.h"

#include <sys/xattr.h>

bool mt_has_file_capabilities(const char *path) {
    return getxattr(path, "security.capability", NULL, 0) > 0;
}
