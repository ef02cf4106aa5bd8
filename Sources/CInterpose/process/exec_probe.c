/* Looks at executables. See exec_probe.h. */
#define _GNU_SOURCE
#include "process/exec_probe.h"

#include "base/config.h"
#include "base/os.h"
#include "base/text.h"
#include "process/exec_privilege.h"
#include "process/exec_strings.h"
#include "process/trace_folder.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#if defined(__x86_64__)
#    define MT_ELF_MACHINE EM_X86_64
#else
#    define MT_ELF_MACHINE EM_AARCH64
#endif

static const char is_old[] = "its C library is older than libmemtrace.so needs";
static const char is_musl[] = "linked with musl libc, which cannot load a glibc library";
const char mt_exec_is_static[] = "statically linked: it has no loader that could preload anything";

enum { MAX_SCRIPT_DEPTH = 5, MAX_PROGRAM_HEADERS = 32, MAX_DYNAMIC = 512, MAX_CANDIDATE = 1024 };
enum { MAX_LOADER_PATH = 256, MAX_VERSIONS = 64 };

/* What the headers of a file tell. */
struct elf {
    int fd;
    unsigned count;
    Elf64_Phdr headers[MAX_PROGRAM_HEADERS];
    const Elf64_Phdr *interpreter, *dynamic; /* NULL: none */
};

/* What a probe works in. */
struct room {
    struct elf program, loader;
    char start[256], interpreter[256];
    char loader_path[MAX_LOADER_PATH];
    char candidate[MAX_CANDIDATE];
    char folder[MT_TRACE_FOLDER_ROOM];
};

static const char is_without_room[] = "there was no memory left to look at its file";

const char *mt_exec_library(void) {
    static Dl_info info;
    if (!info.dli_fname)
        dladdr((void *)(uintptr_t)&mt_exec_library, &info);
    return info.dli_fname ? info.dli_fname : "";
}

/* In another root or mount namespace, or as another user: ld.so would complain. Who has become one
 * but kept capabilities, as setpriv does, can read it, and loses them as the program begins. */
static bool is_library_out_of_reach(void) {
    long fd = mt_os_open_regular(MT_AT_CWD, mt_exec_library());
    if (fd < 0)
        return mt_os_is_out_of_reach(fd);
    mt_os_close((int)fd);
    return mt_os_is_out_of_reach(mt_os_user_may_read(mt_exec_library()));
}

static bool read_at(int fd, void *buffer, size_t size, uint64_t offset) {
    return mt_os_pread(fd, buffer, size, offset) == (long)size;
}

static bool read_headers(struct elf *elf, const Elf64_Ehdr *header) {
    elf->interpreter = elf->dynamic = NULL;
    elf->count = header->e_phnum < MAX_PROGRAM_HEADERS ? header->e_phnum : MAX_PROGRAM_HEADERS;
    if (header->e_phentsize != sizeof *elf->headers ||
        !read_at(elf->fd, elf->headers, elf->count * sizeof *elf->headers, header->e_phoff))
        return false;
    for (unsigned i = 0; i < elf->count; i++) {
        if (elf->headers[i].p_type == PT_INTERP)
            elf->interpreter = &elf->headers[i];
        else if (elf->headers[i].p_type == PT_DYNAMIC)
            elf->dynamic = &elf->headers[i];
    }
    return true;
}

/* Where in the file the byte at this ELF address is, or 0. */
static uint64_t file_offset(const struct elf *elf, uint64_t address) {
    const Elf64_Phdr *headers = elf->headers;
    for (unsigned i = 0; i < elf->count; i++)
        if (headers[i].p_type == PT_LOAD && address - headers[i].p_vaddr < headers[i].p_filesz)
            return address - headers[i].p_vaddr + headers[i].p_offset;
    return 0;
}

/* returns  false behind the last entry of the dynamic section */
static bool dynamic_entry(const struct elf *elf, uint64_t index, Elf64_Dyn *entry) {
    return elf->dynamic && index < MAX_DYNAMIC && index < elf->dynamic->p_filesz / sizeof *entry &&
           read_at(elf->fd, entry, sizeof *entry, elf->dynamic->p_offset + index * sizeof *entry) &&
           entry->d_tag != DT_NULL;
}

/* Where in the file the table is that the dynamic section has under this tag, or 0. */
static uint64_t table_offset(const struct elf *elf, Elf64_Sxword tag) {
    Elf64_Dyn entry;
    for (uint64_t i = 0; dynamic_entry(elf, i, &entry); i++)
        if (entry.d_tag == tag)
            return file_offset(elf, entry.d_un.d_ptr);
    return 0;
}

bool mt_exec_is_sanitizer(const char *library) {
    static const char *const names[] = {
        "libasan.",         "libtsan.",           "liblsan.",           "libmsan.",
        "libhwasan.",       "libclang_rt.asan",   "libclang_rt.tsan",   "libclang_rt.lsan",
        "libclang_rt.msan", "libclang_rt.hwasan", "libclang_rt.memprof"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_text_has_prefix(library, names[i]))
            return true;
    return false;
}

/* Reads the names in a dynamic section that have this tag, one by one, until one fits. */
static bool has_name(const struct elf *elf, Elf64_Sxword tag, bool (*fits)(const char *name)) {
    Elf64_Dyn entry;
    uint64_t strings = table_offset(elf, DT_STRTAB);
    for (uint64_t i = 0; strings && dynamic_entry(elf, i, &entry); i++) {
        char name[32] = "";
        if (entry.d_tag != tag)
            continue;
        mt_os_pread(elf->fd, name, sizeof name - 1, strings + entry.d_un.d_val);
        if (fits(name))
            return true;
    }
    return false;
}

/* Whether a library defines this version of names. */
static bool defines_version(const struct elf *elf, const char *version) {
    uint64_t strings = table_offset(elf, DT_STRTAB), at = table_offset(elf, DT_VERDEF);
    for (unsigned i = 0; strings && at && i < MAX_VERSIONS; i++) {
        Elf64_Verdef definition;
        Elf64_Verdaux named;
        char name[32] = "";
        if (!read_at(elf->fd, &definition, sizeof definition, at) ||
            !read_at(elf->fd, &named, sizeof named, at + definition.vd_aux))
            return false;
        mt_os_pread(elf->fd, name, sizeof name - 1, strings + named.vda_name);
        if (mt_text_equal(name, version))
            return true;
        if (!definition.vd_next)
            return false;
        at += definition.vd_next;
    }
    return false;
}

/* The version at which libpthread and libdl became part of the C library: what was linked since
 * needs it, and the loader defines it as well. */
static bool is_too_old(const struct elf *loader) {
#if __GLIBC_PREREQ(2, 34)
    return loader->dynamic && !defines_version(loader, "GLIBC_2.34");
#else
    (void)loader;
    return false;
#endif
}

/* glibc's dynamic linker, which can be told to run a program. */
static bool is_loader(const char *name) {
    return mt_text_has_prefix(name, "ld-linux") || mt_text_has_prefix(name, "ld64.so");
}

/* Its options that do not run what follows; others may have a value. */
static bool is_listing(const char *option) {
    static const char *const names[] = {"--list", "--list-tunables", "--list-diagnostics",
                                        "--verify"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_text_equal(option, names[i]))
            return true;
    return false;
}

static bool has_value(const char *option) {
    static const char *const names[] = {
        "--library-path",         "--inhibit-rpath",    "--audit", "--preload", "--argv0",
        "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (mt_text_equal(option, names[i]))
            return true;
    return false;
}

bool mt_exec_only_lists(const char *file, char *const *arguments) {
    if (!mt_os_is_readable((uintptr_t)file) || !is_loader(mt_text_last_component(file)))
        return false;
    for (char *const *at = arguments; mt_exec_string_is_readable(at) && *at; at++) {
        if (at == arguments)
            continue;
        if (!mt_text_has_prefix(*at, "--"))
            return false;
        if (is_listing(*at))
            return true;
        if (has_value(*at) && mt_exec_string_is_readable(at + 1) && at[1])
            at++;
    }
    return false;
}

/* In another root, or of a distribution within another (Nix, Homebrew), a program has a C library
 * of its own. With a library that needs a newer one, its loader would not begin it. */
static const char *probe_loader(struct elf *loader, const char *path) {
    Elf64_Ehdr header;
    loader->fd = (int)mt_os_open_regular(MT_AT_CWD, path);
    if (loader->fd < 0)
        return NULL;
    bool is_unfit = read_at(loader->fd, &header, sizeof header, 0) &&
                    read_headers(loader, &header) && is_too_old(loader);
    mt_os_close(loader->fd);
    return is_unfit ? is_old : NULL;
}

static const char *probe_interpreter(struct room *room) {
    const struct elf *elf = &room->program;
    char *path = room->loader_path;
    uint64_t size = elf->interpreter->p_filesz;
    if (size >= MAX_LOADER_PATH)
        size = MAX_LOADER_PATH - 1;
    if (!read_at(elf->fd, path, size, elf->interpreter->p_offset))
        return NULL;
    path[size] = 0;
    if (mt_text_find(path, "ld-musl"))
        return is_musl;
    if (!mt_text_find(path, "/ld-linux") && !mt_text_find(path, "/ld-") &&
        !mt_text_find(path, "/ld.so"))
        return "its loader is not glibc's";
    return probe_loader(&room->loader, path);
}

static const char *probe_elf(int fd, struct room *room) {
    Elf64_Ehdr header;
    struct elf *elf = &room->program;
    elf->fd = fd;
    if (!read_at(fd, &header, sizeof header, 0))
        return NULL;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MT_ELF_MACHINE)
        return "built for another architecture";
    if (is_library_out_of_reach())
        return "libmemtrace.so cannot be read where it runs (chroot, mount namespace, user)";
    const char *obstacle = mt_trace_obstacle(room->folder);
    if (obstacle)
        return obstacle;
    if (!read_headers(elf, &header))
        return NULL;
    if (!elf->interpreter && !has_name(elf, DT_SONAME, is_loader))
        return mt_exec_is_static;
    if (!elf->interpreter)
        return is_too_old(elf) ? is_old : NULL;
    const char *reason = probe_interpreter(room);
    if (!reason && has_name(elf, DT_NEEDED, mt_exec_is_sanitizer))
        reason = "built with a sanitizer, which has its own allocator";
    return reason ? reason : mt_exec_privilege(fd);
}

/* The interpreter of a "#!" line, or an empty string. */
static void script_interpreter(const char *line, char interpreter[256]) {
    size_t length = 0;
    line += 2;
    while (*line == ' ' || *line == '\t')
        line++;
    while (line[length] && line[length] != ' ' && line[length] != '\t' && line[length] != '\n' &&
           length < 255)
        length++;
    memcpy(interpreter, line, length);
    interpreter[length] = 0;
}

static const char *probe(int fd, struct room *room, unsigned depth) {
    char *start = room->start;
    memset(start, 0, sizeof room->start);
    mt_os_pread(fd, start, sizeof room->start - 1, 0);
    if (mt_text_has_prefix(start, ELFMAG))
        return probe_elf(fd, room);
    if (!mt_text_has_prefix(start, "#!") || depth == MAX_SCRIPT_DEPTH)
        return NULL;
    script_interpreter(start, room->interpreter);
    long next = mt_os_open_regular(MT_AT_CWD, room->interpreter);
    if (next < 0)
        return NULL;
    const char *reason = probe((int)next, room, depth + 1);
    mt_os_close((int)next);
    return reason;
}

/* One that may be executed only, as many programs that gain rights may. */
static const char *probe_unreadable(int directory, const char *path) {
    long fd = mt_os_open(directory, path, O_PATH, 0);
    if (fd < 0)
        return NULL;
    const char *reason = mt_exec_privilege((int)fd);
    mt_os_close((int)fd);
    return reason;
}

static struct room *find_room(void) {
    return mt_os_map_pages(sizeof(struct room));
}

static const char *give_back(struct room *room, const char *reason) {
    mt_os_unmap_pages(room, sizeof *room);
    return reason;
}

const char *mt_exec_probe_descriptor(int fd) {
    struct room *room = find_room();
    return room ? give_back(room, probe(fd, room, 0)) : is_without_room;
}

/* musl's loader is its whole C library: by nothing but its name it differs from a static program,
 * which would not mind the preload. */
static bool is_musl_loader(const char *path) {
    return mt_text_has_prefix(mt_text_last_component(path), "ld-musl");
}

static const char *probe_at(int directory, const char *path, struct room *room) {
    long fd = mt_os_open_regular(directory, path);
    /* Only a path that the kernel could read may be looked at: others are for exec to refuse. */
    if (fd == -ENOENT && directory >= 0 && !*path)
        return probe(directory, room, 0);
    if (fd == -EACCES)
        return probe_unreadable(directory, path);
    if (fd < 0)
        return NULL;
    const char *reason = is_musl_loader(path) ? is_musl : probe((int)fd, room, 0);
    mt_os_close((int)fd);
    return reason;
}

const char *mt_exec_probe_at(int directory, const char *path) {
    struct room *room = find_room();
    return room ? give_back(room, probe_at(directory, path, room)) : is_without_room;
}

const char *mt_exec_probe(const char *path) {
    return mt_exec_probe_at(MT_AT_CWD, path);
}

/* As execvp looks for it. */
static const char *probe_in_path(const char *name, const char *search_path, struct room *room) {
    for (const char *at = search_path;;) {
        size_t length = 0;
        while (at[length] && at[length] != ':')
            length++;
        char *path = room->candidate;
        struct mt_text text = mt_text_begin(path, sizeof room->candidate);
        mt_text_add_bytes(&text, at, length);
        mt_text_add(&text, length ? "/" : "");
        mt_text_add(&text, name);
        if (!text.cut && mt_os_is_executable(path) == 0)
            return probe_at(MT_AT_CWD, path, room);
        if (!at[length])
            return NULL;
        at += length + 1;
    }
}

const char *mt_exec_probe_in_path(const char *name, const char *search_path) {
    if (!name || strchr(name, '/'))
        return mt_exec_probe(name);
    if (!search_path)
        search_path = "/bin:/usr/bin";
    struct room *room = find_room();
    return room ? give_back(room, probe_in_path(name, search_path, room)) : is_without_room;
}
