/* Reads the MEMTRACE_* variables. See config.h. */
#include "base/config.h"

#include "base/number_ranges.h"
#include "base/text.h"
#include <string.h>

struct mt_config mt_config = {.verbose = 1};

const char *mt_config_lookup(char *const *environment, const char *name) {
    size_t length = mt_text_length(name);
    for (; environment && *environment; environment++)
        if (mt_text_has_prefix(*environment, name) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

typedef bool parse(const char *string, uint64_t *number);

static const char *read_number(uint64_t *field, const char *value, const char *variable,
                               uint64_t low, uint64_t high, parse *parse_value) {
    uint64_t number;
    if (!value || !*value)
        return NULL;
    if (!parse_value(value, &number) || number < low || number > high)
        return variable;
    *field = number;
    return NULL;
}

static bool parse_power(const char *string, uint64_t *number) {
    return mt_text_parse_number(string, number) && (*number & (*number - 1)) == 0;
}

typedef bool makes_sense(const char *string);

static bool is_unwinder(const char *string) {
    return mt_text_equal(string, "auto") || mt_text_equal(string, "libunwind") ||
           mt_text_equal(string, "compare");
}

static bool is_session(const char *string) {
    uint8_t id[16];
    return mt_text_length(string) == 32 && mt_text_parse_hex(string, id, sizeof id);
}

static bool is_numbers(const char *string) {
    struct mt_number_ranges numbers;
    return mt_number_ranges_parse(string, &numbers);
}

/* An empty value is as good as none where not every text makes sense. */
static const char *read_string(char *field, const char *value, const char *variable,
                               makes_sense *check) {
    if (!value || (check && !*value))
        return NULL;
    size_t length = mt_text_length(value);
    if (length >= PATH_MAX || (check && !check(value)))
        return variable;
    memcpy(field, value, length + 1);
    return NULL;
}

const char *mt_config_read(struct mt_config *config, char *const *environment) {
    const char *bad = NULL, *problem;
    memset(config, 0, sizeof *config);
#define MT_DEFAULT_NUMBER(field, def) config->field = def;
#define MT_DEFAULT_BYTES(field, def) config->field = def;
#define MT_DEFAULT_ALIGNMENT(field, def) config->field = def;
#define MT_DEFAULT_STRING(field, def) memcpy(config->field, def, sizeof(def));
#define MT_READ_NUMBER(field, variable, low, high)                                                 \
    read_number(&config->field, mt_config_lookup(environment, variable), variable, low, high,      \
                mt_text_parse_number)
#define MT_READ_BYTES(field, variable, low, high)                                                  \
    read_number(&config->field, mt_config_lookup(environment, variable), variable, low, high,      \
                mt_text_parse_bytes)
#define MT_READ_ALIGNMENT(field, variable, low, high)                                              \
    read_number(&config->field, mt_config_lookup(environment, variable), variable, low, high,      \
                parse_power)
#define MT_READ_STRING(field, variable, low, high)                                                 \
    read_string(config->field, mt_config_lookup(environment, variable), variable, low)
#define MT_READ(field, variable, type, def, low, high, help)                                       \
    MT_DEFAULT_##type(field, def) problem = MT_READ_##type(field, variable, low, high);            \
    if (problem && !bad)                                                                           \
        bad = problem;
    MT_FOR_EACH_OPTION(MT_READ)
#undef MT_READ
    return bad;
}
