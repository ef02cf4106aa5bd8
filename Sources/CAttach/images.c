/* Stacks and functions of another process, by libdw. See cattach.h. */
#define _GNU_SOURCE
#include "cattach.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cattach_images {
    pid_t pid;
    Dwfl *dwfl;
};

/* Whose images are being opened: libdw's callback is told their names only. */
static _Thread_local pid_t opened_for;

static char *path_in_root(pid_t pid, const char *name) {
    char *path;
    return asprintf(&path, "/proc/%d/root%s", pid, name) < 0 ? NULL : path;
}

/* Opens a file and hands its path over, which is freed if that fails. */
static int open_path(char *path, char **file_name) {
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        free(path);
    *file_name = fd < 0 ? NULL : path;
    return fd;
}

/* The kernel writes a line's end in the name of a file as four characters. */
static char *with_lines(const char *name) {
    char *path = strdup(name);
    for (char *found = path; found && (found = strstr(found, "\\012"));) {
        *found++ = '\n';
        memmove(found, found + 3, strlen(found + 3) + 1);
    }
    return path;
}

/* What an update has replaced, or removed, is only in memory. */
static bool is_deleted(const char *name) {
    const char *space = strrchr(name, ' ');
    return space && strcmp(space, " (deleted)") == 0;
}

/* Files of a process in another mount namespace have the names that they have there; those of one
 * that only has another root, as by chroot, have ours. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    char **file_name, Elf **elf) {
    if (name[0] != '/')
        return dwfl_linux_proc_find_elf(module, data, name, base, file_name, elf);
    char *path = with_lines(name);
    int fd = path ? open_path(path_in_root(opened_for, path), file_name) : -1;
    if (fd < 0)
        fd = open_path(path, file_name);
    else
        free(path);
    if (fd < 0 && is_deleted(name))
        return dwfl_linux_proc_find_elf(module, data, name, base, file_name, elf);
    return fd;
}

/* Unwind tables are in the images themselves, and so are the names of exported functions; other
 * files might be looked for in the network while the thread stands still. */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                              const char *file_name, const char *link, GElf_Word sum,
                              char **debug_file_name) {
    (void)module, (void)data, (void)name, (void)base, (void)file_name, (void)link, (void)sum;
    *debug_file_name = NULL;
    return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                         .find_debuginfo = find_no_debug_file,
                                         .section_address = dwfl_offline_section_address};

struct cattach_images *cattach_images_open(pid_t pid) {
    struct cattach_images *images = calloc(1, sizeof *images);
    if (!images)
        return NULL;
    images->pid = opened_for = pid;
    images->dwfl = dwfl_begin(&callbacks);
    if (images->dwfl && dwfl_linux_proc_report(images->dwfl, pid) == 0 &&
        dwfl_report_end(images->dwfl, NULL, NULL) == 0 &&
        dwfl_linux_proc_attach(images->dwfl, pid, true) == 0)
        return images;
    cattach_images_close(images);
    return NULL;
}

/* What is as it was keeps its tables. */
void cattach_images_refresh(struct cattach_images *images) {
    opened_for = images->pid;
    dwfl_report_begin(images->dwfl);
    dwfl_linux_proc_report(images->dwfl, images->pid);
    dwfl_report_end(images->dwfl, NULL, NULL);
}

void cattach_images_close(struct cattach_images *images) {
    if (images->dwfl)
        dwfl_end(images->dwfl);
    free(images);
}

/* ---- Stacks ---- */

struct walk {
    struct cattach_images *images;
    struct cattach_frame *frames;
    size_t capacity, count;
};

/* The function that holds an address; "" where its symbol does not say so. */
static const char *function_at(Dwfl_Module *module, uint64_t address) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
    return name && offset < (symbol.st_size ? symbol.st_size : 1) ? name : "";
}

static int add_frame(Dwfl_Frame *state, void *context) {
    struct walk *walk = context;
    Dwarf_Addr pc = 0;
    bool is_interrupted = false;
    if (walk->count == walk->capacity || !dwfl_frame_pc(state, &pc, &is_interrupted))
        return DWARF_CB_ABORT;
    struct cattach_frame *frame = &walk->frames[walk->count++];
    *frame = (struct cattach_frame){
        .pc = pc, .is_interrupted = is_interrupted, .image = "", .function = ""};
    /* A return address may lie behind the end of the function that has called. */
    Dwarf_Addr address = pc - (is_interrupted ? 0 : 1);
    Dwfl_Module *module = dwfl_addrmodule(walk->images->dwfl, address);
    if (!module)
        return DWARF_CB_OK;
    frame->image = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    frame->function = function_at(module, address);
    return DWARF_CB_OK;
}

size_t cattach_stack(struct cattach_images *images, pid_t tid, struct cattach_frame *frames,
                     size_t capacity, bool *is_complete) {
    struct walk walk = {images, frames, capacity, 0};
    opened_for = images->pid;
    *is_complete = dwfl_getthread_frames(images->dwfl, tid, add_frame, &walk) == 0;
    return walk.count;
}

/* ---- Functions ---- */

struct search {
    const char *image, *function;
    uint64_t found;
};

static uint64_t find_in(Dwfl_Module *module, const char *function) {
    int count = dwfl_module_getsymtab(module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        if (name && symbol.st_shndx != SHN_UNDEF && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
            strcmp(name, function) == 0)
            return address;
    }
    return 0;
}

static int search_module(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start,
                         void *context) {
    (void)data, (void)start;
    struct search *search = context;
    const char *slash = strrchr(name, '/');
    if (!slash || strncmp(slash + 1, search->image, strlen(search->image)) != 0)
        return DWARF_CB_OK;
    search->found = find_in(module, search->function);
    return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

uint64_t cattach_function(struct cattach_images *images, const char *image, const char *function) {
    struct search search = {image, function, 0};
    opened_for = images->pid;
    dwfl_getmodules(images->dwfl, search_module, &search, 0);
    return search.found;
}
