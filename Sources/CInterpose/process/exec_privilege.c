/* Decides as the kernel does: bprm_fill_uid of fs/exec.c, cap_bprm_creds_from_file of
 * security/commoncap.c. See exec_privilege.h. */
#include "process/exec_privilege.h"

#include "base/os_rights.h"
#include <linux/capability.h>
#include <sys/stat.h>

/* Without group execution the bit of the group means mandatory locking. */
static bool sets_group(uint32_t mode) {
    return (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

/* What can only be inherited gives nothing to who has nothing to pass on. */
static bool has_capabilities(int fd) {
    struct vfs_ns_cap_data data = {0};
    long length = mt_os_attribute(fd, "security.capability", &data, sizeof data);
    if (length < (long)XATTR_CAPS_SZ_1)
        return false;
    return (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) != 0 ||
           (data.data[0].permitted | data.data[1].permitted) != 0;
}

const char *mt_exec_privilege(int fd) {
    struct mt_identity self = mt_os_identity();
    struct mt_file_rights file;
    if (mt_os_file_rights(fd, &file) < 0 || !S_ISREG(file.mode))
        return NULL;
    if (self.effective_user != self.user || self.effective_group != self.group)
        return "run by another effective user or group than the real one, for which preloaded "
               "libraries are ignored";
    if (mt_os_is_without_rights(fd))
        return NULL;
    bool sets_user = (file.mode & S_ISUID) && file.user != self.user;
    bool changes_group = sets_group(file.mode) && file.group != self.group;
    if ((sets_user || changes_group) && !mt_os_has_no_new_privileges())
        return sets_user ? "it changes the user when it starts (setuid), and then preloaded "
                           "libraries are ignored"
                         : "it changes the group when it starts (setgid), and then preloaded "
                           "libraries are ignored";
    /* Root has them all. */
    if (self.user != 0 && has_capabilities(fd))
        return "it gains capabilities when it starts, and then preloaded libraries are ignored";
    return NULL;
}
