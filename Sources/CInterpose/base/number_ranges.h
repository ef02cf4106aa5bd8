/* Numbers that somebody has chosen, as of sizes: "all", or "24,100-200,4KiB-". */
#ifndef MT_NUMBER_RANGES_H
#define MT_NUMBER_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_NUMBER_RANGES = 16 };

struct mt_number_ranges {
    uint32_t count; /* 0: no number */
    struct {
        uint64_t first, last;
    } ranges[MT_NUMBER_RANGES];
};

/* Reads them: numbers and pairs of numbers with commas between them, each with a unit or without; a
 * pair may lack its second one. "all" are all numbers, "0" and "" none.
 *
 * returns  false for anything else, and for more than MT_NUMBER_RANGES: then they are none */
bool mt_number_ranges_parse(const char *text, struct mt_number_ranges *ranges);

bool mt_number_ranges_contain(const struct mt_number_ranges *ranges, uint64_t number);

#endif
