// Allocators of the program's own, for containers and for itself.
#include <cstdlib>
#include <vector>

template <class T> struct Allocator {
    using value_type = T;
    T *allocate(std::size_t n) {
        return static_cast<T *>(std::malloc(n * sizeof(T)));
    }
    void deallocate(T *block, std::size_t) {
        std::free(block);
    }
};

static auto numbers = new std::vector<long, Allocator<long>>(100);
static char *text;

int main() {
    std::size_t room = 300;
    text = (char *)std::malloc(room);
    return 0;
}
