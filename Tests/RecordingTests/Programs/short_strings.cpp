// Leaks whose addresses are left behind the ends of short texts, in memory that was used before;
// blocks that arrays within objects hold in the same place are none.
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

static Labels *labels;
static Array *array;

int main() {
    void **room = static_cast<void **>(malloc(sizeof(Labels)));
    room[3] = malloc(1001); // leaked
    room[6] = malloc(1002); // leaked
    room[7] = malloc(1003); // leaked
    room[8] = malloc(1004);
    labels = reinterpret_cast<Labels *>(room);
    new (&labels->first) std::string("a");
    new (&labels->second) std::string;

    array = static_cast<Array *>(malloc(sizeof(Array)));
    *array = {array->inside, 2, 2, {malloc(1005), malloc(1006)}};
    return 0;
}
