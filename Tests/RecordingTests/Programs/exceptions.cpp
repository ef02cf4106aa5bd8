// Exceptions pass through frames that allocate, also out of operator new itself.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <vector>

struct Guard {
    void *block = std::malloc(28001);
    ~Guard() {
        std::free(block);
    }
};

static void throwing(int depth) {
    Guard guard;
    if (depth == 0)
        throw std::runtime_error("thrown");
    throwing(depth - 1);
}

int main() {
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        try {
            throwing(10);
        } catch (const std::exception &error) {
            caught++;
        }
    }
    try {
        volatile std::size_t huge = std::size_t{1} << 62;
        ::operator delete(::operator new(huge));
    } catch (const std::bad_alloc &) {
        caught++;
    }
    volatile std::size_t huge = std::size_t{1} << 62;
    if (::operator new(huge, std::nothrow) == nullptr)
        caught++;
    std::printf("%d caught\n", caught);
    return 0;
}
