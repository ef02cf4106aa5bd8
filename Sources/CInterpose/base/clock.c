/* Chooses the source of ticks. See clock.h. */
#include "base/clock.h"

#if defined(__x86_64__)
#    include <cpuid.h>
#endif

bool mt_clock_is_ns;
uint32_t mt_clock_orders_threads;

#if defined(__x86_64__)
/* CPUID 0x80000007 EDX bit 8: the counter runs at one rate in all power states. */
static bool has_invariant_counter(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8)))
        return false;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d & (1u << 27)); /* RDTSCP */
}
#endif

void mt_clock_init(void) {
#if defined(__x86_64__)
    mt_clock_is_ns = !has_invariant_counter();
#endif
}

uint64_t mt_clock_frequency(void) {
    if (mt_clock_is_ns)
        return 1000000000u;
#if defined(__aarch64__)
    uint64_t frequency;
    __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
    return frequency;
#else
    return 0;
#endif
}
