/* Names of Swift types out of the runtime's metadata (swift/docs/ABI/TypeMetadata.rst). */
#ifndef MT_TYPE_SWIFT_H
#define MT_TYPE_SWIFT_H

#include "base/text.h"
#include "types/type_memory.h"

/* A name being put together. */
struct mt_swift_name {
    struct mt_type_memory *memory;
    struct mt_text *text;
    uint32_t depth; /* types within types */
};

/* MetadataKind: the first word of metadata on a platform without Objective-C. */
enum mt_swift_kind {
    MT_SWIFT_CLASS = 0,
    MT_SWIFT_STRUCT = 0x200,
    MT_SWIFT_ENUM = 0x201,
    MT_SWIFT_OPTIONAL = 0x202,
    MT_SWIFT_FOREIGN_CLASS = 0x203,
    MT_SWIFT_FOREIGN_REFERENCE = 0x204, /* a class of C++ that counts its references */
    MT_SWIFT_OPAQUE = 0x300,
    MT_SWIFT_TUPLE = 0x301,
    MT_SWIFT_FUNCTION = 0x302,
    MT_SWIFT_EXISTENTIAL = 0x303,
    MT_SWIFT_METATYPE = 0x304,
    MT_SWIFT_EXISTENTIAL_METATYPE = 0x306,
    MT_SWIFT_CONSTRAINED_EXISTENTIAL = 0x307,
    MT_SWIFT_CAPTURES = 0x400,
    MT_SWIFT_BOX = 0x500,
    MT_SWIFT_ERROR = 0x501,
    MT_SWIFT_TASK = 0x502,
    MT_SWIFT_JOB = 0x503
};

/* ContextDescriptorKind: the low five bits of a context descriptor. */
enum mt_swift_context {
    MT_SWIFT_MODULE = 0,
    MT_SWIFT_EXTENSION = 1,
    MT_SWIFT_ANONYMOUS = 2,
    MT_SWIFT_PROTOCOL = 3,
    MT_SWIFT_CLASS_CONTEXT = 16,
    MT_SWIFT_STRUCT_CONTEXT = 17,
    MT_SWIFT_ENUM_CONTEXT = 18
};
#define MT_SWIFT_CONTEXT_KIND 0x1fu
#define MT_SWIFT_CONTEXT_GENERIC 0x80u
#define MT_SWIFT_DEEPEST 12u

/* Each appends a name, or returns false where something is not as it should be; what it has
 * appended then is of no use. */

/* The type that metadata stands for: "main.Pair<Swift.Int, Swift.String>". */
bool mt_swift_add_type(struct mt_swift_name *name, uintptr_t metadata);

/* An existential type whose protocols have arguments: "main.Shape<Swift.Int> & main.Named"; "_"
 * where it demands something else of its values. */
bool mt_swift_add_constrained(struct mt_swift_name *name, uintptr_t metadata);

/* A module, type or protocol with its parents. arguments: where the metadata has its generic
 * arguments; 0 leaves them out. */
bool mt_swift_add_context(struct mt_swift_name *name, uintptr_t descriptor, uintptr_t arguments);

/* The mangled names of the captured values: "[Si][4main4BaseC]". */
bool mt_swift_add_captures(struct mt_swift_name *name, uintptr_t capture_descriptor);

/* A mangled name that the compiler left, with all descriptors that it refers to written out.
 * returns  false where only the runtime could tell them; the text is cut there */
bool mt_swift_add_mangled(struct mt_swift_name *name, uintptr_t at);

/* What a mangled name refers to.
 *
 * control     the control character that says how; the distance stands behind it
 * at          the distance
 * descriptor  set
 * returns     false where only the runtime could tell it */
bool mt_swift_find_reference(struct mt_type_memory *memory, uint8_t control, uintptr_t at,
                             uintptr_t *descriptor);

/* The name of a module, type or protocol without its parents.
 * returns  its length; 0 or less where there is none */
enum { MT_SWIFT_LONGEST_NAME = 200 };
long mt_swift_own_name(struct mt_type_memory *memory, uintptr_t descriptor,
                       char into[MT_SWIFT_LONGEST_NAME]);

/* A step from a context to its parent, on the way to its module.
 *
 * nesting  how many steps were taken before
 * flags    set to those of the descriptor
 * parent   set; 0 where there is none
 * returns  false when it cannot be read, or after too many steps */
bool mt_swift_read_context(struct mt_type_memory *memory, uintptr_t descriptor, unsigned nesting,
                           uint32_t *flags, uintptr_t *parent);

/* Where the metadata of a generic class has its arguments. */
bool mt_swift_class_arguments(struct mt_type_memory *memory, uintptr_t metadata,
                              uintptr_t descriptor, uintptr_t *arguments);

/* What the place of the offsets of its stored properties, which its descriptor tells, counts from:
 * its metadata, or what it adds to that of a superclass of another library. */
bool mt_swift_class_members(struct mt_type_memory *memory, uintptr_t metadata, uintptr_t descriptor,
                            uintptr_t *members);

#endif
