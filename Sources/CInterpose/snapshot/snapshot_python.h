/* The classes of a Python interpreter in a snapshot.
 *
 * Every Python object holds the address of its class, but a class's name is text, which snapshots
 * do not keep: the names are written as records of their own. Found by structure alone, so that
 * it does not matter how the interpreter was linked: the class `type` is its own class, and every
 * other class is an instance of it or of one of its subclasses. */
#ifndef MT_SNAPSHOT_PYTHON_H
#define MT_SNAPSHOT_PYTHON_H

#include "snapshot/snapshot_pages.h"
#include "snapshot/snapshot_writer.h"

/* Writes a record for each class that the kept regions hold; none where there is no Python.
 *
 * context  where the image is written: nothing changes the memory meanwhile */
void mt_snapshot_python(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                        const struct mt_region_list *list);

#endif
