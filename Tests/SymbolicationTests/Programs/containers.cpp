// Containers whose nodes and storage have members.
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace app {

struct Item {
    long number;
    std::string name;
    Item *other;
};

} // namespace app

namespace {

struct Hidden {
    void *held;
};

} // namespace

struct Shelf {
    std::map<std::string, app::Item> items;
    std::multimap<unsigned long, const app::Item *> pointers;
    std::map<int, Hidden> hidden;
    std::set<std::unique_ptr<app::Item>> owned;
    std::multiset<app::Item *> plain;
    std::unordered_map<long, std::weak_ptr<app::Item>> weak;
    std::unordered_map<std::string, int> hashed;
    std::unordered_set<std::string> words;
    std::list<app::Item> list;
    std::forward_list<app::Item *> stack;
    std::vector<std::vector<int>> rows;
    std::vector<std::pair<long, app::Item>> pairs;
    std::vector<std::weak_ptr<app::Item>> observers;
    std::deque<app::Item> queue;
    std::deque<app::Item *> waiting;
};

int main() {
    auto shelf = new Shelf;
    shelf->items["a"].number = 1;
    shelf->pointers.emplace(1, nullptr);
    shelf->hidden[1].held = nullptr;
    shelf->owned.insert(std::make_unique<app::Item>());
    shelf->plain.insert(nullptr);
    shelf->weak[1].reset();
    shelf->hashed["a"] = 1;
    shelf->words.insert("a");
    shelf->list.emplace_back();
    shelf->stack.push_front(nullptr);
    shelf->rows.resize(2);
    shelf->pairs.resize(2);
    shelf->observers.resize(2);
    shelf->queue.emplace_back();
    shelf->waiting.push_back(nullptr);
    return 0;
}
