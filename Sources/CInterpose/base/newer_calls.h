/* Numbers of the kernel's that the headers of older systems do not have: the recorder that is built
 * with those may run on a newer kernel, and programs call it by number, too. */
#ifndef MT_NEWER_CALLS_H
#define MT_NEWER_CALLS_H

#include <linux/futex.h>
#include <sys/syscall.h>

#ifndef SYS_epoll_pwait2 /* Linux 5.11 */
#    define SYS_epoll_pwait2 441
#endif
#ifndef SYS_landlock_restrict_self /* Linux 5.13 */
#    define SYS_landlock_restrict_self 446
#endif
#ifndef FUTEX_LOCK_PI2 /* Linux 5.14 */
#    define FUTEX_LOCK_PI2 13
#endif

#endif
