// Parents whose children lead back to them without owning them, and that have lost their last
// owner; and one that its child owns.
#include <cstring>
#include <memory>
#include <new>
#include <vector>

struct Node : std::enable_shared_from_this<Node> {
    std::vector<std::shared_ptr<Node>> children;
    std::weak_ptr<Node> parent;
    std::shared_ptr<Node> owner;
    long padding[10];
};

// Forgets a pointer without giving up what it owns.
static void forget(std::shared_ptr<Node> &&pointer) {
    alignas(std::shared_ptr<Node>) unsigned char room[sizeof pointer];
    new (room) std::shared_ptr<Node>(std::move(pointer));
    memset(room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static void adopt(const std::shared_ptr<Node> &parent, const std::shared_ptr<Node> &child) {
    parent->children.push_back(child);
    child->parent = parent;
}

static void leak_forgotten() {
    auto parent = std::make_shared<Node>();
    adopt(parent, std::make_shared<Node>());
    forget(std::move(parent));
}

static void leak_forgotten_beside() {
    std::shared_ptr<Node> parent(new Node);
    adopt(parent, std::make_shared<Node>());
    forget(std::move(parent));
}

static void leak_owned_by_child() {
    auto parent = std::make_shared<Node>();
    auto child = std::make_shared<Node>();
    adopt(parent, child);
    child->owner = parent;
}

static void clear_stack() {
    unsigned char dead[32768];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" ::"r"(dead) : "memory");
}

int main() {
    leak_forgotten();
    clear_stack();
    leak_forgotten_beside();
    clear_stack();
    leak_owned_by_child();
    clear_stack();
    return 0;
}
