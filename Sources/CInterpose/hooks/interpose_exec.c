/* The exec and spawn families: children are followed where they can be.
 *
 * These may run in a vfork child, on its parent's memory: nothing here allocates, and the trace of
 * the parent is only touched when the caller is its owner. */
#define _GNU_SOURCE
#include "events/hook.h"

#include "base/os_call.h"
#include "base/text.h"
#include "hooks/exec_by_number.h"
#include "lifecycle/lifecycle.h"
#include "process/exec_environment.h"
#include "process/exec_probe.h"
#include "process/exec_strings.h"
#include "process/spawn_folder.h"
#include "trace/meta_writer.h"
#include "trace/trace_file.h"
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

int MT_HOOK_NAME(execve)(const char *, char *const[], char *const[]);
int MT_HOOK_NAME(execv)(const char *, char *const[]);
int MT_HOOK_NAME(execvp)(const char *, char *const[]);
int MT_HOOK_NAME(execvpe)(const char *, char *const[], char *const[]);
int MT_HOOK_NAME(execl)(const char *, const char *, ...);
int MT_HOOK_NAME(execlp)(const char *, const char *, ...);
int MT_HOOK_NAME(execle)(const char *, const char *, ...);
int MT_HOOK_NAME(fexecve)(int, char *const[], char *const[]);
int MT_HOOK_NAME(execveat)(int, const char *, char *const[], char *const[], int);
int MT_HOOK_NAME(posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                              const posix_spawnattr_t *, char *const[], char *const[]);
int MT_HOOK_NAME(posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
                               const posix_spawnattr_t *, char *const[], char *const[]);

/* Remembers, in the trace of the process that executes it, a program that cannot be followed. A
 * forked child without a trace gets one for that: nothing else would tell of it. A vfork child
 * writes into the trace of its parent, whose memory it borrows. */
static void note_not_followed(struct mt_exec_environment *storage, const char *path,
                              const char *reason) {
    mt_lifecycle_start();
    if (mt_recording_state() != MT_RECORDING || !mt_config.follow || !storage ||
        !mt_os_is_readable((uintptr_t)path))
        return;
    /* The environment is made later. */
    struct mt_text text = mt_text_begin(storage->preload, sizeof storage->preload);
    mt_text_add(&text, path);
    mt_text_add(&text, ": ");
    mt_text_add(&text, reason);
    mt_trace_file_count(MT_COUNT_CHILDREN_NOT_FOLLOWED, 1);
    mt_meta_note(MT_NOTE_CHILD_NOT_FOLLOWED, 0, text.bytes);
}

static int missing(void) {
    errno = ENOSYS;
    return -1;
}

/* What surrounds the real call of an exec or a spawn. */
struct exec_step {
    struct mt_exec_environment *storage;
    char *const *environment; /* to pass on */
    bool is_announced;        /* the end of this process image is in its trace */
};

static struct exec_step prepare(const char *name, const char *reason, char *const *arguments,
                                char *const *environment) {
    struct exec_step step = {.storage = mt_exec_environment_begin()};
    if (!reason && mt_exec_only_lists(name, arguments))
        reason = mt_exec_runs_nothing;
    if (!reason || reason == mt_exec_is_static) {
        const char *other = mt_exec_environment_probe(environment);
        reason = other ? other : reason;
    }
    if (reason && reason != mt_exec_runs_nothing)
        note_not_followed(step.storage, name, reason);
    step.environment = mt_exec_environment(step.storage, environment, reason);
    return step;
}

enum { LONGEST_STRING = 128 << 10 };

/* What these strings take of the room that the kernel has for those of a new program; UINT64_MAX
 * where it would not take them at all. */
static uint64_t room_of(char *const *strings) {
    uint64_t room = 0;
    for (char *const *at = strings; at; at++) {
        if (!mt_exec_string_is_readable(at))
            return UINT64_MAX;
        if (!*at)
            break;
        size_t length = mt_text_length(*at) + 1;
        if (length > LONGEST_STRING)
            return UINT64_MAX;
        room += sizeof *at + length;
    }
    return room;
}

/* As fs/exec.c, bprm_stack_limits, has it. */
static bool is_short_enough(char *const *arguments, char *const *environment) {
    uint64_t limit = mt_os_limit(RLIMIT_STACK) / 4;
    if (limit > (6 << 20))
        limit = 6 << 20;
    if (limit < (128 << 10))
        limit = 128 << 10;
    uint64_t room = room_of(arguments), more = room_of(environment);
    return room < limit && more < limit - room;
}

/* After a failure: whether the call is to be made once more, since it fails only because of what we
 * have put into the environment. It is no longer there then. */
static bool is_shortened(struct exec_step *step, int error, const char *name,
                         char *const *arguments, char *const *environment) {
    static const char reason[] = "its arguments and environment leave no room for the recorder's";
    if (error != E2BIG || step->environment == environment)
        return false;
    if (!is_short_enough(arguments, mt_exec_environment(step->storage, environment, reason)))
        return false;
    note_not_followed(step->storage, name, reason);
    step->environment = mt_exec_environment(step->storage, environment, reason);
    return true;
}

/* The end is written before the exec, which does not come back; a failed one withdraws it. */
static void announce(struct exec_step *step) {
    step->is_announced = mt_recording_owns_trace();
    if (!step->is_announced)
        return;
    mt_trace_file_end(MT_END_EXEC, 0);
    mt_lifecycle_seal();
}

/* After an exec that failed, or a spawn. */
static int finish(const struct exec_step *step, int result) {
    int saved = errno;
    mt_exec_environment_end(step->storage);
    if (step->is_announced)
        mt_trace_file_end(MT_END_NONE, 0);
    errno = saved;
    return result;
}

/* A forked child without events yet has no trace: its exec need not make one. */
static void start_unless_untouched_fork(void) {
    if (!mt_recording_is_forked())
        mt_lifecycle_start();
}

MT_HOOK int MT_HOOK_NAME(execve)(const char *path, char *const arguments[],
                                 char *const environment[]) {
    start_unless_untouched_fork();
    if (!mt_real.execve)
        return missing();
    struct exec_step step = prepare(path, mt_exec_probe(path), arguments, environment);
    announce(&step);
    int result = mt_real.execve(path, arguments, step.environment);
    if (is_shortened(&step, errno, path, arguments, environment))
        result = mt_real.execve(path, arguments, step.environment);
    return finish(&step, result);
}

void mt_exec_by_number(long number, const long arguments[5]) {
    if (mt_exec_environment_is_in_use())
        return;
    start_unless_untouched_fork();
    const long *common = number == SYS_execve ? arguments : arguments + 1;
    int directory = number == SYS_execve ? MT_AT_CWD : (int)arguments[0];
    const char *path = (const char *)common[0];
    struct exec_step step = prepare(path, mt_exec_probe_at(directory, path),
                                    (char *const *)common[1], (char *const *)common[2]);
    announce(&step);
    if (number == SYS_execve)
        CALL(number, path, common[1], step.environment, 0, 0, 0);
    else
        CALL(number, directory, path, common[1], step.environment, common[3], 0);
    finish(&step, 0);
}

MT_HOOK int MT_HOOK_NAME(execv)(const char *path, char *const arguments[]) {
    return MT_HOOK_NAME(execve)(path, arguments, environ);
}

MT_HOOK int MT_HOOK_NAME(execvpe)(const char *file, char *const arguments[],
                                  char *const environment[]) {
    start_unless_untouched_fork();
    if (!mt_real.execvpe)
        return missing();
    struct exec_step step =
        prepare(file, mt_exec_probe_in_path(file, mt_config_lookup(environ, "PATH")), arguments,
                environment);
    announce(&step);
    int result = mt_real.execvpe(file, arguments, step.environment);
    if (is_shortened(&step, errno, file, arguments, environment))
        result = mt_real.execvpe(file, arguments, step.environment);
    return finish(&step, result);
}

MT_HOOK int MT_HOOK_NAME(execvp)(const char *file, char *const arguments[]) {
    return MT_HOOK_NAME(execvpe)(file, arguments, environ);
}

/* Arguments given one by one, ended by a null pointer; `first` is the one before the `...`. */
#define MT_COLLECT_ARGUMENTS(arguments, list, first)                                               \
    size_t count = 1;                                                                              \
    va_start(list, first);                                                                         \
    while (va_arg(list, char *))                                                                   \
        count++;                                                                                   \
    va_end(list);                                                                                  \
    char **arguments = alloca((count + 1) * sizeof *arguments);                                    \
    arguments[0] = (char *)(uintptr_t)first;                                                       \
    va_start(list, first);                                                                         \
    for (size_t i = 1; i <= count; i++)                                                            \
    arguments[i] = va_arg(list, char *)

MT_HOOK int MT_HOOK_NAME(execl)(const char *path, const char *first, ...) {
    va_list list;
    MT_COLLECT_ARGUMENTS(arguments, list, first);
    va_end(list);
    return MT_HOOK_NAME(execve)(path, arguments, environ);
}

MT_HOOK int MT_HOOK_NAME(execlp)(const char *file, const char *first, ...) {
    va_list list;
    MT_COLLECT_ARGUMENTS(arguments, list, first);
    va_end(list);
    return MT_HOOK_NAME(execvpe)(file, arguments, environ);
}

MT_HOOK int MT_HOOK_NAME(execle)(const char *path, const char *first, ...) {
    va_list list;
    MT_COLLECT_ARGUMENTS(arguments, list, first);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return MT_HOOK_NAME(execve)(path, arguments, environment);
}

MT_HOOK int MT_HOOK_NAME(fexecve)(int fd, char *const arguments[], char *const environment[]) {
    start_unless_untouched_fork();
    if (!mt_real.fexecve)
        return missing();
    struct exec_step step =
        prepare("(open file)", mt_exec_probe_descriptor(fd), arguments, environment);
    announce(&step);
    int result = mt_real.fexecve(fd, arguments, step.environment);
    if (is_shortened(&step, errno, "(open file)", arguments, environment))
        result = mt_real.fexecve(fd, arguments, step.environment);
    return finish(&step, result);
}

MT_HOOK int MT_HOOK_NAME(execveat)(int directory, const char *path, char *const arguments[],
                                   char *const environment[], int flags) {
    start_unless_untouched_fork();
    if (!mt_real.execveat)
        return missing();
    struct exec_step step =
        prepare(path, mt_exec_probe_at(directory, path), arguments, environment);
    announce(&step);
    int result = mt_real.execveat(directory, path, arguments, step.environment, flags);
    if (is_shortened(&step, errno, path, arguments, environment))
        result = mt_real.execveat(directory, path, arguments, step.environment, flags);
    return finish(&step, result);
}

/* Like mt_exec_probe, of a path that may be relative to where the child will be. */
static const char *probe_spawned(const char *path, const posix_spawn_file_actions_t *actions) {
    int folder = mt_spawn_folder(actions);
    const char *reason = mt_exec_probe_at(folder, path);
    mt_spawn_folder_end(folder);
    return reason;
}

MT_HOOK int MT_HOOK_NAME(posix_spawn)(pid_t *pid, const char *path,
                                      const posix_spawn_file_actions_t *actions,
                                      const posix_spawnattr_t *attributes, char *const arguments[],
                                      char *const environment[]) {
    mt_lifecycle_start();
    if (!mt_real.posix_spawn)
        return ENOSYS;
    struct exec_step step = prepare(path, probe_spawned(path, actions), arguments, environment);
    int result = mt_real.posix_spawn(pid, path, actions, attributes, arguments, step.environment);
    if (is_shortened(&step, result, path, arguments, environment))
        result = mt_real.posix_spawn(pid, path, actions, attributes, arguments, step.environment);
    return finish(&step, result);
}

MT_HOOK int MT_HOOK_NAME(posix_spawnp)(pid_t *pid, const char *file,
                                       const posix_spawn_file_actions_t *actions,
                                       const posix_spawnattr_t *attributes, char *const arguments[],
                                       char *const environment[]) {
    mt_lifecycle_start();
    if (!mt_real.posix_spawnp)
        return ENOSYS;
    bool is_path = !mt_os_is_readable((uintptr_t)file) || strchr(file, '/');
    const char *reason = is_path ? probe_spawned(file, actions)
                                 : mt_exec_probe_in_path(file, mt_config_lookup(environ, "PATH"));
    struct exec_step step = prepare(file, reason, arguments, environment);
    int result = mt_real.posix_spawnp(pid, file, actions, attributes, arguments, step.environment);
    if (is_shortened(&step, result, file, arguments, environment))
        result = mt_real.posix_spawnp(pid, file, actions, attributes, arguments, step.environment);
    return finish(&step, result);
}
