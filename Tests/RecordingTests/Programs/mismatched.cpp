// Frees blocks with functions of another family.
#include <cstdlib>

int main() {
    int *first = new int[31001 / sizeof(int)];
    operator delete(first); // new[] with delete
    void *second = std::malloc(31002);
    operator delete(second); // malloc with delete
    void *third = ::operator new(31003);
    std::free(third); // new with free
    return 0;
}
