/* See refcount_types.h. */
#include "refcounts/refcount_types.h"

#include "base/text.h"
#include "types/type_registry.h"
#include "types/type_swift.h"
#include <string.h>

uintptr_t mt_refcount_verdicts[1 << MT_VERDICT_BITS];
uint64_t mt_refcount_verdict_images;
static bool g_takes_all;
static const char *g_patterns = "";

void mt_refcount_types_begin(const char *patterns) {
    g_patterns = patterns;
    g_takes_all = mt_text_equal(patterns, "1") || mt_text_equal(patterns, "*");
}

/* ---- Patterns ---- */

struct slice {
    const char *at, *end;
};

static bool fits(struct slice pattern, struct slice text) {
    return mt_text_fits(pattern.at, pattern.end, text.at, text.end);
}

static const char *find(struct slice text, char wanted) {
    const char *found = memchr(text.at, wanted, (size_t)(text.end - text.at));
    return found ? found : text.end;
}

static bool fits_in_some_form(struct slice pattern, struct slice name) {
    struct slice plain = {name.at, find(name, '<')};
    const char *dot = find(plain, '.');
    const char *after = dot < plain.end ? dot + 1 : name.at;
    return fits(pattern, name) || fits(pattern, plain) ||
           fits(pattern, (struct slice){after, name.end}) ||
           fits(pattern, (struct slice){after, plain.end});
}

/* Commas between generic arguments belong to the pattern. */
static const char *end_of_pattern(const char *at) {
    for (unsigned depth = 0; *at && (*at != ',' || depth > 0); at++)
        depth += (*at == '<') - (*at == '>' && depth > 0);
    return at;
}

bool mt_refcount_pattern_fits(const char *patterns, const char *name) {
    struct slice whole = {name, name + mt_text_length(name)};
    for (const char *end; *patterns; patterns = *end ? end + 1 : end) {
        end = end_of_pattern(patterns);
        if (end > patterns && fits_in_some_form((struct slice){patterns, end}, whole))
            return true;
    }
    return false;
}

/* ---- Verdicts ---- */

static const char *boxed(struct mt_text *buffer, const char *box, const char *content) {
    mt_text_add(buffer, box);
    mt_text_add(buffer, content);
    mt_text_add(buffer, ">");
    return buffer->bytes;
}

/* What has no name of its own has the one that reports give it. */
static bool is_wanted(const struct mt_type_description *description) {
    if (g_takes_all)
        return true;
    char bytes[512];
    struct mt_text buffer = mt_text_begin(bytes, sizeof bytes);
    const char *name = description->name.bytes;
    switch (description->kind) {
    case MT_TYPE_SWIFT_BOX:
        name = boxed(&buffer, "Box<", name);
        break;
    case MT_TYPE_SWIFT_ERROR:
        name = boxed(&buffer, "Error box<", name);
        break;
    case MT_TYPE_SWIFT_CAPTURES:
        name = "Closure context";
        break;
    case MT_TYPE_SWIFT_TASK:
        name = "Swift Task";
        break;
    case MT_TYPE_SWIFT_JOB:
        name = "Swift Job";
        break;
    default:
        break;
    }
    return mt_refcount_pattern_fits(g_patterns, name);
}

static void forget_if_unloaded(void) {
    uint64_t images = __atomic_load_n(&mt_image_map_generation, __ATOMIC_ACQUIRE);
    if (mt_refcount_verdict_images == images)
        return;
    memset(mt_refcount_verdicts, 0, sizeof mt_refcount_verdicts);
    __atomic_store_n(&mt_refcount_verdict_images, images, __ATOMIC_RELEASE);
}

/* The third word, for boxes of errors, of which one metadata serves all. No object crosses a page
 * before it. */
static uint64_t content_of(uintptr_t object) {
    bool is_in_page = (object & (MT_PAGE_SIZE - 1)) <= MT_PAGE_SIZE - 3 * sizeof(uint64_t);
    return is_in_page ? ((const uint64_t *)object)[2] : 0;
}

/* Metadata lies on a multiple of 8, can be read, and begins with its kind. */
static bool can_be_metadata(uintptr_t word) {
    if (word == 0 || (word & 7) || !mt_os_is_readable(word & ~(uintptr_t)(MT_PAGE_SIZE - 1)))
        return false;
    switch (*(const uint64_t *)word) {
    case MT_SWIFT_CLASS:
    case MT_SWIFT_FOREIGN_CLASS:
    case MT_SWIFT_CAPTURES:
    case MT_SWIFT_BOX:
    case MT_SWIFT_ERROR:
    case MT_SWIFT_TASK:
    case MT_SWIFT_JOB:
        return true;
    default:
        return false;
    }
}

enum mt_refcount_verdict mt_refcount_judge(uintptr_t object) {
    uintptr_t word = *(const uintptr_t *)object;
    struct mt_type_block block = {word, content_of(object), SIZE_MAX};
    bool wanted = g_takes_all; /* where it cannot be read */
    /* Not kept: there may be metadata at the address later. */
    if (!can_be_metadata(word))
        return MT_VERDICT_NO_OBJECT;
    mt_type_registry_describe(&block, is_wanted, &wanted);
    forget_if_unloaded();
    __atomic_store_n(mt_refcount_verdict_place(word), word | wanted, __ATOMIC_RELAXED);
    return wanted ? MT_VERDICT_YES : MT_VERDICT_NO;
}
