// Leaks whose addresses are left behind the ends of short texts, in memory that was used before;
// blocks that others hold whose words look like those of a short text are none.
#include <cstdlib>
#include <new>
#include <string>

struct Labels {
    std::string first, second;
    void *behind;
};

// As a small vector of LLVM.
struct Array {
    void **begin;
    unsigned size, capacity;
    void *inside[2];
};

struct Vector {
    void **begin;
    size_t size;
    void *inside[6];
};

template <typename Key> struct Map {
    struct Entry {
        Key key;
        void *value;
    };
    Entry *begin;
    size_t size;
    Entry inside[2];
};

struct Queue {
    void **end;
    size_t size;
    void *first, *context;
};

struct Node {
    Node *next, *previous;
};

struct List {
    Node *cursor;
    size_t size;
    Node end;
};

// As libuv's requests to write.
struct Request {
    struct Buffer {
        void *base;
        size_t length;
    };
    Buffer *begin;
    unsigned count;
    int error;
    Buffer inside[4];
};

static Labels *labels;
static Array *array;
static Vector *vector;
static Map<int> *numbers;
static Map<char> *characters;
static Queue *queue;
static List *list;
static Request *requests[0x300];

template <typename T> static T *zeroed() {
    return static_cast<T *>(calloc(1, sizeof(T)));
}

template <typename Key> static Map<Key> *map_of(Key key) {
    auto map = zeroed<Map<Key>>();
    map->begin = map->inside;
    map->size = 1;
    map->inside[0] = {key, malloc(1008)};
    return map;
}

static void make_list(size_t size) {
    list = zeroed<List>();
    list->cursor = list->end.next = list->end.previous = &list->end;
    for (list->size = 0; list->size < size; list->size++) {
        Node *node = static_cast<Node *>(malloc(1009));
        *node = {&list->end, list->end.previous};
        node->previous->next = list->end.previous = node;
    }
}

// The lower bytes of an address can be those of a text that ends there.
static void make_requests() {
    unsigned i = 0;
    for (Request *&request : requests) {
        request = zeroed<Request>();
        request->begin = request->inside;
        request->count = 1 + i++ % 4;
        for (unsigned k = 0; k < request->count; k++)
            request->inside[k] = {malloc(1010), 1010};
    }
}

int main() {
    void **room = static_cast<void **>(malloc(sizeof(Labels)));
    room[3] = malloc(1002); // leaked
    room[6] = malloc(1001); // leaked
    room[7] = malloc(1003); // leaked
    room[8] = malloc(1004);
    labels = reinterpret_cast<Labels *>(room);
    new (&labels->first) std::string("abc");
    new (&labels->second) std::string("abcd");

    array = static_cast<Array *>(malloc(sizeof(Array)));
    *array = {array->inside, 2, 2, {malloc(1005), malloc(1006)}};
    vector = zeroed<Vector>();
    vector->begin = vector->inside;
    for (; vector->size < 6; vector->size++)
        vector->inside[vector->size] = malloc(1007);
    numbers = map_of(5);
    characters = map_of('a');
    queue = zeroed<Queue>();
    queue->end = &queue->first;
    queue->context = malloc(1011);
    make_list(6);
    make_requests();
    return 0;
}
