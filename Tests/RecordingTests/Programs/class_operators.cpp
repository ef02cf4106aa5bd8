/* Objects whose classes, and storage whose container, have allocators of their own. */
#include <cstddef>
#include <cstdlib>
#include <vector>

struct Counted {
    static void *operator new(size_t size) {
        return malloc(size);
    }
    static void *operator new[](size_t size) {
        return malloc(size);
    }
    static void operator delete(void *pointer) {
        free(pointer);
    }
};
struct Derived : Counted {
    char bytes[1301];
};

template <class T> struct Arena {
    using value_type = T;
    T *allocate(size_t count) {
        return static_cast<T *>(malloc(count * sizeof(T)));
    }
    void deallocate(T *pointer, size_t) {
        free(pointer);
    }
};

void *volatile kept[3];

int main() {
    kept[0] = new Derived;
    kept[1] = new Derived[2];
    static std::vector<short, Arena<short>> numbers;
    numbers.reserve(1000);
    kept[2] = numbers.data();
    return 0;
}
