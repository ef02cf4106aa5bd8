// Input for cc1plus: templates that keep a compiler busy. No longer than this: with twice the events,
// the interpreter of Debian's heaptrack 1.4.0 runs out of memory, and nothing is left to compare.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

using Text = std::shared_ptr<std::string>;
using Value = std::string;

template <int N> struct Table {
  std::map<std::tuple<int, std::string>, std::vector<Text>> rows;
  std::unordered_map<std::string, std::function<Value(std::optional<int>)>> functions;

  void add(const std::string &line) {
    rows[{N, line}].push_back(std::make_shared<std::string>(line));
    functions[line] = [line](std::optional<int> x) { return x ? std::to_string(*x * N) : Value(line); };
  }

  size_t size() {
    for (auto &[key, texts] : rows)
      std::sort(texts.begin(), texts.end(), [](auto &a, auto &b) { return *a < *b; });
    return std::accumulate(rows.begin(), rows.end(), size_t(N), [](size_t sum, auto &row) {
      return sum + row.second.size();
    });
  }
};

template <int... N> size_t fill(const std::string &line, std::integer_sequence<int, N...>) {
  std::tuple<Table<N>...> tables;
  (std::get<N>(tables).add(line), ...);
  return (std::get<N>(tables).size() + ...);
}

int main() {
  std::set<size_t> sizes;
  for (std::string line; std::getline(std::cin, line);)
    sizes.insert(fill(line, std::make_integer_sequence<int, 3>()));
  for (size_t size : sizes)
    std::cout << size << '\n';
}
