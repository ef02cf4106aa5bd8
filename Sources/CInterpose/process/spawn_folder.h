/* The working directory in which posix_spawn starts a program. */
#ifndef MT_SPAWN_FOLDER_H
#define MT_SPAWN_FOLDER_H

#include <spawn.h>

/* Finds the folder that a child of posix_spawn will be in when its file actions are done.
 *
 * actions  may be NULL
 * returns  a descriptor for mt_spawn_folder_end, or MT_AT_CWD where it is the caller's or cannot be
 *          told */
int mt_spawn_folder(const posix_spawn_file_actions_t *actions);

/* Closes what mt_spawn_folder gave. */
void mt_spawn_folder_end(int folder);

#endif
