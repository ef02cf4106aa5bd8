/* Builds environments for exec. See exec_environment.h. */
#define _GNU_SOURCE
#include "process/exec_environment.h"

#include "base/text.h"
#include "base/tls.h"
#include "loader/attached.h"
#include "process/exec_probe.h"
#include "process/exec_strings.h"
#include "process/recording.h"
#include "trace/trace_file.h"
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="

/* A forked child that has recorded next to nothing before its exec is the shell's usual step to a
 * command: its trace then makes way for the command's. */
enum { LARGEST_REPLACED = 256 << 10 };

/* The recorder's tables count as data while it is loaded. */
#define LEAST_DATA (8ull << 20)

/* A program that another recording has begun: memtrace, or a test suite that uses it, is being
 * recorded itself. Its traces are not ours to name. */
static const char belongs_to_other[] = "begun by a recording of its own";

const char mt_exec_runs_nothing[] = "not run: its loader only lists its libraries";

/* Copies a LD_PRELOAD list without our entry; ours goes first when `with_us`. */
static void make_preload(char *buffer, size_t size, const char *list, bool with_us) {
    const char *own = mt_exec_library();
    size_t own_length = mt_text_length(own);
    struct mt_text text = mt_text_begin(buffer, size);
    mt_text_add(&text, PRELOAD);
    if (with_us)
        mt_text_add(&text, own);
    bool is_first = !with_us;
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ": ");
        if (length > 0 && !(length == own_length && memcmp(at, own, length) == 0)) {
            mt_text_add(&text, is_first ? "" : ":");
            mt_text_add_bytes(&text, at, length);
            is_first = false;
        }
        at += length;
        at += strspn(at, ": ");
    }
}

/* What make_preload writes at most. */
static size_t preload_size(const char *list) {
    return sizeof PRELOAD + mt_text_length(mt_exec_library()) + 1 +
           (list ? mt_text_length(list) : 0);
}

static bool is_named(const char *variable, const char *name) {
    char next = mt_text_has_prefix(variable, name) ? variable[mt_text_length(name)] : 'x';
    return next == '=' || next == 0;
}

/* True for the variables whose value is another one for each program, with or without what follows
 * the name. */
static bool is_renewed(const char *variable) {
    static const char *const names[] = {"LD_PRELOAD", "MEMTRACE_OUTPUT", "MEMTRACE_SESSION",
                                        "MEMTRACE_PARENT", "MEMTRACE_REPLACES"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(variable, names[i]))
            return true;
    return false;
}

static bool is_option(const char *variable) {
#define MT_IS_OPTION(field, name, type, def, low, high, help)                                      \
    if (is_named(variable, name))                                                                  \
        return true;
    MT_FOR_EACH_OPTION(MT_IS_OPTION)
#undef MT_IS_OPTION
    return false;
}

/* True when this image's own trace should make way for that of the program it becomes. */
static bool makes_way(void) {
    const struct mt_file_header *header = mt_trace_file.header;
    return mt_recording_owns_trace() && header && (header->flags & MT_HEADER_FORKED) &&
           header->file_end <= LARGEST_REPLACED;
}

/* ---- The variables that are added ---- */

struct added {
    char **at; /* where the next one goes */
    char *room;
    size_t left;
};

static struct mt_text begin(const struct added *added, const char *name) {
    struct mt_text text = mt_text_begin(added->room, added->left);
    mt_text_add(&text, name);
    mt_text_add(&text, "=");
    return text;
}

static void end(struct added *added, const struct mt_text *text) {
    *added->at++ = text->bytes;
    added->room += text->length + 1;
    added->left -= text->length + 1;
}

static void add_string(struct added *added, const char *name, const char *value) {
    struct mt_text text = begin(added, name);
    mt_text_add(&text, value);
    end(added, &text);
}

static void add_number(struct added *added, const char *name, uint64_t number) {
    struct mt_text text = begin(added, name);
    mt_text_add_number(&text, number);
    end(added, &text);
}

/* The path is no template any more. */
static void add_output(struct added *added) {
    struct mt_text text = begin(added, "MEMTRACE_OUTPUT");
    for (const char *at = mt_config.output; *at; at++)
        mt_text_add_bytes(&text, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
    end(added, &text);
}

static void add_parent(struct added *added) {
    uint8_t id[16];
    uint32_t pid = mt_recording_trace_id(id);
    struct mt_text text = begin(added, "MEMTRACE_PARENT");
    mt_text_add_hex(&text, id, 16);
    mt_text_add(&text, ":");
    mt_text_add_number(&text, pid);
    end(added, &text);
}

/* The options of this recording, where a host has left them out of the environment that it passes.
 * What it passes itself stands. */
static void add_options(struct added *added, char *const *environment) {
#define MT_ADD_NUMBER(field, name, def)                                                            \
    if (mt_config.field != (def) && !mt_config_lookup(environment, name))                          \
        add_number(added, name, mt_config.field);
#define MT_ADD_BYTES MT_ADD_NUMBER
#define MT_ADD_ALIGNMENT MT_ADD_NUMBER
#define MT_ADD_STRING(field, name, def)                                                            \
    if (!mt_text_equal(mt_config.field, def) && !is_renewed(name) &&                               \
        !mt_config_lookup(environment, name))                                                      \
        add_string(added, name, mt_config.field);
#define MT_ADD(field, name, type, def, low, high, help) MT_ADD_##type(field, name, def)
    MT_FOR_EACH_OPTION(MT_ADD)
#undef MT_ADD
#undef MT_ADD_STRING
#undef MT_ADD_ALIGNMENT
#undef MT_ADD_BYTES
#undef MT_ADD_NUMBER
}

/* Puts LD_PRELOAD and our variables first. Returns their number. */
static size_t add_own(struct mt_exec_environment *storage, char *preload,
                      char *const *environment) {
    struct added added = {storage->variables, storage->own, sizeof storage->own};
    *added.at++ = preload;
    add_output(&added);
    add_string(&added, "MEMTRACE_SESSION", mt_config.session);
    add_parent(&added);
    if (makes_way())
        add_string(&added, "MEMTRACE_REPLACES", mt_trace_file.path);
    add_options(&added, environment);
    return (size_t)(added.at - storage->variables);
}

static bool find_room(struct mt_exec_environment *storage, size_t count) {
    storage->variables = storage->small;
    if (count <= sizeof storage->small / sizeof *storage->small)
        return true;
    storage->variables = mt_os_map_pages(count * sizeof(char *));
    storage->mapped = storage->variables ? count * sizeof(char *) : 0;
    return storage->variables != NULL;
}

/* Puts LD_PRELOAD together, as make_preload does.
 * returns  it, or NULL where there is no memory */
static char *find_preload(struct mt_exec_environment *storage, const char *list, bool with_us) {
    size_t size = preload_size(list);
    char *buffer = storage->preload;
    if (size > sizeof storage->preload) {
        buffer = storage->long_preload = mt_os_map_pages(size);
        storage->long_mapped = buffer ? size : 0;
    }
    if (buffer)
        make_preload(buffer, size, list, with_us);
    return buffer;
}

static void give_back_variables(struct mt_exec_environment *storage) {
    if (storage->mapped)
        mt_os_unmap_pages(storage->variables, storage->mapped);
    if (storage->long_mapped)
        mt_os_unmap_pages(storage->long_preload, storage->long_mapped);
    storage->mapped = storage->long_mapped = 0;
    storage->long_preload = NULL;
}

bool mt_exec_environment_is_in_use(void) {
    const struct mt_exec_environment *storage = mt_tls.exec_storage;
    return storage && storage->pid == (uint32_t)mt_os_pid();
}

struct mt_exec_environment *mt_exec_environment_begin(void) {
    struct mt_exec_environment *storage = mt_tls.exec_storage;
    uint32_t pid = (uint32_t)mt_os_pid();
    /* Of another process, so no longer in use: a vfork child's that is gone, or, in a forked child,
     * its parent's. */
    if (storage && storage->pid != pid) {
        give_back_variables(storage);
        storage->pid = pid;
        return storage;
    }
    storage = mt_os_map_pages(sizeof *storage);
    if (!storage)
        return NULL;
    storage->outer = mt_tls.exec_storage;
    storage->pid = pid;
    mt_tls.exec_storage = storage;
    return storage;
}

static bool is_readable(char *const *environment) {
    for (char *const *at = environment; at; at++) {
        if (!mt_exec_string_is_readable(at))
            return false;
        if (!*at)
            return true;
    }
    return true;
}

static bool has_other_session(char *const *environment) {
    const char *session = mt_config_lookup(environment, "MEMTRACE_SESSION");
    return session && *session && *mt_config.session &&
           !mt_text_equal(session, mt_config.session) &&
           mt_config_lookup(environment, "MEMTRACE_LAUNCHED");
}

/* AddressSanitizer ends a program in which another library comes before it. */
static bool preloads_sanitizer(char *const *environment) {
    const char *list = mt_config_lookup(environment, "LD_PRELOAD");
    for (const char *at = list; at && *at; at += strspn(at, ": ")) {
        const char *name = at, *end = at + strcspn(at, ": ");
        for (; at < end; at++)
            if (*at == '/')
                name = at + 1;
        if (mt_exec_is_sanitizer(name))
            return true;
    }
    return false;
}

const char *mt_exec_environment_probe(char *const *environment) {
    if (!is_readable(environment))
        return NULL;
    if (has_other_session(environment))
        return belongs_to_other;
    if (mt_config_lookup(environment, "LD_TRACE_LOADED_OBJECTS"))
        return mt_exec_runs_nothing;
    if (mt_config_lookup(environment, "VALGRIND_LAUNCHER"))
        return "run by Valgrind, which replaces the allocator itself";
    if (preloads_sanitizer(environment))
        return "run with a sanitizer (LD_PRELOAD), which has its own allocator";
    if (mt_os_limit(RLIMIT_DATA) < LEAST_DATA)
        return "its data is limited too much (ulimit -d)";
    return NULL;
}

char *const *mt_exec_environment(struct mt_exec_environment *storage, char *const *environment,
                                 const char *reason) {
    enum mt_state state = mt_recording_state();
    /* Of a process that was not started by us, the programs that it executes are not ours either.
     */
    if (mt_is_attached || (state != MT_RECORDING && state != MT_OFF) || !storage ||
        !is_readable(environment))
        return environment;
    if (reason == belongs_to_other)
        return environment;
    give_back_variables(storage);
    size_t count = 0;
    const char *preload = NULL;
    for (char *const *at = environment; at && *at; at++, count++)
        if (mt_text_has_prefix(*at, PRELOAD))
            preload = *at + sizeof PRELOAD - 1;
    if (!find_room(storage, count + MT_OWN_VARIABLES + 1))
        return environment;
    bool is_taken = !reason || reason == mt_exec_is_static;
    bool with_us = state == MT_RECORDING && mt_config.follow && is_taken;
    char *own_preload = find_preload(storage, preload, with_us);
    if (!own_preload)
        return environment;
    size_t kept = with_us ? add_own(storage, own_preload, environment) : 0;
    if (!with_us && own_preload[sizeof PRELOAD - 1])
        storage->variables[kept++] = own_preload;
    for (char *const *at = environment; at && *at; at++)
        if (!is_renewed(*at) && (with_us || !is_option(*at)))
            storage->variables[kept++] = *at;
    storage->variables[kept] = NULL;
    return storage->variables;
}

void mt_exec_environment_leave(void) {
    static char few[2 * PATH_MAX], *preload;
    for (char **at = is_readable(environ) ? environ : NULL; at && *at; at++) {
        if (!mt_text_has_prefix(*at, PRELOAD) || *at == preload)
            continue;
        const char *list = *at + sizeof PRELOAD - 1;
        size_t size = preload_size(list);
        preload = size > sizeof few ? mt_os_map_pages(size) : few;
        if (!preload)
            return;
        make_preload(preload, size, list, false);
        __atomic_store_n(at, preload, __ATOMIC_RELEASE);
        return;
    }
}

void mt_exec_environment_end(struct mt_exec_environment *storage) {
    if (!storage)
        return;
    give_back_variables(storage);
    mt_tls.exec_storage = storage->outer;
    mt_os_unmap_pages(storage, sizeof *storage);
}
