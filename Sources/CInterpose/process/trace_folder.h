/* Can a process like this one create traces? */
#ifndef MT_TRACE_FOLDER_H
#define MT_TRACE_FOLDER_H

/* What a path of a folder takes of the room below. */
enum { MT_TRACE_FOLDER_ROOM = 1024 };

/* As another user (sudo -u, su), in another root, without room for a file: a recorder that starts
 * there would have to do nothing, and no trace at all would tell of it. Whose real user is not the
 * effective one, does not get that far: ld.so preloads nothing then.
 *
 * room     to work in
 * returns  why it cannot, in words, or NULL
 * context  also in a vfork child: writes into `room` only; errno untouched */
const char *mt_trace_obstacle(char room[MT_TRACE_FOLDER_ROOM]);

/* In the parent, after each fork: tells in its trace of children who could not begin theirs, those
 * of a server that became another user before it made them. */
void mt_trace_folder_after_fork(void);

/* The host is about to call landlock_restrict_self(2), which may fail: from now on, files are
 * opened to see whether it lets them. context  also in a vfork child, for which its parent
 * remembers it; errno untouched */
void mt_trace_folder_before_landlock(void);

#endif
