/* The Swift runtime's own places for hooks on its reference counting.
 *
 * swift_retain, swift_release and their kin call the functions in a few variables, once a flag is
 * set: made for Instruments. An image is looked at as code: only where the exported function is
 * seen to jump through the variable, with the object as it was passed, are hooks taken to be safe.
 * docs/refcounts.md has the versions. */
#ifndef MT_SWIFT_RUNTIME_H
#define MT_SWIFT_RUNTIME_H

#include "loader/elf_symbols.h"

typedef void *mt_swift_retain(void *object);
typedef void mt_swift_release(void *object);
typedef void *mt_swift_retain_n(void *object, uint32_t amount);
typedef void mt_swift_release_n(void *object, uint32_t amount);

/* Where the functions are, in writable memory of the image. NULL: the image has no such function;
 * retain and release it always has. */
struct mt_swift_runtime {
    mt_swift_retain **adapter; /* what swift_retain jumps to in 6.3 */
    mt_swift_retain **retain;
    mt_swift_release **release;
    mt_swift_retain_n **retain_n;
    mt_swift_release_n **release_n;
    mt_swift_retain **try_retain;
    uint8_t *flag; /* nonzero: the functions are called; NULL: they are whenever they are changed */
};

enum mt_swift_runtime_answer {
    MT_RUNTIME_NONE,    /* the image has no Swift runtime in it */
    MT_RUNTIME_FOUND,   /* and hooks are safe */
    MT_RUNTIME_UNREADY, /* the loader has not relocated it yet */
    MT_RUNTIME_UNSAFE   /* hooks cannot be proven safe: *reason */
};

/* Looks for a Swift runtime in an image.
 * context  cold; reads the image's file; nothing is changed */
enum mt_swift_runtime_answer mt_swift_runtime_find(const struct mt_loaded_image *image,
                                                   struct mt_swift_runtime *runtime,
                                                   const char **reason);

#endif
