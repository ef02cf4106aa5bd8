/* Which ELF images are mapped where, and since when.
 *
 * dlopen is only jumped through (a wrapper changes whose RUNPATH is searched; deep_bind.h has the
 * one exception): instead the loader's counters of loads and unloads are looked at whenever an
 * unknown address turns up, after a dlclose, and now and then. What is gone, and what is new where
 * it was, is told with glibc >= 2.35 by what the loader finds at an address (_dl_find_object),
 * without a lock: also while another thread forks, when the loader's may not be taken.
 *
 * Lock order: the loader's lock (held by dl_iterate_phdr around its callback), then ours. Nothing
 * here holds our lock while calling dl_iterate_phdr, because a host may allocate inside its own
 * callback. */
#ifndef MT_IMAGE_MAP_H
#define MT_IMAGE_MAP_H

#include "base/os.h"
#include "loader/elf_symbols.h"

/* Where the unwind tables of an image are. */
struct mt_unwind_section {
    uintptr_t header; /* .eh_frame_hdr; 0 when there is none */
    size_t header_size;
    uintptr_t image_start; /* lowest and one past the highest address of the image */
    uintptr_t image_end;
};

/* Who is told of changes: one caller at a time, signals blocked, who may hold the loader's lock. */
struct mt_image_watcher {
    /* An image was loaded.
     * returns  false if it has to be shown again later: the loader is not through with it */
    bool (*loaded)(const struct mt_loaded_image *image);
    /* An image was unloaded: what was derived from the addresses of its code is void. */
    void (*unloaded)(void);
};

/* Before the first scan. */
void mt_image_map_watch(struct mt_image_watcher watcher);

/* Compares the loaded images with the known ones and records what is new or gone. Skipped while
 * a thread forks. Not async-signal-safe (takes the loader's lock). */
void mt_image_map_scan(void);

/* Scans if the loader has loaded or unloaded anything since the last scan.
 * returns  false when it could not ask: a thread forks */
bool mt_image_map_refresh(void);

/* True when a refresh was due while a thread forked, and none has been made since. */
bool mt_image_map_is_overdue(void);

/* Makes the image known in which a function of the calling thread runs: it stays loaded meanwhile.
 * For when the loader must not be asked. The watcher is told of it by the next scan. */
void mt_image_map_add_running(uintptr_t pc);

/* True when pc lies in a known image. Lock-free. */
bool mt_image_map_contains(uintptr_t pc);

/* The same, in its code. */
bool mt_image_map_contains_code(uintptr_t pc);

/* True when pc lies in an image that is not known yet, if only because another one was there
 * before, false for code made at run time: that must
 * not cost a look at the loader's list each time, nor take its lock, which a fork may catch taken.
 * Lock-free with glibc >= 2.35; before, true for whatever is not known. */
bool mt_image_map_may_be_new(uintptr_t pc);

/* Where the first known image lies whose file name begins with `prefix`, variables included.
 * returns  false when there is none. Lock-free, async-signal-safe. */
bool mt_image_map_find_image(const char *prefix, uintptr_t *start, uintptr_t *end);

/* The same, as the loader describes it; with an empty prefix, the executable. */
bool mt_image_map_find_loaded(const char *prefix, struct mt_loaded_image *image);

/* The unwind tables of the image that holds pc, if it has any.
 *
 * returns  false when pc lies in no image
 * context  takes no lock with glibc >= 2.35 (_dl_find_object), else the loader's */
bool mt_image_map_unwind_section(uintptr_t pc, struct mt_unwind_section *section);

/* After a dlclose: at once, before another image comes to lie where one was. */
void mt_image_map_after_unload(void);

/* Counts unloads; what was derived from code addresses is void once it changes. */
extern MT_INTERNAL uint64_t mt_image_map_generation;

/* In a forked child, before anything there looks for an image: also one whose recording has not
 * begun anew, and one that records nothing. */
void mt_image_map_survive_fork(void);

/* Writes every known image into a forked child's new trace. */
void mt_image_map_write_all(void);

#endif
