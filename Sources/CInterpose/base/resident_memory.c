/* Asks the kernel for the peak of resident memory. See resident_memory.h. */
#include "base/resident_memory.h"

#include "base/os.h"
#include "base/text.h"

static uint64_t g_inherited;

void mt_resident_begin(bool is_own) {
    g_inherited = is_own ? 0 : mt_os_peak_bytes();
}

uint64_t mt_resident_peak(void) {
    uint64_t peak = mt_os_peak_bytes();
    return peak > g_inherited ? peak : 0;
}

/* "VmHWM:\t   25948 kB"; 0 where there is no such line. */
static uint64_t peak_in(const char *status) {
    static const char label[] = "VmHWM:";
    const char *next = mt_text_find(status, label);
    if (!next)
        return 0;
    next += sizeof label - 1;
    while (*next == '\t' || *next == ' ')
        next++;
    uint64_t kilobytes = 0;
    for (; *next >= '0' && *next <= '9'; next++)
        kilobytes = kilobytes * 10 + (uint64_t)(*next - '0');
    return kilobytes << 10;
}

uint64_t mt_resident_final_peak(void) {
    /* The groups of the user come first, a few bytes each. */
    char status[1024];
    uint64_t peak = 0;
    if (mt_os_read_file("/proc/self/status", status, sizeof status) > 0)
        peak = peak_in(status);
    return peak ? peak : mt_resident_peak();
}
