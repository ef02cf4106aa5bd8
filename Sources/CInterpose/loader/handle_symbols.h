/* What dlsym finds by a handle: a program that asks the C library itself for malloc, as
 * ctypes.CDLL("libc.so.6") of Python does, would call past our hooks. */
#ifndef MT_HANDLE_SYMBOLS_H
#define MT_HANDLE_SYMBOLS_H

/* Other names, RTLD_DEFAULT and RTLD_NEXT, which find ours where it is due, another allocator's
 * functions, and what the program puts in front of ours are left to dlsym.
 *
 * returns  our hook of that name, where the handle has the very function that ours calls, or NULL
 * context  takes the loader's locks, as dlsym does */
void *mt_handle_symbols_find(void *handle, const char *name);

#endif
