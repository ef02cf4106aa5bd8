// Frees an array as an object, or an object as an array, as it is told.
#include <cstdlib>
#include <cstring>
#include <new>

struct Item {
    ~Item() {}
    char bytes[1201];
};
struct alignas(16) Wide {
    ~Wide() {}
    char bytes[1216];
};
struct alignas(64) Aligned {
    ~Aligned() {}
    char bytes[1216];
};

// What allocated it is hidden from the compiler.
template <class T> __attribute__((noinline)) static T *hidden(T *pointer) {
    T *volatile copy = pointer;
    return copy;
}

// There may be any number of elements in front of it, so that only the block is given back.
__attribute__((noinline)) static void drop_array(Item *item) {
    operator delete[](reinterpret_cast<char *>(item) - 8);
}

int main(int, char **arguments) {
    const char *what = arguments[1];
    if (strcmp(what, "object") == 0)
        drop_array(hidden(new Item));
    else if (strcmp(what, "malloc") == 0)
        drop_array(static_cast<Item *>(malloc(sizeof(Item))));
    else if (strcmp(what, "array") == 0)
        delete hidden(new Item[5]);
    else if (strcmp(what, "wide") == 0)
        delete hidden(new Wide[5]);
    else if (strcmp(what, "aligned") == 0)
        delete hidden(new Aligned[5]);
}
