// Input for cc1plus: templates that keep a compiler busy.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
  std::map<std::string, std::vector<std::shared_ptr<std::string>>> table;
  std::regex word("([a-z]+)-([0-9]+)");
  std::smatch match;
  for (std::string line; std::getline(std::cin, line);)
    if (std::regex_match(line, match, word))
      table[match[1]].push_back(std::make_shared<std::string>(match[2]));
  std::unordered_map<std::string, std::function<int(int)>> functions;
  functions["double"] = [](int x) { return 2 * x; };
  for (auto &[key, values] : table) {
    std::sort(values.begin(), values.end(), [](auto &a, auto &b) { return *a < *b; });
    std::cout << key << ' ' << values.size() << ' ' << functions["double"](21) << '\n';
  }
}
