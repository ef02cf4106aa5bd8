/* Signals that end the process, before which a snapshot is taken where that was asked for.
 *
 * The handler of ours takes the place of the default, and of the Swift runtime's. The host is shown
 * what it has taken the place of, and where it sets that, ours stands in for it: who installs a
 * handler only where there is none (CPython, Rust) does so as ever, and a crash is recorded that a
 * handler of the host's has left to the default in the end. */
#ifndef MT_ENDING_SIGNALS_H
#define MT_ENDING_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Takes the signals that nobody handles. At start-up. */
void mt_ending_signals_begin(void);

/* Gives them back for good, before the process forbids itself to. */
void mt_ending_signals_leave(void);

bool mt_ending_signals_are_handled_by(void (*handler)(int, siginfo_t *, void *));

/* True where ours is to be set in place of a handler that the host is about to set. */
bool mt_ending_signals_stand_in(int signal, const void *handler, struct sigaction *ours);

/* Puts what the host had set, or found, in place of ours in a disposition that was read. */
void mt_ending_signals_hide(int signal, struct sigaction *action);

#endif
