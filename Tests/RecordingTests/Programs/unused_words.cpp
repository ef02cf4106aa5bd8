// Leaks whose addresses another leak has where no pointer can be: it lies where they were kept
// before.
#include <string>

struct Leaf {
    long values[20];
};

struct Label {
    std::string text;
    int width, height;
};

static void *volatile kept;

__attribute__((noinline)) static void leak_leaves(void *volatile *places) {
    places[3] = new Leaf;
    places[4] = new Leaf;
}

__attribute__((noinline)) static void leak_label() {
    kept = new Label;
    kept = nullptr;
}

__attribute__((noinline)) static void leak() {
    void *room = operator new(sizeof(Label));
    leak_leaves(static_cast<void *volatile *>(room));
    kept = room;
    operator delete(kept);
    leak_label();
}

// Overwrites what the calls have left on the stack.
__attribute__((noinline)) static void scrub() {
    volatile char bytes[4096];
    for (auto &byte : bytes)
        byte = 0;
}

int main() {
    leak();
    scrub();
}
