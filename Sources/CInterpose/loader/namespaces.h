/* Libraries that are in a namespace of their own when recording begins: those that LD_AUDIT names,
 * or that a process has opened by dlmopen before it was attached to. The C library that they come
 * with there has another allocator, whose functions are not ours. */
#ifndef MT_NAMESPACES_H
#define MT_NAMESPACES_H

/* Notes what allocates past the recorder so: of each namespace with a C library its first image.
 * Before glibc 2.35, whose list for debuggers has the first namespace alone, there is nothing to
 * be seen.
 *
 * context  with the loader's lock not held by this thread; errno untouched */
void mt_namespaces_note(void);

#endif
