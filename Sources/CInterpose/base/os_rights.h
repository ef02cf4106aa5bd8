/* What the kernel knows of the rights of processes and of files. As os.h. */
#ifndef MT_OS_RIGHTS_H
#define MT_OS_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_identity {
    uint32_t user, group; /* the real ones */
    uint32_t effective_user, effective_group;
};
struct mt_identity mt_os_identity(void);
/* Whether programs that the process executes give it no other user or group (PR_SET_NO_NEW_PRIVS).
 */
bool mt_os_has_no_new_privileges(void);

struct mt_file_rights {
    uint32_t mode, user, group;
};
long mt_os_file_rights(int fd, struct mt_file_rights *rights);
/* Whether the file system of a file gives programs no other rights than who executes them has. */
bool mt_os_is_without_rights(int fd);
/* An extended attribute of a file. Returns its length, -ENODATA where there is none ... */
long mt_os_attribute(int fd, const char *name, void *buffer, size_t size);

#endif
