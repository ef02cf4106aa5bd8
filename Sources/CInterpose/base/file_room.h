/* Descriptors for the recorder where the host has used up its own.
 *
 * A program that ends because it could open no more files is one whose end matters, and so are its
 * forks. The limit is raised for the moment, as far as the process may: nothing of it is changed
 * but that. */
#ifndef MT_FILE_ROOM_H
#define MT_FILE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

/* To be given back by mt_file_room_leave, also by a fork that began in between.
 *
 * fd       an open descriptor; of another, there is never room enough
 * context  one caller at a time, at the end of the process or in a forked child, where no thread
 * can open what the host may not have; async-signal-safe */
void mt_file_room_make(int fd);
void mt_file_room_leave(void);

/* RLIMIT_NOFILE as the host has set it, also while room is made. */
uint64_t mt_file_room_host_limit(void);

/* Can a fork of the process open a file, after it has made room? Asked without taking a number,
 * which a thread of the host may be about to miss.
 *
 * own      a descriptor that the fork gives up first, or -1
 * context  any thread; async-signal-safe */
bool mt_file_room_is_left(int own);

#endif
