// Objects of std::shared_ptr that are gone and of which only a std::weak_ptr is left: neither that
// nor what their memory still has in it holds what was allocated since at the same addresses.
#include <cstring>
#include <memory>

struct Node {
    long words[5];
};

struct Session {
    long number = 7;
    Node *node = new Node();
    ~Session() {
        delete node;
    }
};

struct Message {
    long words[7];
};

// Never destroyed.
static auto &last_session = *new std::weak_ptr<Session>();
static auto &last_message = *new std::weak_ptr<Message>();

__attribute__((noinline)) static void keep_weak_pointers() {
    auto session = std::make_shared<Session>();
    last_session = session;
    std::shared_ptr<Message> message(new Message());
    last_message = message;
}

template <class Object> __attribute__((noinline)) static void leak() {
    auto *object = new Object();
    __asm__ volatile("" ::"r"(object) : "memory");
}

__attribute__((noinline)) static void clear_stack() {
    unsigned char dead[32768];
    memset(dead, 0, sizeof dead);
    __asm__ volatile("" ::"r"(dead) : "memory");
}

int main() {
    keep_weak_pointers();
    leak<Node>();
    leak<Message>();
    clear_stack();
    return 0;
}
