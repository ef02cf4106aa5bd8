/* The recorder's options, read once from the environment.
 *
 * Read with our own scan of environ: getenv is interposable, and during start-up the host may not
 * have initialised what it needs. A bad value is reported once and its default used. */
#ifndef MT_CONFIG_H
#define MT_CONFIG_H

#include "base/config_options.h"
#include <limits.h>
#include <stdint.h>

struct mt_config {
#define MT_FIELD_NUMBER(name) uint64_t name
#define MT_FIELD_BYTES(name) uint64_t name
#define MT_FIELD_ALIGNMENT(name) uint64_t name
#define MT_FIELD_STRING(name) char name[PATH_MAX]
#define MT_FIELD(field, variable, type, def, low, high, help) MT_FIELD_##type(field);
    MT_FOR_EACH_OPTION(MT_FIELD)
#undef MT_FIELD
#undef MT_FIELD_NUMBER
#undef MT_FIELD_BYTES
#undef MT_FIELD_ALIGNMENT
#undef MT_FIELD_STRING
};

/* Those of the process, as read at start-up; the output path is absolute from then on. */
extern struct mt_config mt_config;

/* Fills *config from environment (NULL-terminated, "NAME=value").
 * returns  NULL, or the name of the first variable with a value out of range (default used) */
const char *mt_config_read(struct mt_config *config, char *const *environment);

/* Value of a variable in an environment, or NULL. */
const char *mt_config_lookup(char *const *environment, const char *name);

#endif
