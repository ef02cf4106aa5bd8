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

const char mt_exec_is_static[] = "statically linked: it has no loader that could preload anything";

enum { MAX_SCRIPT_DEPTH = 5, MAX_PROGRAM_HEADERS = 32, MAX_DYNAMIC = 512, MAX_CANDIDATE = 1024 };

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

/* Where in the file the byte at this ELF address is, or 0. */
static uint64_t file_offset(const Elf64_Phdr *headers, unsigned count, uint64_t address) {
    for (unsigned i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD && address - headers[i].p_vaddr < headers[i].p_filesz)
            return address - headers[i].p_vaddr + headers[i].p_offset;
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
static bool has_name(int fd, const Elf64_Phdr *headers, unsigned count, const Elf64_Phdr *dynamic,
                     Elf64_Sxword tag, bool (*fits)(const char *name)) {
    Elf64_Dyn entry;
    uint64_t strings = 0, limit = dynamic->p_filesz / sizeof entry;
    if (limit > MAX_DYNAMIC)
        limit = MAX_DYNAMIC;
    for (uint64_t i = 0; i < limit; i++)
        if (read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) &&
            entry.d_tag == DT_STRTAB)
            strings = file_offset(headers, count, entry.d_un.d_ptr);
    for (uint64_t i = 0; strings && i < limit; i++) {
        char name[32] = "";
        if (!read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != tag)
            continue;
        mt_os_pread(fd, name, sizeof name - 1, strings + entry.d_un.d_val);
        if (fits(name))
            return true;
    }
    return false;
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

static const char *probe_interpreter(int fd, const Elf64_Phdr *interpreter) {
    char path[64] = "";
    size_t size = interpreter->p_filesz < sizeof path ? interpreter->p_filesz : sizeof path - 1;
    if (!read_at(fd, path, size, interpreter->p_offset))
        return NULL;
    if (mt_text_find(path, "ld-musl"))
        return "linked with musl libc, which cannot load a glibc library";
    if (!mt_text_find(path, "/ld-linux") && !mt_text_find(path, "/ld-") &&
        !mt_text_find(path, "/ld.so"))
        return "its loader is not glibc's";
    return NULL;
}

static const char *probe_elf(int fd) {
    Elf64_Ehdr header;
    Elf64_Phdr headers[MAX_PROGRAM_HEADERS];
    if (!read_at(fd, &header, sizeof header, 0))
        return NULL;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != MT_ELF_MACHINE)
        return "built for another architecture";
    if (is_library_out_of_reach())
        return "libmemtrace.so cannot be read where it runs (chroot, mount namespace, user)";
    const char *obstacle = mt_trace_obstacle();
    if (obstacle)
        return obstacle;
    unsigned count = header.e_phnum < MAX_PROGRAM_HEADERS ? header.e_phnum : MAX_PROGRAM_HEADERS;
    if (header.e_phentsize != sizeof *headers ||
        !read_at(fd, headers, count * sizeof *headers, header.e_phoff))
        return NULL;
    const Elf64_Phdr *interpreter = NULL, *dynamic = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (headers[i].p_type == PT_INTERP)
            interpreter = &headers[i];
        else if (headers[i].p_type == PT_DYNAMIC)
            dynamic = &headers[i];
    }
    if (!interpreter)
        return dynamic && has_name(fd, headers, count, dynamic, DT_SONAME, is_loader)
                   ? NULL
                   : mt_exec_is_static;
    const char *reason = probe_interpreter(fd, interpreter);
    if (!reason && dynamic &&
        has_name(fd, headers, count, dynamic, DT_NEEDED, mt_exec_is_sanitizer))
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

static const char *probe(int fd, unsigned depth) {
    char start[256] = "";
    mt_os_pread(fd, start, sizeof start - 1, 0);
    if (mt_text_has_prefix(start, ELFMAG))
        return probe_elf(fd);
    char interpreter[256];
    if (!mt_text_has_prefix(start, "#!") || depth == MAX_SCRIPT_DEPTH)
        return NULL;
    script_interpreter(start, interpreter);
    long next = mt_os_open_regular(MT_AT_CWD, interpreter);
    if (next < 0)
        return NULL;
    const char *reason = probe((int)next, depth + 1);
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

const char *mt_exec_probe_descriptor(int fd) {
    return probe(fd, 0);
}

const char *mt_exec_probe_at(int directory, const char *path) {
    long fd = mt_os_open_regular(directory, path);
    /* Only a path that the kernel could read may be looked at: others are for exec to refuse. */
    if (fd == -ENOENT && directory >= 0 && !*path)
        return probe(directory, 0);
    if (fd == -EACCES)
        return probe_unreadable(directory, path);
    if (fd < 0)
        return NULL;
    const char *reason = probe((int)fd, 0);
    mt_os_close((int)fd);
    return reason;
}

const char *mt_exec_probe(const char *path) {
    return mt_exec_probe_at(MT_AT_CWD, path);
}

const char *mt_exec_probe_in_path(const char *name, const char *search_path) {
    if (!name || strchr(name, '/'))
        return mt_exec_probe(name);
    if (!search_path)
        search_path = "/bin:/usr/bin";
    for (const char *at = search_path;;) {
        size_t length = 0;
        while (at[length] && at[length] != ':')
            length++;
        char path[MAX_CANDIDATE];
        struct mt_text text = mt_text_begin(path, sizeof path);
        mt_text_add_bytes(&text, at, length);
        mt_text_add(&text, length ? "/" : "");
        mt_text_add(&text, name);
        if (!text.cut && mt_os_is_executable(path) == 0)
            return mt_exec_probe(path);
        if (!at[length])
            return NULL;
        at += length + 1;
    }
}
