/* Keys of thread-local data, of which a program may want as many as there are. */
#include "events/hook.h"

#include "events/thread_key.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>

/* What libstdc++ and libgcc call: a name of pthread_key_create that nobody takes over. */
int __pthread_key_create(pthread_key_t *, void (*)(void *));

int MT_HOOK_NAME(pthread_key_create)(pthread_key_t *, void (*)(void *));
int MT_HOOK_NAME(tss_create)(tss_t *, tss_dtor_t);

MT_HOOK int MT_HOOK_NAME(pthread_key_create)(pthread_key_t *key, void (*end)(void *)) {
    /* An allocator that sets itself up. To look the real one up allocates in glibc before 2.34. */
    if (mt_is_early())
        return __pthread_key_create(key, end);
    if (MT_REAL_IS_MISSING(pthread_key_create))
        return EAGAIN;
    int error = mt_real.pthread_key_create(key, end);
    if (error == EAGAIN && mt_thread_key_give_up())
        error = mt_real.pthread_key_create(key, end);
    return error;
}

MT_HOOK int MT_HOOK_NAME(tss_create)(tss_t *key, tss_dtor_t end) {
    if (MT_REAL_IS_MISSING(tss_create))
        return thrd_error;
    int result = mt_real.tss_create(key, end);
    if (result == thrd_error && mt_thread_key_give_up())
        result = mt_real.tss_create(key, end);
    return result;
}
