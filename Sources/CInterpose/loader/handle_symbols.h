/* What dlsym finds by a handle: a program that asks the C library itself for malloc, as
 * ctypes.CDLL("libc.so.6") of Python does, would call past our hooks. */
#ifndef MT_HANDLE_SYMBOLS_H
#define MT_HANDLE_SYMBOLS_H

/* Other names, RTLD_DEFAULT, which finds ours where it is due, another allocator's functions, and
 * what the program puts in front of ours are left to dlsym.
 *
 * returns  our hook of that name, where the handle has the very function that ours calls, or NULL
 * context  takes the loader's locks, as dlsym does */
void *mt_handle_symbols_find(void *handle, const char *name);

/* What is RTLD_NEXT for a library that was opened while the program runs is the C library's: ours
 * is in another scope. Whose next function is meant need not be known where no other image defines
 * an allocator: then it is the C library's, or ours already.
 *
 * returns  our hook of that name, where it is a function of C's allocator and ours calls the only
 *          other one there is, or NULL
 * context  takes the loader's locks, as dlsym does */
void *mt_handle_symbols_find_next(const char *name);

#endif
