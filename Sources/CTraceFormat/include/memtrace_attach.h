/* What `memtrace attach` and the recorder that it brings into a process agree on. */
#ifndef MEMTRACE_ATTACH_H
#define MEMTRACE_ATTACH_H

/* Whoever loads the recorder into a running process names it by a path that has this in front of
 * the file: its constructor then leaves the start to MT_ATTACH_FUNCTION, which is told the
 * options. */
#define MT_ATTACH_MARK "/./././"

/* int (char **options, char *message, unsigned long size); returns an mt_attach_result. */
#define MT_ATTACH_FUNCTION "memtrace_attach"

enum mt_attach_result {
    MT_ATTACHED = 0,
    MT_ATTACH_RECORDED_ALREADY = 1,
    MT_ATTACH_FAILED = 2 /* the message says why */
};

#endif
