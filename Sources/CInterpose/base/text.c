/* Text without stdio, locale or malloc. See text.h. */
#include "base/text.h"

#include <string.h>

struct mt_text mt_text_begin(char *buffer, size_t capacity) {
    buffer[0] = 0;
    return (struct mt_text){buffer, 0, capacity, false};
}

void mt_text_add_bytes(struct mt_text *text, const char *bytes, size_t length) {
    size_t room = text->capacity - 1 - text->length;
    if (length > room) {
        length = room;
        text->cut = true;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = 0;
}

void mt_text_add(struct mt_text *text, const char *string) {
    mt_text_add_bytes(text, string, mt_text_length(string));
}

void mt_text_add_number(struct mt_text *text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    mt_text_add_bytes(text, digits + at, sizeof digits - at);
}

void mt_text_add_hex(struct mt_text *text, const uint8_t *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
        mt_text_add_bytes(text, pair, 2);
    }
}

size_t mt_text_length(const char *string) {
    return strlen(string);
}

bool mt_text_equal(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

bool mt_text_has_prefix(const char *string, const char *prefix) {
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool mt_text_has_suffix(const char *string, const char *suffix) {
    size_t length = strlen(string), suffix_length = strlen(suffix);
    return length >= suffix_length && strcmp(string + length - suffix_length, suffix) == 0;
}

const char *mt_text_last_component(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *mt_text_find(const char *string, const char *part) {
    return strstr(string, part);
}

/* Reads digits, at least one. Returns what follows them, or NULL on overflow. */
static const char *parse_digits(const char *string, uint64_t *number) {
    uint64_t value = 0;
    const char *at = string;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (UINT64_MAX - 9) / 10)
            return NULL;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    *number = value;
    return at == string ? NULL : at;
}

bool mt_text_parse_number(const char *string, uint64_t *number) {
    uint64_t value;
    const char *rest = parse_digits(string, &value);
    if (!rest || *rest)
        return false;
    *number = value;
    return true;
}

/* The exponent of 2 that a unit stands for: "", "k", "KiB", "MB", "B" ...; -1: none. */
static int unit_shift(const char *unit) {
    static const char letters[] = "kmgtp";
    int shift = 0;
    const char *letter = *unit ? strchr(letters, *unit | 0x20) : NULL;
    if (letter) {
        shift = 10 * (int)(letter - letters + 1);
        unit += unit[1] == 'i' && unit[2] == 'B' ? 2 : 1;
    }
    unit += *unit == 'B';
    return *unit ? -1 : shift;
}

bool mt_text_parse_bytes(const char *string, uint64_t *bytes) {
    uint64_t value;
    const char *unit = parse_digits(string, &value);
    int shift = unit ? unit_shift(unit) : -1;
    if (shift < 0 || value > UINT64_MAX >> shift)
        return false;
    *bytes = value << shift;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

uint64_t mt_text_take_hex(const char **at) {
    uint64_t number = 0;
    for (int digit; (digit = hex_digit(**at)) >= 0; ++*at)
        number = number << 4 | (uint64_t)digit;
    return number;
}

bool mt_text_parse_hex(const char *string, uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int high = hex_digit(string[2 * i]);
        int low = high < 0 ? -1 : hex_digit(string[2 * i + 1]);
        if (low < 0)
            return false;
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool mt_text_fits(const char *pattern, const char *pattern_end, const char *text,
                  const char *text_end) {
    const char *star = NULL, *star_end = NULL; /* behind the last `*`, and what it stands for */
    while (text < text_end) {
        if (pattern < pattern_end && *pattern == '*') {
            star = ++pattern;
            star_end = text;
        } else if (pattern < pattern_end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++star_end;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}
