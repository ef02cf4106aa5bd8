/* Remembers types and writes them into the trace. See type_registry.h. */
#include "types/type_registry.h"

#include "base/clock.h"
#include "base/lock.h"
#include "loader/image_map.h"
#include "trace/meta_writer.h"
#include "types/type_slabs.h"
#include "types/type_survey.h"
#include <string.h>

enum { FIRST_CAPACITY = 1 << 11, MOST_TYPES = 1 << 13, FACTS = 1 << 13, DEEPEST_BASE = 16 };
enum { LONGEST_NAME = 2048, MOST_FIELDS = 256 };

/* Key: a first word, the content of an error box, or the type_info of a C++ class. */
struct entry {
    uint64_t key;
    uint32_t type;
    uint32_t smallest; /* a smaller block is no object of it: it only begins with the same word */
};

static struct {
    struct mt_lock lock;
    struct entry *entries; /* open addressing, key 0: free */
    uint32_t capacity;
    uint64_t *facts; /* hashes of what has been written: the last one at its place */
    uint32_t count;
    uint32_t last_type;
    uint64_t images; /* mt_image_map_generation at the last look */
    char name[LONGEST_NAME];
    uint32_t fields[MOST_FIELDS];
} g_types;

static uint64_t mix(uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 32;
}

static struct entry *place_of(uint64_t key) {
    uint32_t at = (uint32_t)mix(key) % g_types.capacity;
    while (g_types.entries[at].key && g_types.entries[at].key != key)
        at = (at + 1) % g_types.capacity;
    return &g_types.entries[at];
}

static void keep(uint64_t key, uint32_t type, uint64_t smallest) {
    struct entry *entry = place_of(key);
    if (entry->key == 0)
        g_types.count++;
    entry->key = key;
    entry->type = type;
    entry->smallest = (uint32_t)smallest;
}

static uint64_t images_now(void) {
    return __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
}

/* What lay in an image that is gone may be something else now. Types keep their numbers. */
static void forget_if_unloaded(void) {
    uint64_t images = images_now();
    if (images == g_types.images)
        return;
    g_types.images = images;
    if (g_types.count)
        memset(g_types.entries, 0, g_types.capacity * sizeof(struct entry));
    g_types.count = 0;
}

static bool make_table(uint32_t capacity) {
    struct entry *old = g_types.entries, *entries = mt_os_map_pages(capacity * sizeof *entries);
    uint32_t old_capacity = g_types.capacity;
    if (!entries)
        return false;
    g_types.entries = entries;
    g_types.capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].key)
            *place_of(old[i].key) = old[i];
    if (old)
        mt_os_unmap_pages(old, old_capacity * sizeof *old);
    return true;
}

static bool has_room(void) {
    return g_types.count < g_types.capacity / 2;
}

/* With room for a class and all its bases. */
static bool is_ready(void) {
    if (!g_types.facts)
        g_types.facts = mt_os_map_pages(FACTS * sizeof(uint64_t));
    if (!g_types.facts || (!g_types.entries && !make_table(FIRST_CAPACITY)))
        return false;
    forget_if_unloaded();
    if (g_types.count >= MOST_TYPES)
        return false;
    return has_room() || make_table(g_types.capacity * 2);
}

static uint32_t write_type(const struct mt_type_description *description, uint64_t word,
                           uint32_t type, uint32_t base) {
    struct mt_type_record record = {.time = mt_clock_event_time(),
                                    .word = word,
                                    .definition = description->definition,
                                    .instance_size = description->instance_size,
                                    .type = type ? type : g_types.last_type + 1,
                                    .base = base,
                                    .kind = description->kind,
                                    .name_length = (uint32_t)description->name.length};
    struct mt_piece pieces[] = {{&record, sizeof record},
                                {description->name.bytes, description->name.length}};
    if (mt_meta_write(MT_RECORD_TYPE, pieces, 2) != 0)
        return 0;
    if (!type)
        g_types.last_type++;
    return record.type;
}

/* The type of a C++ class, its bases first. */
static uint32_t type_of_class(struct mt_type_memory *memory, uintptr_t type_info, uint64_t word,
                              unsigned depth) {
    struct mt_type_description description = {.definition = type_info};
    uint32_t known = place_of(type_info)->type, base = 0;
    if (known && !word)
        return known;
    uintptr_t base_info = depth < DEEPEST_BASE ? mt_type_cxx_base(memory, type_info) : 0;
    if (base_info)
        base = type_of_class(memory, base_info, 0, depth + 1);
    /* After the bases: there is one buffer. */
    description.name = mt_text_begin(g_types.name, sizeof g_types.name);
    if (!mt_type_read_type_info(memory, type_info, &description))
        return 0;
    uint32_t type = write_type(&description, word, known, base);
    if (type && !known)
        keep(type_info, type, 0);
    return type;
}

/* Once the type is written. A class with more of them than there is room for has none. */
static void write_fields(struct mt_type_memory *memory,
                         const struct mt_type_description *description, uint64_t word) {
    struct mt_fields_record record = {
        .time = mt_clock_event_time(), .word = word, .count = description->field_count};
    struct mt_piece pieces[] = {{&record, sizeof record},
                                {g_types.fields, record.count * sizeof *g_types.fields}};
    if (record.count == 0 || record.count > MOST_FIELDS)
        return;
    for (uint32_t i = 0; i < record.count; i++) {
        uint64_t offset;
        if (!mt_type_read64(memory, description->fields + i * sizeof offset, &offset) ||
            offset > UINT32_MAX)
            return;
        g_types.fields[i] = (uint32_t)offset;
    }
    mt_meta_write(MT_RECORD_FIELDS, pieces, 2);
}

/* Reads and writes what begins with a word. */
static uint32_t swift_type(struct mt_type_memory *memory, const struct mt_type_block *block,
                           struct mt_type_description *description) {
    description->name = mt_text_begin(g_types.name, sizeof g_types.name);
    if (!mt_type_read_swift(memory, block, description))
        return 0;
    uint32_t type = write_type(description, block->word, 0, 0);
    if (type)
        write_fields(memory, description, block->word);
    return type;
}

/* Reads and writes the class or box with this metadata, of which there may be no object. */
static bool note_metadata(struct mt_type_memory *memory, uintptr_t metadata) {
    struct mt_type_description description = {.field_count = 0};
    struct mt_type_block block = {.word = metadata, .size = UINT32_MAX};
    uint32_t type = swift_type(memory, &block, &description);
    if (type)
        keep(metadata, type, description.instance_size);
    return type != 0;
}

/* They tell what objects of a class inherit. */
static void write_superclasses(struct mt_type_memory *memory, uintptr_t metadata) {
    for (int depth = 0; depth < DEEPEST_BASE; depth++) {
        metadata = mt_type_swift_superclass(memory, metadata);
        if (!mt_type_registry_may_know(metadata) || place_of(metadata)->key ||
            !note_metadata(memory, metadata))
            return;
    }
}

static uint32_t describe(const struct mt_type_block *block,
                         struct mt_type_description *description) {
    struct mt_type_memory memory = {{0}, 0};
    description->name = mt_text_begin(g_types.name, sizeof g_types.name);
    if (mt_type_read_cxx(&memory, block, description)) {
        if (description->kind == MT_TYPE_CXX_CLASS)
            return type_of_class(&memory, description->definition, block->word, 0);
        return write_type(description, block->word, 0, 0);
    }
    uint32_t type = swift_type(&memory, block, description);
    if (!type) {
        bool has_symbol =
            !description->is_undecided && (mt_type_read_embedded(&memory, block, description) ||
                                           mt_type_read_closure(&memory, block, description) ||
                                           mt_type_read_dispatch(&memory, block, description));
        return has_symbol ? write_type(description, block->word, 0, 0) : 0;
    }
    mt_type_slabs_expect_swift();
    if (description->kind == MT_TYPE_SWIFT_CLASS)
        write_superclasses(&memory, block->word);
    return type;
}

/* One word stands for all error boxes: what they hold tells them apart. */
static uint64_t key_of(const struct mt_type_block *block) {
    uint64_t kind;
    struct mt_type_memory memory = {{0}, 0};
    bool is_error = block->content && mt_type_read64(&memory, block->word, &kind) && kind == 0x501;
    return is_error ? block->content ^ block->word << 32 : block->word;
}

static uint32_t type_of(const struct mt_type_block *block) {
    uint64_t word = block->word;
    if (!mt_type_registry_may_know(word))
        return 0;
    uint64_t key = key_of(block);
    struct entry *entry = place_of(key);
    if (entry->key)
        return block->size >= entry->smallest ? entry->type : 0;
    struct mt_type_description description = {.field_count = 0};
    uint32_t type = describe(block, &description);
    /* What is no type is kept as well, as long as there is room. */
    if (type || (!description.is_undecided && g_types.count < g_types.capacity / 4))
        keep(key, type, description.instance_size);
    return type;
}

static void write_fact(const struct mt_type_sighting *sighting, uint32_t type) {
    uint64_t hash = mix(mix(mix((uint64_t)sighting->stack << 32 | type) ^ sighting->block.size) ^
                        ((uint64_t)sighting->evidence << 32 | sighting->free_stack));
    uint64_t *place = &g_types.facts[hash % FACTS];
    if (*place == hash)
        return;
    struct mt_typed_record record = {.time = mt_clock_event_time(),
                                     .size = sighting->block.size,
                                     .stack = sighting->stack,
                                     .type = type,
                                     .evidence = sighting->evidence,
                                     .free_stack = sighting->free_stack};
    struct mt_piece pieces[] = {{&record, sizeof record}};
    if (mt_meta_write(MT_RECORD_TYPED, pieces, 1) == 0)
        *place = hash;
}

bool mt_type_registry_may_know(uint64_t word) {
    return word != 0 && (word & 7) == 0 &&
           (mt_image_map_contains(word) || mt_type_slabs_contain(word));
}

static enum mt_type_answer note(const struct mt_type_sighting *sighting) {
    uint32_t type = is_ready() ? type_of(&sighting->block) : 0;
    if (type)
        write_fact(sighting, type);
    return type ? MT_TYPE_KNOWN : MT_TYPE_NONE;
}

static void note_later(const struct mt_type_sighting *sighting) {
    note(sighting);
}

/* ---- The lock ---- */

/* Gives the lock back, once nothing is left to be noted. Whoever leaves something tries the lock
 * after it, and this looks after the lock is free: one of the two sees the other. */
static void leave(void) {
    do {
        mt_type_backlog_take(note_later, images_now());
        mt_lock_release(&g_types.lock);
    } while (mt_type_backlog_has_any() && mt_lock_try(&g_types.lock));
}

static void leave_and_restore(uint64_t signals) {
    leave();
    mt_os_restore_signals(signals);
}

enum mt_type_answer mt_type_registry_note(const struct mt_type_sighting *sighting) {
    enum mt_type_answer answer = MT_TYPE_BUSY;
    if (mt_lock_try(&g_types.lock)) {
        answer = note(sighting);
    } else {
        mt_type_backlog_leave(sighting, images_now());
        if (!mt_lock_try(&g_types.lock))
            return answer;
    }
    leave();
    return answer;
}

bool mt_type_registry_describe(const struct mt_type_block *block,
                               bool (*judge)(const struct mt_type_description *), bool *wanted) {
    struct mt_type_memory memory = {{0}, 0};
    struct mt_type_description description;
    uint64_t signals = mt_lock_enter(&g_types.lock);
    description.name = mt_text_begin(g_types.name, sizeof g_types.name);
    bool is_swift = mt_type_read_swift(&memory, block, &description);
    if (is_swift)
        *wanted = judge(&description);
    leave_and_restore(signals);
    return is_swift;
}

/* What was looked at and found to be none may have been laid out since. */
static bool note_found(uintptr_t metadata) {
    struct mt_type_memory memory = {{0}, 0};
    if (!is_ready())
        return false;
    if (place_of(metadata)->type == 0)
        note_metadata(&memory, metadata);
    return true;
}

void mt_type_registry_survey(void) {
    uint64_t signals = mt_os_block_signals();
    if (mt_lock_try(&g_types.lock)) {
        mt_type_survey(note_found);
        leave();
    }
    mt_os_restore_signals(signals);
}

bool mt_type_registry_add_slab(uintptr_t block) {
    uint64_t signals = mt_lock_enter(&g_types.lock);
    bool is_added = mt_type_slabs_add(block);
    leave_and_restore(signals);
    return is_added;
}

void mt_type_registry_remove_slab(uintptr_t block) {
    uint64_t signals = mt_lock_enter(&g_types.lock);
    mt_type_slabs_remove(block);
    leave_and_restore(signals);
}

void mt_type_registry_reset(void) {
    mt_lock_reset(&g_types.lock);
    mt_type_backlog_reset();
    if (g_types.entries)
        memset(g_types.entries, 0, g_types.capacity * sizeof(struct entry));
    if (g_types.facts)
        memset(g_types.facts, 0, FACTS * sizeof(uint64_t));
    g_types.count = 0;
    g_types.last_type = 0;
}
