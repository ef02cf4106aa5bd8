// As wrappers.c, of classes.
#include <cstddef>
#include <cstdlib>

namespace db {
class Arena {
  public:
    char *Allocate(size_t bytes);
    static std::byte *AllocateAligned(size_t bytes);
    void *Reallocate();
};

char *Arena::Allocate(size_t bytes) {
    return static_cast<char *>(malloc(bytes));
}
std::byte *Arena::AllocateAligned(size_t bytes) {
    return static_cast<std::byte *>(malloc(bytes));
}
void *Arena::Reallocate() {
    return malloc(1);
}
} // namespace db

int main() {
    return 0;
}
