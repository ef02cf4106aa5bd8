// Classes that the source names without the namespaces and classes that they are in.
#include <vector>

namespace app {
struct Page {
    int number;
};
class Cache {
  public:
    struct Entry {
        Page page;
    };
    Entry entry;
};
namespace {
struct Hidden {
    long value;
};
} // namespace
namespace first {
struct Twin {
    int left;
};
} // namespace first
namespace second {
struct Twin {
    int right;
};
} // namespace second
template <class T> struct Tree {
    struct Node {
        T value;
    };
    typedef T value_type;
    using node_type = Node;
    using pointer = const T *;
    Node root;
};
struct Unfinished;
} // namespace app

struct Global {
    int number;
};
using Alias = app::Page;

extern "C" long with_local(void) {
    struct Page {
        long number;
    };
    Page page = {1};
    return page.number;
}

extern "C" void sink(void *);
void sink(void *object) {
    static void *volatile last;
    last = object;
}

int main() {
    app::Cache cache = {};
    app::Hidden hidden = {};
    app::first::Twin first = {};
    app::second::Twin second = {};
    app::Tree<int> tree = {};
    app::Tree<int>::value_type value = 1;
    app::Tree<int>::node_type node = {value};
    app::Tree<int>::pointer pointer = &node.value;
    Global global = {};
    Alias alias = {};
    app::Unfinished *unfinished = nullptr;
    std::vector<int> numbers(1);
    for (void *object :
         {(void *)&cache, (void *)&hidden, (void *)&first, (void *)&second, (void *)&tree,
          (void *)&global, (void *)&alias, (void *)unfinished, (void *)&numbers, (void *)pointer})
        sink(object);
    return with_local() == 1 ? 0 : 1;
}
