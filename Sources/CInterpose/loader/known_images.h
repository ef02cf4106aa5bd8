/* The images that are known: what image_map.h answers from.
 *
 * Changes are made under a lock, looks are taken without. Lock order: the loader's lock, then this
 * one, so that it may be waited for in any case: who holds it never asks for the loader's, unless
 * it had that one before. */
#ifndef MT_KNOWN_IMAGES_H
#define MT_KNOWN_IMAGES_H

#include "loader/elf_symbols.h"

enum { MT_MOST_BUILD_ID = 64 };

/* What the loader knows of the code at an address. */
struct mt_found_image {
    uintptr_t link_map; /* the loader's own object; gone with the image */
    uintptr_t start, end;
    uintptr_t unwind_header;
};

struct mt_known_image {
    uintptr_t bias, start, end, text_start, text_end;
    uintptr_t unwind_header;
    size_t unwind_header_size;
    uintptr_t program_headers; /* tells an image from a later one at the same addresses, as does */
    struct mt_found_image found; /* this; all 0 while the loader does not find it there */
    uint16_t program_header_count;
    bool is_shown; /* the watcher was told of it */
    size_t tls_module;
    const char
        *path; /* in an arena that is never freed: here for the next image of that name, too */
    uint32_t build_id_length;
    uint32_t first_stack;
    uint32_t index;
    uint32_t seen_by; /* number of the last scan that met it */
    uint32_t number;  /* its index and 1; 0: the slot is free. Stored last, and cleared first */
    uint8_t build_id[MT_MOST_BUILD_ID];
};

/* returns  false when no image lies there, or the C library cannot tell (before 2.35)
 * context  takes no lock */
bool mt_found_image_at(uintptr_t pc, struct mt_found_image *found);
bool mt_found_image_can_be(void);

static inline bool mt_found_image_equal(const struct mt_found_image *a,
                                        const struct mt_found_image *b) {
    return a->link_map == b->link_map && a->start == b->start && a->end == b->end &&
           a->unwind_header == b->unwind_header;
}

/* ---- Changes: between enter and exit ---- */

/* With signals held back. A thread that is within a section of its own already gets none.
 * returns  false, with nothing to leave, then and when there is no memory */
bool mt_known_images_enter(void);
void mt_known_images_exit(void);

/* One at that place: it may be one of before. */
struct mt_known_image *mt_known_images_find(const struct mt_loaded_image *loaded);

/* `name` as the loader has it: "" for the executable. */
bool mt_known_image_is_named(const struct mt_known_image *image, const char *name);

/* Describes an image in a free slot, where nobody sees it yet.
 * returns  NULL when there is no room, or the image has no memory */
struct mt_known_image *mt_known_images_describe(const struct mt_loaded_image *loaded);

/* Stack nodes with this ID and higher ones may lie in it. */
void mt_known_images_publish(struct mt_known_image *image, uint32_t first_stack);

/* Its addresses may be those of another one from now on. */
void mt_known_images_drop(struct mt_known_image *image);

/* Drops those that the loader no longer finds at their addresses.
 * returns  whether there were any */
bool mt_known_images_drop_unloaded(void);

/* Asks the loader what it finds where the image lies, if that is not known yet. */
void mt_known_image_identify(struct mt_known_image *image);

/* ---- Looks ---- */

uint32_t mt_known_images_count(void);
struct mt_known_image *mt_known_images_slot(uint32_t slot);

/* A copy of what a slot has had all the time while it was copied.
 * returns  false when that is no image */
bool mt_known_images_read(uint32_t slot, struct mt_known_image *copy);

bool mt_known_images_at(uintptr_t pc, struct mt_known_image *found);
bool mt_known_images_named(const char *prefix, struct mt_known_image *found);

/* Whether the headers that lie where the image had its own say that it, or one of the same layout,
 * is there and has the code at pc, and tables where they were. For where the loader cannot tell
 * what has come in its place: tables of what is gone must not be read.
 *
 * pc       of a running function: what it is in stays where it is meanwhile
 * context  any, takes no lock */
bool mt_known_image_is_there(const struct mt_known_image *image, uintptr_t pc);

struct mt_loaded_image mt_known_image_as_loaded(const struct mt_known_image *image);

/* In a forked child: who held the lock is not there. */
void mt_known_images_survive_fork(void);

/* Writes all of them into a forked child's new trace. */
void mt_known_images_write_all(void);

#endif
