/* Answers in the kernel's place what libunwind asks of pages as it is initialised. */
#ifndef MT_LIBUNWIND_PAGES_H
#define MT_LIBUNWIND_PAGES_H

/* Lets libunwind ask us instead of mincore, for which a sandbox may end the program: systemd's
 * @system-service has not got it.
 *
 * library  the handle of libunwind, nothing of which was called yet
 * context  at the start; takes locks of the loader */
void mt_libunwind_answer_for_pages(void *library);

#endif
