/* The arguments and the environment of a program that is to be executed, as the host passes them.
 */
#ifndef MT_EXEC_STRINGS_H
#define MT_EXEC_STRINGS_H

#include "base/os.h"

/* Whether an element of such a list can be read, and the string that it leads to, if it is not the
 * end. The host's own mistakes are for exec to refuse. */
static inline bool mt_exec_string_is_readable(char *const *element) {
    return mt_os_is_readable((uintptr_t)element) &&
           (!*element || mt_os_is_readable((uintptr_t)*element));
}

#endif
