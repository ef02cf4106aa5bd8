/* Functions of the images that are loaded now, by their dynamic symbols. Looked up by hand: dlsym
 * heeds scopes and versions, which may lead back to us, and locks what a fork may catch locked. */
#ifndef MT_LOADED_SYMBOLS_H
#define MT_LOADED_SYMBOLS_H

#include "base/os.h"

/* Looks a function up by name in the images loaded now, in load order, whatever their scope.
 * Only images whose file name begins with `image_prefix`.
 * returns  its address or 0; 0 as well while the process forks (loader_gate.h) */
uintptr_t mt_loaded_find_function(const char *image_prefix, const char *name);

/* Whether no image but ours defines a symbol of that name: dlsym would find none, and allocate a
 * message that says so, from the host's allocator before its time.
 *
 * returns  false as well where that is not known: while the process forks, or of images without a
 *          table that tells */
bool mt_loaded_lacks(const char *name);

/* Whether no image but ours and the one with this address defines a symbol of that name.
 *
 * returns  as mt_loaded_lacks where that is not known */
bool mt_loaded_is_only(const char *name, uintptr_t address);

/* Our own function that is exported by that name; 0: none. Asks the loader nothing: amid a dlopen,
 * as a fork may find it, that may not be opened again by which dlsym would find it. */
uintptr_t mt_loaded_find_own(const char *name);

/* The same as mt_loaded_find_function, with the bytes of its code. */
uintptr_t mt_loaded_find_sized(const char *image_prefix, const char *name, size_t *size);

enum mt_symbol_kind {
    MT_SYMBOL_UNKNOWN,
    MT_SYMBOL_OURS,     /* it lies in the recorder */
    MT_SYMBOL_IMPORTED, /* a stub that leads on to an imported function (non-PIE executables) */
    MT_SYMBOL_DEFINED   /* by another image */
};

/* What is at an address that dlsym has given for `name`. dladdr answers this by walking through all
 * symbols of the image, which takes longer than all else at the start of a large executable.
 *
 * image  set to the file name of the image, "" for the executable; NULL where unknown */
enum mt_symbol_kind mt_loaded_symbol_kind(uintptr_t address, const char *name, const char **image);

#endif
