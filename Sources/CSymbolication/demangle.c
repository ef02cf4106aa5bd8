/* Demangling by libiberty (C++, Rust, D).
 *
 * Separate from Swift because of setjmp: see the header. */
#include "csymbolication.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct output {
    char *text;
    size_t length;
    size_t capacity;
    jmp_buf overflow;
};

/* The callback has no result with which it could stop the demangler. Leaving it by longjmp is
 * sound: the callback forms of the demanglers keep what they have on the stack. */
static void append(const char *text, size_t length, void *opaque) {
    struct output *output = opaque;
    if (length > MT_DEMANGLE_MAX_LENGTH - output->length)
        longjmp(output->overflow, 1);
    size_t needed = output->length + length + 1;
    if (needed > output->capacity) {
        size_t capacity = needed * 2;
        char *grown = realloc(output->text, capacity);
        if (grown == NULL)
            longjmp(output->overflow, 1);
        output->text = grown;
        output->capacity = capacity;
    }
    memcpy(output->text + output->length, text, length);
    output->length += length;
    output->text[output->length] = '\0';
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
                      void *opaque);

/* output is on the heap: a local that changes between setjmp and longjmp would be lost. */
static char *run(demangler *demangle, const char *mangled, int options) {
    struct output *output = calloc(1, sizeof *output);
    if (output == NULL)
        return NULL;
    char *text = NULL;
    if (setjmp(output->overflow) == 0 && demangle(mangled, options, append, output) != 0)
        text = output->text;
    else
        free(output->text);
    free(output);
    return text;
}

char *mt_demangle_cxx(const char *mangled, enum mt_demangle_style style) {
    int options = DMGL_PARAMS | DMGL_ANSI;
    options |= style == MT_DEMANGLE_BRIEF ? DMGL_RET_DROP : DMGL_VERBOSE;
    return run(cplus_demangle_v3_callback, mangled, options);
}

char *mt_demangle_rust(const char *mangled, enum mt_demangle_style style) {
    int options = DMGL_PARAMS | DMGL_ANSI;
    if (style == MT_DEMANGLE_FULL)
        options |= DMGL_VERBOSE;
    return run(rust_demangle_callback, mangled, options);
}

/* Each `Q` may repeat all that is in front of it, with what that repeats itself. And each letter
 * may be a call further down the demangler's stack, of a hundred bytes and more. */
static bool may_become_long(const char *mangled) {
    enum { MOST_LENGTH = 4096 };
    double length = 0;
    double repetitions = 1;
    if (strlen(mangled) > MOST_LENGTH)
        return true;
    for (; *mangled != '\0'; mangled++) {
        length++;
        if (*mangled == 'Q')
            repetitions *= 2;
    }
    return length * repetitions > 0x1p24;
}

char *mt_demangle_d(const char *mangled) {
    char *text = may_become_long(mangled) ? NULL : dlang_demangle(mangled, DMGL_PARAMS);
    if (text != NULL && strlen(text) > MT_DEMANGLE_MAX_LENGTH) {
        free(text);
        return NULL;
    }
    return text;
}

void mt_demangle_release(char *text) {
    free(text);
}
