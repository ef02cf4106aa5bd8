/* Text without stdio, locale or malloc: bounded string building and number parsing. */
#ifndef MT_TEXT_H
#define MT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A string under construction in the caller's buffer; always terminated, silently cut when full
 * (`cut` says so). */
struct mt_text {
    char *bytes;
    size_t length;
    size_t capacity; /* with the terminator; at least 1 */
    bool cut;
};

struct mt_text mt_text_begin(char *buffer, size_t capacity);
void mt_text_add(struct mt_text *text, const char *string);
void mt_text_add_bytes(struct mt_text *text, const char *bytes, size_t length);
void mt_text_add_number(struct mt_text *text, uint64_t number);
void mt_text_add_hex(struct mt_text *text, const uint8_t *bytes, size_t count);

size_t mt_text_length(const char *string);
bool mt_text_equal(const char *a, const char *b);
bool mt_text_has_prefix(const char *string, const char *prefix);
bool mt_text_has_suffix(const char *string, const char *suffix);
/* The part after the last '/', or the whole. */
const char *mt_text_last_component(const char *path);
/* Whether a pattern, in which * stands for any text and ? for any one byte, fits the whole of a
 * text; both as their first byte and the one behind their last. */
bool mt_text_fits(const char *pattern, const char *pattern_end, const char *text,
                  const char *text_end);
const char *mt_text_find(const char *string, const char *part);

/* Reads decimal digits up to the terminator or `end`. False on anything else or on overflow. */
bool mt_text_parse_number(const char *string, uint64_t *number);
/* The same with an optional unit, a power of 1024: 4096, 512k, 512KiB, 2MB. */
bool mt_text_parse_bytes(const char *string, uint64_t *bytes);
/* Reads the hexadecimal digits at *at, none or more, and moves *at behind them. */
uint64_t mt_text_take_hex(const char **at);
/* Reads exactly 2 * count hexadecimal digits. */
bool mt_text_parse_hex(const char *string, uint8_t *bytes, size_t count);

#endif
