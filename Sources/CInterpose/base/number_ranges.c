/* See number_ranges.h. */
#include "base/number_ranges.h"

#include "base/text.h"
#include <string.h>

enum { LONGEST_NUMBER = 31 };

static bool add(struct mt_number_ranges *ranges, uint64_t first, uint64_t last) {
    if (ranges->count == MT_NUMBER_RANGES || first > last)
        return false;
    ranges->ranges[ranges->count].first = first;
    ranges->ranges[ranges->count++].last = last;
    return true;
}

static bool parse_number(const char *start, const char *end, uint64_t *number) {
    char copy[LONGEST_NUMBER + 1] = {0};
    if (end - start > LONGEST_NUMBER)
        return false;
    memcpy(copy, start, (size_t)(end - start));
    return mt_text_parse_bytes(copy, number);
}

/* "24", "100-200" or "4KiB-". */
static bool parse_range(const char *start, const char *end, struct mt_number_ranges *ranges) {
    const char *dash = memchr(start, '-', (size_t)(end - start));
    uint64_t first, last = UINT64_MAX;
    if (!parse_number(start, dash ? dash : end, &first))
        return false;
    if (!dash)
        last = first;
    else if (dash + 1 < end && !parse_number(dash + 1, end, &last))
        return false;
    return add(ranges, first, last);
}

static bool parse_list(const char *text, struct mt_number_ranges *ranges) {
    for (;;) {
        const char *comma = strchr(text, ',');
        if (!parse_range(text, comma ? comma : text + strlen(text), ranges))
            return false;
        if (!comma)
            return true;
        text = comma + 1;
    }
}

bool mt_number_ranges_parse(const char *text, struct mt_number_ranges *ranges) {
    *ranges = (struct mt_number_ranges){0};
    if (!*text || mt_text_equal(text, "0"))
        return true;
    if (mt_text_equal(text, "all"))
        return add(ranges, 0, UINT64_MAX);
    if (parse_list(text, ranges))
        return true;
    *ranges = (struct mt_number_ranges){0};
    return false;
}

bool mt_number_ranges_contain(const struct mt_number_ranges *ranges, uint64_t number) {
    for (uint32_t i = 0; i < ranges->count; i++)
        if (number >= ranges->ranges[i].first && number <= ranges->ranges[i].last)
            return true;
    return false;
}
