/* C++ names: a method, a template with default arguments, an anonymous namespace, a lambda. */
#include <string>
#include <vector>

namespace app {
class Parser {
  public:
    __attribute__((noinline)) int parse(const std::string &text);
};

int Parser::parse(const std::string &text) {
    return static_cast<int>(text.size());
}

template <typename T> __attribute__((noinline)) std::size_t total(const std::vector<T> &values) {
    return values.size();
}

template std::size_t total<int>(const std::vector<int> &);
} // namespace app

__attribute__((noinline)) void fill(std::vector<long> &values) {
    values.push_back(4711);
}

/* The label marks an instruction of a lambda that is inlined. */
__attribute__((noinline)) int *make(int count) {
    auto allocate = [](int n) __attribute__((always_inline)) {
        int *block = new int[static_cast<std::size_t>(n)];
        __asm__ volatile(".globl probe\nprobe: nop" ::: "memory");
        return block;
    };
    return allocate(count);
}

int main() {
    delete[] make(3);
    std::vector<long> values;
    fill(values);
    return app::Parser().parse("") + static_cast<int>(app::total(std::vector<int>()));
}
