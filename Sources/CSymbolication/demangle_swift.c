/* Demangling by the Swift runtime, which is linked in anyway. */
#define _GNU_SOURCE
#include "csymbolication.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exported by libswiftCore (and in libswiftCore.a); `flags` must be 0.
 * https://github.com/swiftlang/swift/blob/main/include/swift/Demangling/Demangle.h */
extern char *swift_demangle(const char *mangled, size_t length, char *buffer, size_t *buffer_size,
                            uint32_t flags);

/* Text of this length takes the demangler about a tenth of a second. */
#define GREATEST_EXPECTED_LENGTH 0x1p23
#define MOST_FAILURES 8

/* How long the text of a name can be, roughly and rather too long.
 *
 * A substitution (`A` and letters, or an index) repeats a part of the name that was complete before
 * it, perhaps with substitutions of its own: 130 bytes can stand for gigabytes. The parts are
 * numbered in the order of their ends, so that one is no longer than everything up to the first
 * time that it, or a later one, is repeated. */
struct estimate {
    const char *position;
    const char *end;
    double length;
    double parts[128];
    size_t known;
};

/* `Sp`, for example, stands for `Swift.UnsafeMutablePointer`. */
#define LENGTH_OF_LETTER 16.0
/* The demangler takes a name with a greater one for none at all. */
#define GREATEST_COUNT 2048

static void repeat(struct estimate *estimate, unsigned long part, unsigned long count) {
    if (count > GREATEST_COUNT)
        return;
    double length = estimate->length;
    if (part < sizeof estimate->parts / sizeof *estimate->parts) {
        while (estimate->known <= part)
            estimate->parts[estimate->known++] = estimate->length;
        length = estimate->parts[part];
    }
    estimate->length += (double)count * length;
}

static char take(struct estimate *estimate) {
    estimate->length += LENGTH_OF_LETTER;
    return *estimate->position++;
}

/* The number that comes next; 0 where there is none. */
static unsigned long take_number(struct estimate *estimate) {
    unsigned long number = 0;
    while (estimate->position < estimate->end && *estimate->position >= '0' &&
           *estimate->position <= '9') {
        unsigned long digit = (unsigned long)(take(estimate) - '0');
        number = number < 1u << 20 ? number * 10 + digit : number;
    }
    return number;
}

/* Behind an `A`: letters, each perhaps with a count before it, of which a capital one or an
 * underscore, with an index before it, is the last. In an identifier it means nothing, and counts.
 */
static void add_substitutions(struct estimate *estimate) {
    while (estimate->position < estimate->end) {
        unsigned long number = take_number(estimate);
        if (estimate->position == estimate->end)
            return;
        unsigned long count = number > 0 ? number : 1;
        char letter = take(estimate);
        if (letter >= 'a' && letter <= 'z') {
            repeat(estimate, (unsigned long)(letter - 'a'), count);
        } else if (letter >= 'A' && letter <= 'Z') {
            repeat(estimate, (unsigned long)(letter - 'A'), count);
            return;
        } else {
            repeat(estimate, number + 27, 1);
            return;
        }
    }
}

static double greatest_length(const char *mangled, size_t length) {
    struct estimate estimate = {.position = mangled, .end = mangled + length};
    /* Manglings before Swift 5 number their parts otherwise. */
    int is_old = length > 1 && mangled[0] == '_' && mangled[1] == 'T';
    while (estimate.position < estimate.end) {
        char letter = take(&estimate);
        if (letter == 'A') {
            add_substitutions(&estimate);
        } else if (letter == 'S') {
            /* `S2i` stands for `SiSi`. */
            unsigned long count = take_number(&estimate);
            estimate.length += LENGTH_OF_LETTER * (double)(count <= GREATEST_COUNT ? count : 0);
            if (is_old)
                repeat(&estimate, SIZE_MAX, 1);
        }
    }
    return estimate.length;
}

static char *demangle(const char *mangled, size_t length) {
    char *text = swift_demangle(mangled, length, NULL, NULL, 0);
    if (text != NULL && strlen(text) > MT_DEMANGLE_MAX_LENGTH) {
        free(text);
        return NULL;
    }
    return text;
}

/* Demangles in a child and writes the text; without a text there is nothing to write. */
static _Noreturn void run_child(const char *mangled, size_t length, int output) {
    const struct rlimit second = {1, 1};
    const struct rlimit none = {0, 0};
    signal(SIGXCPU, SIG_DFL);
    if (setrlimit(RLIMIT_CPU, &second) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
        _exit(1);
    char *text = demangle(mangled, length);
    size_t left = text != NULL ? strlen(text) : 0;
    while (left > 0) {
        ssize_t count = write(output, text, left);
        if (count <= 0)
            break;
        text += count;
        left -= (size_t)count;
    }
    _exit(left == 0 ? 0 : 1);
}

/* All that comes out of a pipe, ended by 0; NULL when it is nothing. */
static char *read_all(int input) {
    char *text = malloc(MT_DEMANGLE_MAX_LENGTH + 1);
    size_t length = 0;
    while (text != NULL && length < MT_DEMANGLE_MAX_LENGTH) {
        ssize_t count = read(input, text + length, MT_DEMANGLE_MAX_LENGTH - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        length += (size_t)count;
    }
    if (text == NULL || length == 0) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

static char *demangle_apart(const char *mangled, size_t length) {
    static atomic_int failures;
    if (atomic_load(&failures) >= MOST_FAILURES)
        return NULL;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        run_child(mangled, length, ends[1]);
    close(ends[1]);
    char *text = child > 0 ? read_all(ends[0]) : NULL;
    close(ends[0]);
    if (child < 0)
        return NULL;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0)
        return text;
    atomic_fetch_add(&failures, 1);
    free(text);
    return NULL;
}

char *mt_demangle_swift(const char *mangled, size_t length) {
    return greatest_length(mangled, length) > GREATEST_EXPECTED_LENGTH
               ? demangle_apart(mangled, length)
               : demangle(mangled, length);
}
