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

int main() {
    std::vector<long> values;
    fill(values);
    return app::Parser().parse("") + static_cast<int>(app::total(std::vector<int>()));
}
