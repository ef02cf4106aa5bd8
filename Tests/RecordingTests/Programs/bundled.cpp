// Has the operators of C++ as other names of malloc and free, as programs with tcmalloc.
#include "bundled_allocator.h"

#include <cstdio>
#include <new>

extern "C" void *new_or_null(size_t size, const void *) {
    return take(size, 16);
}

void *operator new(size_t size) __attribute__((alias("malloc")));
void *operator new[](size_t size) __attribute__((alias("malloc")));
void *operator new(size_t size, const std::nothrow_t &) noexcept
    __attribute__((alias("new_or_null")));
void *operator new[](size_t size, const std::nothrow_t &) noexcept
    __attribute__((alias("new_or_null")));
void operator delete(void *block) noexcept __attribute__((alias("free")));
void operator delete[](void *block) noexcept __attribute__((alias("free")));
void operator delete(void *block, size_t) noexcept {
    free(block);
}
void operator delete[](void *block, size_t) noexcept {
    free(block);
}

struct Widget {
    char bytes[1001];
};

struct Array {
    char bytes[3];
};

int main() {
    for (int i = 0; i < 10; i++)
        delete new Widget;
    delete[] new Array[400];
    delete new (std::nothrow) Widget;
    std::puts("done");
}
