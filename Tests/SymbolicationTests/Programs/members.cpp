// Classes whose members are named by where they lie.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace app {

struct Base {
    virtual ~Base() = default;
    Base *owner = nullptr;
};

template <class T> struct Box {
    T value;
    Box *link;
};

class Node : public Base {
  public:
    static Node *last;
    std::string name;
    std::shared_ptr<Node> next;
    std::vector<Node> items;
    std::unique_ptr<Box<long>> box;
    std::function<void()> call;
    std::weak_ptr<Node> before;
};

struct Shared : virtual Base {
    int number, other;
};

} // namespace app

app::Shared *shared = new app::Shared;
app::Node *app::Node::last = new Node;

int main() {
    auto box = new app::Box<int>{};
    return box->link != nullptr;
}
