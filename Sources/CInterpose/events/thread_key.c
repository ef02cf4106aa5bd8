/* See thread_key.h. */
#include "events/thread_key.h"

#include "base/lock.h"
#include "process/recording.h"
#include <pthread.h>

static struct {
    struct mt_lock lock; /* no value may be set of a key that has become the program's */
    pthread_key_t key;
    bool is_there;
} g_key;

/* Keys below 32 have their values in the thread itself: setting them never allocates. The last of
 * these: so the program's keys have the numbers that they have without us, and who takes 0 for a
 * key that was never made finds no value of ours there. */
static bool make_key(pthread_key_t *key, void (*end)(void *)) {
    enum { LAST = 31 };
    pthread_key_t spare[LAST + 1], made;
    unsigned count = 0;
    bool has_key = false;
    while (count <= LAST && pthread_key_create(&made, end) == 0) {
        if (has_key && made > LAST) {
            pthread_key_delete(made);
            break;
        }
        if (has_key)
            spare[count++] = *key;
        has_key = true;
        *key = made;
        if (made >= LAST)
            break;
    }
    while (count > 0)
        pthread_key_delete(spare[--count]);
    return has_key;
}

void mt_thread_key_make(void (*end)(void *)) {
    pthread_key_t key;
    if (!make_key(&key, end))
        return;
    g_key.key = key;
    __atomic_store_n(&g_key.is_there, true, __ATOMIC_RELEASE);
}

bool mt_thread_key_is_there(void) {
    return __atomic_load_n(&g_key.is_there, __ATOMIC_ACQUIRE);
}

bool mt_thread_key_set(uintptr_t value) {
    uint64_t signals = mt_lock_enter(&g_key.lock);
    bool is_set = g_key.is_there && pthread_setspecific(g_key.key, (void *)value) == 0;
    mt_lock_exit(&g_key.lock, signals);
    return is_set;
}

static bool delete_key(void) {
    bool was_there = g_key.is_there;
    if (was_there)
        pthread_key_delete(g_key.key);
    __atomic_store_n(&g_key.is_there, false, __ATOMIC_RELEASE);
    return was_there;
}

/* Where nothing is recorded nobody sets a value; and no call of ours may be made in a sandbox. */
bool mt_thread_key_give_up(void) {
    if (!mt_recording_owns_trace())
        return delete_key();
    uint64_t signals = mt_lock_enter(&g_key.lock);
    bool was_there = delete_key();
    mt_lock_exit(&g_key.lock, signals);
    return was_there;
}

void mt_thread_key_after_fork(void) {
    mt_lock_reset(&g_key.lock);
}
