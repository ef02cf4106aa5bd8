/* The classes of GObject in a snapshot.
 *
 * Every instance begins with the address of its class, but a class's name is text, which snapshots
 * do not keep: the names are written as records of their own. Found by the structure of GLib's own
 * tables, without a call of its functions, which may wait for locks. */
#ifndef MT_SNAPSHOT_GOBJECT_H
#define MT_SNAPSHOT_GOBJECT_H

#include "snapshot/snapshot_pages.h"
#include "snapshot/snapshot_writer.h"

/* Writes a record for each class that has been made; none where libgobject is not loaded, and none
 * where its tables look otherwise than known.
 *
 * context  where the image is written: nothing changes the memory meanwhile */
void mt_snapshot_gobject(struct mt_snapshot_writer *writer, struct mt_page_walker *walker,
                         const struct mt_region_list *list);

#endif
