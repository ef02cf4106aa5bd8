/* Would a program gain rights when it is executed?
 *
 * ld.so ignores the preload then, without a word: nothing would tell that the program, and all that
 * it executes, was not recorded. */
#ifndef MT_EXEC_PRIVILEGE_H
#define MT_EXEC_PRIVILEGE_H

/* fd       an executable; of one that is not open for reading (O_PATH) capabilities are not seen
 * returns  NULL when the calling thread may execute it without the kernel's calling that secure
 *          (AT_SECURE), else the reason in words
 * context  also in a vfork child: raw system calls, and its stack */
const char *mt_exec_privilege(int fd);

#endif
