/* Writes the words anew through which a loaded image calls functions of others, so that the calls
 * lead to ours: for libraries that were bound past us (deep_bind.h), and for all of a process that
 * was running already when the recorder came (attached.h). */
#ifndef MT_REBINDING_H
#define MT_REBINDING_H

#include "base/os.h"
#include "loader/elf_symbols.h"

/* A function that calls are to lead to. */
struct mt_rebinding {
    const char *name;
    uintptr_t ours; /* 0: calls stay as they are */
    uintptr_t next; /* the one that ours calls, and the only one that ours may stand for; 0: none */
    uintptr_t entry; /* of the executable, which leads on to the function; 0: none */
    uintptr_t deep;  /* where the loader will lead a call that was not made yet; 0: unknown */
};

/* What was found in an image. */
struct mt_rebound {
    uint32_t redirected;
    bool were_bound;       /* words led to functions when the library's initialisers ran */
    bool has_initialisers; /* some beside the compiler's own, which calls no allocator */
    const char *bypassed;  /* a function whose calls go past us still */
};

/* Fills in ours and next by their names. Takes locks of the loader: not while its list is visited.
 *
 * functions  [count], of which the names are known */
void mt_rebinding_look_up(struct mt_rebinding *functions, size_t count);

/* Lets the calls of an image lead to ours, where they lead to the functions behind.
 *
 * functions  [count]
 * found      what was done, and what was not
 * returns    false when the image has nothing to rebind */
bool mt_rebind_image(const struct mt_loaded_image *image, const struct mt_rebinding *functions,
                     size_t count, struct mt_rebound *found);

/* Whether an image calls one of these functions of somebody other than the one behind ours: it has
 * an allocator of its own, between whose functions ours must not come.
 *
 * functions  [count] */
bool mt_rebinding_is_apart(const struct mt_loaded_image *image,
                           const struct mt_rebinding *functions, size_t count);

/* The first function, or variable, of those wanted that an image has the loader look up.
 *
 * returns  its name, in the image; NULL when there is none */
const char *mt_rebinding_find_used(const struct mt_loaded_image *image,
                                   bool (*is_wanted)(const char *name));

/* Whether the loader has written the addresses of an image yet: not amid its dlopen. */
bool mt_rebinding_is_relocated(const struct mt_loaded_image *image);

#endif
