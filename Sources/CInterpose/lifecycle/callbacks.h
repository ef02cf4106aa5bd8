/* What the C library is asked to call. */
#ifndef MT_CALLBACKS_H
#define MT_CALLBACKS_H

/* Once recording has begun: asks for calls at forks and at the end of the process, and handles the
 * signals that the options name. */
void mt_callbacks_begin(void);

#endif
