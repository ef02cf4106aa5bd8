/* Snapshots that a signal brings about: on request, at intervals, before a signal ends the process.
 *
 * All only where it was asked for: a handler of ours is something the host can see. */
#ifndef MT_SNAPSHOT_SIGNALS_H
#define MT_SNAPSHOT_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers, and the timer, that the configuration asks for. At start-up. */
void mt_snapshot_signals_begin(void);

/* The signal that asks for a snapshot, as a set; empty where nothing does. */
uint64_t mt_snapshot_signals_requests(void);

/* Gives that signal back, and takes another one if there is one without a handler: the host is
 * about to say what its own does. */
void mt_snapshot_signals_yield(void);

/* Gives it back for good, before the process forbids itself to: nothing asks any more. */
void mt_snapshot_signals_leave(void);

/* Threads have a signal stack in common (signal_stacks.h): two requests at a time might meet there,
 * or two threads that stand still, one of which may do so already. A host's sigaltstack may be in a
 * handler.
 *
 * context  any thread, signals held back until it has returned */
void mt_snapshot_signals_leave_stacks(void);

/* True when the host has a handler of its own for the signal: nobody knows where that goes. */
bool mt_snapshot_signals_host_handles(int signal);

/* Signals with handlers of the host's by which its threads may ask something of each other, as a
 * set: neither those that a thread brings about itself, nor those by which somebody ends the
 * process. */
uint64_t mt_snapshot_signals_of_threads(void);

/* In a forked child with a trace of its own: it inherits handlers, but no timer. Where it has set
 * the signal before its first event, which nobody was to see, another one takes its place. */
void mt_snapshot_signals_after_fork(void);

#endif
