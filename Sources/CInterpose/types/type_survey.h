/* Looks for the metadata of the generic classes and of the boxes that a process has used.
 *
 * One generic function of a library allocates objects of many types with one stack, and only the
 * first of them are looked at (type_sampler.h). Their metadata lie in slabs of the Swift runtime
 * (type_slabs.h), the first of them in a variable of its own; those that the compiler has made, as
 * of the arrays of numbers, lie among the variables of the library and the executable.
 *
 * Source: MetadataAllocator and InitialAllocationPool in stdlib/public/runtime/Metadata.cpp of the
 * Swift repository. */
#ifndef MT_TYPE_SURVEY_H
#define MT_TYPE_SURVEY_H

#include "base/os.h"

/* Calls `note` for all that may be such metadata, until it returns false. Nothing where no Swift
 * has been seen.
 *
 * context  under the lock of type_registry.c, which keeps slabs from being freed; signals blocked
 */
void mt_type_survey(bool (*note)(uintptr_t metadata));

#endif
