/* See os_rights.h for the contract. */
#define _GNU_SOURCE
#include "base/os_rights.h"

#include "base/os.h"
#include "base/os_call.h"
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

struct mt_identity mt_os_identity(void) {
    return (struct mt_identity){
        .user = (uint32_t)mt_os_uid(),
        .group = (uint32_t)CALL(SYS_getgid, 0, 0, 0, 0, 0, 0),
        .effective_user = (uint32_t)CALL(SYS_geteuid, 0, 0, 0, 0, 0, 0),
        .effective_group = (uint32_t)CALL(SYS_getegid, 0, 0, 0, 0, 0, 0),
    };
}

bool mt_os_has_no_new_privileges(void) {
    return CALL(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1;
}

long mt_os_file_rights(int fd, struct mt_file_rights *rights) {
    struct stat status;
    long error = CALL(SYS_newfstatat, fd, "", &status, AT_EMPTY_PATH, 0, 0);
    if (error < 0)
        return error;
    *rights = (struct mt_file_rights){status.st_mode, status.st_uid, status.st_gid};
    return 0;
}

bool mt_os_is_without_rights(int fd) {
    struct statfs system;
    return CALL(SYS_fstatfs, fd, &system, 0, 0, 0, 0) == 0 && (system.f_flags & ST_NOSUID) != 0;
}

long mt_os_attribute(int fd, const char *name, void *buffer, size_t size) {
    return CALL(SYS_fgetxattr, fd, name, buffer, size, 0, 0);
}
