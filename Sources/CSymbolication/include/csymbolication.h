/* What Sources/Symbolication needs from C: demanglers for C++, Rust, D and Swift, file attributes.
 *
 * The demanglers are C because libiberty's reporting callback must be able to stop the demangler: a
 * short mangled name can stand for gigabytes of text. */
#ifndef CSYMBOLICATION_H
#define CSYMBOLICATION_H

#include <stdbool.h>
#include <stddef.h>

enum mt_demangle_style {
    MT_DEMANGLE_FULL = 0, /* everything: return types, ABI tags, Rust hashes */
    MT_DEMANGLE_BRIEF = 1 /* without the return type and the hash */
};

/* Demangles an Itanium C++ name (`_Z…`).
 *
 * mangled  0-terminated
 * returns  a string for mt_demangle_release(), or NULL when the name is not of this language or its
 *          text would be longer than MT_DEMANGLE_MAX_LENGTH
 * context  any thread; no state is kept */
char *mt_demangle_cxx(const char *mangled, enum mt_demangle_style style);

/* Demangles a Rust name, legacy (`_ZN…17h<hash>E`) or v0 (`_R…`). Else as mt_demangle_cxx. */
char *mt_demangle_rust(const char *mangled, enum mt_demangle_style style);

/* Demangles a name of D (`_D…`). Else as mt_demangle_cxx.
 *
 * What may become too long is not tried: the demangler cannot be stopped. */
char *mt_demangle_d(const char *mangled);

/* Demangles a Swift name (`$s…`, `$S…`, `_$s…`, `_T0…`). Else as mt_demangle_cxx.
 *
 * The runtime's demangler cannot be stopped: what may take long is done in a child process, for a
 * second of CPU time at most. After a few that took longer no other such name is tried. */
char *mt_demangle_swift(const char *mangled, size_t length);

/* Frees a result; NULL is allowed. */
void mt_demangle_release(char *text);

#define MT_DEMANGLE_MAX_LENGTH (64u << 10)

/* Whether a file has capabilities (the attribute `security.capability`), which Swift's Glibc
 * module has no call for. false also when the file or its attributes cannot be read. */
bool mt_has_file_capabilities(const char *path);

#endif
