/* See fault_stack.h. */
#define _GNU_SOURCE
#include "events/fault_stack.h"

#include "base/os_threads.h"
#include "events/thread_state.h"
#include "loader/real.h"

/* What a snapshot before the end takes, with libunwind's 10 KiB, many times over, and handlers of
 * the host. What nobody touches costs nothing. */
enum { SIZE = 256 << 10, LAST_SIGNAL = 64 };

static bool g_are_lent;

bool mt_fault_stack_is(struct mt_signal_stack stack) {
    return mt_tls.fault_stack && stack.start == (uintptr_t)mt_tls.fault_stack;
}

static void *memory_of(struct mt_thread *thread) {
    if (!thread)
        return mt_os_map_pages(SIZE);
    if (!thread->fault_stack)
        thread->fault_stack = mt_os_map_pages(SIZE);
    return thread->fault_stack;
}

void mt_fault_stack_lend(struct mt_thread *thread) {
    if (!__atomic_load_n(&g_are_lent, __ATOMIC_RELAXED) || mt_os_signal_stack().size != 0)
        return;
    void *memory = memory_of(thread);
    struct mt_signal_stack stack = {.start = (uintptr_t)memory, .size = SIZE};
    if (memory && mt_os_set_signal_stack(stack) == 0)
        mt_tls.fault_stack = memory;
}

void mt_fault_stack_take_back(void) {
    if (!mt_tls.fault_stack)
        return; /* without asking the kernel: most threads have none */
    if (mt_fault_stack_is(mt_os_signal_stack()))
        mt_os_set_signal_stack((struct mt_signal_stack){0, 0});
    mt_tls.fault_stack = NULL;
}

void mt_fault_stack_survive_fork(struct mt_thread *thread) {
    if (mt_tls.fault_stack)
        thread->fault_stack = NULL;
}

static bool is_hosts_on_signal_stack(int signal) {
    struct mt_os_action action;
    return mt_os_action(signal, NULL, &action) == 0 && action.handler != NULL &&
           action.handler != MT_SIGNAL_IGNORED && (action.flags & SA_ONSTACK) &&
           !mt_real_is_ours((uintptr_t)action.handler);
}

void mt_fault_stacks_begin(void) {
    for (int signal = 1; signal <= LAST_SIGNAL; signal++)
        if (is_hosts_on_signal_stack(signal))
            return;
    __atomic_store_n(&g_are_lent, true, __ATOMIC_RELAXED);
    mt_fault_stack_lend(mt_tls.thread);
}

void mt_fault_stacks_end(void) {
    __atomic_store_n(&g_are_lent, false, __ATOMIC_RELAXED);
}

/* Code that is called writes right below the stack pointer. */
static bool is_readable(uintptr_t sp) {
    uintptr_t word = sp & -(uintptr_t)sizeof sp;
    return mt_os_is_readable(word) && mt_os_is_readable(word - sizeof word);
}

void mt_fault_stack_look(uintptr_t sp) {
    enum { LARGEST_FRAME = 16 << 20 };
    mt_tls.stack_end = 0;
    if (is_readable(sp))
        return;
    mt_tls.stack_end = UINTPTR_MAX;
    uintptr_t lowest = sp & -(uintptr_t)MT_PAGE_SIZE;
    for (uintptr_t page = lowest; page - lowest < LARGEST_FRAME; page += MT_PAGE_SIZE)
        if (mt_os_is_readable(page)) {
            mt_tls.stack_end = page;
            return;
        }
}

uintptr_t mt_fault_stack_top(uintptr_t sp) {
    bool is_known = mt_tls.stack_end != 0 && mt_tls.stack_end != UINTPTR_MAX;
    return is_known && mt_tls.stack_end > sp ? mt_tls.stack_end : sp;
}
