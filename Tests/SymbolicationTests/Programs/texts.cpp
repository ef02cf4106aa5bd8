// Texts whose allocators are empty, and some whose allocators come before the address of the
// characters.
#include <map>
#include <memory_resource>
#include <string>

struct Pool {
    void *free = nullptr;
};

template <class T> struct PoolAllocator : Pool {
    using value_type = T;
    PoolAllocator() = default;
    template <class U> PoolAllocator(const PoolAllocator<U> &) {}
    T *allocate(std::size_t count) {
        return static_cast<T *>(::operator new(count * sizeof(T)));
    }
    void deallocate(T *place, std::size_t) {
        ::operator delete(place);
    }
    bool operator==(const PoolAllocator &) const {
        return true;
    }
    bool operator!=(const PoolAllocator &) const {
        return false;
    }
};

struct Texts {
    std::string plain;
    std::pmr::string placed;
    std::basic_string<char, std::char_traits<char>, PoolAllocator<char>> pooled;
};

int main() {
    auto texts = new Texts;
    auto places = new std::pmr::map<int, std::pmr::string>;
    (*places)[1] = texts->placed;
    return 0;
}
