/* A program whose time goes to malloc and free, as in cfrac, espresso and the like: numbers that
 * live for one expression, lists of sets that are built, filtered and dropped, a hash table with
 * blocks of any age, messages in a queue, arrays that grow. Deterministic: prints a checksum.
 *
 * usage: churn ROUNDS          (a round: about 320 000 events, some 12 ms) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t g_seed = 1;
static uint64_t g_sum;

static uint32_t next_random(void) {
    g_seed = g_seed * 1664525u + 1013904223u;
    return g_seed >> 8;
}

/* ---- Numbers of a few limbs: last in, first out, up to 12 frames deep ---- */

struct number {
    uint32_t limbs;
    uint32_t limb[];
};

static __attribute__((noinline)) struct number *make_number(uint32_t limbs) {
    struct number *made = malloc(sizeof *made + limbs * sizeof made->limb[0]);
    made->limbs = limbs;
    made->limb[0] = next_random();
    made->limb[limbs - 1] = limbs;
    return made;
}

static __attribute__((noinline)) struct number *add(struct number *a, struct number *b) {
    struct number *sum = make_number(a->limbs > b->limbs ? a->limbs : b->limbs);
    sum->limb[0] = a->limb[0] + b->limb[0];
    free(a);
    free(b);
    return sum;
}

static __attribute__((noinline)) struct number *multiply(struct number *a, struct number *b) {
    uint32_t limbs = a->limbs + b->limbs;
    struct number *partial = make_number(limbs);
    struct number *product = make_number(limbs > 12 ? 12 : limbs);
    product->limb[0] = a->limb[0] * b->limb[0] + partial->limb[0];
    free(partial);
    free(b);
    free(a);
    return product;
}

static __attribute__((noinline)) struct number *evaluate(int depth) {
    if (depth == 0)
        return make_number(1 + (next_random() & 3));
    struct number *left = evaluate(depth - 1);
    struct number *right = evaluate(depth > 2 && (next_random() & 1) ? depth - 2 : depth - 1);
    return next_random() & 1 ? add(left, right) : multiply(left, right);
}

static __attribute__((noinline)) void work_on_numbers(void) {
    for (int i = 0; i < 100; i++) {
        struct number *result = evaluate(8);
        g_sum += result->limb[0];
        free(result);
    }
}

/* ---- Lists of sets: first in, first out, and arrays that grow ---- */

struct cover {
    uint32_t count, capacity;
    uint64_t **sets;
};

static __attribute__((noinline)) void append_set(struct cover *cover, uint64_t *set) {
    if (cover->count == cover->capacity) {
        cover->capacity = cover->capacity ? cover->capacity * 2 : 8;
        cover->sets = realloc(cover->sets, cover->capacity * sizeof *cover->sets);
    }
    cover->sets[cover->count++] = set;
}

static __attribute__((noinline)) uint64_t *copy_set(const uint64_t *set, uint32_t words) {
    uint64_t *copy = malloc(words * sizeof *copy);
    if (set)
        memcpy(copy, set, words * sizeof *copy);
    else
        copy[0] = copy[words - 1] = next_random();
    return copy;
}

static __attribute__((noinline)) struct cover filter(const struct cover *cover, uint32_t words) {
    struct cover kept = {0, 0, NULL};
    for (uint32_t i = 0; i < cover->count; i++) {
        uint64_t *copy = copy_set(cover->sets[i], words);
        if (cover->sets[i][0] & 6)
            append_set(&kept, copy);
        else
            free(copy);
    }
    return kept;
}

static __attribute__((noinline)) void drop_cover(struct cover *cover) {
    for (uint32_t i = 0; i < cover->count; i++) {
        g_sum += cover->sets[i][0];
        free(cover->sets[i]);
    }
    free(cover->sets);
}

static __attribute__((noinline)) void work_on_covers(void) {
    for (int i = 0; i < 60; i++) {
        uint32_t words = 2 + (next_random() & 15);
        struct cover cover = {0, 0, NULL};
        for (int made = 0; made < 400; made++)
            append_set(&cover, copy_set(NULL, words));
        struct cover kept = filter(&cover, words);
        drop_cover(&cover);
        drop_cover(&kept);
    }
}

/* ---- A hash table: nodes and keys of any age ---- */

enum { BUCKETS = 4096 };

struct entry {
    struct entry *next;
    char *key;
    uint32_t hash;
};

static struct entry *g_table[BUCKETS];

static __attribute__((noinline)) void insert(uint32_t hash) {
    struct entry *entry = malloc(sizeof *entry);
    size_t length = 8 + hash % 57;
    entry->key = malloc(length);
    memset(entry->key, 'a' + hash % 26, length);
    entry->hash = hash;
    entry->next = g_table[hash % BUCKETS];
    g_table[hash % BUCKETS] = entry;
}

static __attribute__((noinline)) void drop_bucket(struct entry **bucket) {
    while (*bucket) {
        struct entry *entry = *bucket;
        *bucket = entry->next;
        g_sum += (unsigned char)entry->key[3];
        free(entry->key);
        free(entry);
    }
}

static __attribute__((noinline)) void work_on_table(void) {
    for (int i = 0; i < 16000; i++) {
        uint32_t hash = next_random();
        insert(hash);
        if ((hash >> 4) % 4 == 0)
            drop_bucket(&g_table[next_random() % BUCKETS]);
    }
}

/* ---- Messages in a queue ---- */

enum { QUEUED = 512 };

static __attribute__((noinline)) char *receive(void) {
    uint32_t random = next_random();
    size_t size = random % 16 ? 40 + random % 200 : 1000 + random % 3000;
    char *message = calloc(1, size);
    message[0] = (char)random;
    return message;
}

static __attribute__((noinline)) void deliver(char *message) {
    g_sum += (unsigned char)message[0];
    free(message);
}

static __attribute__((noinline)) void work_on_messages(void) {
    static char *queue[QUEUED];
    for (int i = 0; i < 16000; i++) {
        char **slot = &queue[i % QUEUED];
        if (*slot)
            deliver(*slot);
        *slot = receive();
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        return fprintf(stderr, "usage: churn ROUNDS\n"), 64;
    for (long left = atol(argv[1]); left > 0; left--) {
        work_on_numbers();
        work_on_covers();
        work_on_table();
        work_on_messages();
    }
    printf("%llu\n", (unsigned long long)g_sum);
    return 0;
}
